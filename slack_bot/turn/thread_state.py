"""Whose words in a thread are questions without a mention."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from .record import Question


@dataclass(frozen=True, slots=True)
class ThreadState:
    """A thread of a channel in which the bot was asked. Times are seconds since 1970 (UTC).

    `since`: the mention that it began with; `active_at`: the last question or answer; `stopped_at`: somebody
    wants to be heard no longer. `has_others`: not only `asker` and the bot have written. `is_shown`: somebody
    was told that they need not mention the bot.
    """

    asker: str
    since: float
    active_at: float
    has_others: bool = False
    is_shown: bool = False
    stopped_at: float | None = None

    def is_question(
        self, reply: Question, respond: Literal["mention", "auto", "thread"], follow_for: float
    ) -> bool:
        """What `reply`, which mentions nobody, is. `follow_for` is in seconds."""
        at = float(reply.ts)
        is_heard = self.stopped_at is None and self.since < at <= self.active_at + follow_for
        if respond == "auto":
            return is_heard and reply.user == self.asker and not self.has_others
        return is_heard and respond == "thread"


def mentioned(state: ThreadState | None, question: Question) -> ThreadState:
    """The bot was mentioned. In the middle of a thread that it does not know others may have written."""
    at = float(question.ts)
    if state is None:
        return ThreadState(question.user, at, at, has_others=question.thread.ts != question.ts)
    state = replace(state, has_others=state.has_others or question.user != state.asker)
    if state.stopped_at is not None and state.stopped_at < at:
        state = replace(state, since=at, stopped_at=None)
    return replace(state, active_at=max(at, state.active_at))


def heard(state: ThreadState | None, user: str) -> ThreadState | None:
    """`user` wrote there."""
    return None if state is None else replace(state, has_others=state.has_others or user != state.asker)


def went_on(state: ThreadState | None, at: float, *, is_shown: bool = False) -> ThreadState | None:
    """A question was taken or answered."""
    if state is None:
        return None
    return replace(state, active_at=max(at, state.active_at), is_shown=state.is_shown or is_shown)


def stopped(state: ThreadState | None, at: float) -> ThreadState | None:
    """Only a later mention is a question again."""
    return None if state is None else replace(state, stopped_at=at)
