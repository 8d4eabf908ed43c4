"""What the playground's agent asks for beyond words, in shapes that are public.

Values by a JSON schema in a data part: it has all kinds of fields, and agents of any framework write it. An
approval by AgentStack's extension: the only one that is written down with a title, a call and its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from a2a.types import AgentExtension, Message

from .scenarios import AskBack, CallTool, Pause, ScenarioStep, ShowPlan, Thought, WriteMove
from .toolbox import SIGN_IN, Prompt

APPROVAL = "https://a2a-extensions.agentstack.beeai.dev/interactions/approval/v1"


@dataclass(frozen=True, slots=True)
class HumanRequest:
    """What goes with the prompt: a data part, or metadata of the message."""

    data: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


_RELEASE: dict[str, Any] = {
    "type": "object",
    "title": "Plan a release",
    "properties": {
        "version": {
            "type": "string",
            "title": "Version",
            "description": "Such as 1.4.0",
            "pattern": r"^[0-9]+[.][0-9]+[.][0-9]+$",
        },
        "environment": {"enum": ["staging", "production"], "title": "Where to"},
        "day": {"type": "string", "format": "date", "title": "Day"},
        "share": {
            "type": "integer",
            "title": "Share of the users, in percent",
            "minimum": 1,
            "maximum": 100,
            "default": 10,
        },
        "tell": {
            "type": "array",
            "title": "Who is told",
            "items": {"enum": ["support", "sales", "everybody"]},
            "default": ["support"],
        },
        "watched": {"type": "boolean", "title": "Watched by somebody", "default": True},
    },
    "propertyOrdering": ["version", "environment", "day", "share", "tell", "watched"],
    "required": ["version", "environment"],
}
_NEEDED = frozenset(_RELEASE["required"])
_VERSION = re.compile(r"(?<![\d.])\d+[.]\d+[.]\d+(?![\d.]*\d)")
_ENVIRONMENT = re.compile("|".join(_RELEASE["properties"]["environment"]["enum"]), re.IGNORECASE)
_RESTART = {
    "title": "Restart the search service",
    "description": "Its answers are late. A restart takes about a minute.",
    "name": "restart_service",
    "input": {"service": "search", "replicas": 3},
}
_DEPLOY = {
    "title": "Deploy to production",
    "description": "Everybody who uses the bot gets the new version.",
    "name": "deploy",
    "input": {"environment": "production", "replicas": 3},
}
REQUESTS = {
    "deploy": HumanRequest(metadata={APPROVAL: _DEPLOY}),
    "release": HumanRequest({"type": "form", "schema": _RELEASE}),
    "restart": HumanRequest(metadata={APPROVAL: _RESTART}),
}


EXTENSIONS = [AgentExtension(uri=APPROVAL, description="Asks for an approval by buttons")]


def decision_in(message: Message | None) -> str:
    """What the human decided, `approve` or `reject`; "" where the message says nothing."""
    try:
        decision = "" if message is None else message.metadata[APPROVAL]["action"]
    except (KeyError, ValueError, TypeError):
        return ""
    return decision if decision in ("approve", "reject") else ""


# -- what leads to them --------------------------------------------------------------------------------------


def think_of_request(prompt: Prompt) -> Thought | None:
    """The moves for a question that leads to a request; None for any other one."""
    asked = _ASKED.match(prompt.question)
    return None if asked is None else _THOUGHTS[asked[1].lower()](prompt)


def _plan_release(prompt: Prompt) -> Thought:
    if prompt.reply is None:
        yield "Before I can plan it, I need to know a few things."
        yield AskBack("Please say what is released.", request="release")
        return
    plan = _plan_in(prompt.reply)
    if not plan.keys() >= _NEEDED:
        lacks = "I need the version, such as 1.4.0, and where to: staging or production."
        yield AskBack(lacks, request="release")
        return
    rows = "\n".join(f"| {_label(name)} | {_in_words(name, value)} |" for name, value in plan.items())
    yield "I write it into the plan."
    yield WriteMove(f"The release is planned.\n\n| what | how |\n| --- | --- |\n{rows}\n")


def _plan_in(reply: str) -> dict[str, str]:
    """The values of the form; where it was answered in words, those that all plans need."""
    lines = [line.partition(":") for line in reply.splitlines()]
    plan = {name.strip(): value.strip() for name, _, value in lines if name.strip() in _RELEASE["properties"]}
    found = {"version": _VERSION.search(reply), "environment": _ENVIRONMENT.search(reply)}
    return plan or {name: match[0].lower() for name, match in found.items() if match is not None}


def _label(name: str) -> str:
    """What the form calls it."""
    title: str = _RELEASE["properties"].get(name, {}).get("title", name)
    return title.partition(",")[0]


def _in_words(name: str, value: str) -> str:
    """A value of the form as one says it."""
    return f"{value} %" if name == "share" else {"true": "yes", "false": "no"}.get(value, value)


def _restart(prompt: Prompt) -> Thought:
    step = ScenarioStep("Restart the search service", "in_progress")
    if prompt.decision == "approve":
        yield ShowPlan((step,))
        yield Pause(2.0)
        yield ShowPlan((replace(step, status="completed"),))
        yield WriteMove("The search service was restarted, one replica after the other. It answers again.\n")
    elif prompt.decision == "reject":
        why = (prompt.reply or "").partition(": ")[2]
        yield WriteMove(f"Then I leave it as it is.{f' I noted why: {why}' if why else ''}\n")
    else:
        yield "This needs somebody's approval."
        yield AskBack("May I restart it?", request="restart")


def _connect_calendar(_: Prompt) -> Thought:
    yield "I may not read your calendar before you sign in."
    yield CallTool(SIGN_IN, "calendar")
    yield WriteMove(
        "You would be signed in now, and here I would read your calendar. This was a demonstration, so there "
        "is none. In the playground, `show my tickets` in a direct message has a sign-in that is real.\n"
    )


_THOUGHTS = {
    "plan a release": _plan_release,
    "restart": _restart,
    "connect my calendar": _connect_calendar,
}
_WHICH = r"(?: it| the (?:search )?service| for [\w. ]{1,30})?(?:,? please)?"
_ASKED = re.compile(rf"\s*(?:please )?({'|'.join(_THOUGHTS)}){_WHICH}\W*\Z", re.IGNORECASE)
