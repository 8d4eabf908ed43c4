"""The conversation: which turn runs in a thread, when, and in which process."""
