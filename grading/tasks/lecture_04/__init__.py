"""Tasks of Exercises 4: masks."""
