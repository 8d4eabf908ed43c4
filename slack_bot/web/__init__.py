"""Fetches files from addresses that an agent named, without being led into the bot's own network."""
