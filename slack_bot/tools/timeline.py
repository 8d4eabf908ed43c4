"""PURE. One turn on a time axis: what came from the agent, what was decided and why, what Slack was told.

Built fact by fact, so that a live turn can be shown while it runs. Nothing of the raw events is kept but
their sizes and the beginning of their text: a trace of a very long stream stays small. All times are seconds
from the question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, assert_never

from ..a2a.decode import decode
from ..a2a.frames import ArtifactUpdate, Frame, Reply, Snapshot, StatusUpdate
from ..errors import AgentError
from ..observe.facts import AgentEvent, Decided, Fact, SlackCalled, TurnClosed, TurnOpened
from ..turn.events import (
    AnswerReplaced,
    AnswerText,
    Event,
    FinalAnswer,
    HumanAsked,
    Narrated,
    PlanChanged,
    StopPressed,
    StreamEnded,
    TaskEnded,
    ToolEnded,
    ToolStarted,
)
from .jsonfile import Json

Lane: TypeAlias = Literal["agent", "decision", "slack"]

EXCERPT = 120
"""Characters kept of any text."""
EXCERPTS = 10_000
"""Rows whose text is kept; of those after them only the size."""
EXCERPTS = 10_000
"""Rows whose text is kept; of those after them only the size."""

_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (FinalAnswer, "result"),
    ((AnswerText, AnswerReplaced), "answer"),
    ((ToolStarted, ToolEnded), "tool"),
    (PlanChanged, "plan"),
    (HumanAsked, "question"),
    (TaskEnded, "status"),
)
AGENT_KINDS = ("status", "plan", "tool", "narration", "held", "answer", "result", "question", "other")
"""What an event of the agent can be, in the order of its lanes."""
_ACTIONS = {
    "AppendText": "append",
    "FlushText": "flush",
    "TakeBack": "rewrite",
    "ShowStatus": "status",
    "UpdateCard": "card",
    "RetitlePlan": "card",
    "RewriteAnswer": "rewrite",
    "AskForm": "ask",
    "Close": "close",
    "CancelTask": "cancel",
}
DECISION_KINDS = ("status", "card", "append", "flush", "rewrite", "ask", "cancel", "close", "dropped")
"""What a decision can be."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the machine made of something: the event's name, why it was taken so, what is done and why."""

    event: str
    why: str
    actions: tuple[tuple[str, str], ...]
    state: str
    late: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        """Which of `DECISION_KINDS` it is."""
        if self.late:
            return ("dropped",)
        found = dict.fromkeys(_ACTIONS[name] for name, _ in self.actions if name in _ACTIONS)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a trace. `kind` is one of its lane's; `chars` is the size of the text in it."""

    t: float
    lane: Lane
    kind: str
    name: str
    text: str = ""
    chars: int = 0
    decisions: tuple[Decision, ...] = ()
    ok: bool = True
    took: float = 0.0


@dataclass(frozen=True, slots=True)
class Ending:
    """How the turn ended."""

    t: float
    outcome: str
    reason: str | None


@dataclass(slots=True)
class Story:
    """Collects facts. `produced` is how many characters of the answer the agent had written, over time.

    `clean` takes out of an excerpt what nobody should see.
    """

    asked_at: float
    clean: Callable[[str], str] = str
    rows: list[Row] = field(default_factory=list)
    produced: list[tuple[float, int]] = field(default_factory=list)
    chars: Counter[str] = field(default_factory=Counter)
    first_answer: float | None = None
    ending: Ending | None = None
    question: str = ""
    _open: tuple[float, str, str, int] | None = None
    _decided: list[Decision] = field(default_factory=list)
    _held: int = 0
    _kinds: list[str] = field(default_factory=list)
    _known: dict[Decision, Decision] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    def take(self, fact: Fact) -> None:
        """One more fact, in the order of time."""
        match fact:
            case AgentEvent():
                self.settle()
                name, text = told(fact.kind, fact.raw)
                short = self.clean(_excerpt(text)) if len(self.rows) < EXCERPTS else ""
                self._open = (self._since(fact.at), self._names.setdefault(name, name), short, len(text))
            case Decided():
                self._decide(fact)
            case SlackCalled():
                self.settle()
                self.rows.append(_call(fact, self._since(fact.at - fact.took)))
            case TurnOpened():
                self.question = self.question or fact.text
            case TurnClosed():
                self.settle()
                self.ending = Ending(self._since(fact.at), fact.outcome, fact.reason)
            case _:
                assert_never(fact)

    def settle(self) -> None:
        """What the agent's last event led to is known: it becomes a row."""
        decided, self._decided = tuple(self._decided), []
        kinds, self._kinds = self._kinds, []
        if self._open is None:
            return
        (t, name, text, chars), self._open = self._open, None
        kind = next((each for each in reversed(AGENT_KINDS) if each in kinds and each != "other"), "other")
        kind = "status" if kind == "other" and name.startswith(("task", "status")) else kind
        self.chars[kind] += chars
        self.rows.append(Row(t, "agent", kind, name, text, chars, decided))

    def _decide(self, fact: Decided) -> None:
        event: Any = fact.event
        if isinstance(event, StreamEnded | StopPressed) or (
            isinstance(event, FinalAnswer) and not event.certain
        ):
            self.settle()  # nothing that the agent just sent led to this
        t = self._since(fact.at)
        decision = Decision(
            type(event).__name__,
            str(getattr(event, "why", "")),
            tuple((type(action).__name__, _reason(action)) for action in fact.actions),
            fact.state,
            fact.late,
        )
        decision = self._known.setdefault(decision, decision)  # thousands are alike
        if not fact.late:
            self._count(t, event)
        self._kinds.append(_kind(event))
        if self._open is None:
            self._kinds = []
            self.rows.append(Row(t, "decision", "bot", decision.event, decisions=(decision,)))
        else:
            self._decided.append(decision)

    def _count(self, t: float, event: Event) -> None:
        """How much of the answer the agent has written by now. Held text counts until an answer is known."""
        before = self.produced[-1][1] if self.produced else 0
        match event:
            case AnswerText(text=text):
                now = before - self._held + len(text)
                self._held = 0
            case AnswerReplaced(text=text) | FinalAnswer(text=text):
                now, self._held = len(text), 0
            case Narrated(text=text) if _kind(event) == "held":
                now = before + len(text)
                self._held += len(text)
            case _:
                return
        if isinstance(event, AnswerText | AnswerReplaced | FinalAnswer) and self.first_answer is None:
            self.first_answer = t
        self.produced.append((t, now))

    def _since(self, at: float) -> float:
        return round(max(0.0, at - self.asked_at), 4)


def _kind(event: object) -> str:
    if isinstance(event, Narrated):
        if event.why.startswith("unmarked"):
            return "held"
        return "narration" if event.text.strip() and "status" not in event.why else "other"
    return next((kind for types, kind in _KINDS if isinstance(event, types)), "other")


def told(kind: str, raw: Mapping[str, Any]) -> tuple[str, str]:
    """What an event is called, and the text it brings."""
    try:
        frame = decode(raw)
    except AgentError:
        return kind, ""
    return name_of(frame), text_of(frame)


def name_of(frame: Frame) -> str:
    """What a person would call `frame`: the artifact's name, the state."""
    match frame:
        case ArtifactUpdate(artifact=artifact):
            return artifact.name or "artifact"
        case StatusUpdate(state=state):
            return f"status {state}"
        case Snapshot(state=state):
            return f"task {state}"
        case Reply():
            return "message"
        case _:
            return "unknown"


def text_of(frame: Frame) -> str:
    """The text that `frame` brings."""
    match frame:
        case ArtifactUpdate(artifact=artifact):
            return artifact.text
        case StatusUpdate(message=message) if message is not None:
            return message.text
        case Snapshot(artifacts=artifacts, message=message):
            return "".join(each.text for each in artifacts) + (message.text if message else "")
        case Reply(message=message):
            return message.text
        case _:
            return ""


def _reason(action: Any) -> str:
    return str(getattr(action, "reason", ""))


def _call(fact: SlackCalled, t: float) -> Row:
    text = _words(fact.args)
    name = fact.method if fact.ok else f"{fact.method}: {fact.error}"
    return Row(t, "slack", fact.method, name, _excerpt(text), len(text), ok=fact.ok, took=round(fact.took, 4))


def _excerpt(text: str) -> str:
    return " ".join(text[: 4 * EXCERPT].split())[:EXCERPT]


def _words(args: Mapping[str, Any]) -> str:
    """The text that a call brings to the thread."""
    chunks: Sequence[Json] = [each for each in args.get("chunks") or () if isinstance(each, dict)]
    found = "".join(str(chunk.get("text") or "") for chunk in chunks)
    titles = ", ".join(str(chunk.get("title")) for chunk in chunks if chunk.get("title"))
    return found or titles or str(args.get("markdown_text") or args.get("text") or args.get("status") or "")
