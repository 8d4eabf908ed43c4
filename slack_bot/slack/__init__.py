"""Slack out: actions become Web API calls. Knows nothing of agents."""
