"""Tasks of Exercises 9."""
