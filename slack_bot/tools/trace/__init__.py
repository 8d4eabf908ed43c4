"""`slack-bot trace`: the timeline of a turn."""
