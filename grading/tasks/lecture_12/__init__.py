"""Tasks of lecture 8."""
