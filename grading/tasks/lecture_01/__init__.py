"""Tasks of lecture 1."""
