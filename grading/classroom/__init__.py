"""The class grader: what many students handed in, graded on private cases.

grade        the command, and the way of a submission from its cells to its points
submissions  what was handed in: notebooks in folders and zips
sandbox      one worker inside bubblewrap, watched from outside
worker       the program in there: runs cells and answers
wire         the plain data that crosses the border
silent       stands in for `grading` in there
store        the database of grades
reports      tables, feedback, overview
"""
