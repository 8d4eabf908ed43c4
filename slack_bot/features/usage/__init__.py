"""Counts what answers use, shows it below them, and keeps people and channels within limits."""
