"""Slack in. Only this room and `app` use Bolt."""
