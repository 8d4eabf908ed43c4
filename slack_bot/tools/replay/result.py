"""PURE. What `replay --json` prints: plain data, for the same input the same, byte for byte.

Everything is measured on the thread a person would see, not on what the bot believes it sent. Times are
seconds from the question, rounded to milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ...observe.facts import AddedMarkup, SlackCalled
from ...testing.tape.json_file import Json
from ..turn_log import LoggedTurn, TurnLog, non_space_chars
from .diff import CHANCE, matches

_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Shown:
    """One message of the bot's as a person sees it.

    `state` is "streaming", "sealed" or "posted"; `status_line` is the typing status below the thread.
    `is_answer`: it is answer text, not a note, a question or an error.
    """

    ts: str
    text: str
    state: str
    blocks: tuple[Json, ...] = ()
    tasks: tuple[Json, ...] = ()
    status_line: str | None = None
    is_answer: bool = False


def visible(messages: Iterable[Shown]) -> str:
    """The text of all answer messages, in order: a split answer keeps its white space at the cut."""
    return "".join(message.text for message in messages if message.is_answer)


@dataclass(frozen=True, slots=True)
class ReplayedTurn:
    """One turn, and the visible text after it, with what was there before."""

    turn: LoggedTurn
    text: str

    @property
    def own(self) -> str:
        """The text of this turn alone."""
        return self.text.removeprefix(self.turn.before).strip()

    @property
    def growths(self) -> list[tuple[float, int]]:
        """When there was more to read than ever before in this turn, and how many characters more."""
        found, size = list[tuple[float, int]](), len(self.turn.before)
        longest = non_space_chars(self.turn.before)
        for change in self.turn.changes if self.own else ():  # what was taken away again was no answer
            if change.non_space > longest:
                found.append((change.at, max(0, change.chars - size)))
                longest, size = change.non_space, max(size, change.chars)
        return found

    @property
    def longest_gap(self) -> float | None:
        """The longest time between two growths."""
        gaps = [later - earlier for (earlier, _), (later, _) in pairwise(self.growths)]
        return round(max(gaps, default=0.0), _DIGITS) if self.growths else None

    @property
    def live(self) -> tuple[int, int]:
        """How many characters, without white space, were visible before the end and stayed; of how many."""
        end, early = self.turn.first_end, self.turn.before
        for change, text in self.turn.texts():
            # a text of the same instant may have been shown because of the end
            if end is None or change.at < end:
                early = text
        one, other = (" ".join(text.split()) for text in (early.removeprefix(self.turn.before), self.own))
        kept = (other[each.other : each.other + each.size] for each in matches(one, other, CHANCE))
        return sum(map(non_space_chars, kept)), non_space_chars(self.own)

    @property
    def live_share(self) -> float | None:
        """The part of its text that was live; None: it has no text."""
        return _share(*self.live)


def replayed_turns(log: TurnLog, text: str) -> list[ReplayedTurn]:
    """All turns. `text` is the visible text in the end."""
    texts = [*(turn.before for turn in log.turns[1:]), text]
    return [ReplayedTurn(turn, after) for turn, after in zip(log.turns, texts, strict=True)]


def make_result(log: TurnLog, thread: Sequence[Shown], asked_at: float) -> Json:
    """The result of one turn, or of several in one thread, asked from `asked_at` on, in monotonic seconds.

    `longest_gap` is the longest time between two growths of the visible text of an answer; `live_share` the
    part of the final text's characters, without white space, that were visible when the final answer, the
    task's end or the stream's end came, and stayed. `outcome` is null if the bot did not take the question.
    """
    text = visible(thread)
    turns, added = replayed_turns(log, text), log.markup()
    ended = next((turn.ended for turn in reversed(log.turns) if turn.ended is not None), None)
    live = [turn.live for turn in turns]
    return {
        "outcome": ended.outcome if ended else None,
        "reason": ended.reason if ended else "the bot did not take the question",
        "context_id": ended.context_id if ended else None,
        "task_id": ended.task_id if ended else None,
        "trace_id": ended.trace_id if ended else None,
        "calls": [_call(call, asked_at) for turn in log.turns for call in turn.calls],
        "thread": [_message(message, added.get(message.ts)) for message in thread],
        "visible": text,
        "first_answer_event": _since(_first(turn.first_answer for turn in log.turns), asked_at),
        "first_visible": _since(_first(at for turn in turns for at, _ in turn.growths), asked_at),
        "longest_gap": max((gap for turn in turns if (gap := turn.longest_gap) is not None), default=None),
        "live_share": _share(sum(kept for kept, _ in live), sum(total for _, total in live)),
        "events": dict(sorted((+log.events).items())),
        "dropped": {"late": ended.late if ended else 0},
        "latches": dict(ended.latches) if ended else {},
    }


def as_line(result: Json) -> str:
    """`result` on one line. ASCII only: what is printed must not depend on the terminal's encoding."""
    return json.dumps(result, ensure_ascii=True, separators=(", ", ": "))


def _first(times: Iterable[float | None]) -> float | None:
    return next((at for at in times if at is not None), None)


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
