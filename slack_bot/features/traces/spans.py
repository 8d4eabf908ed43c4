"""PURE. Turns facts into spans: one trace for each turn, from Slack's event to the last call.

The ids of a trace and of its root span are made from the turn's key. So a process that takes a turn over goes
on with the same trace, and the process that ends the turn writes the root. A trace's id begins with the
turn's reference, which readers see after a failure and which the log has. No span holds text.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ...observe import facts
from ...turn.record import Outcome

_MOST = 10_000  # turns whose root is open; of the longest unused no root is made
_ID_CHARS = 200
_WRONG = frozenset({Outcome.FAILED, Outcome.LOST, Outcome.GONE})
_BEGIN_MESSAGES = ("chat.startStream", "chat.postMessage")
_NOTHING: Mapping[str, Any] = {}
Value: TypeAlias = str | int | float | bool
Offset: TypeAlias = Callable[[], float]
"""Returns what to add to monotonic seconds to get seconds since 1970."""


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """A part of a turn that has ended. Times are seconds since 1970; `trace` has 128 bits, `id` and `parent`
    64.

    `error`: what went wrong, or "". `is_request`: a request to another server. `link`: the trace and the root
    span of another turn.
    """

    trace: int
    id: int
    parent: int | None
    name: str
    began: float
    ended: float
    attributes: Mapping[str, Value]
    error: str = ""
    is_request: bool = False
    link: tuple[int, int] | None = None


def ids_of(turn: str) -> tuple[int, int]:
    """The ids of a turn's trace and of its root span."""
    digest = hashlib.sha256(turn.encode()).digest()
    return int.from_bytes(digest[:16]), int.from_bytes(digest[16:24])


@dataclass(slots=True)
class _Open:
    """A span that has not ended. `began`: monotonic seconds."""

    id: int
    began: float
    attributes: Mapping[str, Value]


@dataclass(slots=True)
class _Turn:
    """A turn whose root span has not ended. Times are monotonic seconds.

    `waits`: what happens before the turn starts, and since when. `open`: its other open spans by name.
    """

    key: str
    ids: tuple[int, int]
    began: float
    offset: float
    is_sampled: bool
    waits: dict[str, float] = field(default_factory=dict)
    open: dict[str, _Open] = field(default_factory=dict)
    attributes: dict[str, Value] = field(default_factory=dict)
    unseen_since: float | None = None
    messages: int = 0
    error: str = ""
    link: tuple[int, int] | None = None


class TurnSpans:
    """An observer that makes spans.

    `take` gets each span when it ends. `new_id` returns 64 random bits. `is_sampled` is called once for each
    turn, with the id of its trace.
    """

    wants_details = False

    def __init__(
        self,
        take: Callable[[TraceSpan], None],
        offset: Offset,
        new_id: Callable[[], int],
        is_sampled: Callable[[int], bool] = lambda trace: True,
    ) -> None:
        self._take, self._offset, self._new_id, self._is_sampled = take, offset, new_id, is_sampled
        self._turns = OrderedDict[str, _Turn]()

    def traceparent(self, turn: str) -> str | None:
        """The `traceparent` header (W3C) for a request of this turn to the agent, or None."""
        if (open_turn := self._turns.get(turn)) is None:
            return None
        trace, root = open_turn.ids
        agent_span = open_turn.open.get("agent")
        return (
            f"00-{trace:032x}-{root if agent_span is None else agent_span.id:016x}-{open_turn.is_sampled:02x}"
        )

    def close(self, now: float) -> None:
        """End all open spans but the roots, which belong to the process that goes on with the turns."""
        for turn in self._turns.values():
            for name, open_span in tuple(turn.open.items()):
                open_span.attributes = {**open_span.attributes, "slack_bot.is_left": True}
                self._end(turn, name, now)

    def __call__(self, fact: facts.Fact) -> None:
        match fact:
            case facts.AgentEvent() | facts.EventHandled():
                pass  # of these there may be many a second
            case facts.QuestionStored():
                self._accepted(fact)
            case facts.TurnTakenOver():
                self._begin_at(fact.turn, fact.at, fact.accepted_at).waits["takeover"] = fact.at
            case facts.TurnStarted():
                self._started(fact)
            case facts.FormAnswered():
                self._answered(fact)
            case facts.TurnRecorded():
                self._recorded(fact)
            case _ if fact.turn in self._turns:
                self._went_on(self._turns[fact.turn], fact)

    def _went_on(self, turn: _Turn, fact: facts.Fact) -> None:
        match fact:
            case facts.AgentAsked(at=at):
                self._end(turn, "agent", at, "the question was not taken")
                self._open(turn, "agent", at)
            case facts.AgentHeard(at=at) if "agent" in turn.open:
                self._add(turn, "first event", turn.open["agent"].began, at)
            case facts.AgentLeft(at=at):
                self._end(turn, "agent", at)
            case facts.TextShown(at=at) if turn.unseen_since is not None:
                self._add(turn, "first text", turn.unseen_since, at)
                turn.unseen_since = None
            case facts.SlackCalled():
                self._called(turn, fact)
            case facts.DoubtSettled(at=at, took=took, is_shown=is_shown):
                self._add(turn, "reconcile", at - took, at, attributes={"slack_bot.is_shown": is_shown})
            case facts.TurnEnded():
                self._ended(turn, fact)

    # -- the root

    def _begin(self, key: str, began: float) -> _Turn:
        turn = self._turns.get(key)
        if turn is None:
            trace, root = ids_of(key)
            turn = _Turn(
                key,
                ids=(trace, root),
                began=began,
                offset=self._offset(),
                is_sampled=self._is_sampled(trace),
            )
            self._turns[key] = turn
            if len(self._turns) > _MOST:
                self._turns.popitem(last=False)
        self._turns.move_to_end(key)
        return turn

    def _begin_at(self, key: str, now: float, accepted_at: float | None) -> _Turn:
        return self._begin(key, now if accepted_at is None else accepted_at - self._offset())

    def _accepted(self, fact: facts.QuestionStored) -> None:
        if not fact.is_new:
            return
        turn = self._begin(fact.turn, fact.at - fact.took)
        self._add(turn, "accept", fact.at - fact.took, fact.at, error="" if fact.ok else "it was not stored")
        turn.waits["wait"] = fact.at

    def _started(self, fact: facts.TurnStarted) -> None:
        turn = self._begin_at(fact.turn, fact.at, fact.accepted_at)
        for name in tuple(turn.waits):
            self._add(turn, name, turn.waits.pop(name), fact.at)
        self._end(turn, "watch", fact.at)
        turn.attributes["slack_bot.thread"] = fact.thread_ts
        turn.unseen_since = fact.at

    def _ended(self, turn: _Turn, fact: facts.TurnEnded) -> None:
        for name in tuple(turn.open):
            self._end(turn, name, fact.at)
        if fact.outcome == Outcome.WATCHED:
            self._open(turn, "watch", fact.at)
        attributes = {
            "reason": fact.reason,
            "task": _of_agent(fact.task_id),
            "context": _of_agent(fact.context_id),
            "agent_trace": _of_agent(fact.trace_id),
            "is_whole": fact.is_whole,
            "is_continued": fact.continued or None,
            "fallbacks": ",".join(fact.fallbacks) or None,
            "messages": len(fact.messages),
        }
        turn.attributes |= {
            f"slack_bot.{name}": each for name, each in attributes.items() if each is not None
        }
        turn.error = (fact.reason or fact.outcome) if fact.outcome in _WRONG else ""

    def _recorded(self, fact: facts.TurnRecorded) -> None:
        """End the root. Also for a question that was merged into another one and not asked by itself."""
        record, at = fact.record, fact.at
        turn = self._begin_at(fact.turn, at, record.accepted_at)
        for name in tuple(turn.waits):
            self._add(turn, name, turn.waits.pop(name), at)
        for name in tuple(turn.open):
            self._end(turn, name, at)
        outcome = str(record.outcome)
        turn.attributes |= {"slack_bot.agent": fact.agent, "slack_bot.outcome": outcome}
        if record.takeovers:
            turn.attributes["slack_bot.takeovers"] = record.takeovers
        error = turn.error or (outcome if record.outcome in _WRONG else "")
        more = {
            "id": turn.ids[1],
            "parent": None,
            "attributes": turn.attributes,
            "error": error,
            "link": turn.link,
        }
        self._add(turn, "turn", turn.began, at, **more)
        del self._turns[fact.turn]

    def _answered(self, fact: facts.FormAnswered) -> None:
        """Add the wait for a form to the trace of the turn that asked, with links between both turns."""
        form = fact.form
        trace, root = ids_of(form.turn)
        if (answering_turn := self._turns.get(fact.turn)) is not None:
            answering_turn.link = trace, root
        if self._is_sampled(trace):
            attributes: dict[str, Value] = {
                "slack_bot.turn": form.turn,
                "slack_bot.form": str(form.form.kind),
            }
            until = fact.at + self._offset() if form.ended_at is None else form.ended_at
            wait = trace, self._new_id(), root, "form wait", form.opened_at, until
            self._take(TraceSpan(*wait, attributes, link=ids_of(fact.turn)))

    # -- what is below it

    def _called(self, turn: _Turn, fact: facts.SlackCalled) -> None:
        began = fact.at - fact.took
        values = {
            "method": fact.method,
            "attempt": fact.attempt,
            "waited": round(fact.waited, 3),
            "error": fact.error,
            "fault": fact.fault,
            "retry_after": fact.retry_after,
        }
        about = {f"slack.{name}": value for name, value in values.items() if value is not None}
        more = {"attributes": about, "error": fact.error or "", "is_request": True}
        self._add(turn, f"slack {fact.method}", began, fact.at, **more)
        if fact.ok and fact.method in _BEGIN_MESSAGES and _is_answer(fact.args):
            self._end(turn, "message", began)
            turn.messages += 1
            self._open(turn, "message", began, {"slack_bot.message": turn.messages})
        elif fact.ok and fact.method == "chat.stopStream":
            self._end(turn, "message", fact.at)

    def _open(self, turn: _Turn, name: str, at: float, about: Mapping[str, Value] = _NOTHING) -> None:
        turn.open[name] = _Open(self._new_id(), at, about)

    def _end(self, turn: _Turn, name: str, at: float, error: str = "") -> None:
        if (open_span := turn.open.pop(name, None)) is not None:
            more = {"id": open_span.id, "attributes": open_span.attributes, "error": error}
            self._add(turn, name, open_span.began, at, is_request=name == "agent", **more)

    def _add(self, turn: _Turn, name: str, began: float, ended: float, **more: Any) -> None:
        """Report an ended span below the root. `more`: other fields of `TraceSpan`."""
        if turn.is_sampled:
            trace, root = turn.ids
            fields = {"trace": trace, "parent": root, "name": name, **more}
            fields["id"] = fields.get("id") or self._new_id()
            fields["attributes"] = {"slack_bot.turn": turn.key, **fields.get("attributes", {})}
            fields["began"], fields["ended"] = began + turn.offset, max(began, ended) + turn.offset
            self._take(TraceSpan(**fields))


def _of_agent(name: str | None) -> str | None:
    """An id from the agent, cut to 200 characters."""
    return name and name[:_ID_CHARS]


def _is_answer(args: Mapping[str, Any]) -> bool:
    """Whether the call writes the answer itself, not a notice, a question or an extra."""
    payload = (args.get("metadata") or {}).get("event_payload") or {"kind": "answer"}
    return bool(payload.get("kind") == "answer")
