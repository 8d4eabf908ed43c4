"""What a page is told of prompts; modals and the Home tab are in the tests of `page_orders`."""

from __future__ import annotations

from typing import Any

from slack_bot.playground.windows import Windows
from slack_bot.testing.slack.workspace import BOT_TOKEN, Workspace


def test_suggested_prompts_are_told_when_they_change() -> None:
    workspace, told = Workspace(), list[dict[str, Any]]()
    windows = Windows(workspace, told.append)
    args = {"channel_id": workspace.direct("U1"), "prompts": [{"title": "A joke", "message": "tell me one"}]}
    for now in (1.0, 2.0):
        answer = workspace.call(
            "assistant.threads.setSuggestedPrompts", args, now=now, token=BOT_TOKEN, is_json=True
        )
        assert answer.body["ok"], answer.body
    shown = {"channel": args["channel_id"], "thread_ts": "", "prompts": args["prompts"]}
    assert told == [{"type": "prompts", **shown}]
    assert windows.snapshot()["prompts"] == [shown]
    assert windows.snapshot()["homes"] == {}
