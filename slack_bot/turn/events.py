"""What happened in a turn. A closed union of frozen facts; `machine` decides what they mean.

Each has a `reason`, in a few words: why it was taken for what it is ("is_final_answer on streaming_result").
It is for developers and decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from .form import Form


class StepState(StrEnum):
    """The states of a plan step."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of a plan. `id` is the agent's; `title` is ready to be shown."""

    id: str
    title: str
    state: StepState


class TaskEnd(StrEnum):
    """The terminal states of an A2A task."""

    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    REJECTED = "rejected"


class StreamEnd(StrEnum):
    """How the agent's stream ended, after every attempt to learn more."""

    CLOSED = "closed"  # properly: the task's end is known
    REFUSED = "refused"  # the question never reached the agent
    FAILED = "failed"  # the agent answered with an error
    LOST = "lost"  # it broke, and the end could not be learned


@dataclass(frozen=True, slots=True)
class TurnBegun:
    """The question is about to be sent."""

    reason: str = "question accepted"


@dataclass(frozen=True, slots=True)
class TaskKnown:
    """An id was learned. None: not by this event."""

    task_id: str | None = None
    context_id: str | None = None
    trace_id: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Narrated:
    """The agent says what it is doing. Never part of the answer; the text may be empty.

    `replaces`: this replaces what was said since the last step. `passing`: it says what comes next and is not
    worth keeping.
    """

    text: str
    replaces: bool = False
    passing: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AnswerText:
    """The answer grew by `text`."""

    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AnswerReplaced:
    """The answer so far is now exactly `text`, which does not continue the text before."""

    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NarrationConfirmed:
    """The text since the last such event said what the agent was about to do: a tool call followed.

    `unseen`: nothing of it was released yet. The runner sets it.
    """

    unseen: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    """The whole answer in the end. `origin` names where it was found.

    `certain`: the agent itself called it final; otherwise it is the best text there was at the end.
    """

    text: str
    origin: str
    certain: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call began. `step_id` is its plan step, where the agent says so.

    `title` is the tool's name; `label` says in the agent's words what this call does, "" for nothing.
    """

    tool_id: str
    title: str
    step_id: str | None = None
    label: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool call ended. A failed tool is not a failed turn."""

    tool_id: str
    title: str
    failed: bool = False
    step_id: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The whole plan in its present state. `title` is what the agent calls it, "" for nothing."""

    steps: tuple[PlanStep, ...]
    title: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class InputRequired:
    """The agent waits for the human."""

    form: Form
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AuthCompleted:
    """The task goes on by itself after the sign-in it asked for (facts: A2A 2.1)."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class TaskEnded:
    """The task reached a terminal state. `text` is the agent's own reason, if it gave one."""

    end: TaskEnd
    text: str = ""
    reason: str = ""


class TaskKnowledge(StrEnum):
    """What is known of a silent task."""

    QUIET = "quiet"  # its stream is open; it was not asked for yet
    WORKING = "working"  # asked for, it says that it goes on
    UNKNOWN = "unknown"  # it cannot be asked for, or there was no answer


@dataclass(frozen=True, slots=True)
class AgentIdle:
    """Nothing was heard of the task for `seconds`."""

    seconds: float
    known: TaskKnowledge = TaskKnowledge.WORKING
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StreamEnded:
    """Nothing more comes. `safe` is a sentence for the reader of a bad end.

    `text` is what the agent's server wrote about it.
    """

    end: StreamEnd
    safe: str = ""
    text: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StopRequested:
    """A human wants the turn to end."""

    user: str
    reason: str = ""


Event: TypeAlias = (
    TurnBegun
    | TaskKnown
    | Narrated
    | AnswerText
    | AnswerReplaced
    | NarrationConfirmed
    | FinalAnswer
    | ToolStarted
    | ToolEnded
    | PlanChanged
    | InputRequired
    | AuthCompleted
    | TaskEnded
    | AgentIdle
    | StreamEnded
    | StopRequested
)
