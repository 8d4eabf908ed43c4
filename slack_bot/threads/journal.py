"""Keeps each running turn in the store, so that another process can finish it.

What happens is stored at once, before anything outside depends on it; the text that Slack confirmed at most
once in `interval` seconds, of all turns together. A failure is logged and the turn goes on for its reader.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from ..agents.agents import Agents
from ..clock import Clock
from ..errors import StoreError
from ..observe.facts import FormShown, Observer, TurnRecorded
from ..store.contracts import Store
from ..store.knowledge import AgentContext, conversation, forms_in, open_form, save_conversation
from ..turn.acts import TurnActs
from ..turn.extras import ExtraRecord
from ..turn.form import Form
from ..turn.open_form import OpenForm
from ..turn.progress import MessageRecord, Stage, TaskBaseline, TurnRecord
from ..turn.quotes import Heard
from ..turn.record import Outcome, Question, ThreadKey
from ..turn.usage import UsageMeter
from .leases import Leases

_log = logging.getLogger(__name__)

_NAME_SECONDS = 2.0  # that the process stays for the ids of tasks
_HANDLE_BYTES = 24  # of what names a form: nobody can guess it
_RETRY_SECONDS = 1.0  # until a store is asked again that the agent must not be asked without


class JournalStore:
    """The store as the journal uses it: a failure is logged, and the turn goes on for its reader."""

    def __init__(self, store: Store, agents: Agents, clock: Clock) -> None:
        self._store, self._agents = store, agents
        self.now = clock.wall
        self.is_durable = store.is_durable
        self._not_stored: set[tuple[str, str]] = set()  # since the last success: turns, and what of them

    async def save(self, *changes: tuple[TurnRecord, int]) -> bool:
        """Store all of them or none. With each: how many of its messages are stored as they are."""
        return await self._guard(self._store.save(*changes), changes[0][0])

    async def messages_in(self, thread: ThreadKey) -> frozenset[str]:
        """Empty if the store fails."""
        try:
            return frozenset(await self._store.messages_in(thread))
        except StoreError as error:
            _log.error("the messages of a thread were not read: %s", error, extra={"thread_ts": thread.ts})
            return frozenset()

    def agent_key(self, record: TurnRecord) -> str:
        """Under which the store has what is known of the turn's agent."""
        return self._agents.key_of(record.agent)

    async def context_of(self, record: TurnRecord) -> AgentContext:
        """What is known of the turn's thread with its agent. Raises StoreError."""
        owner = self._agents.owner_of(record.agent, record.question.user)
        return await conversation(self._store, self.agent_key(record), record.question.thread, owner)

    async def save_context(self, agent_context: AgentContext, record: TurnRecord) -> None:
        key, asked = self.agent_key(record), record.question
        owner = self._agents.owner_of(record.agent, asked.user)
        saving = save_conversation(self._store, key, asked.thread, agent_context, self.now(), owner)
        await self._guard(saving, record, "a thread's context")

    async def save_form(self, form: OpenForm, record: TurnRecord) -> bool:
        return await self._guard(open_form(self._store, form, self.now()), record, "a form")

    async def form_of(self, record: TurnRecord) -> OpenForm | None:
        """The form that another process has shown for this turn."""
        if not (record.takeovers or record.stage is Stage.WATCHED):
            return None
        try:
            there = await forms_in(self._store, record.question.thread)
        except StoreError:  # what follows will say so
            return None
        return next((each for each in there if each.is_open and each.turn == record.key), None)

    async def _guard(self, saving: Awaitable[None], record: TurnRecord, what: str = "a turn") -> bool:
        try:
            await saving
        except StoreError as error:
            fields = {"turn": record.key, "thread_ts": record.question.thread.ts, "task": record.task_id}
            is_said = (record.key, what) in self._not_stored
            self._not_stored.add((record.key, what))
            level = logging.DEBUG if is_said else error.log_level
            _log.log(level, "%s was not stored: %s", what, error, extra=fields)
            return False
        self._not_stored.clear()
        return True


class UnnamedTasks:
    """Turns whose question was sent and whose task's id is not stored: no other process could finish them."""

    def __init__(self) -> None:
        self._turns: set[str] = set()
        self._all_named = asyncio.Event()

    def add(self, record: TurnRecord) -> None:
        """Its question is sent."""
        if record.question.task_id is None:
            self._turns.add(record.key)

    def discard(self, record: TurnRecord) -> None:
        """The id of its task is stored, or not needed."""
        self._turns.discard(record.key)
        if not self._turns:
            self._all_named.set()

    async def wait_for_names(self, hurry: asyncio.Event | None) -> None:
        """Shortly, or until `hurry` is set."""
        self._all_named.clear()
        if not self._turns:
            return
        ends = [asyncio.ensure_future(each.wait()) for each in (self._all_named, hurry) if each is not None]
        await asyncio.wait(ends, timeout=_NAME_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        for each in ends:
            each.cancel()


class Journal:
    """The records of all turns of this process."""

    def __init__(
        self,
        store: Store,
        agents: Agents,
        clock: Clock,
        interval: float,
        leases: Leases,
        observer: Observer,
    ) -> None:
        self.store = JournalStore(store, agents, clock)
        self.unnamed = UnnamedTasks()
        self._leases, self._observer, self._monotonic = leases, observer, clock.monotonic
        self._interval = interval
        self._changed: set[TurnJournal] = set()
        self._checkpoint: asyncio.Task[None] | None = None

    async def begin(
        self,
        record: TurnRecord,
        *,
        opens_forms: bool,
        meter: UsageMeter | None = None,
        acts: TurnActs | None = None,
    ) -> "TurnJournal":
        """The turn begins, or goes on after another process. Raises StoreError.

        `opens_forms`: what its agent asks may be answered with buttons. `meter`: counts what it uses.
        `acts`: does what its agent asks for.
        """
        beside = meter or UsageMeter(), acts or TurnActs()
        question = record.question
        known = await self.store.context_of(record)
        if record.stage is Stage.ACCEPTED:
            may_reply = not question.cause  # only words that a person wrote answer what the agent asked
            waiting = known.task_for(question.user) if may_reply else None
            task_id = question.task_id if question.handle else waiting
            question = replace(question, context_id=known.context_id, task_id=task_id)
            asked = replace(record, question=question)
            return TurnJournal(self, asked, known, opens_forms=opens_forms, beside=beside)
        if record.stage is Stage.WATCHED:
            return TurnJournal(self, record, known, opens_forms=opens_forms, beside=beside)
        again = replace(record, takeovers=record.takeovers + 1)
        turn = TurnJournal(self, again, known, opens_forms=opens_forms, beside=beside)
        await self.save(turn)
        return turn

    async def merge(self, record: TurnRecord, others: Sequence[TurnRecord]) -> bool:
        """The `others` are asked as a part of `record`. All or none of it is stored."""
        ended = [each.ended(self.store.now(), Outcome.MERGED) for each in others]
        is_saved = await self.store.save((record, 0), *((each, 0) for each in ended))
        for each in ended if is_saved else ():
            self._tell_end(each)
        return is_saved

    def _tell_end(self, record: TurnRecord) -> None:
        self._observer(TurnRecorded(self._monotonic(), record.key, self.store.agent_key(record), record))

    def tell_form(self, form: OpenForm) -> None:
        """The form is shown and stored."""
        self._observer(FormShown(self._monotonic(), form.turn, form))

    async def end(self, record: TurnRecord, outcome: Outcome, reason: str = "") -> None:
        """A turn ended without an answer of the agent."""
        self.unnamed.discard(record)
        self._changed = {turn for turn in self._changed if turn.record.key != record.key}
        ended = record.ended(self.store.now(), outcome, reason)
        if await self._until_there(lambda: self.keep(ended)) and record.stage is not Stage.ENDED:
            self._tell_end(ended)

    async def wait_for_names(self, hurry: asyncio.Event | None) -> None:
        """Shortly, or until `hurry` is set: without its task's id nobody could go on with a turn."""
        if self.store.is_durable:
            await self.unnamed.wait_for_names(hurry)

    async def keep(self, record: TurnRecord) -> bool:
        """A turn changed that does not run."""
        return await self.store.save((record, len(record.messages)))

    async def keep_stop(self, record: TurnRecord, user: str) -> None:
        """`user` stopped a turn that has not begun."""
        await self.keep(replace(record, stopped_by=user))

    async def save_end(self, turn: "TurnJournal") -> None:
        """The turn has ended, or is watched."""
        if await self._until_there(lambda: self.save(turn)) and turn.record.stage is Stage.ENDED:
            self._tell_end(turn.record)

    async def _until_there(self, save: Callable[[], Awaitable[bool]]) -> bool:
        """With several replicas another one would go on with a turn whose end is not stored."""
        while not (is_saved := await save()) and self._leases.is_shared:  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(_RETRY_SECONDS)
        return is_saved

    async def save(self, *turns: "TurnJournal") -> bool:
        """Store what changed of `turns`. Only logs what fails: the next call stores it too."""
        self._changed.difference_update(turns)
        changes = [(turn.record, turn.unchanged()) for turn in turns]
        is_saved = await self.store.save(*changes)
        if is_saved:
            for turn, (record, _) in zip(turns, changes, strict=True):
                turn.stored = record.messages
        return is_saved

    async def save_surely(self, turn: "TurnJournal") -> None:
        """Store `turn` before the agent is asked. Does not return if the thread is another process's.

        With several replicas a question that is not marked would be asked by another one too, so this waits
        for the store. One process goes on without it.
        """
        is_kept = await self.save(turn)
        while self._leases.is_shared and not (is_kept and await self._is_held(turn.record)):
            await asyncio.sleep(_RETRY_SECONDS)
            is_kept = await self.save(turn)

    async def _is_held(self, record: TurnRecord) -> bool:
        """Whether the thread is this process's. If it is another one's, this does not return: the turn is
        cancelled.
        """
        try:
            lost = await self._leases.renew()
        except StoreError as error:
            message = "the lease of a thread was not renewed: %s"
            _log.log(error.log_level, message, error, extra={"turn": record.key})
            return False
        if record.question.thread in lost:
            await asyncio.Event().wait()
        return True

    def save_soon(self, turn: "TurnJournal") -> None:
        self._changed.add(turn)
        if self._checkpoint is None or self._checkpoint.done():
            self._checkpoint = asyncio.create_task(self._save_changed(), name="checkpoint")

    async def close(self) -> None:
        if self._checkpoint is not None:
            self._checkpoint.cancel()
        if self._changed:
            await self.save(*self._changed)

    async def _save_changed(self) -> None:
        while self._changed:
            await asyncio.sleep(self._interval)
            if self._changed:
                await self.save(*self._changed)


class TurnForm:
    """The form with which a turn's agent asks, in the store."""

    def __init__(self, store: JournalStore, *, can_be_answered: bool) -> None:
        self._store, self._can_be_answered = store, can_be_answered
        self._opened: OpenForm | None = None

    @property
    def handle(self) -> str:
        """Of the form that this process has shown; "": none."""
        return "" if self._opened is None else self._opened.handle

    async def open(self, form: Form, record: TurnRecord, *, is_over: bool) -> str:
        """Keep what the agent asks. Returns its handle; "": it cannot be kept, and nobody could press.
        `is_over`: the agent's task is, so the answer begins another one.
        """
        if not self._can_be_answered:
            return ""
        known = self._opened or await self._store.form_of(record)
        if known is not None and known.form == form:
            return known.handle
        asked, task_id = record.question, "" if is_over else record.task_id or ""
        opened = OpenForm(
            known.handle if known is not None else secrets.token_urlsafe(_HANDLE_BYTES),
            *(record.key, asked.thread, asked.user, asked.user_team, task_id, form),
            opened_at=self._store.now(),
            context_id=record.context_id,
        )
        return opened.handle if await self._save(opened, record) else ""

    async def shown_below(self, message: MessageRecord, record: TurnRecord) -> OpenForm | None:
        """The form is shown there. Returns it; None if it is not kept."""
        if self._opened is None:
            return None
        opened = replace(self._opened, message=message)
        return opened if await self._save(opened, record) else None

    async def _save(self, form: OpenForm, record: TurnRecord) -> bool:
        self._opened = form
        return await self._store.save_form(form, record)


class TurnContext:
    """What is known of the thread with the turn's agent, in the store."""

    def __init__(self, store: JournalStore, agent_context: AgentContext) -> None:
        self._store, self.known = store, agent_context

    @property
    def heard(self) -> Heard:
        """What the agent knows of the thread. One that names no conversation remembers nothing."""
        return () if self.known.context_id is None else self.known.heard

    async def learn(self, agent_context: AgentContext, record: TurnRecord) -> None:
        """Store `agent_context`, if it is new."""
        if agent_context != self.known or tuple(agent_context.waits) != tuple(self.known.waits):
            await self.save(agent_context, record)

    async def save(self, agent_context: AgentContext, record: TurnRecord) -> None:
        """Store `agent_context` also if it is as before: its age counts from now."""
        self.known = agent_context
        await self._store.save_context(agent_context, record)


class TurnJournal:
    """The record of one turn. `stored`: its messages as the store has them."""

    def __init__(
        self,
        journal: Journal,
        record: TurnRecord,
        agent_context: AgentContext,
        *,
        opens_forms: bool,
        beside: tuple[UsageMeter, TurnActs],
    ) -> None:
        self.meter, self.acts = beside
        self._journal, self.record = journal, record
        self.stored = record.messages
        self.context = TurnContext(journal.store, agent_context)
        self.form = TurnForm(journal.store, can_be_answered=opens_forms)

    @property
    def question(self) -> Question:
        return self.record.question

    @property
    def is_takeover(self) -> bool:
        return self.record.takeovers > 0 or self.record.stage is Stage.WATCHED

    def unchanged(self) -> int:
        pairs = list(zip(self.stored, self.record.messages, strict=False))
        return next((at for at, (old, new) in enumerate(pairs) if old != new), len(pairs))

    async def other_messages(self) -> frozenset[str]:
        return await self._journal.store.messages_in(self.question.thread)

    async def sending(self, baseline: TaskBaseline | None = None, heard: Heard | None = None) -> None:
        """The agent is asked next. `baseline`: what the task holds that the question is for. `heard`: what
        the agent has heard of the thread, once it has taken the question.
        """
        if self.record.stage is Stage.ACCEPTED:
            self._journal.unnamed.add(self.record)
            sent_at = self._journal.store.now()
            self.record = replace(
                self.record, stage=Stage.SENT, sent_at=sent_at, baseline=baseline, heard=heard
            )
            await self._journal.save_surely(self)

    def answers(self, form: OpenForm) -> None:
        """The question is a reply to `form`, in words."""
        question = replace(self.question, form=form.form, handle=form.handle)
        self.record = replace(self.record, question=question)

    async def open_form(self, form: Form, *, is_over: bool = False) -> str:
        """As `TurnForm.open`."""
        return await self.form.open(form, self.record, is_over=is_over)

    async def form_shown(self, message: MessageRecord | None) -> None:
        """The form is shown below `message`."""
        if message is not None and (form := await self.form.shown_below(message, self.record)) is not None:
            self._journal.tell_form(form)

    async def taken(self) -> None:
        """The agent has the question, and what came with it."""
        if self.record.heard is not None:
            await self.context.learn(replace(self.context.known, heard=self.record.heard), self.record)

    async def task_known(self, task_id: str | None, context_id: str | None) -> None:
        """The agent named its task or its conversation. Nothing of it may be shown before."""
        record, known = self.record, self.context.known
        task_id, context_id = task_id or record.task_id, context_id or record.context_id
        if context_id is not None and known.context_id not in (None, context_id):
            record = replace(record, heard=())  # the agent began anew: it knows nothing of the thread
        if (task_id, context_id) != (record.task_id, record.context_id):
            await self._become(replace(record, task_id=task_id, context_id=context_id))
            if task_id is not None:
                self._journal.unnamed.discard(record)
        heard = known.heard if record.heard is None else record.heard
        known = replace(known, context_id=context_id or known.context_id, heard=heard)
        await self.context.learn(known, self.record)

    async def shown(self, messages: tuple[MessageRecord, ...]) -> None:
        """Slack confirmed `messages`. A new one is stored before more is written into it."""
        known, self.record = self.record, replace(self.record, messages=messages)
        if [each.ts for each in known.messages] != [each.ts for each in messages]:
            await self._journal.save(self)
        elif known.messages != messages:
            self._journal.save_soon(self)

    async def attached(self, extras: tuple[ExtraRecord, ...]) -> None:
        """What is in the thread besides the text, before more of it is shown."""
        await self._become(replace(self.record, extras=extras))

    async def thread_begun(self, root: str) -> None:
        """The thread of the question begins with the message `root`."""
        await self._become(replace(self.record, question=replace(self.question, root=root)))

    async def stop(self, user: str) -> None:
        """The human stopped the turn: a process that takes it over ends it."""
        await self._become(replace(self.record, stopped_by=user))

    async def reword(self, text: str) -> None:
        """The question's message was edited to `text` while it was answered: a retry asks that."""
        await self._become(replace(self.record, reworded=text))

    async def watch(self) -> None:
        since = self.record.watched_at or self._journal.store.now()
        await self._become(replace(self.record, stage=Stage.WATCHED, watched_at=since), ends=True)

    async def hand_over(self, messages: tuple[MessageRecord, ...]) -> None:
        await self._become(replace(self.record, messages=messages))

    async def end(
        self,
        outcome: Outcome,
        awaiting_task_id: str | None = None,
        trace_id: str | None = None,
        reason: str = "",
        said: str = "",
    ) -> None:
        """`awaiting_task_id`: the task that waits for the asker's answer."""
        self._journal.unnamed.discard(self.record)
        known, user = self.context.known, self.question.user
        known = replace(known, context_id=self.record.context_id or known.context_id)
        if awaiting_task_id is not None:
            known = known.asked(user, awaiting_task_id)
        elif self.question.task_id is not None and outcome is not Outcome.REFUSED:
            known = known.answered(user)
        await self.context.save(known, self.record)
        ended = self.record.ended(self._journal.store.now(), outcome, reason)
        await self._become(replace(ended, trace_id=trace_id, said=said, usage=self.meter.usage), ends=True)

    async def _become(self, record: TurnRecord, *, ends: bool = False) -> None:
        self.record = record
        await (self._journal.save_end if ends else self._journal.save)(self)
