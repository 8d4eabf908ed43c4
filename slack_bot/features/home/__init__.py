"""The Home tab of the bot."""
