"""What happened in a turn: a closed union of frozen facts. `reason` is for developers only."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from .acts import AgentAct
from .extras import Extra, NextQuestion, Source
from .form import Form


class StepState(StrEnum):
    """The states of a plan step."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of a plan. `id` is the agent's."""

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
    """How the agent's stream ended."""

    CLOSED = "closed"  # properly: the task's end is known
    REFUSED = "refused"  # the question never reached the agent
    FAILED = "failed"  # the agent answered with an error
    LOST = "lost"  # it broke, and the end could not be learned
    WATCHED = "watched"  # the task goes on without it


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
    """What the agent is doing. `replaces` what it said since the last step; `passing`: not kept."""

    text: str
    replaces: bool = False
    passing: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AnswerText:
    """The answer grew by `text`. `unproven`: it may yet prove to be narration."""

    text: str
    unproven: bool = field(default=False, kw_only=True)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AnswerReplaced:
    """The answer so far is now exactly `text`."""

    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NarrationConfirmed:
    """A tool call followed the text since the last such event. `unseen`: none of it was released."""

    unseen: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    """The whole answer, found at `origin`. `certain`: the agent itself called it final."""

    text: str
    origin: str
    certain: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call began. `label`: what it does, in the agent's words."""

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
    """The whole plan in its present state. `title` is the agent's."""

    steps: tuple[PlanStep, ...]
    title: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Attached:
    """The answer holds more than text, and it is whole."""

    extra: Extra
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """The agent names pages that its answer comes from, each for the first time."""

    sources: tuple[Source, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NextQuestionsFound:
    """The agent suggests what to ask next. They replace what it suggested before."""

    questions: tuple[NextQuestion, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ActsAsked:
    """The agent asks the bot to do these things in Slack, each for the first time."""

    acts: tuple[AgentAct, ...]
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
    """The task reached a terminal state. `text` is the agent's own reason.

    `no_reply`: the agent says that nothing is to be shown.
    """

    end: TaskEnd
    text: str = ""
    no_reply: bool = field(default=False, kw_only=True)
    reason: str = ""


class TaskKnowledge(StrEnum):
    """What is known of a silent task."""

    QUIET = "quiet"  # its stream is open; it was not asked for yet
    WORKING = "working"  # asked for, it says that it goes on
    UNKNOWN = "unknown"  # it cannot be asked for, or there was no answer
    BEHIND = "behind"  # not begun: the agent works on a task of this conversation that was stopped


@dataclass(frozen=True, slots=True)
class AgentIdle:
    """Nothing was heard of the task for `seconds`."""

    seconds: float
    known: TaskKnowledge = TaskKnowledge.WORKING
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StreamEnded:
    """Nothing more comes. `safe` is for the reader of a bad end, `text` the server's words.

    `is_lasting`: asking again would end so too. `code`: of the error with which the agent answered.
    """

    end: StreamEnd
    safe: str = ""
    text: str = ""
    is_lasting: bool = field(default=False, kw_only=True)
    code: int | None = field(default=None, kw_only=True)
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
    | Attached
    | SourcesFound
    | NextQuestionsFound
    | ActsAsked
    | InputRequired
    | AuthCompleted
    | TaskEnded
    | AgentIdle
    | StreamEnded
    | StopRequested
)
