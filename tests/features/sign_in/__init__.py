"""Signing in, so that an agent acts with the rights of the asker."""
