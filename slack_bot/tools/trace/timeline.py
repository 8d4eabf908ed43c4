"""PURE. One turn on a time axis: what came from the agent, what was decided and why, what Slack was told.

Built fact by fact, so that a live turn can be shown while it runs. Nothing of the raw events is kept but
their sizes and the beginning of their text: a trace of a very long stream stays small. All times are seconds
from the question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, assert_never

from ...observe.facts import (
    AgentEvent,
    EventHandled,
    Fact,
    MessageIgnored,
    SlackCalled,
    TurnEnded,
    TurnStarted,
)
from ...testing.tape.json_file import Json
from ...turn.events import (
    AnswerReplaced,
    AnswerText,
    Event,
    FinalAnswer,
    InputRequired,
    Narrated,
    PlanChanged,
    StopRequested,
    StreamEnded,
    TaskEnded,
    ToolEnded,
    ToolStarted,
)
from ..replay.result import is_of_stop
from ..replay.stream_text import StreamText, asked_name

Lane: TypeAlias = Literal["agent", "decision", "slack"]

EXCERPT = 120
"""Characters kept of any text."""
EXCERPTS = 10_000
"""Rows whose text is kept; of those after them only the size."""

_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (FinalAnswer, "result"),
    ((AnswerText, AnswerReplaced), "answer"),
    ((ToolStarted, ToolEnded), "tool"),
    (PlanChanged, "plan"),
    (InputRequired, "question"),
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
}
DECISION_KINDS = ("status", "card", "append", "flush", "rewrite", "ask", "cancel", "close", "dropped")
"""What a decision can be."""


_SILENT = ("Noted", "Remember")  # actions by which nobody is shown anything


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
        stops = ["cancel"] if self.event == "StopRequested" else []
        found = [_ACTIONS[name] for name, _ in self.actions if name in _ACTIONS]
        return tuple(dict.fromkeys(stops + found))


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a trace. `kind` is one of its lane's; `chars` is the size of the text in it.

    Besides decisions, the lane of the bot's own holds each further question and each look at the task that
    found nothing new. `asked`: the bot read this from the task, the agent did not send it.
    """

    t: float
    lane: Lane
    kind: str
    name: str
    text: str = ""
    chars: int = 0
    decisions: tuple[Decision, ...] = ()
    ok: bool = True
    took: float = 0.0
    asked: bool = False


@dataclass(frozen=True, slots=True)
class TimelineEnd:
    """How the turn ended."""

    t: float
    outcome: str
    reason: str | None


@dataclass(slots=True)
class TimelineQuestion:
    """One question, and what is known of its turn.

    `rows` and `points` are how many rows and points of the curve came before it, `written` how high that
    was. `settled` is when the agent said that nothing more of it will come.
    """

    t: float
    user: str = ""
    text: str = ""
    rows: int = 0
    points: int = 0
    written: int = 0
    first_answer: float | None = None
    settled: float | None = None
    is_stopped: bool = False
    ending: TimelineEnd | None = None


@dataclass(slots=True)
class TimelineBuilder:
    """Collects facts. `produced` is how many characters of the answers the agent had written, over time.

    `clean` takes out of an excerpt what nobody should see.
    """

    asked_at: float
    clean: Callable[[str], str] = str
    rows: list[Row] = field(default_factory=list)
    produced: list[tuple[float, int]] = field(default_factory=list)
    askings: list[TimelineQuestion] = field(default_factory=list)
    _heard: StreamText = field(default_factory=StreamText)
    _open: Row | None = None
    _decided: list[Decision] = field(default_factory=list)
    _held: int = 0
    _kinds: list[str] = field(default_factory=list)
    _height: int = 0
    _known: dict[Decision, Decision] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    @property
    def asking(self) -> TimelineQuestion:
        """The last question."""
        if not self.askings:
            self.askings.append(TimelineQuestion(0.0))
        return self.askings[-1]

    def take(self, fact: Fact) -> None:
        """One more fact, in the order of time."""
        match fact:
            case AgentEvent():
                self.settle()
                self._open = self._said(fact)
                self._height = self._written
            case EventHandled():
                self._decide(fact)
            case SlackCalled():
                self.settle()
                self.rows.append(_call(fact, self._since(fact.at - fact.took), self.asking.is_stopped))
            case TurnStarted():
                self._ask(fact)
            case TurnEnded():
                self.settle()
                self.asking.ending = TimelineEnd(self._since(fact.at), fact.outcome, fact.reason)
            case MessageIgnored():
                pass
            case _:
                assert_never(fact)

    def settle(self) -> None:
        """What the agent's last event led to is known: it becomes a row."""
        decided, self._decided = tuple(self._decided), []
        kinds, self._kinds = self._kinds, []
        if self._open is None:
            return
        row, self._open = replace(self._open, decisions=decided), None
        kind = next((each for each in reversed(AGENT_KINDS) if each in kinds and each != "other"), "other")
        kind = "status" if kind == "other" and row.name.startswith(("task", "status")) else kind
        if row.asked:
            grown = max(0, self._written - self._height)
            row = replace(row, chars=grown)
            if not grown and not any(name not in _SILENT for each in decided for name, _ in each.actions):
                self.rows.append(replace(row, lane="decision", kind="look", text=""))
                return
        self.rows.append(replace(row, kind=kind))

    @property
    def _written(self) -> int:
        return self.produced[-1][1] if self.produced else 0

    def _said(self, fact: AgentEvent) -> Row:
        said = self._heard.take(fact.kind, fact.raw)
        name = asked_name(fact.raw, said) if fact.from_poll else said.name
        short = self.clean(_excerpt(said.fresh)) if len(self.rows) < EXCERPTS else ""
        name = self._names.setdefault(name, name)
        return Row(
            self._since(fact.at), "agent", "", name, short, chars=len(said.fresh), asked=fact.from_poll
        )

    def _ask(self, fact: TurnStarted) -> None:
        self.settle()
        t, first = self._since(fact.at), not self.askings
        if not first:
            text = self.clean(_excerpt(fact.text))
            self.rows.append(Row(t, "decision", "asking", fact.user, text))
        rows, points = (0, 0) if first else (len(self.rows) - 1, len(self.produced))
        self.askings.append(TimelineQuestion(t, fact.user, fact.text, rows, points, self._written))
        self._held = 0

    def _decide(self, fact: EventHandled) -> None:
        event: Any = fact.event
        if isinstance(event, StreamEnded | StopRequested) or (
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
        self._note(t, event, fact)
        self._kinds.append(_kind(event))
        if self._open is None:
            self._kinds = []
            self.rows.append(Row(t, "decision", "bot", decision.event, decisions=(decision,)))
        else:
            self._decided.append(decision)

    def _note(self, t: float, event: Event, fact: EventHandled) -> None:
        """What `event` says of the turn."""
        asking = self.asking
        asking.is_stopped = asking.is_stopped or isinstance(event, StopRequested)
        if fact.late:
            return
        self._count(t, event)
        is_settled = isinstance(event, TaskEnded | InputRequired | FinalAnswer)
        if is_settled and not (isinstance(event, FinalAnswer) and not event.certain):
            asking.settled = t if asking.settled is None else asking.settled

    def _count(self, t: float, event: Event) -> None:
        """How much of the answer the agent has written by now. Held text counts until an answer is known."""
        asking, before = self.asking, self._written
        match event:
            case AnswerText(text=text):
                now = before - self._held + len(text)
                self._held = 0
            case AnswerReplaced(text=text) | FinalAnswer(text=text):
                now, self._held = asking.written + len(text), 0
            case Narrated(text=text) if _kind(event) == "held":
                now = before + len(text)
                self._held += len(text)
            case _:
                return
        if isinstance(event, AnswerText | AnswerReplaced | FinalAnswer) and asking.first_answer is None:
            asking.first_answer = t
        self.produced.append((t, now))

    def _since(self, at: float) -> float:
        return round(max(0.0, at - self.asked_at), 4)


def _kind(event: object) -> str:
    if isinstance(event, Narrated):
        if event.reason.startswith("unmarked"):
            return "held"
        return "narration" if event.text.strip() and "status" not in event.reason else "other"
    return next((kind for types, kind in _KINDS if isinstance(event, types)), "other")


def _reason(action: Any) -> str:
    return str(getattr(action, "reason", ""))


def _call(fact: SlackCalled, t: float, is_stopped: bool) -> Row:
    text, name, ok = _words(fact.args), fact.method, fact.ok
    if not ok and is_of_stop(fact.error, is_stopped):
        name, ok = f"{fact.method}: stopped by the human", True
    elif not ok:
        name = f"{fact.method}: {fact.error}"
    return Row(t, "slack", fact.method, name, _excerpt(text), len(text), ok=ok, took=round(fact.took, 4))


def _excerpt(text: str) -> str:
    return " ".join(text[: 4 * EXCERPT].split())[:EXCERPT]


def _words(args: Mapping[str, Any]) -> str:
    """The text that a call brings to the thread. Beside blocks, `text` is what a notification says."""
    chunks: Sequence[Json] = [each for each in args.get("chunks") or () if isinstance(each, dict)]
    found = "".join(str(chunk.get("text") or "") for chunk in chunks)
    titles = ", ".join(str(chunk.get("title")) for chunk in chunks if chunk.get("title"))
    blocks = [each for each in args.get("blocks") or () if isinstance(each, dict)]
    written = "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "markdown")
    plain = args.get("markdown_text") or args.get("text") or args.get("status") or ""
    return found or titles or written or str(plain)
