"""Tasks of lecture 6."""
