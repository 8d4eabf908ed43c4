"""PURE. What happened in the turns of one thread, in order. Replay, explain, trace and conform read it.

The agent's events and the bot's decisions are kept only on demand, so that a long stream fills no memory.
Times are monotonic seconds.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from sys import intern
from typing import TypeAlias
from zlib import crc32

from ..agents.wire.frames import ArtifactUpdate, Frame, MessageReply, Snapshot, StatusUpdate, decode
from ..errors import AgentError
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
from ..text.redaction import Redactor
from ..turn import events
from ..turn.actions import ShowForm
from ..turn.form import Form
from ..turn.progress import MessageRecord
from ..turn.record import Outcome
from .replay.diff import common_prefix

_SAID_CHARS = 200
_ENDED_OTHERWISE = (None, Outcome.FAILED, Outcome.REFUSED, Outcome.STOPPED, Outcome.MERGED, Outcome.GONE)
NO_END = "no terminal state was sent (completed, failed, canceled or rejected; or input-required)"
"""Of a task that its agent left open."""


@dataclass(frozen=True, slots=True)
class AgentOutput:
    """An event of the agent. `number` counts from 1 over all turns; None: the bot read the task itself.

    `new_text` is its text without what earlier events had brought.
    """

    at: float
    number: int | None
    name: str
    text: str
    new_text: str
    frame: Frame | None


@dataclass(frozen=True, slots=True)
class TextChange:
    """From `at` on, the visible text is `kept` characters of what it was, and `added`.

    `chars` is its whole length, `non_space` the length without white space.
    """

    at: float
    kept: int
    added: str
    chars: int
    non_space: int


Entry: TypeAlias = TurnStarted | AgentOutput | EventHandled | SlackCalled | TurnEnded | TextChange


@dataclass(slots=True)
class LoggedTurn:
    """One question and what followed. `before` is the visible text when it was asked.

    `first_answer` is when answer text first came, `first_end` when the first event said that no more of it
    will come, `settled` when the agent itself said so. `forms`: what it asked. `news`: when anything new
    could be read in the thread: text, a card, a form, a note. `said`: the agent's words on its failure, on
    one line, cut, without secrets. `has_task`: the agent named one. `is_over`: it reached a terminal state,
    or waits for the person. `is_away`: the agent could not be asked for it when it was asked last.
    """

    number: int = 0
    before: str = ""
    entries: list[Entry] = field(default_factory=list)
    started: TurnStarted | None = None
    ended: TurnEnded | None = None
    first_answer: float | None = None
    first_end: float | None = None
    settled: float | None = None
    is_stopped: bool = False
    forms: list[Form] = field(default_factory=list)
    news: list[float] = field(default_factory=list)
    said: str = ""
    has_task: bool = False
    is_over: bool = False
    is_away: bool = False

    @property
    def lacks_end(self) -> bool:
        """The agent left its task open, and nothing else says how it ended."""
        outcome = None if self.ended is None else self.ended.outcome
        return self.has_task and not self.is_over and outcome not in _ENDED_OTHERWISE

    @property
    def reason(self) -> str:
        """Why it ended so, with what the agent said of it."""
        why = "" if self.ended is None else self.ended.reason or ""
        return f"{why}: {self.said}" if why and self.said else why

    @property
    def calls(self) -> list[SlackCalled]:
        return [each for each in self.entries if isinstance(each, SlackCalled)]

    @property
    def changes(self) -> list[TextChange]:
        return [each for each in self.entries if isinstance(each, TextChange)]

    @property
    def handled(self) -> list[EventHandled]:
        """What the bot took, in time; only where the log keeps all events."""
        return [each for each in self.entries if isinstance(each, EventHandled) and not each.late]

    @property
    def own_text(self) -> str:
        """The text of this turn alone, as it is in the end."""
        *_, text = (self.before, *(text for _, text in self.texts()))
        return text.removeprefix(self.before).strip()

    def texts(self) -> Iterator[tuple[TextChange, str]]:
        """Each change, and the whole visible text after it."""
        text = self.before
        for change in self.changes:
            text = text[: change.kept] + change.added
            yield change, text


Follow: TypeAlias = Callable[[LoggedTurn, Entry], None]


class TurnLog:
    """The turns of one thread. `follow` gets each entry as it comes, with its turn.

    `keeps_events`: the agent's events and the bot's decisions are kept too.
    """

    def __init__(self, follow: Follow | None = None, *, keeps_events: bool = False) -> None:
        self.turns = [LoggedTurn()]
        self.events: Counter[str] = Counter()
        """How many events of each kind the agent sent."""
        self._follow, self._keeps_events = follow, keeps_events
        self._stream_text = StreamText()
        self._text: str | None = None  # before the first look
        self._beside: object = ()
        self._non_space = 0

    @property
    def text(self) -> str:
        return self._text or ""

    def markup(self) -> dict[str, MessageRecord]:
        """The messages of the answers to which markup was added, by `ts`."""
        ends = (turn.ended for turn in self.turns if turn.ended is not None)
        messages = (each for ended in ends for each in ended.messages)
        return {each.ts: each for each in messages if each.opening or each.closing}

    @property
    def entries(self) -> Iterator[Entry]:
        return (entry for turn in self.turns for entry in turn.entries)

    def take(self, fact: Fact) -> None:
        if isinstance(fact, MessageIgnored | Measure):
            return
        if isinstance(fact, AgentEvent):
            self.events[fact.kind] += not _is_read(fact)
            if self._keeps_events or self._follow is not None:
                self._add(self._output(fact))
            return
        if isinstance(fact, TurnStarted):
            if self.turns[-1].started is not None:
                self.turns.append(LoggedTurn(len(self.turns), self.text))
            self.turns[-1].started = fact
        elif isinstance(fact, TurnEnded):
            self.turns[-1].ended = fact
        elif isinstance(fact, EventHandled):
            _note(self.turns[-1], fact)
        self._add(fact)

    def look(self, at: float, visible: str, beside: object = ()) -> None:
        """The answer text in the thread at `at`; `beside`: what else can be read there, as a value."""
        is_new = visible != self.text or beside != self._beside
        self._beside = beside
        if is_new:
            self.turns[-1].news.append(at)
        if visible == self._text:
            return
        before = self.text
        kept = common_prefix(before, visible)
        # an answer mostly grows, and what is known of its beginning is not counted again
        rest = self._non_space if kept == len(before) else non_space_chars(visible[:kept])
        self._text, self._non_space = visible, rest + non_space_chars(visible[kept:])
        self._add(TextChange(at, kept, visible[kept:], len(visible), self._non_space))

    def _output(self, fact: AgentEvent) -> AgentOutput:
        number = None if _is_read(fact) else self.events.total()
        frame, name, text, new_text = None, fact.kind, "", ""
        with suppress(AgentError):
            frame = decode(fact.raw)
            name, text, new_text = name_of(frame), text_of(frame), self._stream_text.new_text(frame)
        if _is_read(fact) and isinstance(state := fact.raw.get("state"), str):
            name = f"task {state}"
        return AgentOutput(fact.at, number, intern(name), text, new_text, frame)

    def _add(self, entry: Entry) -> None:
        turn = self.turns[-1]
        if self._keeps_events or not isinstance(entry, AgentOutput | EventHandled):
            turn.entries.append(entry)
        if self._follow is not None:
            self._follow(turn, entry)


def _is_read(fact: AgentEvent) -> bool:
    """The bot read the task: the agent itself said nothing."""
    return fact.raw.get("asked") is True


def _note(turn: LoggedTurn, fact: EventHandled) -> None:
    event = fact.event
    turn.is_stopped |= isinstance(event, events.StopRequested)
    if fact.late:
        return
    turn.forms += [each.form for each in fact.actions if isinstance(each, ShowForm)]
    if turn.first_answer is None and is_answer(event):
        turn.first_answer = fact.at
    if turn.first_end is None and isinstance(
        event, events.FinalAnswer | events.TaskEnded | events.StreamEnded
    ):
        turn.first_end = fact.at
    turn.has_task |= isinstance(event, events.TaskKnown) and event.task_id is not None
    if isinstance(event, events.AgentIdle):
        turn.is_away = event.known is events.TaskKnowledge.UNKNOWN
    turn.is_over |= isinstance(event, events.TaskEnded | events.InputRequired)
    if isinstance(event, events.TaskEnded | events.StreamEnded) and event.end != events.TaskEnd.COMPLETED:
        turn.said = _shortened(Redactor().text(event.text)) or turn.said
    if turn.settled is None and isinstance(
        event, events.TaskEnded | events.InputRequired | events.FinalAnswer
    ):
        turn.settled = None if is_guessed(event) else fact.at


def _shortened(text: str) -> str:
    text = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return text if len(text) <= _SAID_CHARS else f"{text[: _SAID_CHARS - 3]}..."


def is_answer(event: object) -> bool:
    """`event` brings answer text."""
    return isinstance(event, events.AnswerText | events.AnswerReplaced | events.FinalAnswer)


def is_guessed(event: object) -> bool:
    """`event` is the bot's own word that what it has is the answer."""
    return isinstance(event, events.FinalAnswer) and not event.certain


def failed_calls(turn: LoggedTurn) -> list[SlackCalled]:
    """The calls that failed, without those that only found that the human had stopped the answer."""
    return [call for call in turn.calls if not call.ok and not is_of_stop(call.error, turn.is_stopped)]


def is_of_stop(error: str | None, is_stopped: bool) -> bool:
    """A call failed so because the human had stopped the answer. `is_stopped`: that is known.

    Slack itself seals a stream when its Stop is pressed.
    """
    return error == "stopped_by_user" or (is_stopped and error == "message_not_in_streaming_state")


def non_space_chars(text: str) -> int:
    """How many characters of `text` are not white space."""
    return sum(map(len, text.split()))


# -- what an event of the agent says -------------------------------------------------------------------------


class StreamText:
    """Knows what an agent's events have said. A task snapshot repeats what came piece by piece.

    Sizes and checksums are kept, not texts.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}

    def new_text(self, frame: Frame) -> str:
        """The part of the event's text that is new."""
        found = ""
        for key, text in _texts(frame):
            size, checksum = self._known.get(key, (0, 0))
            if isinstance(frame, Snapshot):
                self._known[key] = len(text), _checksum(text)
                found += text[size:] if _checksum(text[:size]) == checksum else text
            else:
                if not (isinstance(frame, ArtifactUpdate) and frame.append):
                    size = checksum = 0
                self._known[key] = size + len(text), _checksum(text, checksum)
                found += text
        return found


def name_of(frame: Frame) -> str:
    """What a person would call `frame`: the artifact's name, the state."""
    match frame:
        case ArtifactUpdate(artifact=artifact):
            return artifact.name or "artifact"
        case StatusUpdate(state=state):
            return f"status {state}"
        case Snapshot(state=state):
            return f"task {state}"
        case MessageReply():
            return "message"
        case _:
            return "unknown"


def text_of(frame: Frame) -> str:
    """The text of `frame`."""
    return "".join(text for _, text in _texts(frame))


def _texts(frame: Frame) -> Iterator[tuple[str, str]]:
    """The texts of `frame`, each with a name of what it is a text of."""
    if isinstance(frame, ArtifactUpdate | Snapshot):
        for each in (frame.artifact,) if isinstance(frame, ArtifactUpdate) else frame.artifacts:
            yield f"artifact {each.artifact_id or each.name}", each.text
    if isinstance(frame, StatusUpdate | Snapshot | MessageReply) and frame.message is not None:
        yield f"message {frame.message.message_id}", frame.message.text


def _checksum(text: str, before: int = 0) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"), before)
