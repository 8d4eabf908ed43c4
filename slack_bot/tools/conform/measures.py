"""PURE. What the checks of `conform` look at: one observation of the bot and its agent, measured.

What the reader saw is taken from the thread, what was streamed from the calls that Slack took, and what the
agent meant to say from its raw events, by a way of reading that is not the bot's: a bot that misreads an
answer must not be the judge of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...a2a.wire.decode import decode
from ...a2a.wire.frames import (
    Artifact,
    ArtifactUpdate,
    Frame,
    MessageReply,
    Snapshot,
    StatusUpdate,
    TaskState,
)
from ...errors import AgentError
from ...observe.facts import AddedMarkup, AgentEvent, EventHandled, Fact, TurnEnded, TurnStarted
from ...testing.tape.json_file import Json
from ...turn.actions import RetractText
from ...turn.events import AnswerReplaced, AnswerText, FinalAnswer, PlanChanged, ToolStarted
from ..capture.redaction import Redactor
from ..replay.collector import Collector
from ..replay.result import Sample, Shown
from ..trace.figures import Curve, Summary, timeline
from ..trace.timeline import TimelineBuilder

_OPENING = ("chat.startStream", "chat.appendStream")
_FINAL = ("final_result", "partial_result")
_PIECE = re.compile(r"[^.!?\n]+[.!?]?")
_LONG_ENOUGH = 16  # characters of a piece of narration by which it would be known again


@dataclass(frozen=True, slots=True)
class Measures:
    """One case, measured. Sizes in characters, times in seconds from the question.

    `result` is the object of `replay --json`, `summary` the figures of `trace`; `written` and `visible` are
    characters of the answer over time, known to the bot and standing in the thread. `texts` are the answer's
    parts in the messages of the last turn, without what was added there. `final` is what the agent itself
    called its result (None: nothing), `streamed` the characters that went into a stream, `begun` those of
    them that came with its start, `narration` the sentences it marked as not being the answer. `asked` counts
    how often a question went to the agent, where that could be seen; `questions` is how many there were.
    """

    result: Json
    summary: Summary
    written: Curve
    visible: Curve
    looks: tuple[Sample, ...]
    thread: tuple[Shown, ...]
    texts: tuple[str, ...]
    outcomes: tuple[str, ...]
    streamed: int
    begun: int
    stopped: int
    append_calls: int
    plan_steps: int
    final_chunks: int
    tools: Mapping[str, int]
    tool_order: tuple[str, ...]
    final: str | None
    narration: tuple[str, ...]
    said: str
    questions: int = 1
    asked: int | None = None

    @property
    def total(self) -> int:
        """Characters of answer text that stand in the thread."""
        return len(self.result["visible"])

    @property
    def text(self) -> str:
        """All of it."""
        return str(self.result["visible"])

    @property
    def opened(self) -> bool:
        """Slack took a `chat.startStream`."""
        return any(call["method"] == "chat.startStream" and call["ok"] for call in self.result["calls"])

    @property
    def latched(self) -> bool:
        """The bot knew the answer when it saw it."""
        return bool(self.result["latches"].get("answer_begun"))

    @property
    def already_streamed(self) -> bool:
        """Answer text stood in the thread before the agent said its result."""
        return self.streamed > 0 and self.latched

    @property
    def delivery(self) -> str:
        """How the answer got into the thread."""
        if self.streamed and self.stopped:
            return "split"
        if self.streamed:
            return "live stream"
        if self.stopped:
            return "stopStream only"
        return "posted" if self.total else "empty"


class Attentive(Collector):
    """A witness that keeps everything: all facts, and the visible text each time it changed."""

    def __init__(self) -> None:
        super().__init__()
        self.facts: list[Fact] = []
        self.looks: list[Sample] = []
        self.stood_before = ""
        """The visible text when the last question was asked."""

    def take(self, fact: Fact) -> None:
        """One more fact."""
        super().take(fact)
        self.facts.append(fact)
        if isinstance(fact, TurnStarted) and self.looks:
            self.stood_before = self.looks[-1].visible

    def look(self, at: float, visible: str) -> None:
        """The answer text that stands in the thread at `at`, in monotonic seconds."""
        super().look(at, visible)
        if not self.looks or self.looks[-1].visible != visible:
            self.looks.append(Sample(at, visible, turn=self.turn))


def measure(
    seen: Attentive,
    thread: Sequence[Shown],
    asked_at: float,
    asked: int | None = None,
    masks: Redactor | None = None,
) -> Measures:
    """Measure what was seen of a question that was asked at `asked_at`, in monotonic seconds.

    `asked`: how often a question reached the agent. `masks` take secrets out of the tools' names, whose signs
    are changed here.
    """
    masks = masks or Redactor()
    story = TimelineBuilder(asked_at)
    for fact in seen.facts:
        story.take(fact)
    line, result = timeline("", story, seen.looks), seen.result(thread, asked_at)
    tools = [
        _tool_name(masks.text(event.title))
        for event in _decided(seen.facts)
        if isinstance(event, ToolStarted)
    ]
    plans = [len(event.steps) for event in _decided(seen.facts) if isinstance(event, PlanChanged)]
    frames = list(_frames(seen.facts))
    return Measures(
        result=result,
        summary=line.summary,
        written=_written(seen.facts, asked_at),
        visible=line.visible,
        looks=tuple(seen.looks),
        thread=tuple(thread),
        texts=_last_texts(seen, thread),
        outcomes=tuple(fact.outcome for fact in seen.facts if isinstance(fact, TurnEnded)),
        streamed=sum(len(_chunk_text(call)) for call in _taken(result, *_OPENING)),
        begun=sum(len(_chunk_text(call)) for call in _taken(result, "chat.startStream")),
        stopped=sum(len(_chunk_text(call)) for call in _taken(result, "chat.stopStream")),
        append_calls=sum(bool(_chunk_text(call)) for call in _taken(result, "chat.appendStream")),
        plan_steps=plans[-1] if plans else 0,
        final_chunks=sum(isinstance(event, AnswerText) for event in _decided(seen.facts)),
        tools=dict(sorted(Counter(tools).items())),
        tool_order=tuple(tools),
        final=_final(frames),
        narration=_narration(frames),
        said="\n".join(artifact.text for frame in frames for artifact in _artifacts(frame)),
        questions=sum(isinstance(fact, TurnStarted) for fact in seen.facts),
        asked=asked,
    )


def lag(written: Curve, visible: Curve, end: float, but: int) -> float:
    """The longest that more than `but` characters which the agent had written were not to be seen."""
    longest, at = 0.0, 0
    for t, size in written:
        while at < len(visible) and visible[at][1] < size - but:
            at += 1
        if size > but:
            seen = visible[at][0] if at < len(visible) else end
            longest = max(longest, seen - t)
    return round(longest, 3)


def visible_chars(text: str) -> str:
    """`text` without white space."""
    return "".join(text.split())


def _decided(facts: Sequence[Fact]) -> Iterator[object]:
    return (fact.event for fact in facts if isinstance(fact, EventHandled) and not fact.late)


def _written(facts: Sequence[Fact], asked_at: float) -> Curve:
    """How much of the answer there was over time. What might have been narration still is not counted, and
    neither is what was taken back before anybody saw it.
    """
    curve, size = list[tuple[float, int]](), 0
    for fact in facts:
        if isinstance(fact, EventHandled) and not fact.late:
            event = fact.event
            if taken_back := sum(each.chars for each in fact.actions if isinstance(each, RetractText)):
                size -= taken_back
                curve = [point for point in curve if point[1] <= size]
            if isinstance(event, AnswerText):
                size += len(event.text)
            elif isinstance(event, AnswerReplaced | FinalAnswer):
                size = len(event.text)
            else:
                continue
            curve.append((round(fact.at - asked_at, 4), size))
    return tuple(curve)


def _tool_name(title: str) -> str:
    return re.sub(r"\W+", "_", title.strip().lower()).strip("_")


def _taken(result: Json, *methods: str) -> list[Json]:
    """The calls of these methods that Slack took."""
    return [call for call in result["calls"] if call["method"] in methods and call["ok"]]


def _chunk_text(call: Json) -> str:
    chunks = call["args"].get("chunks") or ()
    return "".join(str(each.get("text", "")) for each in chunks if each.get("type") == "markdown_text")


def _last_texts(seen: Attentive, thread: Sequence[Shown]) -> tuple[str, ...]:
    """The texts of the answer to the last question; what stood there before it was asked is left out."""
    messages = [message for message in thread if message.is_answer]
    before = seen.stood_before
    while before and messages and before.startswith(messages[0].text):
        before = before.removeprefix(messages.pop(0).text)
    ends = (fact for fact in seen.facts if isinstance(fact, TurnEnded))
    added = {each.ts: each for fact in ends for each in fact.markup}
    return tuple(_own_text(message.text, added.get(message.ts)) for message in messages)


def _own_text(text: str, added: AddedMarkup | None) -> str:
    """The answer's part of a message that reads `text`."""
    return text if added is None else text.removeprefix(added.opening).removesuffix(added.closing)


# -- the agent's side ----------------------------------------------------------------------------------------


def _frames(facts: Sequence[Fact]) -> Iterator[Frame]:
    for fact in facts:
        if isinstance(fact, AgentEvent):
            try:
                yield decode(fact.raw)
            except AgentError:
                continue


def _artifacts(frame: Frame) -> tuple[Artifact, ...]:
    match frame:
        case ArtifactUpdate(artifact=artifact):
            return (artifact,)
        case Snapshot(artifacts=artifacts):
            return tuple(artifacts)
        case _:
            return ()


def _final(frames: Sequence[Frame]) -> str | None:
    """What the agent called its result: the last such artifact, in whichever pieces it came.

    An agent that has no artifacts says it with its task's end, or in the only message it sends.
    """
    texts: dict[str, str] = {}
    for frame in frames:
        grows = isinstance(frame, ArtifactUpdate) and frame.append
        for artifact in _artifacts(frame):
            if artifact.name in _FINAL:
                before = texts.pop(artifact.artifact_id, "") if grows else ""
                texts[artifact.artifact_id] = before + artifact.text
    if not any(artifact.text.strip() for frame in frames for artifact in _artifacts(frame)):
        texts |= _said_at_the_end(frames)
    return next((text for text in reversed(texts.values()) if text.strip()), None)


def _said_at_the_end(frames: Sequence[Frame]) -> dict[str, str]:
    replies = [frame.message.text for frame in frames if isinstance(frame, MessageReply)]
    ends = [
        frame.message.text
        for frame in frames
        if isinstance(frame, StatusUpdate | Snapshot)
        and frame.state is TaskState.COMPLETED
        and frame.message is not None
    ]
    said = ends[-1:] or (replies if len(replies) == 1 else [])
    return {f"message {number}": text for number, text in enumerate(said)}


def _narration(frames: Sequence[Frame]) -> tuple[str, ...]:
    """What was marked as narration and as nothing else, by sentences long enough to be told apart."""
    said = list[str]()
    for frame in frames:
        if not isinstance(frame, ArtifactUpdate):
            continue
        flags = frame.artifact.metadata
        tagged = bool(flags.get("is_narration")) and not flags.get("is_final_answer")
        said.append(frame.artifact.text if tagged else "\n")
    pieces = (piece.strip() for piece in _PIECE.findall("".join(said)))
    return tuple(dict.fromkeys(piece for piece in pieces if len(piece) >= _LONG_ENOUGH))
