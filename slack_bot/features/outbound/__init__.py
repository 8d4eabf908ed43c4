"""Messages that the bot posts without a question in Slack."""
