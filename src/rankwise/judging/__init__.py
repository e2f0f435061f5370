"""Live judging: judgments in a journal, the model after each of them, what to judge next, and a page."""
