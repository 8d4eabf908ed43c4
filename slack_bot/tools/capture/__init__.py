"""`slack-bot capture`: ask a live agent, and keep what it sends."""
