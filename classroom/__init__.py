"""The class grader: grades the notebooks of a whole class on private cases.

grade        the command: intake, execution, marking, reports
execute      one submission: from its code cells to the verdict on each task
policy       the lecturer's rules, read from class.toml
sheets       the exercise sheets, and which of their tasks a notebook holds
tables       CSV tables, read and written

intake/      what was handed in
  submissions    notebooks in folders and zip files, and whose they claim to be
  roster         the students of the class, and the owner of each file
  select         the file of each student that counts
sandbox/     students' code, isolated
  supervisor     starts a worker inside bubblewrap and watches it from outside
  worker         the program inside: runs cells and calls answers
  serialize      the only data that crosses the border, as JSON
  torch_import   whether a worker imports torch at its start
  grading_stub   stands in for `grading` inside the sandbox
  ipython_cells  cells that only IPython can run
gradebook/   what counts
  grades         the points of each task: grader, corrections, policy, lateness
  store          the SQLite database
reports/     tables and pages
  reports, feedback, similarity, totals
lms/         learning management systems
  exports        tables and feedback for Moodle and Canvas
  times          times as Moodle writes them
  gradescope/    the scripts of Gradescope's autograder
benchmark/   this grader beside nbgrader and otter-grader
"""
