"""Bodies of Slack events as they really look, for the tests of this room."""

from __future__ import annotations

from typing import Any

from slack_bot.inbound.read import BotIdentity

ME = BotIdentity("U0BOT", "B0BOT")


def event(kind: str = "message", **changes: Any) -> dict[str, Any]:
    """An event body; `None` takes a field of the event away."""
    inner: dict[str, Any] = {
        "type": kind,
        "user": "U1",
        "text": "<@U0BOT> what is agntcy",
        "ts": "1700000000.000100",
        "channel": "C1",
        "channel_type": "channel",
        "team": "T1",
        "event_ts": "1700000000.000100",
    }
    inner.update(changes)
    return {
        "type": "event_callback",
        "team_id": "T1",
        "api_app_id": "A1",
        "event_id": "Ev1",
        "event_time": 1700000000,
        "authorizations": [{"enterprise_id": None, "team_id": "T1", "user_id": "U0BOT", "is_bot": True}],
        "event": {name: value for name, value in inner.items() if value is not None},
    }


def mention(**changes: Any) -> dict[str, Any]:
    return event("app_mention", **{"channel_type": None, **changes})


def direct(**changes: Any) -> dict[str, Any]:
    return event(**{"channel": "D1", "channel_type": "im", "text": "hello", **changes})
