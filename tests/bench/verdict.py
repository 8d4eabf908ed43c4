"""The judge of a turn: the thread as a person finds it when all is over, against what should stand there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from slack_bot.testing.slack.workspace import SeenMessage

from .reading import compare

_GOES_ON = " (continues below)"
_COUNTED = re.compile(r"… ([\d,]+) more steps?\b")
"""The card that counts those for which there was no room."""
Class = Literal["right", "lost", "doubled", "wrong", "broke", "hung"]
CLASSES: tuple[Class, ...] = ("right", "lost", "doubled", "wrong", "broke", "hung")


@dataclass(frozen=True, slots=True)
class Truth:
    """What must stand in the thread. `text` is the answer, made harmless.

    `outcomes` are the ends that are true in this ordeal; with one of `partial` the thread may hold only the
    answer's beginning. `may_stay_open`: nobody could stop a stream any more. `may_be_silent`: nothing could
    be shown. `may_break`: the turn may end in an error that is logged. `closed`: no message ends within a
    fence. `told_directly`: how many direct messages the asker may get at most. `failing`: the cards of tools
    and steps that failed. `standing`: those of all others.
    """

    text: str
    outcomes: frozenset[str] = frozenset({"answered"})
    partial: frozenset[str] = frozenset()
    may_stay_open: bool = False
    may_be_silent: bool = False
    may_break: bool = False
    closed: bool = False
    told_directly: int = 0
    failing: frozenset[str] = frozenset()
    standing: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Asked:
    """What the agent was asked in one thread.

    `expected` questions were put to the bot, `opened` were begun with, and `ids` are those of the messages
    that came to the agent. `continued`: the reply to its own question went to its task. `late` are the calls
    that went on writing after a stop.
    """

    expected: int = 1
    opened: int = 1
    ids: Sequence[str] = ("1",)
    continued: bool = True
    stopped: bool = False
    cancelled: bool = False
    must_stop: bool = False
    late: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """What is found after the turn. `files` are the bytes of the files that stand in the thread.

    `strays` are messages of the bot's in the channel and outside the thread, `directs` those to the asker.
    `broken` are the tracebacks that were logged. `unnamed` are the streams whose start had no answer, so that
    nobody knows of them who cannot find them in the thread. `plain`: Slack refused what was not text, so
    there may be no card.
    """

    messages: Sequence[SeenMessage]
    outcome: str | None
    files: Sequence[bytes] = ()
    strays: Sequence[str] = ()
    directs: Sequence[str] = ()
    broken: Sequence[str] = ()
    unnamed: frozenset[str] = frozenset()
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a turn ended: its class, why, and what was left open."""

    kind: Class
    why: str = ""
    open_streams: int = 0
    open_cards: int = 0
    outcome: str | None = None

    @property
    def is_right(self) -> bool:
        """Nothing to say against it."""
        return self.kind == "right" and not self.open_streams and not self.open_cards


@dataclass(slots=True)
class _Faults:
    found: list[tuple[Class, str]] = field(default_factory=list)

    def add(self, kind: Class, why: str) -> None:
        self.found.append((kind, why))


def judge(truth: Truth, scene: Scene) -> Verdict:
    """The verdict on one turn. The text counts first, then the outcome, then what stands around it."""
    faults = _Faults()
    for trace in () if truth.may_break else scene.broken:
        faults.add("broke", trace)
    _judge_text(truth, scene, faults)
    if scene.outcome not in truth.outcomes:
        wanted = ", ".join(sorted(truth.outcomes))
        faults.add("broke" if scene.outcome is None else "wrong", f"outcome {scene.outcome}, not {wanted}")
    _judge_around(truth, scene, faults)
    lost = scene.unnamed if scene.outcome in truth.partial and truth.may_be_silent else frozenset()
    reached = [] if truth.may_stay_open else [seen for seen in scene.messages if seen.ts not in lost]
    streams = sum(seen.state == "streaming" for seen in reached)
    cards = _open_cards(reached)
    kind, why = faults.found[0] if faults.found else ("right", "")
    return Verdict(kind, why, streams, cards, scene.outcome)


def judge_all(verdicts: Sequence[Verdict], asked: Asked) -> Verdict:
    """The verdict on all questions of a thread: the first thing that is wrong, and all that is open."""
    faults = _Faults()
    for verdict in verdicts:
        if verdict.kind != "right":
            faults.add(verdict.kind, verdict.why)
    _judge_asked(asked, faults)
    kind, why = faults.found[0] if faults.found else ("right", "")
    return Verdict(
        kind,
        why,
        sum(each.open_streams for each in verdicts),
        sum(each.open_cards for each in verdicts),
        ", ".join(str(each.outcome) for each in verdicts) or None,
    )


def _judge_asked(asked: Asked, faults: _Faults) -> None:
    if asked.opened < asked.expected:
        faults.add("lost", f"{asked.expected - asked.opened} questions were never begun with")
    if len(asked.ids) > asked.expected or len(set(asked.ids)) < len(asked.ids):
        faults.add("doubled", f"the agent was asked {len(asked.ids)} times, not {asked.expected}")
    if not asked.continued:
        faults.add("wrong", "the reply did not go to the task that had asked")
    if asked.must_stop and not asked.stopped:
        faults.add("wrong", "the stop was ignored")
    if asked.must_stop and not asked.cancelled:
        faults.add("wrong", "stopped, and the agent was not told")
    if asked.late:
        faults.add("wrong", f"the answer went on after the stop: {', '.join(asked.late[:3])}")


_PLAN_BROKE = "Something went wrong"
_TOLD = {
    "stopped": ("topped",),
    "lost": ("agent", "took too long"),
    "failed": ("agent", "Something went wrong"),
    "refused": ("agent",),
}
"""What a reader must find below an answer that ended so: one of these."""


def is_answer(seen: SeenMessage) -> bool:
    """The message is part of the answer, not a note, a question or a file."""
    return seen.state != "posted" or kind_of(seen) == "answer"


def kind_of(seen: SeenMessage) -> str:
    """What the bot itself calls the message: answer, question, note, or "" where it does not say."""
    payload: Any = (seen.metadata or {}).get("event_payload") or {}
    return str(payload.get("kind", ""))


def _judge_text(truth: Truth, scene: Scene, faults: _Faults) -> None:
    answers = [seen for seen in scene.messages if is_answer(seen)]
    # nobody may write any more: Slack's own word for a plan that it ended with a card open stays there
    texts = [seen.text for seen in answers if not (truth.may_stay_open and seen.text == _PLAN_BROKE)]
    wanted, is_part = truth.text.encode(), scene.outcome in truth.partial
    has_file = any(data == wanted or (is_part and wanted.startswith(data)) for data in scene.files)
    if scene.files and not has_file:
        faults.add("wrong", "the file is not the answer, byte for byte")
    whole = not is_part and not has_file
    finding = compare(truth.text, texts, whole=whole, closed=truth.closed)
    if finding is not None:
        faults.add(finding.kind, str(finding))


def _judge_around(truth: Truth, scene: Scene, faults: _Faults) -> None:
    if scene.strays:
        faults.add("wrong", f"written outside the thread: {scene.strays[0][:80]!r}")
    if len(scene.directs) > truth.told_directly:
        faults.add("wrong", f"{len(scene.directs)} direct messages")
    if not truth.may_be_silent and not any(seen.read.strip() for seen in scene.messages):
        faults.add("lost", "nothing stands in the thread")
    for seen in scene.messages:
        if seen.plan_failed and not truth.may_stay_open:
            faults.add("wrong", "a plan reads as failed: it was stopped with an open card")
        if not seen.read.strip() and not seen.files:
            faults.add("wrong", "an empty message")
    if not truth.may_be_silent and scene.outcome in _TOLD:
        _judge_told(_TOLD[scene.outcome], scene.messages, faults)
    _judge_furniture(scene.messages, faults)
    _judge_cards(truth, scene, faults)


def _judge_told(words: Sequence[str], messages: Sequence[SeenMessage], faults: _Faults) -> None:
    """The end of an answer that is not whole is told below it."""
    notes = [seen.text for seen in messages if kind_of(seen) == "note"]  # refused as blocks, as text
    said = " ".join([*(extra for seen in messages for extra in seen.extras), *notes])
    if not any(word in said for word in words):
        faults.add("lost", f"how it ended is not told: {said[:80]!r}")


def _judge_furniture(messages: Sequence[SeenMessage], faults: _Faults) -> None:
    """Feedback stands once, and under everything else of the answer."""
    rated = [n for n, seen in enumerate(messages) if any(_is_feedback(block) for block in seen.blocks)]
    last = max((n for n, seen in enumerate(messages) if is_answer(seen)), default=-1)
    if len(rated) > 1:
        faults.add("wrong", f"feedback buttons on {len(rated)} messages")
    if rated and rated[-1] < last:
        faults.add("wrong", "feedback buttons in the middle of the answer")


def _is_feedback(block: Any) -> bool:
    return any(element.get("type") == "feedback_buttons" for element in block.get("elements", ()))


def _judge_cards(truth: Truth, scene: Scene, faults: _Faults) -> None:
    """A tool that failed does not read as done in the end, nor one that did well as failed.

    A card that goes on below has no end where Slack then refused cards.
    """
    ends = {
        task.title.removesuffix(_GOES_ON): task.status
        for seen in scene.messages
        for task in seen.tasks
        if not (scene.plain and task.title.endswith(_GOES_ON))
    }
    if truth.partial:
        return
    for title, status in ends.items():
        if title in truth.failing and status == "complete":
            faults.add("wrong", f"the card {title!r} of a failed tool reads as done")
        if title in truth.standing and status == "error":
            faults.add("wrong", f"the card {title!r} of a tool that did well reads as failed")
    if scene.plain or scene.files:
        return  # behind the last message before a file there is no place for a card
    counted = max((int(found[1].replace(",", "")) for found in map(_COUNTED.match, ends) if found), default=0)
    missing = sorted((truth.standing | truth.failing) - ends.keys())
    if len(missing) > counted:
        faults.add("lost", f"the card {missing[0]!r} stands nowhere, nor do {len(missing) - 1} others")


def _open_cards(messages: Sequence[SeenMessage]) -> int:
    return sum(task.status not in ("complete", "error") for seen in messages for task in seen.tasks)
