"""Agents that ask with forms, and what people do with those."""

from __future__ import annotations

import asyncio
from typing import Any

from slack_bot.testing.harness import CHANNEL, BotHarness
from slack_bot.testing.slack.rendering import SeenMessage
from slack_bot.testing.tape.builders import answer, task
from slack_bot.testing.tape.tape import Moment, Tape

DONE = answer("Deployed.")
ENVS = ["dev", "prod"]
ONE = {"type": "object", "required": ["env"], "properties": {"env": {"title": "Where", "enum": ENVS}}}
SIX = {
    "type": "object",
    "required": ["name", "env"],
    "properties": {
        "name": {"title": "Your name", "type": "string", "maxLength": 20, "pattern": "^[A-Z]"},
        "why": {"title": "Why", "type": "string", "maxLength": 500},
        "count": {"title": "How many", "type": "integer", "minimum": 1, "maximum": 9, "default": 2},
        "sure": {"title": "Sure", "type": "boolean"},
        "day": {"title": "When", "type": "string", "format": "date"},
        "env": {"title": "Where", "enum": ENVS},
    },
}
SECRET = {
    "type": "object",
    "properties": {"token": {"title": "Token", "type": "string", "format": "password"}},
}

SIGN_IN = "https://login.example/x"


def asking(data: Any, text: str = "", *, ids: str = "1", state: str = "input-required") -> Tape:
    """The task asks with a data part, beside `text`."""
    parts = [{"kind": "text", "text": text}] if text else []
    parts.append({"kind": "data", "data": data})
    said = {"kind": "message", "messageId": f"asks-{ids}", "role": "agent", "parts": parts}
    update = {"taskId": f"task-{ids}", "contextId": f"ctx-{ids}", "status": {"state": state, "message": said}}
    event = {"kind": "status-update", **update, "final": True}
    moments = (Moment(0.1, event=task(ids=ids)), Moment(0.5, event=event), Moment(0.6, end="closed"))
    return Tape({"wire": "0.3"}, moments)


def waits(*after: Moment) -> Tape:
    """The task waits for a sign-in."""
    asks = asking({}, f"Sign in at {SIGN_IN}", state="auth-required")
    event = {**(asks.moments[1].event or {}), "final": False}
    return Tape({"wire": "0.3"}, (asks.moments[0], Moment(0.5, event=event), *after))


def approval(*decisions: str, note: str = "<!channel>") -> Tape:
    """As LangChain's middleware asks for a tool call."""
    deploy = {"name": "deploy", "args": {"env": "prod", "note": note}}
    review = {"action_name": "deploy", "allowed_decisions": list(decisions) or ["approve", "reject"]}
    value = {"action_requests": [deploy], "review_configs": [review]}
    return asking({"id": "i1", "value": value}, "May I?")


def form_in(bot: BotHarness, root: str) -> SeenMessage:
    """The message with a form, the newest."""
    return [seen for seen in bot.thread(root) if "form_" in str(seen.blocks) and not seen.ephemeral_for][-1]


async def press(bot: BotHarness, root: str, action: str, user: str = "U1") -> None:
    """And, if it opens a modal, until that is open."""
    bot.workspace.press(user, CHANNEL, form_in(bot, root).ts, action, now=bot.now)
    await bot.deliver()
    await asyncio.sleep(0.1)


async def submit(bot: BotHarness, user: str = "U1", **given: Any) -> None:
    """Fill in the open modal, by labels with _ for spaces, and send it."""
    for label, value in given.items():
        bot.workspace.fill_modal(user, label.replace("_", " "), value, now=bot.now)
    bot.workspace.submit(user, now=bot.now)
    await bot.deliver()


def sent(bot: BotHarness) -> dict[str, Any]:
    """The last message that the agent got."""
    return dict(bot.agent.questions[-1].params["message"])


def told(bot: BotHarness, root: str, user: str) -> list[str]:
    return [text for whom, text in bot.ephemeral(root) if whom == user]
