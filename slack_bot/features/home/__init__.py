"""The bot's Home tab."""
