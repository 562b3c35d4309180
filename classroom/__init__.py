"""The class grader: grades the notebooks of a whole class on hidden cases.

A run is a pipeline (`pipeline.grade_class`): intake, execution, marking, publication.

cli          the command line, and what it prints
options      what the command line asks for, and the summary of a run
run          what every stage of a run needs to know
pipeline     the four stages, one after the other
execute      execution: runs the submissions that were not graded before
verdicts     the verdict on each task of a submission
publish      publication: database, tables, pages, exports
policy, policy_file    the lecturer's rules, read from class.toml
private_tasks          the tasks that are graded, the lecturer's own among them
sheets       the exercise sheets, and which of their tasks a notebook holds
states       states of files, sheets and points
tables       CSV tables, read and written

intake/      what was handed in
  intake         the stage: files, students, times
  submissions, archives, files, notebook_cells    notebooks in folders and zip files
  owners, roster                                  the student of each file
  select         the file of each student that counts
  handed_times   when each file was handed in
sandbox/     students' code, isolated
  examiner       one submission: runs its cells until every task has outcomes
  bubblewrap     the command that isolates a worker, and the files inside
  limits         what one submission may use
  supervisor     starts a worker and watches it from outside
  worker         the program inside: runs cells and calls answers
  forks, fork_server    workers forked from a process that has imported NumPy or torch
  serialize      the only data that crosses the border, as JSON
  torch_import   whether a worker imports torch at its start
  grading_stub   stands in for `grading` inside the sandbox
  ipython_cells  cells that only IPython can run
gradebook/   what counts
  mark           the stage: grades of the class, written.csv and look.csv
  grades         the grades of a sheet: grader, corrections, policy, lateness
  decisions      what persons decided
  store          the SQLite database
reports/     tables and pages
  results, summary, feedback, guide, similarity, totals
  page           HTML around them, with its style sheet
lms/         learning management systems
  exports, moodle, canvas, gradescope, times
  gradescope/    the scripts of Gradescope's autograder
benchmark/   this grader beside nbgrader and otter-grader
"""
