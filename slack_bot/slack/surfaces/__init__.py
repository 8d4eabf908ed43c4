"""The ways to write an answer into a thread: a stream, an edited message, one post at the end."""
