"""A small workspace: one channel, one direct message, a question in each, and short ways to call it."""

from __future__ import annotations

from typing import Any

from slack_bot.testing.slack.rules import EVERYTHING
from slack_bot.testing.slack.workspace import (
    APP_TOKEN,
    BOT_TOKEN,
    SeenMessage,
    Workspace,
    WorkspaceRules,
)

NOW = 1_700_000_000.0
U1 = {"recipient_user_id": "U1", "recipient_team_id": "T1"}


class Scene:
    """`root` is a question of U1 in C1, `direct_root` one in the direct message D1. Time moves by `wait`."""

    def __init__(self, **kwargs: Any) -> None:
        self.workspace = Workspace(**{"manifest": EVERYTHING, **kwargs})
        self.workspace.add_user("U1", "ada")
        self.workspace.add_user("U2", "guest", team="T2")
        self.workspace.add_user("U3", "otherbot", is_bot=True)
        self.workspace.add_channel("C1", "general")
        self.workspace.add_channel("C2", "elsewhere", with_bot=False)
        self.workspace.add_channel("C3", "old").archived = True
        self.now = NOW
        self.root = self.workspace.say("U1", "C1", "<@U0BOT> why?", now=NOW)
        self.direct = self.workspace.direct("U1")
        self.direct_root = self.workspace.say("U1", self.direct, "why?", now=NOW)
        self.workspace.take()

    def wait(self, seconds: float) -> None:
        """Later."""
        self.now += seconds

    def call(self, method: str, _token: str | None = BOT_TOKEN, **args: Any) -> dict[str, Any]:
        """A call with JSON arguments, and what it answers."""
        token = APP_TOKEN if method == "apps.connections.open" and _token == BOT_TOKEN else _token
        return self.workspace.call(method, args, now=self.now, token=token).body

    def error(self, method: str, **args: Any) -> str | None:
        """The error a call gets."""
        error: str | None = self.call(method, **args).get("error")
        return error

    def ok(self, method: str, **args: Any) -> dict[str, Any]:
        """A call that must work."""
        body = self.call(method, **args)
        assert body["ok"], body
        return body

    def start(self, *chunks: dict[str, Any], **args: Any) -> str:
        """Start a stream under the question in C1; its ts."""
        given = {"channel": "C1", "thread_ts": self.root, **U1, **args}
        if chunks:
            given["chunks"] = list(chunks)
        return str(self.ok("chat.startStream", **given)["ts"])

    def append(self, ts: str, *chunks: dict[str, Any]) -> dict[str, Any]:
        """Append chunks that must be taken."""
        return self.ok("chat.appendStream", channel="C1", ts=ts, chunks=list(chunks))

    def stop(self, ts: str, **args: Any) -> dict[str, Any]:
        """Stop a stream that must be open."""
        return self.ok("chat.stopStream", channel="C1", ts=ts, **args)

    def post(self, **args: Any) -> str:
        """Post into the thread in C1; the ts."""
        return str(self.ok("chat.postMessage", channel="C1", thread_ts=self.root, **args)["ts"])

    def seen(self) -> list[SeenMessage]:
        """What stands under the question in C1."""
        return self.workspace.thread("C1", self.root, now=self.now)[1:]

    def last(self) -> SeenMessage:
        """The newest message under the question in C1."""
        return self.seen()[-1]

    def events(self) -> list[dict[str, Any]]:
        """The events in the outbox, taken out of it."""
        return [e.payload["event"] for e in self.workspace.take() if e.type == "events_api"]


def text(words: str) -> dict[str, Any]:
    """A chunk of Markdown."""
    return {"type": "markdown_text", "text": words}


def task(
    task_id: str = "t1", title: str = "Search", status: str = "in_progress", **more: Any
) -> dict[str, Any]:
    """A chunk for a card."""
    return {"type": "task_update", "id": task_id, "title": title, "status": status, **more}


def plain(words: str) -> dict[str, Any]:
    """A plain_text object."""
    return {"type": "plain_text", "text": words}


def button(action_id: str = "retry", value: str = "v", **more: Any) -> dict[str, Any]:
    """A button."""
    return {"type": "button", "action_id": action_id, "value": value, "text": plain("Press"), **more}


def feedback() -> dict[str, Any]:
    """A block with feedback buttons."""
    buttons = {
        "type": "feedback_buttons",
        "action_id": "feedback",
        "positive_button": {"text": plain("Good"), "value": "positive|k"},
        "negative_button": {"text": plain("Bad"), "value": "negative|k"},
    }
    return {"type": "context_actions", "elements": [buttons]}


def context(words: str = "note") -> dict[str, Any]:
    """A context block."""
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": words}]}


def modal(**more: Any) -> dict[str, Any]:
    """A small modal."""
    return {"type": "modal", "title": plain("Form"), "blocks": [{"type": "divider"}], **more}


def rules(**given: Any) -> WorkspaceRules:
    """Rules that differ from the usual ones."""
    return WorkspaceRules(**given)
