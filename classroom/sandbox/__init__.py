"""Students' code in a sandbox: the worker that runs it, and the supervisor that watches it."""
