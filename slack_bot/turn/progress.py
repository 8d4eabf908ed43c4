"""How far a turn has come: what a store keeps of it, so that another process can finish it."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from .actions import TaskCard
from .extras import ExtraRecord
from .record import Outcome, Question
from .usage import Usage

DEFAULT_AGENT = "default"
"""The name of the only agent that a bot has."""


class Stage(StrEnum):
    """What is still to do for a turn."""

    ACCEPTED = "accepted"  # the agent was not asked
    SENT = "sent"  # the agent may have the question: it is never sent again
    WATCHED = "watched"  # the turn is over for now, and its task goes on
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """A message of an answer, as Slack confirmed it.

    `body` is its part of the answer, with markup of ours around it. `is_open`: its stream is not known to be
    stopped.
    """

    ts: str
    surface: str
    opening: str = ""
    body: str = ""
    closing: str = ""
    title: str = ""
    cards: tuple[TaskCard, ...] = ()
    is_open: bool = False

    @property
    def text(self) -> str:
        return self.opening + self.body + self.closing


@dataclass(frozen=True, slots=True)
class TaskBaseline:
    """What a task held before it got a question: the characters of each artifact, the ids of messages."""

    artifacts: tuple[tuple[str, int], ...] = ()
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One accepted question and its answer so far. Times are seconds since 1970 (UTC).

    `task_id` is the agent's task that works on it, `trace_id` that of its tracing, known at the end.
    `takeovers`: processes that went on with it. `push_id` and `push_hash`: where the agent of a watched task
    posts, and the hash of its secret. `heard`: what the agent has heard of the thread if it has taken the
    question (`quotes`). `extras`: what is in the thread besides the text. `reworded`: what the question's
    message says since it was edited while it was answered. `reason`: why it ended so, in words of ours.
    `said`: the agent's own on its failure. `agent`: the name of the one that is asked. `agent_reason`: why
    that one was chosen, in words, where the bot has several. `usage`: what the answer used, where that is
    counted and the agent reports it.
    """

    question: Question
    accepted_at: float
    stage: Stage = Stage.ACCEPTED
    sent_at: float | None = None
    baseline: TaskBaseline | None = None
    task_id: str | None = None
    context_id: str | None = None
    trace_id: str | None = None
    heard: tuple[str, ...] | None = None
    messages: tuple[MessageRecord, ...] = ()
    extras: tuple[ExtraRecord, ...] = ()
    takeovers: int = 0
    stopped_by: str | None = None
    watched_at: float | None = None
    push_id: str | None = None
    push_hash: str | None = None
    ended_at: float | None = None
    outcome: Outcome | None = None
    reworded: str = ""
    reason: str = ""
    said: str = ""
    agent: str = DEFAULT_AGENT
    agent_reason: str = ""
    usage: Usage | None = None

    @property
    def key(self) -> str:
        return self.question.key

    def ended(self, at: float, outcome: Outcome, reason: str = "") -> Self:
        """As it is kept if it ends at `at`."""
        return replace(self, stage=Stage.ENDED, ended_at=at, outcome=outcome, reason=reason)

    @property
    def text(self) -> str:
        """The answer as far as Slack confirmed it."""
        return "".join(message.body for message in self.messages)
