"""PURE. What the page gets: the workspace as a person sees it and the facts of every turn, as plain JSON.

A page gets a snapshot when it connects and small updates from then on. Facts are kept for the last turns.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeAlias

from ..agents.wire.unread import unread_in
from ..observe.facts import (
    AgentEvent,
    EventHandled,
    Fact,
    Measure,
    MessageIgnored,
    SlackCalled,
    TurnEnded,
    TurnStarted,
)
from ..testing.slack.state import PLAN_FAILED
from ..testing.slack.workspace import Change, SeenFile, SeenMessage, Workspace
from ..text.words import READS_ALONG_NO_MORE
from ..turn.buttons import TurnButton
from ..turn.events import StopRequested, StreamEnded, TurnBegun
from ..turn.record import message_id_of
from .windows import Windows

PageUpdate: TypeAlias = dict[str, Any]
Listener: TypeAlias = Callable[[PageUpdate], None]

_TURNS_KEPT = 30
_DEEPEST = 60  # levels of nesting that are sent; an agent's JSON may have a thousand
_NOT_FROM_THE_AGENT = (TurnBegun, StopRequested, StreamEnded)


class Feed:
    """Sends every change to its listeners at once. It observes the bot and listens to the workspace.

    `virtual`: ids of people that no visitor can be. `suggestions`: (label, question) pairs; `direct`: those
    questions that are asked in a direct message. `now`: monotonic seconds. `agent`: the address of an agent
    that is not the playground's. Without `has_bot` no facts come.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        now: Callable[[], float],
        virtual: Iterable[str] = (),
        suggestions: Iterable[tuple[str, str]] = (),
        direct: Container[str] = (),
        agent: str | None = None,
        has_bot: bool = True,
    ) -> None:
        self._workspace = workspace
        self._virtual = frozenset(virtual)
        self._suggestions: list[PageUpdate] = [
            {"label": label, "text": text, **({"direct": True} if text in direct else {})}
            for label, text in suggestions
        ]
        self._agent, self._has_bot = agent, has_bot
        self._now = now
        self._messages: dict[tuple[str, str], dict[str, PageUpdate]] = {}  # by thread, then by ts
        self._statuses: dict[tuple[str, str], tuple[str, str]] = {}  # each with whose it is
        self._pressed: dict[tuple[str, str], dict[str, str]] = {}
        self._faults: PageUpdate = {"slack_faults": {}, "cut_after": None, "away": False}
        self._turns: deque[_TurnFacts] = deque(maxlen=_TURNS_KEPT)
        self._number = 0
        self._listeners: list[Listener] = []
        self.windows = Windows(workspace, self._send)
        workspace.listen(self._changed)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Send updates to `listener` from now on. Returns a function that stops it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def snapshot(self) -> PageUpdate:
        workspace = self._workspace
        people = [person for person in workspace.state.people.values() if not person.is_bot]
        return {
            "type": "snapshot",
            "now": self._now(),
            "bot": {"user_id": workspace.bot.user_id, "name": workspace.bot.name},
            "people": [
                {"id": each.id, "name": each.name, "virtual": each.id in self._virtual} for each in people
            ],
            "channels": [
                {"id": each.id, "name": each.name, "kind": each.kind, "members": sorted(each.members)}
                for each in workspace.state.channels.values()
            ],
            "messages": [message for thread in self._messages.values() for message in thread.values()],
            "statuses": [
                {"channel": channel, "thread_ts": ts, "text": text, "name": name}
                for (channel, ts), (text, name) in self._statuses.items()
            ],
            "facts": sorted(
                (fact for turn in self._turns for fact in turn.facts), key=lambda fact: fact["n"]
            ),
            "suggestions": self._suggestions,
            "agent": self._agent,
            "bot_elsewhere": not self._has_bot,
            "faults": self._faults,
            **self.windows.snapshot(),
        }

    def facts_of(self, turn: str) -> list[PageUpdate]:
        """The facts of one turn as they were sent; [] for one that is not kept."""
        return next((list(each.facts) for each in reversed(self._turns) if each.turn == turn), [])

    def file(self, file_id: str) -> SeenFile | None:
        """A file of a message that is shown; None if there is none."""
        shown = (message for known in self._messages.values() for message in known.values())
        is_shown = any(file["id"] == file_id for message in shown for file in message["files"])
        upload = self._workspace.state.uploads.get(file_id) if is_shown else None
        if upload is None or upload.content is None:
            return None
        return SeenFile(upload.name, content=upload.content, id=upload.id)

    def set_faults(self, faults: PageUpdate) -> None:
        """What goes wrong on purpose from now on: `slack_faults` by method, `cut_after`, `away`."""
        self._faults = faults
        self._send({"type": "faults", "faults": faults})

    def pressed(self, channel: str, ts: str, action_id: str, value: str) -> None:
        """Show a control as pressed: feedback as in Slack's own client, a retry as used."""
        self._pressed.setdefault((channel, ts), {})[action_id] = value
        for known in self._messages.values():
            if (message := known.get(ts)) is not None and message["channel"] == channel:
                self._send_message(known, {**message, "pressed": dict(self._pressed[(channel, ts)])})

    def __call__(self, fact: Fact) -> None:
        """Keep a fact and send it, unless its turn is not kept any more."""
        if isinstance(fact, Measure):
            return
        if isinstance(fact, TurnStarted | MessageIgnored):
            place = (fact.channel, fact.thread_ts)
            self._turns.append(_TurnFacts(fact.turn, place, frozenset(self._messages.get(place, ()))))
        if isinstance(fact, TurnStarted):
            self._asked_again(fact)
        turn = next((each for each in reversed(self._turns) if each.turn == fact.turn), None)
        if turn is None:
            return
        if isinstance(fact, AgentEvent):
            turn.event = self._number + 1
        shown = _shown(fact, turn.event)
        if isinstance(fact, TurnStarted) and self._faults["slack_faults"]:
            shown["slack_faults"] = self._faults["slack_faults"]
        self._keep(turn, fact.at, shown)

    def asked(self, message_id: str, params: Mapping[str, Any]) -> None:
        """What the agent is sent for the turn whose question has this A2A message id."""
        for turn in reversed(self._turns):
            if message_id_of(turn.turn) == message_id:
                self._keep(turn, self._now(), {"kind": "sent", "params": plain(params)})
                return

    def _keep(self, turn: _TurnFacts, at: float, shown: PageUpdate) -> None:
        self._number += 1
        update = {"n": self._number, "at": at, "turn": turn.turn, **shown}
        turn.facts.append(update)
        turn.is_settled |= shown["kind"] in ("visible", "closed", "ignored")
        self._send({"type": "fact", "fact": update})

    def _asked_again(self, fact: TurnStarted) -> None:
        """Show the button that led to this turn as used."""
        before = _attempt_before(fact.turn)
        for message in tuple(self._messages.get((fact.channel, fact.thread_ts), {}).values()):
            if before is not None and before in _retries(message):
                self.pressed(fact.channel, message["ts"], TurnButton.RETRY, before)

    def _send_visible(self, place: tuple[str, str], seen: Iterable[SeenMessage]) -> None:
        """The first text of a turn is in the thread, whatever became of the call that wrote it."""
        open_turns = (each for each in reversed(self._turns) if each.place == place and not each.is_settled)
        turn = next(open_turns, None)
        if turn is not None and any(map(turn.wrote, seen)):
            self._keep(turn, self._now(), {"kind": "visible"})

    # ---- the workspace

    def _changed(self, change: Change) -> None:
        if change.kind != "thread":
            return
        key = (change.channel, change.thread_ts)
        seen = _without_repeats(self._workspace.thread(*key))
        known = self._messages.setdefault(key, {})
        for message in seen:
            self._send_message(known, self._message(change.channel, message))
        self._send_visible(key, seen)
        for ts in set(known) - {message.ts for message in seen}:
            if ts == change.thread_ts and any(message.ephemeral_for is None for message in seen):
                self._send_message(known, {**known[ts], **_TOMBSTONE})
                continue
            del known[ts]
            self._send({"type": "gone", "channel": change.channel, "ts": ts})
        self._send_status(key, (seen[-1].status_line if seen else None) or "")

    def _send_message(self, known: dict[str, PageUpdate], message: PageUpdate) -> None:
        ts, before = message["ts"], known.get(message["ts"])
        if message == before:
            return
        known[ts] = message
        text = before["text"] if before is not None else ""
        if before == {**message, "text": text} and message["text"].startswith(text):
            grown = message["text"][len(text) :]
            self._send({"type": "grow", "channel": message["channel"], "ts": ts, "text": grown})
        else:
            self._send({"type": "message", "message": message})

    def _send_status(self, key: tuple[str, str], text: str) -> None:
        name = self._workspace.state.thread(*key).status_look.get("username", "") if text else ""
        if self._statuses.get(key, ("", "")) != (text, name):
            self._statuses[key] = text, name
            place = {"channel": key[0], "thread_ts": key[1]}
            self._send({"type": "status", **place, "text": text, "name": name})

    def _message(self, channel: str, seen: SeenMessage) -> PageUpdate:
        is_stream = seen.state != "posted" and not seen.edited
        return {
            "channel": channel,
            "ts": seen.ts,
            "thread_ts": seen.thread_ts,
            "author": seen.author,
            "look": dict(seen.look),
            "text": seen.text if is_stream or not seen.blocks else "",  # else the blocks say it
            "blocks": [*plain(seen.blocks), *map(_attachment, seen.attachments)],
            "tasks": plain(seen.tasks),
            "plan_title": seen.plan_title,
            "plan_failed": seen.plan_failed,
            "state": seen.state,
            "for": seen.ephemeral_for,
            "files": [{"id": file.id, "name": file.name, "size": len(file.content)} for file in seen.files],
            "edited": seen.edited,
            "gone": False,
            "ends_listening": seen.is_bot and seen.text == READS_ALONG_NO_MORE,
            "reactions": {name: list(users) for name, users in (seen.reactions or {}).items()},
            "pressed": dict(self._pressed.get((channel, seen.ts), {})),
        }

    def _send(self, update: PageUpdate) -> None:
        for listener in tuple(self._listeners):
            listener(update)


def _attachment(attachment: Mapping[str, Any]) -> PageUpdate:
    """An attachment as a block, which the page can draw: its words, a line each."""
    fields = (f"{each.get('title', '')}: {each.get('value', '')}" for each in attachment.get("fields") or ())
    words = [attachment.get("pretext"), attachment.get("title"), attachment.get("text"), *fields]
    text = "\n".join(str(each) for each in words if each)
    return {
        "type": "section",
        "text": {"type": "plain_text", "text": text or str(attachment.get("fallback", ""))},
    }


_TOMBSTONE: PageUpdate = {
    "text": "This message was deleted.",
    **{"blocks": [], "files": [], "tasks": [], "plan_title": None, "reactions": {}},
    **{"edited": False, "gone": True},
}
"""What is left of the root of a thread with replies."""


def _without_repeats(seen: Sequence[SeenMessage]) -> list[SeenMessage]:
    """A private note replaces an earlier one with the same text."""
    kept: dict[object, SeenMessage] = {}
    for each in seen:
        key = (each.author, each.ephemeral_for, each.text) if each.ephemeral_for else each.ts
        kept.pop(key, None)
        kept[key] = each
    return list(kept.values())


def _retries(message: PageUpdate) -> set[str]:
    """The turns that the buttons of a message ask again."""
    elements = [element for block in message["blocks"] for element in block.get("elements") or ()]
    return {element["value"] for element in elements if element.get("action_id") == TurnButton.RETRY}


def _attempt_before(turn: str) -> str | None:
    """The key of the attempt before `turn` (see `Question.key`); None for a first attempt."""
    first, _, attempt = turn.rpartition(":")
    if turn.count(":") < 3 or not attempt.isdecimal():  # else it ends with what makes a question differ
        return None
    return f"{first}:{int(attempt) - 1}" if int(attempt) > 1 else first


@dataclass
class _TurnFacts:
    """The facts of one turn, as updates."""

    turn: str
    place: tuple[str, str]
    before: frozenset[str]  # the ts of the messages that were there when it began
    facts: list[PageUpdate] = field(default_factory=list)
    is_settled: bool = False  # its first text is shown, or never will be
    event: int | None = None  # the number of its last event of the agent

    def wrote(self, seen: SeenMessage) -> bool:
        """The bot wrote this text in this turn, for everybody."""
        ours = seen.is_bot and seen.ephemeral_for is None and seen.ts not in self.before
        return ours and bool(seen.text.removeprefix(PLAN_FAILED).strip())


_SHOWN: Mapping[type[Fact], tuple[str, str]] = {
    TurnStarted: ("opened", "user text channel thread_ts"),
    SlackCalled: ("call", "method args ok error took"),
    TurnEnded: ("closed", "outcome reason said trace_id latches late"),
    MessageIgnored: ("ignored", "user text reason channel thread_ts"),
}
"""What a page calls a fact, and what it gets of it."""


def _shown(fact: Fact, event: int | None) -> PageUpdate:
    """`event`: the number of the agent's last event."""
    if isinstance(fact, AgentEvent):
        raw = plain(fact.raw)
        unread = [] if raw.get("asked") is True else list(map(str, unread_in(raw)))
        return {"kind": "event", "of": event, "name": fact.kind, "raw": raw, "unread": unread}
    if isinstance(fact, EventHandled):
        of = None if isinstance(fact.event, _NOT_FROM_THE_AGENT) else event
        actions = [named(action) for action in fact.actions]
        rest = {"actions": actions, "state": fact.state, "late": fact.late}
        return {"kind": "decision", "of": of, "event": named(fact.event), **rest}
    kind, names = _SHOWN[type(fact)]
    return {"kind": kind, **{name: plain(getattr(fact, name)) for name in names.split()}}


def plain(value: Any, depth: int = _DEEPEST) -> Any:
    """`value` as JSON: dataclasses become objects, bytes their number, other types their `str`, what is too
    deep "…"."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if depth == 0:
        return "…"
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name), depth - 1) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(inner, depth - 1) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner, depth - 1) for inner in value]
    return f"{len(value)} bytes" if isinstance(value, bytes) else str(value)


def named(value: object) -> PageUpdate:
    """An event or an action with the name of its kind."""
    shown = plain(value)
    rest = shown if isinstance(shown, dict) else {"value": shown}
    return {**rest, "name": type(value).__name__}
