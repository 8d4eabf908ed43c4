"""Who may call Slack next."""
