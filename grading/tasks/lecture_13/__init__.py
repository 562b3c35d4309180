"""Tasks of Exercises 13."""
