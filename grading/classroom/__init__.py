"""The class grader: what many students handed in, graded on private cases.

grade        the command, from a folder to its reports
submissions  what was handed in: files in folders and zips, and whose they claim to be
roster       who is in the class, and whose a file is
sheets       the sheets as students know them, and what of one a notebook holds
listing      which of a student's files counts
policy       the lecturer's rules, from class.toml
examine      one submission: from its cells to the verdict on each task
needs        whether torch is imported for it from the start
sandbox      one worker inside bubblewrap, watched from outside
worker       the program in there: runs cells and answers
wire         the plain data that crosses the border
silent       stands in for `grading` in there
store        the database of grades and of what persons decided
marking      what counts in the end: persons' points, the policy, lateness
tables       CSV, whatever wrote it
reports      tables, a page for each student, an overview, Gradescope's file
feedback     what a student reads
exports      back into Moodle and Canvas
similar      answers that are alike
term         across the weeks
"""
