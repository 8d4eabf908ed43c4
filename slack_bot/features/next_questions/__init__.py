"""Asks the next question that an agent suggests, for the person who presses its button."""
