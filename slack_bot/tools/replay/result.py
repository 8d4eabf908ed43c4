"""PURE. What `replay --json` prints: one turn as plain data, the same for the same input, byte for byte.

Everything is measured on the thread a person would see, not on what the bot believes it sent. All times are
seconds from the question, rounded to milliseconds.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any, TypeGuard

from ...observe.facts import (
    AddedMarkup,
    AgentEvent,
    EventHandled,
    Fact,
    SlackCalled,
    TurnEnded,
    TurnStarted,
)
from ...testing.tape.json_file import Json
from ...turn.events import AnswerReplaced, AnswerText, FinalAnswer, StreamEnded, TaskEnded
from .diff import CHANCE, matches

_DIGITS = 3


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

    `chars` is its length, `ink` that without white space. `light()` has these without the text. `turn` is
    the number of the question that was being answered, from 0.
    """

    at: float
    visible: str
    chars: int = -1
    ink: int = -1
    turn: int = 0

    def __post_init__(self) -> None:
        if self.chars < 0:
            object.__setattr__(self, "chars", len(self.visible))
            object.__setattr__(self, "ink", len(_ink(self.visible)))

    def light(self) -> Sample:
        """The same without the text."""
        return replace(self, visible="")


def visible(messages: Iterable[Shown]) -> str:
    """The text of all answer messages, in order: a split answer keeps its white space at the cut."""
    return "".join(message.text for message in messages if message.is_answer)


@dataclass(frozen=True, slots=True)
class ReplayedTurn:
    """One question's part of what was to be seen. `before` is the text that stood there when it was asked.

    `text` is the text in the end, with what stood before. Times are monotonic seconds.
    """

    facts: Sequence[Fact]
    samples: Sequence[Sample]
    before: str
    text: str

    @property
    def closed(self) -> TurnEnded | None:
        """How it ended."""
        return next((fact for fact in reversed(self.facts) if isinstance(fact, TurnEnded)), None)

    @property
    def growths(self) -> list[tuple[float, int]]:
        """When there was more to read than ever before in this turn, and how many characters more."""
        found, longest, size = list[tuple[float, int]](), len(_ink(self.before)), len(self.before)
        for sample in self.samples if self.own else ():  # what was taken away again never was the answer
            if sample.ink > longest:
                found.append((sample.at, max(0, sample.chars - size)))
                longest, size = sample.ink, max(size, sample.chars)
        return found

    @property
    def longest_gap(self) -> float | None:
        """The longest time between two growths."""
        gaps = [later - earlier for (earlier, _), (later, _) in pairwise(self.growths)]
        return round(max(gaps, default=0.0), _DIGITS) if self.growths else None

    @property
    def own(self) -> str:
        """The text of this turn's own."""
        return self.text.removeprefix(self.before).strip()

    @property
    def live(self) -> tuple[int, int]:
        """Of how many characters, white space apart, which stood there, and stayed, when the end came."""
        end = next((fact.at for fact in self.facts if _is_taken(fact) and is_end(fact.event)), None)
        early = self.before
        for sample in self.samples:
            # what was shown in the same instant may have been shown because of the end
            if end is None or sample.at < end:
                early = sample.visible
        one, other = _calm(early.removeprefix(self.before)), _calm(self.own)
        kept = (other[each.other : each.other + each.size] for each in matches(one, other, CHANCE))
        return sum(map(len, map(_ink, kept))), len(_ink(self.own))

    @property
    def live_share(self) -> float | None:
        """The part of its text that was live; None where it has none."""
        return _share(*self.live)


def turns_in(facts: Sequence[Fact], samples: Sequence[Sample], text: str) -> list[ReplayedTurn]:
    """All turns, each with its own. `text` is the visible text in the end."""
    opened = [number for number, fact in enumerate(facts) if isinstance(fact, TurnStarted)]
    starts = [0, *opened[1:]]
    turns, before = list[ReplayedTurn](), ""
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(facts)], strict=True)):
        is_last = number == len(starts) - 1
        mine = [each for each in samples if each.turn == number or (is_last and each.turn > number)]
        stands = text if is_last else mine[-1].visible if mine else before
        turns.append(ReplayedTurn(facts[start:end], mine, before, stands))
        before = stands
    return turns


def make_result(
    facts: Sequence[Fact],
    samples: Sequence[Sample],
    thread: Sequence[Shown],
    asked_at: float,
    counted: Mapping[str, int] = MappingProxyType({}),
) -> Json:
    """The result of one turn, or of several in one thread, asked from `asked_at` on, in monotonic seconds.

    `counted` are events of the agent by kind, besides those among the facts. Of the samples, only the last
    one before a turn's end and the last one of a turn need their text.

    `longest_gap` is the longest time between two growths of the visible text, from the first visible text to
    the last of an answer; `live_share` the part of the final text's characters (white space apart) that stood
    there, and stayed, when the final answer, the task's end or the stream's end came. What a rewrite took
    away or put in between does not count against the rest. `outcome` is null where the bot did not take the
    question.
    """
    decided = [fact for fact in facts if _is_taken(fact)]
    first_answer = next((fact.at for fact in decided if is_answer(fact.event)), None)
    text = visible(thread)
    ends = [fact for fact in facts if isinstance(fact, TurnEnded)]
    added = {each.ts: each for fact in ends for each in fact.markup}
    turns = turns_in(facts, samples, text)
    closed = next((each.closed for each in reversed(turns) if each.closed is not None), None)
    first_visible = next((at for turn in turns for at, _ in turn.growths), None)
    gaps = [turn.longest_gap for turn in turns if turn.longest_gap is not None]
    live = [turn.live for turn in turns]
    return {
        "outcome": closed.outcome if closed else None,
        "reason": closed.reason if closed else "the bot did not take the question",
        "context_id": closed.context_id if closed else None,
        "task_id": closed.task_id if closed else None,
        "trace_id": closed.trace_id if closed else None,
        "calls": [_call(fact, asked_at) for fact in facts if isinstance(fact, SlackCalled)],
        "thread": [_message(message, added.get(message.ts)) for message in thread],
        "visible": text,
        "first_answer_event": _since(first_answer, asked_at),
        "first_visible": _since(first_visible, asked_at),
        "longest_gap": max(gaps, default=None),
        "live_share": _share(sum(kept for kept, _ in live), sum(total for _, total in live)),
        "events": dict(sorted((Counter(counted) + Counter(_kinds(facts))).items())),
        "dropped": {"late": closed.late if closed else 0},
        "latches": dict(closed.latches) if closed else {},
    }


def as_line(result: Json) -> str:
    """`result` on one line. ASCII only: what is printed must not depend on the terminal's encoding."""
    return json.dumps(result, ensure_ascii=True, separators=(", ", ": "))


def _kinds(facts: Iterable[Fact]) -> Iterator[str]:
    return (fact.kind for fact in facts if isinstance(fact, AgentEvent) and not fact.from_poll)


def _is_taken(fact: Fact) -> TypeGuard[EventHandled]:
    return isinstance(fact, EventHandled) and not fact.late


def is_answer(event: object) -> bool:
    """`event` brings answer text."""
    return isinstance(event, AnswerText | AnswerReplaced | FinalAnswer)


def is_end(event: object) -> bool:
    """After `event` no more answer text is awaited."""
    return isinstance(event, FinalAnswer | TaskEnded | StreamEnded)


def is_of_stop(error: str | None, is_stopped: bool) -> bool:
    """A call that failed so only found that the human had stopped the answer. `is_stopped`: that is known.

    Slack itself seals a stream when its Stop is pressed.
    """
    return error == "stopped_by_user" or (is_stopped and error == "message_not_in_streaming_state")


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


def _message(message: Shown, added: AddedMarkup | None) -> Json:
    """One message. `opening` and `closing` are parts of `text` that are not the answer's."""
    markup = {} if added is None else {"opening": added.opening, "closing": added.closing}
    return {
        "ts": message.ts,
        "text": message.text,
        "blocks": _plain(message.blocks),
        "tasks": _plain(message.tasks),
        "state": message.state,
        "status_line": message.status_line,
        **markup,
    }


def _since(at: float | None, start: float) -> float | None:
    # adding zero turns a rounded -0.0 into 0.0
    return None if at is None else round(at - start, _DIGITS) + 0.0


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, _DIGITS) if whole else None


def _calm(text: str) -> str:
    """`text` with white space as words need it: how much of it there is does not matter."""
    return " ".join(text.split())


def _ink(text: str) -> str:
    return "".join(text.split())
