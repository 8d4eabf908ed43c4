"""A line for each turn: who asked which agent, what came of it, who approved what."""
