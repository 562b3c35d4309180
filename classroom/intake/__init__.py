"""What was handed in, whose it is, and which file of a student counts."""
