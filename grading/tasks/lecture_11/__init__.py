"""Tasks of Exercises 11."""
