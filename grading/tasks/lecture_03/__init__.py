"""Tasks of lecture 3."""
