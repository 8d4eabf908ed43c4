"""PURE. What the page is told: the workspace as a person sees it, and the facts of every turn, as plain JSON.

A page gets a snapshot when it connects and small changes from then on; both are called *tales* here, an
object with a `type` each. A message that grew is told by what it grew by, because a live answer grows a
hundred times. Facts are kept for the last turns only, so the playground may stay open for days.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias, assert_never

from ..observe.facts import (
    AgentEvent,
    EventHandled,
    Fact,
    MessageIgnored,
    SlackCalled,
    TurnEnded,
    TurnStarted,
)
from ..slack.blocks import RETRY
from ..testing.slack.thread_view import PLAN_FAILED
from ..testing.slack.workspace import Change, SeenFile, SeenMessage, Workspace
from ..turn.events import StopRequested, StreamEnded, TurnBegun

Tale: TypeAlias = dict[str, Any]
Listener: TypeAlias = Callable[[Tale], None]

_TURNS_KEPT = 30
_DEEPEST = 60  # objects within objects that are told; an agent's JSON may be nested a thousand deep
_NOT_FROM_THE_AGENT = (TurnBegun, StopRequested, StreamEnded)


class Feed:
    """Tells every listener what changes, at once. It is a `Observer` and listens to the workspace.

    `virtual` are the ids of people whom no visitor can be; `suggestions` are (label, question) pairs.
    `now` is the clock of the facts, in monotonic seconds.
    `agent` is the address of an agent that is not the playground's own, fit to be shown.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        now: Callable[[], float],
        virtual: Iterable[str] = (),
        suggestions: Iterable[tuple[str, str]] = (),
        agent: str | None = None,
    ) -> None:
        self._workspace = workspace
        self._virtual = frozenset(virtual)
        self._suggestions = [{"label": label, "text": text} for label, text in suggestions]
        self._agent = agent
        self._now = now
        self._messages: dict[tuple[str, str], dict[str, Tale]] = {}  # by thread, then by ts
        self._statuses: dict[tuple[str, str], str] = {}
        self._pressed: dict[tuple[str, str], dict[str, str]] = {}
        self._trouble: Tale = {"slack_faults": {}, "cut_after": None}
        self._turns: deque[_Story] = deque(maxlen=_TURNS_KEPT)
        self._number = 0
        self._listeners: list[Listener] = []
        workspace.listen(self._changed)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell `listener` from now on. Returns: stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def snapshot(self) -> Tale:
        """Everything as it stands."""
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
                {"channel": channel, "thread_ts": ts, "text": text}
                for (channel, ts), text in self._statuses.items()
            ],
            "facts": sorted(
                (fact for story in self._turns for fact in story.facts), key=lambda fact: fact["n"]
            ),
            "suggestions": self._suggestions,
            "agent": self._agent,
            "trouble": self._trouble,
        }

    def facts_of(self, turn: str) -> list[Tale]:
        """The facts of one turn as they were told; [] where it is not kept any more."""
        return next((list(story.facts) for story in reversed(self._turns) if story.turn == turn), [])

    def file(self, file_id: str) -> SeenFile | None:
        """What was uploaded with a message that the pages know; None where no such file was."""
        told = (message for known in self._messages.values() for message in known.values())
        stands = any(file["id"] == file_id for message in told for file in message["files"])
        upload = self._workspace.state.uploads.get(file_id) if stands else None
        if upload is None or upload.content is None:
            return None
        return SeenFile(upload.name, content=upload.content, id=upload.id)

    def troubled(self, trouble: Tale) -> None:
        """What goes wrong on purpose from now on: `slack_faults` by method, `cut_after`."""
        self._trouble = trouble
        self._tell({"type": "trouble", "trouble": trouble})

    def pressed(self, channel: str, ts: str, action_id: str, value: str) -> None:
        """A control shows as pressed from now on: feedback as in Slack's own client, a retry as used."""
        self._pressed.setdefault((channel, ts), {})[action_id] = value
        for known in self._messages.values():
            if (message := known.get(ts)) is not None and message["channel"] == channel:
                self._tell_message(known, {**message, "pressed": dict(self._pressed[(channel, ts)])})

    def __call__(self, fact: Fact) -> None:
        """Keep a fact, and tell it. A fact of a turn that is not kept is not told."""
        if isinstance(fact, TurnStarted | MessageIgnored):
            place = (fact.channel, fact.thread_ts)
            self._turns.append(_Story(fact.turn, place, frozenset(self._messages.get(place, ()))))
        if isinstance(fact, TurnStarted):
            self._asked_again(fact)
        story = next((each for each in reversed(self._turns) if each.turn == fact.turn), None)
        if story is None:
            return
        self._number += 1
        told = story.take(self._number, fact)
        if isinstance(fact, TurnStarted) and self._trouble["slack_faults"]:
            told["slack_faults"] = self._trouble["slack_faults"]
        self._tell({"type": "fact", "fact": told})

    def _asked_again(self, fact: TurnStarted) -> None:
        """The button that led to this turn has done its work."""
        before = _attempt_before(fact.turn)
        for message in tuple(self._messages.get((fact.channel, fact.thread_ts), {}).values()):
            if before is not None and before in _retries(message):
                self.pressed(fact.channel, message["ts"], RETRY, before)

    def _text_stands(self, place: tuple[str, str], seen: Iterable[SeenMessage]) -> None:
        """A turn's first text is in its thread: a call may have written it whatever its answer was."""
        story = next((each for each in reversed(self._turns) if each.place == place), None)
        if story is None or story.is_settled or not any(map(story.wrote, seen)):
            return
        self._number += 1
        self._tell({"type": "fact", "fact": story.add(self._number, self._now(), {"kind": "visible"})})

    # ---- the workspace

    def _changed(self, change: Change) -> None:
        if change.kind != "thread":
            return
        key = (change.channel, change.thread_ts)
        seen = _without_repeats(self._workspace.thread(*key))
        known = self._messages.setdefault(key, {})
        for message in seen:
            self._tell_message(known, self._message(change.channel, message))
        self._text_stands(key, seen)
        for ts in set(known) - {message.ts for message in seen}:
            del known[ts]
            self._tell({"type": "gone", "channel": change.channel, "ts": ts})
        self._tell_status(key, (seen[-1].status_line if seen else None) or "")

    def _tell_message(self, known: dict[str, Tale], message: Tale) -> None:
        ts, before = message["ts"], known.get(message["ts"])
        if message == before:
            return
        known[ts] = message
        if before is not None and _only_grew(before, message):
            grown = message["text"][len(before["text"]) :]
            self._tell({"type": "grow", "channel": message["channel"], "ts": ts, "text": grown})
            return
        self._tell({"type": "message", "message": message})

    def _tell_status(self, key: tuple[str, str], text: str) -> None:
        if self._statuses.get(key, "") == text:
            return
        self._statuses[key] = text
        self._tell({"type": "status", "channel": key[0], "thread_ts": key[1], "text": text})

    def _message(self, channel: str, seen: SeenMessage) -> Tale:
        is_stream = seen.state != "posted" and not seen.edited
        return {
            "channel": channel,
            "ts": seen.ts,
            "thread_ts": seen.thread_ts,
            "author": seen.author,
            "text": seen.text if is_stream or not seen.blocks else "",  # else the blocks say it
            "blocks": plain(seen.blocks),
            "tasks": plain(seen.tasks),
            "plan_title": seen.plan_title,
            "plan_failed": seen.plan_failed,
            "state": seen.state,
            "for": seen.ephemeral_for,
            "files": [{"id": file.id, "name": file.name, "size": len(file.content)} for file in seen.files],
            "reactions": {name: len(users) for name, users in (seen.reactions or {}).items()},
            "pressed": dict(self._pressed.get((channel, seen.ts), {})),
        }

    def _tell(self, tale: Tale) -> None:
        for listener in tuple(self._listeners):
            listener(tale)


def _without_repeats(seen: Sequence[SeenMessage]) -> list[SeenMessage]:
    """A private note that says again what an earlier one said takes its place: one thanks is enough."""
    last = {(each.author, each.ephemeral_for, each.text): each.ts for each in seen if each.ephemeral_for}
    return [
        each
        for each in seen
        if not each.ephemeral_for or last[(each.author, each.ephemeral_for, each.text)] == each.ts
    ]


def _retries(message: Tale) -> set[str]:
    """The turns that the buttons of a message offer to ask again."""
    elements = [element for block in message["blocks"] for element in block.get("elements") or ()]
    return {element["value"] for element in elements if element.get("action_id") == RETRY}


def _attempt_before(turn: str) -> str | None:
    """The key of the turn that `turn` asks again (see `Question.key`); None for a first attempt."""
    first, _, attempt = turn.rpartition(":")
    if turn.count(":") < 3:
        return None
    return f"{first}:{int(attempt) - 1}" if int(attempt) > 1 else first


def _only_grew(before: Tale, message: Tale) -> bool:
    same = {**message, "text": before["text"]} == before
    return same and str(message["text"]).startswith(before["text"])


class _Story:
    """The facts of one turn, told."""

    def __init__(self, turn: str, place: tuple[str, str], before: frozenset[str]) -> None:
        self.turn = turn
        self.place = place
        self._before = before  # the ts of what stood there when it began
        self.facts: list[Tale] = []
        self.is_settled = False  # its first text stands, or never will
        self._event: int | None = None

    def wrote(self, seen: SeenMessage) -> bool:
        """The bot wrote this in the turn, and there is text in it for everybody."""
        ours = seen.is_bot and seen.ephemeral_for is None and seen.ts not in self._before
        return ours and bool(seen.text.removeprefix(PLAN_FAILED).strip())

    def take(self, number: int, fact: Fact) -> Tale:
        return self.add(number, fact.at, self._told(number, fact))

    def add(self, number: int, at: float, what: Tale) -> Tale:
        told = {"n": number, "at": at, "turn": self.turn, **what}
        self.facts.append(told)
        self.is_settled |= what["kind"] in ("visible", "closed", "ignored")
        return told

    def _told(self, number: int, fact: Fact) -> Tale:
        match fact:
            case TurnStarted():
                where = {"channel": fact.channel, "thread_ts": fact.thread_ts}
                return {"kind": "opened", "user": fact.user, "text": fact.text, **where}
            case AgentEvent():
                self._event = number
                return {"kind": "event", "of": number, "name": fact.kind, "raw": plain(fact.raw)}
            case EventHandled():
                of = None if isinstance(fact.event, _NOT_FROM_THE_AGENT) else self._event
                actions = [named(action) for action in fact.actions]
                return {
                    "kind": "decision", "of": of, "event": named(fact.event), "actions": actions,
                    "state": fact.state, "late": fact.late,
                }  # fmt: skip
            case SlackCalled():
                answer = {"ok": fact.ok, "error": fact.error, "took": fact.took}
                return {"kind": "call", "method": fact.method, "args": plain(fact.args), **answer}
            case TurnEnded():
                end = {"outcome": str(fact.outcome), "reason": fact.reason, "trace_id": fact.trace_id}
                return {"kind": "closed", **end, "latches": dict(fact.latches), "late": fact.late}
            case MessageIgnored():
                where = {"channel": fact.channel, "thread_ts": fact.thread_ts}
                return {
                    "kind": "ignored", "user": fact.user, "text": fact.text, "reason": fact.reason, **where
                }  # fmt: skip
            case _:
                assert_never(fact)


def plain(value: Any, depth: int = _DEEPEST) -> Any:
    """`value` as JSON has it: dataclasses become objects, everything that is no JSON its own words.

    What is nested deeper than `depth` is left out, with a sign in its place.
    """
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if depth == 0:
        return "…"
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name), depth - 1) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(inner, depth - 1) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner, depth - 1) for inner in value]
    return str(value)


def named(value: object) -> Tale:
    """An event or an action with the name of its kind."""
    shown = plain(value)
    rest = shown if isinstance(shown, dict) else {"value": shown}
    return {**rest, "name": type(value).__name__}
