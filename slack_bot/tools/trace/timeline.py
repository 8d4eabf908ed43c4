"""PURE. One thread on a time axis: what the agent sent, what was decided and why, which calls were made.

Rows are made entry by entry, so that a live turn is shown while it runs. Times are seconds from the first
question.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Literal, TypeAlias, assert_never

from ...observe.facts import EventHandled, SlackCalled, TurnEnded, TurnStarted
from ...testing.tape.json_file import Json
from ...turn.actions import ShowForm
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
from ..asked import in_words
from ..turn_log import AgentOutput, Entry, LoggedTurn, TextChange, TurnLog, is_guessed, is_of_stop

Lane: TypeAlias = Literal["agent", "decision", "slack"]

EXCERPT = 120
"""Characters kept of any text."""
EXCERPTS = 10_000
"""Rows whose text is kept."""

_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (FinalAnswer, "result"),
    ((AnswerText, AnswerReplaced), "answer"),
    ((ToolStarted, ToolEnded), "tool"),
    (PlanChanged, "plan"),
    (InputRequired, "question"),
    (TaskEnded, "status"),
)
AGENT_KINDS = ("status", "plan", "tool", "narration", "held", "answer", "result", "question", "other")
"""In the order of their lanes."""
_ACTIONS = {
    "AppendText": "append",
    "FlushText": "flush",
    "RetractText": "rewrite",
    "ShowStatus": "status",
    "UpdateCard": "card",
    "SetPlanTitle": "card",
    "RewriteAnswer": "rewrite",
    "ShowForm": "ask",
    "ShowExtra": "append",
    "NameSources": "append",
    "SuggestQuestions": "append",
    "ActInSlack": "append",
    "EndTurn": "close",
}
DECISION_KINDS = ("status", "card", "append", "flush", "rewrite", "ask", "cancel", "close", "dropped")
"""The kinds of decisions."""
_SILENT = ("NoOp", "SaveIds")  # actions that show nothing


@dataclass(frozen=True, slots=True)
class Decision:
    """What the machine made of an event; `actions` are names and reasons."""

    event: str
    reason: str
    actions: tuple[tuple[str, str], ...]
    state: str
    late: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        if self.late:
            return ("dropped",)
        stops = ["cancel"] if self.event == "StopRequested" else []
        found = [_ACTIONS[name] for name, _ in self.actions if name in _ACTIONS]
        return tuple(dict.fromkeys(stops + found))


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a trace. `kind` is one of its lane's; `chars` is the size of its text.

    The lane of decisions also has further questions ("asking") and polls that found nothing new ("look").
    `asked`: the bot read this from the task, the agent did not send it.
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
class TurnStart:
    """How many rows and points of the curve came before a turn, and how high the curve was."""

    rows: int = 0
    points: int = 0
    written: int = 0


class TimelineBuilder:
    """Makes rows of a log's entries. `written` is the size of the agent's answers over time.

    `asked_at`: when the first question was asked, in monotonic seconds; None: rows begin with the first turn.
    `clean` takes secrets out of an excerpt.
    """

    def __init__(self, asked_at: float | None = None, clean: Callable[[str], str] = str) -> None:
        self.asked_at = asked_at
        self.rows: list[Row] = []
        self.written: list[tuple[float, int]] = []
        self.starts = [TurnStart()]
        self.clean = clean
        self._known: dict[Decision, Decision] = {}  # thousands are alike
        self._given = 0  # rows
        self._held = 0  # characters that may turn out to be no answer
        self._open: Row | None = None  # the agent's last event, and since then:
        self._height = 0  # the size of the answers before it
        self._decisions: list[Decision] = []
        self._kinds: set[str] = set()

    def take(self, turn: LoggedTurn, entry: Entry) -> None:
        if self.asked_at is None and not isinstance(entry, TurnStarted):
            return
        match entry:
            case AgentOutput():
                self.settle()
                self._open, self._height = self._event_row(entry), self._size
            case EventHandled():
                self._decide(entry)
            case SlackCalled():
                self.settle()
                self._insert(_call(entry, self.since(entry.at - entry.took), turn.is_stopped))
            case TurnStarted():
                self._start(turn, entry)
            case TurnEnded():
                self.settle()
            case TextChange():
                pass
            case _:
                assert_never(entry)

    def settle(self) -> None:
        """What the agent's last event led to is known: it becomes a row."""
        row, decisions, kinds = self._open, tuple(self._decisions), self._kinds
        self._open, self._decisions, self._kinds = None, [], set()
        if row is None:
            return
        is_status = row.name.startswith(("task", "status"))
        kind = next((each for each in reversed(AGENT_KINDS[:-1]) if each in kinds), "other")
        row = replace(row, decisions=decisions, kind="status" if kind == "other" and is_status else kind)
        if row.asked:
            row = replace(row, chars=max(0, self._size - self._height))
            if not row.chars and all(name in _SILENT for each in decisions for name, _ in each.actions):
                row = replace(row, lane="decision", kind="look", text="")
        self.rows.append(row)

    def _insert(self, row: Row) -> None:
        """A call is known when it returns, and stands at its beginning, as far as rows were not given out."""
        first, at = max(self._given, self.starts[-1].rows), len(self.rows)
        while at > first and self.rows[at - 1].t > row.t:
            at -= 1
        self.rows.insert(at, row)

    def give(self, before: float | None = None) -> list[Row]:
        """The rows that were not given out yet, up to this time; None: all."""
        rows = self.rows[self._given :]
        rows = [*takewhile(lambda row: before is None or row.t < before, rows)]
        self._given += len(rows)
        return rows

    def since(self, at: float) -> float:
        """Seconds from the first question."""
        return round(max(0.0, at - (at if self.asked_at is None else self.asked_at)), 4)

    @property
    def _size(self) -> int:
        return self.written[-1][1] if self.written else 0

    def _event_row(self, output: AgentOutput) -> Row:
        text = self.clean(_excerpt(output.new_text)) if len(self.rows) < EXCERPTS else ""
        t, chars, is_read = self.since(output.at), len(output.new_text), output.number is None
        return Row(t, "agent", "", output.name, text, chars=chars, asked=is_read)

    def _start(self, turn: LoggedTurn, fact: TurnStarted) -> None:
        self.settle()
        self._held = 0
        if self.asked_at is None:
            self.asked_at = fact.at
        if turn.number:
            self.starts.append(TurnStart(len(self.rows), len(self.written), self._size))
            text = self.clean(_excerpt(fact.text))
            self.rows.append(Row(self.since(fact.at), "decision", "asking", fact.user, text))

    def _decide(self, fact: EventHandled) -> None:
        event: Any = fact.event
        if isinstance(event, StreamEnded | StopRequested) or is_guessed(event):
            self.settle()  # nothing that the agent just sent led to this
        t = self.since(fact.at)
        actions = tuple((type(action).__name__, _reason(action)) for action in fact.actions)
        decision = Decision(type(event).__name__, _reason(event), actions, fact.state, fact.late)
        decision = self._known.setdefault(decision, decision)
        if not fact.late:
            self._count(t, event)
        if self._open is None:
            self.rows.append(Row(t, "decision", "bot", decision.event, decisions=(decision,)))
        else:
            self._kinds.add(_kind(event))
            self._decisions.append(decision)

    def _count(self, t: float, event: Event) -> None:
        """The size of the answers after `event`. Held text counts until an answer is known."""
        match event:
            case AnswerText(text=text):
                size, self._held = self._size - self._held + len(text), 0
            case AnswerReplaced(text=text) | FinalAnswer(text=text):
                size, self._held = self.starts[-1].written + len(text), 0
            case Narrated(text=text) if _kind(event) == "held":
                size, self._held = self._size + len(text), self._held + len(text)
            case _:
                return
        self.written.append((t, size))


def build_timeline(log: TurnLog, asked_at: float) -> TimelineBuilder:
    """The rows of a log that kept all events."""
    builder = TimelineBuilder(asked_at)
    for turn in log.turns:
        for entry in turn.entries:
            builder.take(turn, entry)
    return builder


LATE = ("dropped, it came too late", "not shown, the human had stopped it")
"""What becomes of an event that comes too late."""


def late(state: str) -> str:
    """Which of `LATE` it was. `state` is the turn's."""
    return LATE[state == "stopping"]


def _kind(event: object) -> str:
    if isinstance(event, Narrated):
        if event.reason.startswith("unmarked"):
            return "held"
        return "narration" if event.text.strip() and "status" not in event.reason else "other"
    return next((kind for types, kind in _KINDS if isinstance(event, types)), "other")


def _reason(order: Any) -> str:
    asks = in_words(order.form) if isinstance(order, ShowForm) else ""
    return ": ".join(filter(None, [str(getattr(order, "reason", "")), asks]))


def _call(fact: SlackCalled, t: float, is_stopped: bool) -> Row:
    text, name, ok = _words(fact.args), fact.method, fact.ok
    if not ok:
        ok = is_of_stop(fact.error, is_stopped)
        name += ": stopped by the human" if ok else f": {fact.error}"
    return Row(t, "slack", fact.method, name, _excerpt(text), len(text), ok=ok, took=round(fact.took, 4))


def _excerpt(text: str) -> str:
    return " ".join(text[: 4 * EXCERPT].split())[:EXCERPT]


def _words(args: Mapping[str, Any]) -> str:
    """What a call brings to the thread. Beside blocks, `text` is what a notification says."""
    chunks: Sequence[Json] = [each for each in args.get("chunks") or () if isinstance(each, dict)]
    found = "".join(str(chunk.get("text") or "") for chunk in chunks)
    titles = ", ".join(str(chunk.get("title")) for chunk in chunks if chunk.get("title"))
    blocks = [each for each in args.get("blocks") or () if isinstance(each, dict)]
    written = "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "markdown")
    plain = args.get("markdown_text") or args.get("text") or args.get("status") or ""
    return found or titles or written or str(plain)
