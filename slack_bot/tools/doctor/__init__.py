"""`slack-bot doctor`: what is wrong with a set-up, and what to do about it."""
