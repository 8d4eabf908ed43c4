"""PURE. What the bot asks of a store.

Times are seconds since 1970 (UTC), errors are `StoreError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

from ..turn.feedback import FeedbackRecord
from ..turn.open_form import OpenForm
from ..turn.outbound import OutboundRecord
from ..turn.progress import TurnRecord
from ..turn.quotes import Heard, ThreadMessage
from ..turn.record import ThreadKey
from ..turn.thread_state import ThreadState

MOST_WAITS = 20
APART: dict[str, Any] = {"messages": True, "question": {"answer": {"secrets": True}}}
"""What the JSON of a turn leaves out: its messages, which stand by themselves, and secrets."""
ChangeFeedback: TypeAlias = Callable[[FeedbackRecord | None], FeedbackRecord | None]
ChangeThread: TypeAlias = Callable[[ThreadState | None], ThreadState | None]
MOST_SHOWN = 20
"""Messages of the bot's own that a summary names."""
RENEWALS = 6
"""Signs of life that a replica gives in the time of a lease; as often it looks for what others left."""


@dataclass(frozen=True, slots=True)
class Ages:
    """How long things are kept: accepted questions in hours, the others in days."""

    dedupe_hours: float = 24.0
    turn_days: float = 7.0
    conversation_days: float = 30.0
    feedback_days: float = 90.0
    overheard_hours: float = 24.0
    form_days: float = 7.0

    def begin(self, now: float) -> OldestKept:
        """What is from then or before is old at `now`."""
        days = (self.turn_days, self.conversation_days, self.feedback_days)
        hours = (self.dedupe_hours, *(each * 24 for each in days), self.overheard_hours)
        return OldestKept(*(now - each * 3600 for each in (*hours, self.form_days * 24)))


@dataclass(frozen=True, slots=True)
class OldestKept:
    """Times up to which things are old."""

    accepted: float
    turns: float
    conversations: float
    feedback: float
    overheard: float
    forms: float


def workspace_name(team: str) -> str:
    """Stands in the place of an agent's name."""
    return f"workspace {team}"


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is known of a thread with one agent.

    `waits`: each person whose answer the agent waits for, to the id of the task that asked, in this order.
    "" is whoever answers first. `heard`: what was said there that it knows (`turn.quotes`).
    """

    context_id: str | None = None
    waits: Mapping[str, str] = field(default_factory=dict, hash=False)
    heard: Heard = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "waits", MappingProxyType(dict(self.waits)))

    def task_for(self, user: str) -> str | None:
        return self.waits.get(user, self.waits.get(""))

    def asked(self, user: str, task_id: str) -> Conversation:
        """The same while `task_id` waits for `user`. Of too many people the first is dropped."""
        others = [each for each in self.waits.items() if each[0] != user and each != ("", task_id)]
        return replace(self, waits=dict([*others, (user, task_id)][-MOST_WAITS:]))

    def answered(self, user: str) -> Conversation:
        who = user if user in self.waits else ""
        return replace(self, waits={each: task for each, task in self.waits.items() if each != who})


class TurnStore(Protocol):
    """Accepted questions, and how far their turns have come."""

    is_durable: bool
    """What is stored outlives the process."""

    async def accept(self, turn: TurnRecord) -> bool:
        """Store a new turn. False: its question was accepted before, within the dedupe time. Atomic."""

    async def withdraw(self, key: str) -> None:
        """Undo `accept`."""

    async def save(self, *changes: tuple[TurnRecord, int]) -> None:
        """Replace turns, all or none; each with the number of its first messages that did not change.

        A turn that is not stored stays so.
        """

    async def turn(self, key: str) -> TurnRecord | None:
        """A turn, as long as it is kept."""

    async def unfinished(self) -> list[TurnRecord]:
        """The turns that have not ended, in the order they were accepted."""

    async def watched(self, push_id: str) -> TurnRecord | None:
        """The turn that has not ended and whose agent posts to this id."""

    async def messages_in(self, thread: ThreadKey) -> frozenset[str]:
        """The `ts` of all messages of the bot's answers in a thread."""

    async def active_threads(self, since: float) -> list[tuple[ThreadKey, str]]:
        """Threads with questions accepted since then, and the `ts` of the last one; the newest first."""

    async def remove_old(self, now: float) -> None:
        """Remove what is older than it is to be kept."""


class RecentTurns(Protocol):
    """What was asked lately."""

    async def accepted_since(self, since: float) -> list[TurnRecord]:
        """The turns accepted since then that are still kept."""


class KnowledgeStore(Protocol):
    """What is known of threads, by agent, and of agents."""

    async def conversation(self, agent: str, thread: ThreadKey) -> Conversation:
        """What is known of a thread."""

    async def save_conversation(
        self, agent: str, thread: ThreadKey, conversation: Conversation, now: float
    ) -> None:
        """Replace what is known."""

    async def profile(self, agent: str) -> dict[str, str]:
        """What was learned about an agent, or a workspace (`workspace_name`), by name."""

    async def save_fact(self, agent: str, name: str, value: str, now: float) -> None:
        """Replace one fact of these."""


class OverheardStore(Protocol):
    """What was said in threads with the bot, where it cannot be read later."""

    async def overhear(
        self, thread: ThreadKey, message: ThreadMessage, most: int, now: float, *, is_change: bool = False
    ) -> None:
        """Keep a message, once. Of more than `most` of a thread the oldest are dropped.

        `is_change`: in place of what it was, also if that comes later.
        """

    async def overheard(self, thread: ThreadKey) -> list[ThreadMessage]:
        """Those of a thread, in any order."""


class ThreadStateStore(Protocol):
    """Whose words in a thread are questions without a mention. Kept as long as conversations."""

    async def thread_state(self, thread: ThreadKey) -> ThreadState | None:
        """None: nobody has asked there."""

    async def change_thread_state(
        self, thread: ThreadKey, change: ChangeThread, now: float
    ) -> ThreadState | None:
        """Replace it by what `change` makes of it, if that is something. Returns what was there. Atomic.

        `change` may be called more than once.
        """


class FeedbackStore(Protocol):
    """What people said of answers."""

    async def change_feedback(self, turn: str, user: str, change: ChangeFeedback) -> FeedbackRecord | None:
        """Replace what `user` said of `turn` by what `change` makes of it, if that is something. Returns what
        was there. Atomic; `change` may be called more than once.
        """

    async def due_feedback(self, now: float, most: int) -> list[FeedbackRecord]:
        """What is to be sent by now, the longest overdue first."""


class FormStore(Protocol):
    """Forms of agents that stand in threads. They are kept until they are old, answered or not."""

    async def open_form(self, form: OpenForm) -> None:
        """Store it, or replace it while it is open (`OpenForm.put`). Atomic."""

    async def form(self, handle: str) -> OpenForm | None:
        """The form with this handle; None: it is not kept, or no longer."""

    async def forms_in(self, thread: ThreadKey) -> list[OpenForm]:
        """Those of a thread, the oldest first."""

    async def open_forms_of(self, user: str, team: str) -> list[OpenForm]:
        """Those of a workspace that nobody has answered and that `user` was asked, the oldest first."""

    async def take_form(self, handle: str, by: str, user: str, at: float) -> OpenForm | None:
        """End it, if it is open (`OpenForm.taken`). Returns it as it is then. Atomic."""


class OutboundStore(Protocol):
    """What the bot is to say without a question from Slack."""

    async def accept_outbound(self, new: OutboundRecord) -> OutboundRecord:
        """What is stored under its key then (`turn.outbound.accepted`). Atomic."""

    async def save_outbound(self, record: OutboundRecord) -> None:
        """Replace it. StoreError if another process works on it."""

    async def outbound(self, key: str) -> OutboundRecord | None:
        """The record with this key; None: it is not kept, or no longer."""

    async def unfinished_outbound(self) -> list[OutboundRecord]:
        """What has not ended, in the order it was accepted, and is for this process to deliver.

        Asked every second, which also holds on to what is under way.
        """


@dataclass(frozen=True, slots=True)
class KeptEvent:
    """A raw event of the agent that answers a turn. `data`: an A2A result as JSON."""

    turn: str
    at: float
    data: str


class EventStore(Protocol):
    """Raw events of agents. They are kept as long as their turn."""

    async def save_events(self, *events: KeptEvent) -> None:
        """Add events, all or none; those of a turn that is not stored are dropped."""

    async def events(self, turn: str) -> list[KeptEvent]:
        """Those of a turn, in the order they were added."""


@dataclass(frozen=True, slots=True)
class KeptWait:
    """An agent waits for a person."""

    agent: str
    thread: ThreadKey
    task_id: str


@dataclass(frozen=True, slots=True)
class PersonRecords:
    """All that is kept of a person."""

    turns: tuple[TurnRecord, ...]
    feedback: tuple[FeedbackRecord, ...]
    waits: tuple[KeptWait, ...]
    events: tuple[KeptEvent, ...] = ()
    outbound: tuple[OutboundRecord, ...] = ()
    threads: tuple[ThreadState, ...] = ()
    overheard: tuple[ThreadMessage, ...] = ()
    forms: tuple[OpenForm, ...] = ()


@dataclass(frozen=True, slots=True)
class Erased:
    """How much of a person was erased.

    `running`: the keys of what has not ended, for which something was left: turns, messages to the person.
    """

    turns: int
    feedback: int
    waits: int
    outbound: int
    running: tuple[str, ...]
    overheard: int = 0
    forms: int = 0


class PersonalData(Protocol):
    """What is kept of one person. `team`: only in this workspace; messages to a person have none."""

    async def person(self, user: str, team: str | None) -> PersonRecords:
        """All of it."""

    async def erase(self, user: str, team: str | None) -> Erased:
        """Erase it, except what a running turn still needs.

        The bare keys of accepted questions stay for their hours: what Slack brings again is not asked again.
        """


@dataclass(frozen=True, slots=True)
class Signal:
    """What a person did that takes effect where the thread's turn runs.

    `kind` and `values` are the sender's; `question`: an accepted turn, named by its key in `turn`.
    """

    thread: ThreadKey
    kind: str
    values: Mapping[str, str] = field(default_factory=dict, hash=False)


class ReplicaStore(Protocol):
    """Which process works on which threads, and what one tells another.

    Who lost a thread can write its turns no more.
    """

    lease: float
    """Seconds within which `renew` must be called; 0: this is the only process, and has everything."""

    async def claim(self, turn: TurnRecord) -> TurnRecord | None:
        """Begin to work on an accepted turn: it is given back as it stands now, and its thread held.

        None: it has ended, or the thread is another process's, which gets the signal `question`. Atomic.
        """

    async def left(self) -> list[TurnRecord]:
        """Turns that nobody works on: to be claimed. Threads in which nothing is shown yet come first; else
        they are in the order they were accepted.

        No more of them than this process's part; the others get the signal `left` for the rest, and what they
        do not take in time is for whoever asks.
        """

    async def connected(self, gap: float, *, has_looked: bool = False) -> bool:
        """Slack reaches this process; to be said as often as `renew`.

        True: it is to look for what came while Slack reached no process for `gap` seconds, until it says that
        it `has_looked`. If it is gone before, another one is told to.
        """

    async def renew(self) -> frozenset[ThreadKey]:
        """Hold on to all threads of this process. Returns those that it has lost."""

    @property
    def is_sure(self) -> bool:
        """Whether no other process can have taken a thread of this one: its leases have not ended."""

    async def let_go(self, thread: ThreadKey, ends: bool = False) -> None:
        """This process has nothing more to do in a thread. What has not ended there is left to others.

        `ends`: the process does, so if something is left, all others get the signal `left`.
        """

    async def signal(self, signal: Signal) -> bool:
        """Tell the process that holds the thread, or who takes it over. False: no other one holds it."""

    async def signals(self) -> list[Signal]:
        """Wait for signals to this process, in the order they were sent. Those given before are seen to."""


class Store(
    TurnStore,
    RecentTurns,
    KnowledgeStore,
    FeedbackStore,
    ThreadStateStore,
    ReplicaStore,
    OutboundStore,
    EventStore,
    OverheardStore,
    FormStore,
    Protocol,
):
    """All that the bot keeps."""

    async def close(self) -> None:
        """Release everything. May be called twice."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many of a kind there are, and the times of the oldest and the newest, where they are known."""

    kind: str
    number: int
    oldest: float | None = None
    newest: float | None = None


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """What is in a store.

    `format` is its version; `bytes` are those of its file and of the file's log. `unfinished`: turns that
    have not ended; `outbound`: the newest messages of the bot's own, the oldest of them first.
    """

    place: str
    format: int
    bytes: int | None
    counts: tuple[Count, ...]
    unfinished: tuple[TurnRecord, ...]
    outbound: tuple[OutboundRecord, ...]


class StoreAdmin(Store, PersonalData, Protocol):
    """What an operator does with a store, while the bot goes on with it."""

    async def summary(self) -> StoreSummary:
        """What is in it."""

    async def keys(self) -> list[str]:
        """The keys of all turns."""

    async def feedback(self) -> list[FeedbackRecord]:
        """All that people said of answers, the oldest first."""

    async def backup(self, target: Path, *, overwrite: bool) -> None:
        """Write a copy, as it is at one moment, that only this user may read. Raises StoreError."""
