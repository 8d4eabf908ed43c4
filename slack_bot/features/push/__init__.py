"""A2A push: agents report by themselves that a watched task has news."""
