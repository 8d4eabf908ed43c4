"""Text: cut, counted, made harmless, compared. Knows nothing of turns, Slack or agents."""
