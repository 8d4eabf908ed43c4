"""Publishes the keys with which agents check who asks."""
