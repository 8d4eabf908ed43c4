"""The agent's side of a turn, to its end, and past it where the end is not known."""
