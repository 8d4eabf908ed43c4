"""PURE. The questions that wait in a thread, and what becomes one question of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..text.words import DROPPED_WAITING, NONE_WAIT
from ..turn.progress import Stage, TurnRecord
from .edits import message_key


@dataclass(slots=True)
class WaitingQuestion:
    """A question that waits since `at` on the clock. `is_marked`: its asker can see that."""

    turn: TurnRecord
    at: float
    is_marked: bool = False

    @property
    def is_begun(self) -> bool:
        """The agent may have it already."""
        return self.turn.stage is not Stage.ACCEPTED


class WaitingQuestions(list[WaitingQuestion]):
    """In the order in which they are asked."""

    def find(self, key: str) -> WaitingQuestion | None:
        """The one with the turn of this key."""
        return next((each for each in self if each.turn.key == key), None)

    def find_of_message(self, key: str) -> WaitingQuestion | None:
        """The newest one of the message whose first turn has this key: it may be asked again."""
        of_message = [each for each in self if message_key(each.turn.question) == key]
        return max(of_message, key=lambda each: each.turn.question.attempt, default=None)

    def of(self, user: str) -> list[WaitingQuestion]:
        """Those of a person."""
        return [each for each in self if each.turn.question.user == user]

    def take_next(self, *, merges: bool) -> list[WaitingQuestion]:
        """The first one, with those that the agent may get together with it."""
        first, *others = self
        joined = [each for each in others if merges and belongs_to(first.turn, each.turn)]
        self[:] = [each for each in others if each not in joined]
        return [first, *joined]

    def last_of_first_asker(self) -> float:
        """When the asker of the first one last wrote."""
        user = self[0].turn.question.user
        return max(each.at for each in self if each.turn.question.user == user)

    def place_of(self, turn: TurnRecord, *, merges: bool) -> int:
        """1 is the next that is asked; 0: it is asked together with one before it, or does not wait."""
        before: list[TurnRecord] = []
        for each in (entry.turn for entry in self):
            is_joined = merges and any(belongs_to(first, each) for first in before)
            if each.key == turn.key:
                return 0 if is_joined else len(before) + 1
            before += [] if is_joined else [each]
        return 0


def belongs_to(first: TurnRecord, other: TurnRecord) -> bool:
    """Whether the agent may get both as one question."""
    is_new = all(each.stage is Stage.ACCEPTED and each.stopped_by is None for each in (first, other))
    is_said = not any(
        each.question.attempt or each.question.handle or each.question.cause for each in (first, other)
    )
    return is_new and is_said and bool(first.question.user) and first.question.user == other.question.user


def merged(turns: Sequence[TurnRecord]) -> TurnRecord:
    """As one question, in the order in which they were written: Slack brings them in any order."""
    first, *others = turns
    if not others:
        return first
    written = sorted((each.question for each in turns), key=lambda question: float(question.ts))
    text = "\n".join(question.text for question in written if question.text)
    files = tuple(file for question in written for file in question.files)
    messages = [ts for each in turns for ts in (each.question.ts, *each.question.merged)]
    tasks = tuple(task for each in turns for task in each.question.references)
    whole = replace(first.question, text=text, merged=tuple(messages[1:]), files=files, references=tasks)
    return replace(first, question=whole)


def said_of_drop(dropped: int) -> str:
    """To the person whose waiting questions were dropped: how many."""
    return DROPPED_WAITING.format(dropped) if dropped else NONE_WAIT
