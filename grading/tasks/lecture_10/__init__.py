"""Tasks of lecture 10."""
