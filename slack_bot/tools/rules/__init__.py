"""`slack-bot rules`: each of Slack's rules as an experiment, on any workspace."""
