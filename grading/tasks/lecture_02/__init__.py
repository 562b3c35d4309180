"""Tasks of lecture 2."""
