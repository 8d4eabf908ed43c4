"""The HTTP API: programs post messages, and webhooks become questions."""
