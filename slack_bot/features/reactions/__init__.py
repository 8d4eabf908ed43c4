"""Reactions of people that ask, stop, repeat and rate (`reactions` of a channel)."""
