"""Whose words in a thread are questions without a mention."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, TypeAlias

from .record import Question

Respond: TypeAlias = Literal["mention", "auto", "thread", "channel"]


class ListensTo(StrEnum):
    """Who need not mention the bot in a thread."""

    NOBODY = "nobody"
    ASKER = "asker"
    EVERYBODY = "everybody"


@dataclass(frozen=True, slots=True)
class ThreadState:
    """A thread of a channel in which the bot was asked. Times are seconds since 1970 (UTC).

    `since`: the mention that it began with; `active_at`: the last question or answer; `stopped_at`: somebody
    wants to be heard no longer. `has_others`: not only `asker` and the bot have written. `is_unread`: nobody
    has looked yet whether that is so before `since`. `is_shown`: somebody was told that they need not mention
    the bot. `told`: who need not, as it was last said to all.
    """

    asker: str
    since: float
    active_at: float
    has_others: bool = False
    is_shown: bool = False
    stopped_at: float | None = None
    is_unread: bool = False
    told: ListensTo | None = None

    def is_question(self, reply: Question, respond: Respond, follow_for: float) -> bool:
        """What `reply`, which mentions nobody, is. `follow_for` is in seconds."""
        if not self.since < float(reply.ts) <= self.active_at + follow_for:
            return False
        who = self.listens_to(respond)
        return who is ListensTo.EVERYBODY or (who is ListensTo.ASKER and reply.user == self.asker)

    def listens_to(self, respond: Respond) -> ListensTo:
        """Who is heard there as long as the thread goes on."""
        if self.stopped_at is not None or respond == "mention":
            return ListensTo.NOBODY
        if respond == "thread":
            return ListensTo.EVERYBODY
        return ListensTo.NOBODY if self.has_others or self.is_unread else ListensTo.ASKER


def mentioned(state: ThreadState | None, question: Question) -> ThreadState:
    """The bot was mentioned. In the middle of a thread that it does not know others may have written."""
    at = float(question.ts)
    if state is None:
        return ThreadState(question.user, at, at, is_unread=question.thread.ts != question.ts)
    state = replace(state, has_others=state.has_others or question.user != state.asker)
    if state.stopped_at is not None and state.stopped_at < at:
        state = replace(state, since=at, stopped_at=None)
    return replace(state, active_at=max(at, state.active_at))


def reacted(state: ThreadState | None, question: Question, author: str) -> ThreadState | None:
    """The bot was asked by a reaction to a message of `author`. It is no mention: it ends no silence."""
    known = mentioned(None, question) if state is None else went_on(state, float(question.ts))
    return heard(heard(known, question.user), author)


def heard(state: ThreadState | None, user: str) -> ThreadState | None:
    """`user` wrote there."""
    return None if state is None else replace(state, has_others=state.has_others or user != state.asker)


def read_alone(state: ThreadState | None, question: Question) -> ThreadState:
    """Up to this mention nobody but its asker and the bot has written there."""
    state = mentioned(None, question) if state is None else state
    return replace(state, is_unread=state.is_unread and state.asker != question.user)


def went_on(state: ThreadState | None, at: float, *, is_shown: bool = False) -> ThreadState | None:
    """A question was taken."""
    if state is None:
        return None
    return replace(state, active_at=max(at, state.active_at), is_shown=state.is_shown or is_shown)


def answered(state: ThreadState | None, at: float, respond: Respond | None) -> ThreadState | None:
    """A question was answered. `respond`: the channel's, if it was said who need not mention the bot."""
    state = went_on(state, at)
    return state if state is None or respond is None else replace(state, told=state.listens_to(respond))


def stopped(state: ThreadState | None, at: float) -> ThreadState | None:
    """Only a later mention is a question again, and all were told so."""
    return None if state is None else replace(state, stopped_at=at, told=ListensTo.NOBODY)
