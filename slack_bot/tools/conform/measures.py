"""PURE. What the checks of `conform` look at: the log of one case, measured.

What the agent meant is read from its raw events without the bot's parser: a bot that misreads an answer must
not judge it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from ...agents.dialects.table import ANSWER_MARKS, NARRATION_MARKS
from ...agents.wire import frames
from ...observe.facts import EventHandled, TurnEnded
from ...testing.slack.rendering import SeenMessage
from ...testing.tape.json_file import Json
from ...text.redaction import Redactor
from ...turn.events import AnswerText, PlanChanged, ToolStarted
from ...turn.progress import MessageRecord
from ..pace import Curve, burst_share_of, late_from, live_chars, live_share, rises
from ..replay.result import Observation, holds_answer
from ..sent import sent_curve
from ..trace.figures import Summary, timeline
from ..trace.timeline import build_timeline
from ..turn_log import AgentOutput, LoggedTurn, TurnLog, non_space_chars

_FINAL = ("final_result", "partial_result")
_PIECE = re.compile(r"[^.!?\n]+[.!?]?")
_ADDRESS = re.compile(r'"(https?://[^"\s]+)"')
_KNOWN = 0.9  # the part of an answer from which on it is known when it was sent
_SEVERAL = 3  # replaced pieces; one or two are corrections
_MOSTLY = 0.8
_LONG_ENOUGH = 16  # characters from which a piece of narration can be recognised


@dataclass(frozen=True, slots=True)
class ReplacedPieces:
    """Updates of the artifact `name` of which each took the place of the one before, though it was another
    piece: how many, and their texts together.
    """

    name: str
    count: int
    text: str


@dataclass(frozen=True, slots=True)
class Measures:
    """One case, measured. Sizes in characters, times in seconds from the question.

    `result` is the object of `replay --json`, `summary` the figures of `trace`. `sent` and `visible` are
    characters of the answers over time, without white space: on the wire, and in the thread.
    `agent_burst_share` is that of `sent`. `live_share` is that of `result`, without what was kept back until
    the agent had sent everything. `looks` is the visible text after each change, `own_looks`
    the same without the answers before it, `texts` the answer's messages in the last turn.
    `streamed` are characters that went into a stream, `begun` those in its start,
    `stopped` those in its end. `final` is what the agent called its result, `narration` the sentences it
    marked as no part of the answer, `said` the text of all artifacts. Of `questions`, `asked` went to the
    agent, the last of them as the JSON `sent_last`, None: not known. `files`: the SHA-256 of what was shared
    with the question, by name.
    `sources`: the addresses that the agent named as such, in their order. `reason`: why the last turn ended
    so, with what the agent said of its failure. `is_interrupted`: Ctrl-C ended it. `replaced`: of the
    artifact whose pieces replaced each other.
    """

    result: Json
    summary: Summary
    sent: Curve
    visible: Curve
    agent_burst_share: float | None
    live_share: float | None
    looks: tuple[str, ...]
    own_looks: tuple[str, ...]
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
    sent_last: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    reason: str = ""
    is_interrupted: bool = False
    replaced: ReplacedPieces | None = None

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
    log, asked_at, result = seen.log, seen.asked_at, seen.result()
    started, appended, stopped = (_chunk_texts(result, each) for each in ("start", "append", "stop"))
    handled = [fact for turn in log.turns for fact in turn.handled]
    tools = list(_tool_names(handled, masks or Redactor()))
    plans = [len(fact.event.steps) for fact in handled if isinstance(fact.event, PlanChanged)]
    frames_sent = [entry.frame for entry in log.entries if isinstance(entry, AgentOutput) and entry.frame]
    curves = [_sent(turn) for turn in log.turns]
    return Measures(
        result=result,
        summary=timeline("", build_timeline(log, asked_at), log, asked_at).summary,
        sent=tuple(_joined_curves(log.turns, curves, asked_at)),
        visible=tuple(
            (round(each.at - asked_at, 4), each.non_space) for turn in log.turns for each in turn.changes
        ),
        agent_burst_share=burst_share_of([rises(curve) for curve in curves]),
        live_share=_live_share(log.turns, curves),
        looks=tuple(text for turn in log.turns for _, text in turn.texts()),
        own_looks=tuple(text.removeprefix(turn.before) for turn in log.turns for _, text in turn.texts()),
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
        final=_final(frames_sent),
        narration=_narration(frames_sent),
        said="\n".join(artifact.text for frame in frames_sent for artifact in _artifacts(frame)),
        questions=sum(turn.started is not None for turn in log.turns),
        asked=seen.sent,
        sent_last=None if seen.said is None else json.dumps(seen.said),
        files={name: hashlib.sha256(content).hexdigest() for name, content in seen.files.items()},
        sources=tuple(dict.fromkeys(url for frame in frames_sent for url in _sources(frame))),
        reason=log.turns[-1].reason if log.turns else "",
        is_interrupted=seen.is_interrupted,
        replaced=_replaced(frames_sent),
    )


def _sent(turn: LoggedTurn) -> Curve:
    """How much of what can be read of the turn in the end the agent had sent by when (monotonic seconds).

    Nothing where much of it is not in the events: the bot read it from the task, or changed it.
    """
    outputs = (entry for entry in turn.entries if isinstance(entry, AgentOutput))
    curve = sent_curve(outputs, turn.own_text)
    is_known = bool(curve) and curve[-1][1] >= _KNOWN * non_space_chars(turn.own_text)
    return curve if is_known else ()


def _joined_curves(
    turns: Sequence[LoggedTurn], curves: Sequence[Curve], asked_at: float
) -> Iterator[tuple[float, int]]:
    for turn, curve in zip(turns, curves, strict=True):
        before = non_space_chars(turn.before)
        yield from ((round(at - asked_at, 4), before + size) for at, size in curve)


def _live_share(turns: Sequence[LoggedTurn], curves: Sequence[Curve]) -> float | None:
    return live_share(
        [live_chars(turn, late_from(turn, curve)) for turn, curve in zip(turns, curves, strict=True)]
    )


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
        before, added = "", markup.get(message.ts, MessageRecord("", ""))
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


def _tool_names(handled: Sequence[EventHandled], masks: Redactor) -> Iterator[str]:
    for each in handled:
        if isinstance(each.event, ToolStarted):
            yield re.sub(r"\W+", "_", masks.text(each.event.title).strip().lower()).strip("_")


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
        is_narration = any(map(flags.get, NARRATION_MARKS)) and not any(map(flags.get, ANSWER_MARKS))
        texts.append(frame.artifact.text if is_narration else "\n")
    pieces = (piece.strip() for piece in _PIECE.findall("".join(texts)))
    return tuple(dict.fromkeys(piece for piece in pieces if len(piece) >= _LONG_ENOUGH))


def _replaced(sent: Sequence[frames.Frame]) -> ReplacedPieces | None:
    """The artifact of which most updates came without `append` and do not begin with the text before."""
    pieces = dict[str, list[str]]()
    counts, updates = Counter[str](), Counter[str]()
    for frame in sent:
        if not isinstance(frame, frames.ArtifactUpdate) or not (text := frame.artifact.text):
            continue
        name = frame.artifact.artifact_id or frame.artifact.name
        of_artifact = pieces.setdefault(name, [])
        before = of_artifact[-1] if of_artifact else ""
        counts[name] += bool(before) and not frame.append and not text.startswith(before)
        updates[name] += 1
        of_artifact.append(text)
    name, count = max(counts.items(), key=itemgetter(1), default=("", 0))
    if count < _SEVERAL or count < _MOSTLY * (updates[name] - 1):
        return None
    return ReplacedPieces(name, count, "".join(pieces[name]))


def _sources(frame: frames.Frame) -> Iterator[str]:
    """Every address in what is called citations or sources, wherever that is."""
    held = [getattr(frame, "metadata", None), getattr(getattr(frame, "message", None), "metadata", None)]
    parts = list(getattr(getattr(frame, "message", None), "parts", ()))
    for artifact in _artifacts(frame):
        held.append(artifact.metadata)
        parts += artifact.parts
    for value in (*held, *(part.metadata for part in parts), *(part.data for part in parts)):
        for name, inner in value.items() if isinstance(value, dict) else ():
            if name in ("citations", "sources"):
                yield from _ADDRESS.findall(json.dumps(inner))
