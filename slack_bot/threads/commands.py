"""PURE. What happens in a thread (commands), and what is to be done about it (orders).

`ThreadLine` takes commands and gives orders; `Conversation` carries them out. A command that a caller waits
for is answered by the order `Respond`. Words are those of `text.words`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ..turn.buttons import TurnButton
from ..turn.progress import TurnRecord
from ..turn.record import Outcome, Question

# -- commands: what happened


@dataclass(frozen=True, slots=True)
class Ask:
    """A question was stored, by this process or by another one that cannot work on it."""

    turn: TurnRecord


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The answer to `Claim`. `turn`: as the store has it now; None: it is another process's, or has ended.

    `left`: claimed with it, what other processes left in the thread before it.
    """

    key: str
    turn: TurnRecord | None
    left: tuple[TurnRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class TakeOver:
    """The process is gone that worked on this turn; this one has claimed it."""

    turn: TurnRecord


@dataclass(frozen=True, slots=True)
class Edit:
    """The message of a question was changed to `text`, or deleted (None).

    Answer: True if this process had the question, not asked yet or being ended, and that is done.
    """

    key: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Stop:
    """`user` pressed Slack's own Stop, which all people in the thread see. Answer: whether something ends.

    `messages`: the `ts` of the streams that the press is about, if Slack named some. `is_about_others`: those
    messages are of other turns than the running one; None: not known yet.
    """

    user: str
    messages: frozenset[str] = frozenset()
    is_about_others: bool | None = None


@dataclass(frozen=True, slots=True)
class StopTurn:
    """`user` wants this turn of theirs to end, at whatever stage (a button of ours). Answer: None."""

    turn: TurnRecord
    user: str


@dataclass(frozen=True, slots=True)
class StopWatch:
    """`user` wants the task of this turn, which outlived it, to end. Answer: why it does not, or None."""

    turn: TurnRecord
    user: str


@dataclass(frozen=True, slots=True)
class Drop:
    """`user` wants nothing of theirs asked that was accepted up to `last`. Answer: words for them."""

    last: TurnRecord
    user: str


@dataclass(frozen=True, slots=True)
class PassedOn:
    """The answer to `PassOn`. `is_passed`: another process works on the thread, and knows of `command`."""

    command: Passed
    is_passed: bool


@dataclass(frozen=True, slots=True)
class HumanAwaited:
    """The agent of the running turn waits for a sign-in of its asker, or does so no longer."""

    is_awaited: bool


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The agent ended `task_id`, of the turn `turn_key`, for `question`. `task_id` None: it did not."""

    turn_key: str
    question: Question
    task_id: str | None


@dataclass(frozen=True, slots=True)
class MergeFailure:
    """The questions that were to be asked together could not be stored as one: only the first is asked."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """The running turn is over in this process. `turn`: how far it has come.

    `outcome`: None where it was broken off, or goes on in another process.
    """

    turn: TurnRecord
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class PushOffer:
    """The agent of the watched `turn` may post news to its `push_id`; without one, it may not."""

    turn: TurnRecord


@dataclass(frozen=True, slots=True)
class PushHint:
    """An agent says that there is news of the watched turn about which it posts to `push_id`."""

    push_id: str


@dataclass(frozen=True, slots=True)
class News:
    """The task of the watched `turn` has ended, or asks something."""

    turn: TurnRecord


@dataclass(frozen=True, slots=True)
class WatchFailure:
    """The task of `turn` is watched no longer, and its end is not known. `note` says why."""

    turn: TurnRecord
    note: str


@dataclass(frozen=True, slots=True)
class Timer:
    """The time of `ThreadLine.deadline` has come."""


@dataclass(frozen=True, slots=True)
class EndStored:
    """The end of this turn is stored."""

    key: str


@dataclass(frozen=True, slots=True)
class LeaseLoss:
    """Another process works on the thread: nothing of this one may appear there any more."""


@dataclass(frozen=True, slots=True)
class Close:
    """The process ends. `is_durable`: the next one finds in the store what waits."""

    is_durable: bool


Passed: TypeAlias = Stop | StopTurn | StopWatch | Drop | PushHint
"""Commands that are sent on to the process that has the thread, where this one has nothing of it."""
PersonsCommand: TypeAlias = Edit | Stop | StopTurn | StopWatch | Drop | PassedOn
TurnCommand: TypeAlias = HumanAwaited | Interrupted | MergeFailure | TurnResult | EndStored
WatchCommand: TypeAlias = PushOffer | PushHint | News | WatchFailure
Command: TypeAlias = (
    Ask | ClaimResult | TakeOver | PersonsCommand | TurnCommand | WatchCommand | Timer | LeaseLoss | Close
)  # fmt: skip
Request: TypeAlias = Edit | Stop | StopTurn | StopWatch | Drop
"""Commands that a caller waits for."""
Value: TypeAlias = bool | str | None

# -- orders: what is to be done


@dataclass(frozen=True, slots=True)
class Claim:
    """Hold the thread for `turn`. `with_left`: and claim what other processes left there."""

    turn: TurnRecord
    with_left: bool


@dataclass(frozen=True, slots=True)
class LetGo:
    """This process has nothing more to do in the thread. `ends`: the process does."""

    ends: bool


@dataclass(frozen=True, slots=True)
class Begin:
    """Ask the agent `turn`, which is made of the questions `asked`, in order."""

    turn: TurnRecord
    asked: tuple[TurnRecord, ...]


@dataclass(frozen=True, slots=True)
class StopRunning:
    """End the running turn for `user`; who takes it over ends it too."""

    user: str


@dataclass(frozen=True, slots=True)
class StepAside:
    """Listen to the agent of the running turn no longer: another question comes in its place.

    `interrupted_by`: the agent ended the task for a question of this user.
    """

    interrupted_by: str | None = None


@dataclass(frozen=True, slots=True)
class AbandonRunning:
    """Write nothing more of the running turn."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Have the agent end the task of the running turn, for `question`. Comes back as `Interrupted`."""

    question: Question


@dataclass(frozen=True, slots=True)
class CheckMessages:
    """Find out whether the messages of a Stop are those of other turns. It comes back as another `Stop`, with
    `is_about_others`."""

    command: Stop


@dataclass(frozen=True, slots=True)
class PassOn:
    """Send it to the process that works on the thread. Comes back as `PassedOn`."""

    command: Passed


@dataclass(frozen=True, slots=True)
class StopForms:
    """End the open forms of the thread that wait for the person who pressed, and answer `command` with
    whether there were some."""

    command: Stop


@dataclass(frozen=True, slots=True)
class EditElsewhere:
    """The question is not this process's: change it in the store, send the edit to the process that has it,
    and answer False."""

    command: Edit


@dataclass(frozen=True, slots=True)
class Mark:
    """Show that `question` waits, by a reaction. `is_shown`: another process may have added it."""

    question: Question
    is_shown: bool = False


@dataclass(frozen=True, slots=True)
class Unmark:
    """The question waits here no longer. `stays`: it waits for the next process, so its mark is left."""

    key: str
    stays: bool = False


@dataclass(frozen=True, slots=True)
class Save:
    """Store `turn` as it is now."""

    turn: TurnRecord


@dataclass(frozen=True, slots=True)
class End:
    """Tell the asker `words`, if there are some, and store that `turn` ended without an answer.

    `is_public`: all may read them. Comes back as `EndStored`.
    """

    turn: TurnRecord
    outcome: Outcome
    words: str = ""
    is_public: bool = False


@dataclass(frozen=True, slots=True)
class BreakOff:
    """End the answer of `turn` with a note to its readers. Comes back as `EndStored`."""

    turn: TurnRecord
    reason: str
    note: str


@dataclass(frozen=True, slots=True)
class StopAnothers:
    """`word` is "stop", and only other people's questions are under way: end the forms that wait for its
    author, or if no form does, say who can stop them. Comes back as `EndStored`."""

    word: TurnRecord


@dataclass(frozen=True, slots=True)
class StopFollowing:
    """Only a mention is a question in the thread from now on. Comes back as `EndStored`."""

    turn: TurnRecord


@dataclass(frozen=True, slots=True)
class Say:
    """Tell the asker of `question` alone."""

    question: Question
    words: str


@dataclass(frozen=True, slots=True)
class Notify:
    """Answer `question` with a note: the agent is not asked."""

    question: Question
    note: str


@dataclass(frozen=True, slots=True)
class Offer:
    """Tell `user` alone, with buttons about `question`, by their labels."""

    question: Question
    user: str
    words: str
    labels: Mapping[TurnButton, str] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Reword:
    """Note what the message of the running turn says now: a retry asks that."""

    text: str


@dataclass(frozen=True, slots=True)
class Watch:
    """Look now and then how the task of `turn` is."""

    turn: TurnRecord


@dataclass(frozen=True, slots=True)
class Unwatch:
    """Watch this turn no longer."""

    key: str


@dataclass(frozen=True, slots=True)
class ReadTask:
    """Look soon how the task of this watched turn is."""

    key: str


@dataclass(frozen=True, slots=True)
class ReportTakeover:
    """Log that `turn` goes on in this process. `is_given_up`: it does not, too many have tried."""

    turn: TurnRecord
    is_given_up: bool = False


@dataclass(frozen=True, slots=True)
class Respond:
    """Answer `command`, once what was ordered before is stored."""

    command: Request
    value: Value


SharingOrder: TypeAlias = Claim | LetGo | PassOn | EditElsewhere
RunningOrder: TypeAlias = StopRunning | StepAside | AbandonRunning | Interrupt | Reword | CheckMessages
StoringOrder: TypeAlias = Save | End | BreakOff | StopAnothers | StopFollowing
ShowingOrder: TypeAlias = Mark | Unmark | Say | Notify | Offer
WatchingOrder: TypeAlias = Watch | Unwatch | ReadTask
Order: TypeAlias = (
    SharingOrder | RunningOrder | StoringOrder | ShowingOrder | WatchingOrder | Begin | StopForms
    | ReportTakeover | Respond
)  # fmt: skip
