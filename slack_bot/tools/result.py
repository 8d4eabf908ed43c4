"""PURE. What `replay --json` prints: one turn as plain data, the same for the same input, byte for byte.

Everything is measured on the thread a person would see, not on what the bot believes it sent. All times are
seconds from the question, rounded to milliseconds.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from ..observe.facts import AgentEvent, Decided, Fact, SlackCalled, TurnClosed
from ..turn.events import AnswerReplaced, AnswerText, FinalAnswer, StreamEnded, TaskEnded
from .alignment import matches
from .jsonfile import Json

_DIGITS = 3
_CHANCE = 20  # characters; fewer may be alike by chance


@dataclass(frozen=True, slots=True)
class Shown:
    """One message of the bot's as a person sees it.

    `state` is "streaming", "sealed" or "posted"; `status_line` is the typing status below the thread.
    `is_answer` tells answer text from notes, questions and errors.
    """

    ts: str
    text: str
    state: str
    blocks: tuple[Json, ...] = ()
    tasks: tuple[Json, ...] = ()
    status_line: str | None = None
    is_answer: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """The visible answer text from `at` on, in monotonic seconds.

    `chars` is its length, `ink` that without white space. `light()` has these without the text.
    """

    at: float
    visible: str
    chars: int = -1
    ink: int = -1

    def __post_init__(self) -> None:
        if self.chars < 0:
            object.__setattr__(self, "chars", len(self.visible))
            object.__setattr__(self, "ink", len(_ink(self.visible)))

    def light(self) -> Sample:
        """The same without the text."""
        return Sample(self.at, "", self.chars, self.ink)


def visible(messages: Iterable[Shown]) -> str:
    """The text of all answer messages, in order: a split answer keeps its white space at the cut."""
    return "".join(message.text for message in messages if message.is_answer)


def make_result(
    facts: Sequence[Fact],
    samples: Sequence[Sample],
    thread: Sequence[Shown],
    asked_at: float,
    counted: Mapping[str, int] = MappingProxyType({}),
) -> Json:
    """The result of one turn that was asked at `asked_at`, in monotonic seconds.

    `counted` are events of the agent by kind, besides those among the facts. Of the samples, only the last
    one before the end needs its text.

    `longest_gap` is the longest time between two growths of the visible text, from the first visible text to
    the last; `live_share` the part of the final text's characters (white space apart) that stood there,
    and stayed, when the final answer, the task's end or the stream's end came. What a rewrite took away or
    put in between does not count against the rest. `outcome` is null where the bot did not take
    the question.
    """
    closed = next((fact for fact in reversed(facts) if isinstance(fact, TurnClosed)), None)
    decided = [fact for fact in facts if isinstance(fact, Decided) and not fact.late]
    first_answer = next((fact.at for fact in decided if is_answer(fact.event)), None)
    text = visible(thread)
    growths = _growths(samples) if text.strip() else []  # what was taken away again never was the answer
    return {
        "outcome": closed.outcome if closed else None,
        "reason": closed.reason if closed else "the bot did not take the question",
        "context_id": closed.context_id if closed else None,
        "task_id": closed.task_id if closed else None,
        "trace_id": closed.trace_id if closed else None,
        "calls": [_call(fact, asked_at) for fact in facts if isinstance(fact, SlackCalled)],
        "thread": [_message(message) for message in thread],
        "visible": text,
        "first_answer_event": _since(first_answer, asked_at),
        "first_visible": _since(growths[0] if growths else None, asked_at),
        "longest_gap": _longest_gap(growths),
        "live_share": _live_share(decided, samples, text),
        "events": dict(sorted((Counter(counted) + Counter(_kinds(facts))).items())),
        "dropped": {"late": closed.late if closed else 0},
        "latches": dict(closed.latches) if closed else {},
    }


def as_line(result: Json) -> str:
    """`result` on one line. ASCII only: what is printed must not depend on the terminal's encoding."""
    return json.dumps(result, ensure_ascii=True, separators=(", ", ": "))


def _kinds(facts: Iterable[Fact]) -> Iterator[str]:
    return (fact.kind for fact in facts if isinstance(fact, AgentEvent))


def is_answer(event: object) -> bool:
    """`event` brings answer text."""
    return isinstance(event, AnswerText | AnswerReplaced | FinalAnswer)


def is_end(event: object) -> bool:
    """After `event` no more answer text is awaited."""
    return isinstance(event, FinalAnswer | TaskEnded | StreamEnded)


def _call(fact: SlackCalled, asked_at: float) -> Json:
    """One call; `t` is when it was made, not when it was answered."""
    return {
        "t": _since(fact.at - fact.took, asked_at),
        "method": fact.method,
        "args": _plain(fact.args),
        "ok": fact.ok,
        "error": fact.error,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _message(message: Shown) -> Json:
    return {
        "ts": message.ts,
        "text": message.text,
        "blocks": _plain(message.blocks),
        "tasks": _plain(message.tasks),
        "state": message.state,
        "status_line": message.status_line,
    }


def _since(at: float | None, start: float) -> float | None:
    # adding zero turns a rounded -0.0 into 0.0
    return None if at is None else round(at - start, _DIGITS) + 0.0


def _growths(samples: Sequence[Sample]) -> list[float]:
    times, longest = [], 0
    for sample in samples:
        if (size := sample.ink) > longest:
            longest = size
            times.append(sample.at)
    return times


def _longest_gap(growths: Sequence[float]) -> float | None:
    if not growths:
        return None
    gaps = [later - earlier for earlier, later in pairwise(growths)]
    return round(max(gaps, default=0.0), _DIGITS)


def _live_share(decided: Sequence[Decided], samples: Sequence[Sample], text: str) -> float | None:
    final = _ink(text)
    if not final:
        return None
    end = next((fact.at for fact in decided if is_end(fact.event)), None)
    early = ""
    for sample in samples:
        # what was shown in the same instant may have been shown because of the end
        if end is None or sample.at < end:
            early = sample.visible
    one, other = _calm(early), _calm(text)
    kept = (other[each.other : each.other + each.size] for each in matches(one, other, _CHANCE))
    return round(sum(map(len, map(_ink, kept))) / len(final), _DIGITS)


def _calm(text: str) -> str:
    """`text` with white space as words need it: how much of it there is does not matter."""
    return " ".join(text.split())


def _ink(text: str) -> str:
    return "".join(text.split())
