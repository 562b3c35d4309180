"""One folder a lecture, one file a task; each file defines `task`."""
