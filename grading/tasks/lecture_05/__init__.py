"""Tasks of Exercises 5: multi-head attention."""
