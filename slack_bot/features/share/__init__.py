"""Sends an answer to the channel of its thread too, when its asker wants that."""
