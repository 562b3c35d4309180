"""Tasks of the project."""
