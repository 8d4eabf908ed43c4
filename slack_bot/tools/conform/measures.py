"""PURE. What the checks of `conform` look at: the log of one case, measured.

What the agent meant is read from its raw events without the bot's parser: a bot that misreads an answer must
not judge it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...a2a.wire import frames
from ...observe.facts import AddedMarkup, EventHandled, TurnEnded
from ...testing.slack.rendering import SeenMessage
from ...testing.tape.json_file import Json
from ...turn.actions import RetractText
from ...turn.events import AnswerReplaced, AnswerText, FinalAnswer, PlanChanged, ToolStarted
from ..capture.redaction import Redactor
from ..replay.result import Observation, holds_answer
from ..trace.figures import Curve, Summary, timeline
from ..trace.timeline import build_timeline
from ..turn_log import AgentOutput, TurnLog

_FINAL = ("final_result", "partial_result")
_PIECE = re.compile(r"[^.!?\n]+[.!?]?")
_LONG_ENOUGH = 16  # characters from which a piece of narration can be recognised


@dataclass(frozen=True, slots=True)
class Measures:
    """One case, measured. Sizes in characters, times in seconds from the question.

    `result` is the object of `replay --json`, `summary` the figures of `trace`. `written` and `visible` are
    characters of the answer over time: known to the bot, and in the thread. `looks` is the visible text after
    each change, `texts` the answer's messages in the last turn. `streamed` are characters that went into a
    stream, `begun` those in its start, `stopped` those in its end. `final` is what the agent called its
    result, `narration` the sentences it marked as no part of the answer, `said` the text of all artifacts.
    Of `questions`, `asked` went to the agent, None: not known.
    """

    result: Json
    summary: Summary
    written: Curve
    visible: Curve
    looks: tuple[str, ...]
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
    def text(self) -> str:
        return str(self.result["visible"])

    @property
    def thread(self) -> list[Json]:
        return list(self.result["thread"])

    @property
    def total(self) -> int:
        return len(self.text)

    @property
    def opened(self) -> bool:
        return any(call["method"] == "chat.startStream" and call["ok"] for call in self.result["calls"])

    @property
    def latched(self) -> bool:
        return bool(self.result["latches"].get("answer_begun"))

    @property
    def already_streamed(self) -> bool:
        """Answer text was in the thread before the agent sent its result."""
        return self.streamed > 0 and self.latched

    @property
    def delivery(self) -> str:
        if self.streamed:
            return "split" if self.stopped else "live stream"
        if self.stopped:
            return "stopStream only"
        return "posted" if self.total else "empty"


def measure(seen: Observation, masks: Redactor | None = None) -> Measures:
    """Measure what a log that kept all events saw.

    `masks` take secrets out of the tools' names before their punctuation is replaced.
    """
    masks = masks or Redactor()
    log, asked_at, result = seen.log, seen.asked_at, seen.result()
    line = timeline("", build_timeline(log, asked_at), log, asked_at)
    started, appended, stopped = (_chunk_texts(result, each) for each in ("start", "append", "stop"))
    handled = [fact for turn in log.turns for fact in turn.handled]
    titles = [masks.text(fact.event.title) for fact in handled if isinstance(fact.event, ToolStarted)]
    tools = [re.sub(r"\W+", "_", title.strip().lower()).strip("_") for title in titles]
    plans = [len(fact.event.steps) for fact in handled if isinstance(fact.event, PlanChanged)]
    sent = [entry.frame for entry in log.entries if isinstance(entry, AgentOutput) and entry.frame]
    return Measures(
        result=result,
        summary=line.summary,
        written=_written(handled, asked_at),
        visible=line.visible,
        looks=tuple(text for turn in log.turns for _, text in turn.texts()),
        texts=tuple(_last_texts(log, seen.thread)),
        outcomes=tuple(entry.outcome for entry in log.entries if isinstance(entry, TurnEnded)),
        streamed=sum(map(len, started + appended)),
        begun=sum(map(len, started)),
        stopped=sum(map(len, stopped)),
        append_calls=sum(map(bool, appended)),
        plan_steps=plans[-1] if plans else 0,
        final_chunks=sum(isinstance(fact.event, AnswerText) for fact in handled),
        tools=dict(sorted(Counter(tools).items())),
        tool_order=tuple(tools),
        final=_final(sent),
        narration=_narration(sent),
        said="\n".join(artifact.text for frame in sent for artifact in _artifacts(frame)),
        questions=sum(turn.started is not None for turn in log.turns),
        asked=seen.sent,
    )


def lag(written: Curve, visible: Curve, end: float, but: int) -> float:
    """The longest time in which more than `but` characters of what the agent had written were not visible."""
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


def _written(handled: Sequence[EventHandled], asked_at: float) -> Curve:
    """How much of the answer there was over time, without what was taken back before it was shown."""
    curve, size = list[tuple[float, int]](), 0
    for fact in handled:
        event = fact.event
        if retracted := sum(each.chars for each in fact.actions if isinstance(each, RetractText)):
            size -= retracted
            curve = [point for point in curve if point[1] <= size]
        if isinstance(event, AnswerText):
            size += len(event.text)
        elif isinstance(event, AnswerReplaced | FinalAnswer):
            size = len(event.text)
        else:
            continue
        curve.append((round(fact.at - asked_at, 4), size))
    return tuple(curve)


def _chunk_texts(result: Json, verb: str) -> list[str]:
    calls = [call for call in result["calls"] if call["method"] == f"chat.{verb}Stream" and call["ok"]]
    chunks = [call["args"].get("chunks") or () for call in calls]
    return ["".join(c.get("text", "") for c in each if c.get("type") == "markdown_text") for each in chunks]


def _last_texts(log: TurnLog, thread: Sequence[SeenMessage]) -> Iterator[str]:
    """The texts of the answer to the last question, without the text before it and without added markup."""
    before, markup = log.turns[-1].before, log.markup()
    for message in thread:
        if not holds_answer(message):
            continue
        if before and before.startswith(message.text):
            before = before.removeprefix(message.text)
            continue
        before, added = "", markup.get(message.ts, AddedMarkup("", "", ""))
        yield message.text.removeprefix(added.opening).removesuffix(added.closing)


# -- the agent's side ----------------------------------------------------------------------------------------


def _artifacts(frame: frames.Frame) -> tuple[frames.Artifact, ...]:
    match frame:
        case frames.ArtifactUpdate(artifact=artifact):
            return (artifact,)
        case frames.Snapshot(artifacts=artifacts):
            return tuple(artifacts)
        case _:
            return ()


def _final(sent: Sequence[frames.Frame]) -> str | None:
    """What the agent called its result: the last such artifact, in one piece or several.

    An agent without artifacts gives it with its task's end, or in the only message it sends.
    """
    artifacts = [(frame, artifact) for frame in sent for artifact in _artifacts(frame)]
    if not any(artifact.text.strip() for _, artifact in artifacts):
        found = _last_message(sent)
        return found if found.strip() else None
    texts: dict[str, str] = {}
    for frame, artifact in artifacts:
        if artifact.name in _FINAL:
            grows = isinstance(frame, frames.ArtifactUpdate) and frame.append
            before = texts.pop(artifact.artifact_id, "") if grows else ""
            texts[artifact.artifact_id] = before + artifact.text
    return next((text for text in reversed(texts.values()) if text.strip()), None)


def _last_message(sent: Sequence[frames.Frame]) -> str:
    replies, end = list[str](), None
    for frame in sent:
        if isinstance(frame, frames.MessageReply):
            replies.append(frame.message.text)
        elif (
            isinstance(frame, frames.StatusUpdate | frames.Snapshot)
            and frame.state is frames.TaskState.COMPLETED
        ):
            end = frame.message.text if frame.message else end
    return end if end is not None else "".join(replies) if len(replies) == 1 else ""


def _narration(sent: Sequence[frames.Frame]) -> tuple[str, ...]:
    """The sentences that were marked as narration only, if they are long enough to be recognised."""
    texts = list[str]()
    for frame in sent:
        if not isinstance(frame, frames.ArtifactUpdate):
            continue
        flags = frame.artifact.metadata
        is_narration = bool(flags.get("is_narration")) and not flags.get("is_final_answer")
        texts.append(frame.artifact.text if is_narration else "\n")
    pieces = (piece.strip() for piece in _PIECE.findall("".join(texts)))
    return tuple(dict.fromkeys(piece for piece in pieces if len(piece) >= _LONG_ENOUGH))
