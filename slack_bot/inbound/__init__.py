"""Receives events and presses from Slack. Only this room, `features` and `app` use Bolt."""
