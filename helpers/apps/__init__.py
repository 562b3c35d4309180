"""Applications: question answering, summarization, the story model, and their metrics."""
