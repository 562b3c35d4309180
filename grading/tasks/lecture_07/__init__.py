"""Tasks of lecture 7."""
