"""Every request is acknowledged: Slack sends the others again and again."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.testing.harness import run_bot
from slack_bot.testing.slack.workspace import Envelope
from slack_bot.testing.virtual_clock import on_virtual_time

from .payloads import event

PERSON = {"user": {"id": "U1", "team_id": "T1"}, "team": {"id": "T1"}, "trigger_id": "1.1"}


@pytest.mark.parametrize(
    "payload",
    [
        event("reaction_added", reaction="eyes"),
        event("team_join"),
        event("app_home_opened", tab="messages"),
        event("assistant_thread_started"),
        event("message", subtype="message_changed", hidden=True),
        event("something_new_of_2027"),
        {
            **PERSON,
            "type": "block_actions",
            "actions": [{"type": "button", "action_id": "other", "block_id": "b"}],
        },
        {**PERSON, "type": "view_submission", "view": {"id": "V1", "type": "modal", "callback_id": "other"}},
        {**PERSON, "type": "view_closed", "view": {"id": "V1", "type": "modal", "callback_id": "other"}},
        {**PERSON, "type": "shortcut", "callback_id": "other"},
        {**PERSON, "type": "message_action", "callback_id": "other", "message": {}, "channel": {"id": "C1"}},
        {**PERSON, "type": "block_suggestion", "action_id": "other", "block_id": "b", "value": "x"},
        {"command": "/other", "team_id": "T1", "user_id": "U1", "text": ""},
    ],
    ids=lambda payload: (
        str(payload.get("type", payload.get("command"))) + str(payload.get("event", {}).get("type", ""))
    ),
)
@on_virtual_time
async def test_it_is_acknowledged_and_nothing_happens(payload: dict[str, Any]) -> None:
    async with run_bot() as bot:
        assert await bot.deliver([Envelope("e1", "events_api", payload)]) == [200]
        await bot.idle()
        assert bot.agent.calls == []
        assert [call.method for call in bot.workspace.calls] in ([], ["auth.test"])
