"""`slack-bot replay` and `explain`: what a reader would have seen, and why."""
