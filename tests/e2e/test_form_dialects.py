"""Recorded questions of many frameworks, answered in Slack: the answer goes out as the framework took it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from slack_bot.testing.harness import BotHarness, run_bot
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.tools.files import open_capture
from tests.form_tapes import press, sent, submit

FOLDER = Path(__file__).parents[1] / "captures" / "forms"
Act = Callable[[BotHarness, str], Awaitable[None]]


def says(text: str) -> Act:
    async def act(bot: BotHarness, root: str) -> None:
        await bot.ask(text, thread_ts=root)

    return act


def presses(button: str, **given: Any) -> Act:
    """A button, and the modal that it opens where something is filled in."""

    async def act(bot: BotHarness, root: str) -> None:
        await press(bot, root, button)
        if given:
            await submit(bot, **given)

    return act


DONE = "Done: the *three* old records are deleted"
ABOUT = {"Name": "Ada", "Day": "2026-11-22", "Size": "Small", "Tags": ["A"], "Sure": "Yes"}
PLAYS: dict[str, tuple[Act, str]] = {
    "adk-words": (says("yes"), DONE),
    "adk-confirmation": (presses("form_approve"), "The tool pay said {'paid': 5, 'to': 'Ada'}."),
    "adk-payload": (presses("form_edit", arguments='{"granted": 4}'), "said {'granted': 4.0}."),
    "kagent-words": (says("yes"), DONE),
    "kagent-confirmation": (presses("form_approve"), DONE),
    "strands-words": (says("yes"), DONE),
    "strands-schema": (presses("form_fill", env="dev", n="3"), DONE),
    "langgraph-words": (says("yes"), DONE),
    "langgraph-edit": (
        presses("form_edit", arguments='{"amount": 7, "to": "Eve"}'), "The tool said: paid 7 to Eve."
    ),
    "langgraph-reject": (presses("form_reject", reason="too much"), "The tool said: too much."),
    "langgraph-schema": (presses("form_fill", env="dev", n="3"), "Deployed: dev 3."),
    "pydantic-ai-edit": (
        presses("form_edit", arguments='{"amount": 7, "to": "Eve"}'), "The tool said: paid 7 to Eve."
    ),
    "pydantic-ai-reject": (presses("form_reject", reason="too much"), "The tool said: too much."),
    "agentstack-form": (presses("form_fill", **ABOUT), "form: {'name': 'Ada', 'day': '2026-11-22'"),
    "agentstack-approval": (presses("form_approve"), "approved: True"),
}  # fmt: skip


def recorded(name: str) -> dict[str, Any]:
    """The message that the framework took."""
    line = (FOLDER / f"{name}_answer.sse").read_text(encoding="utf-8").splitlines()[1]
    message: dict[str, Any] = json.loads(line.removeprefix("# >>> "))["params"]["message"]
    return message


def test_each_recording_is_played() -> None:
    assert {path.stem.removesuffix("_ask") for path in FOLDER.glob("*_ask.sse")} == PLAYS.keys()


@pytest.mark.parametrize("name", PLAYS)
@on_virtual_time
async def test_what_was_asked_is_answered_in_slack_and_goes_on(name: str) -> None:
    act, answer = PLAYS[name]
    tapes = [open_capture(FOLDER / f"{name}_{each}.sse") for each in ("ask", "answer")]
    async with run_bot(*tapes) as bot:
        root = await bot.ask("please")
        await bot.idle()
        await act(bot, root)
        async with asyncio.timeout(600):
            await bot.idle()
        assert bot.outcomes == ["asked", "answered"]
        message, wanted = sent(bot), recorded(name)
        for key in ("parts", "taskId", "contextId"):
            assert message[key] == wanted[key], key
        assert wanted.get("metadata", {}).items() <= message.get("metadata", {}).items()
        assert answer in bot.read(root)[-1]
