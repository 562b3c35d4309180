"""What the course draws: figures, drawings, explorables, tables, quizzes, the viewer."""
