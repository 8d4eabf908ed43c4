"""What the bot asks its agent by the clock."""
