"""Messages that the bot writes without being asked in Slack."""
