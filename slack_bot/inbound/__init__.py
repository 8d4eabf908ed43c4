"""Slack in: Bolt's events become questions and presses. Only this room, `features` and `app` use Bolt."""
