"""The ways to write an answer into a thread: a native stream, an edited message, a post."""
