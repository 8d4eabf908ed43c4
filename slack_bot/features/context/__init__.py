"""The context of a question: what was said in the thread before it, and who asks."""
