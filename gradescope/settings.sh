# Which lecture's exercises this autograder grades, and the seed of its private cases: draw your own.
LECTURE=2
SEED=20417
