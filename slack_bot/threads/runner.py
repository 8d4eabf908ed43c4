"""One turn: the agent's events go through the machine and the buffer into the thread.

The *consumer* handles each event as it comes and never waits for Slack. The *writer* makes one Slack call at
a time, and is woken only for what is earlier than it knows. An event that takes more than some milliseconds
goes on in the *worker*, with the loop in between; later events wait for it.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, assert_never

from ..agents.agent import Agent
from ..agents.task.stream_consumer import TurnHandle
from ..agents.task.task_consumer import TaskConsumer
from ..clock import Clock
from ..errors import NothingToAsk
from ..observe import facts
from ..settings.load import Settings, secrets_of
from ..settings.models import StreamSettings
from ..slack.methods import Priority
from ..slack.model import Batch, Ending, WriteResult
from ..slack.sink import Sink
from ..text.buffer import TIMER_TOLERANCE, StreamBuffer
from ..text.compare import contains
from ..text.ledger import Ledger
from ..text.sanitize import sanitize, sanitize_beginning, sanitize_in_steps, slices
from ..text.words import GOES_ON_NOW, NO_ANSWER, THREAD_GONE, WRITING, WRITING_BUSY
from ..turn import actions
from ..turn.durations import in_words
from ..turn.events import Event, NarrationConfirmed, StreamEnded, TaskEnded, TurnBegun
from ..turn.form import Form
from ..turn.machine import State, Turn
from ..turn.progress import TaskBaseline, TurnRecord
from ..turn.quotes import Heard, Surroundings
from ..turn.record import WRONG, Outcome, Question
from ..turn.sanitize import sanitize_card, sanitize_form
from .journal import TurnJournal

_ENDS = (TaskEnded, StreamEnded)
_ACTIONS = 50  # actions that are carried out in one step
LookAround: TypeAlias = Callable[[Question, Heard], Coroutine[Any, Any, Surroundings]]
"""Finds what goes to the agent beside a question. Never raises."""
_DONE = object()  # what `next` gives where no step is left
_TICK = 0.001  # seconds to sleep at least: what is due sooner than a clock can tell would keep the loop busy


class TurnRunner:
    """Asks the agent and writes its answer into the thread, or goes on where another process was."""

    def __init__(
        self,
        journal: TurnJournal,
        agent: Agent,
        sink: Sink,
        settings: Settings,
        clock: Clock,
        observer: facts.Observer,
        handle: TurnHandle,
        look_around: LookAround,
    ) -> None:
        self._question, self._settings, self._journal = journal.question, settings, journal
        self._sink, self._delivery, self._look_around = sink, sink.delivery, look_around
        self._secrets = (*secrets_of(settings), *agent.secrets)  # never to reach Slack
        self._clock, self._now, self._observer, self._handle = clock, clock.monotonic, observer, handle
        self._has_details, stream = facts.wants_details(observer), settings.stream
        is_begun = bool(sink.delivery.ledger.repeated.strip())
        self._machine = Turn(shows_words=settings.agent.error_text == "show", is_begun=is_begun)
        self._buffer = _buffer_of(sink.delivery.ledger, stream, self._secrets)
        self._cards: dict[str, actions.TaskCard] = {}  # that wait, as they are now
        self._plan_title: str | None = None  # that waits
        self._is_settled = asyncio.Event()  # what another process left in the thread is
        self._wake = asyncio.Event()
        self._deadline: float | None = None  # the text's, as the writer knows it
        self._backlog: deque[Iterator[None]] = deque()  # events that take more than a step, and later ones
        self._worker: asyncio.Task[None] | None = None
        self._broken: BaseException | None = None  # why the worker or the writer ended
        self._ids: list[actions.SaveIds] = []  # to be kept before anything is shown
        self._status: str | None = None  # that waits
        self._form: Form | None = None
        self._form_due: float | None = None  # when it is to be shown, if the turn goes on until then
        self._slot_until: float | None = None  # how long something waits for Slack's budget
        self._is_late = self._is_heard = False  # no stream could be started in time; the agent was heard
        self._end: actions.EndTurn | None = None
        self._rewrite: str | None = None
        self._around: asyncio.Task[Surroundings] | None = None
        self._consumer = TaskConsumer(
            self._question,
            agent.in_conversation(self._question.thread, self._question.key),
            settings.agent,
            clock,
            handle,
            self._handle_event,
            self._on_agent_event if facts.wants_events(observer) else None,
            self._sending,
        )

    async def run(self) -> facts.TurnEnded:
        """The turn, to its end. Raises `SlackError` if Slack cannot be written to for good."""
        asked, thread, now = self._question, self._question.thread, self._now()
        of_thread = asked.user, thread.channel, thread.ts, asked.text
        self._observer(facts.TurnStarted(now, asked.key, *of_thread, self._journal.record.accepted_at))
        self._sink.extras.begin(self._journal.record.extras, self._journal.attached, self._settings.web)
        self._handle_event(TurnBegun())
        left = self._journal.record if self._journal.is_takeover else None
        if left is None:
            self._around = asyncio.create_task(self._look_around(asked, self._journal.heard))
        self._handle.on_exit(self._cancel_writes_if_stopped)
        writer = asyncio.create_task(self._write(left), name=f"writer {asked.key}")
        writer.add_done_callback(self._task_ended)
        try:
            await self._listen(left)
            self._observer(facts.AgentLeft(self._now(), asked.key))
            if self._worker is not None and not self._handle.is_gone:
                await self._worker
            if self._broken is not None:
                raise self._broken
            await writer
        except asyncio.CancelledError:
            self._buffer.release(self._now(), is_late=True)  # goes along where the stream is stopped
            raise
        finally:
            tasks = [task for task in (writer, self._worker, self._around) if task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        if self._consumer.view.heard or self._journal.record.task_id is not None:
            await self._journal.taken()
        if self._handle.is_gone:
            await self._sink.abandon()
        else:
            if self._end is not None and self._end.outcome is Outcome.WATCHED:
                await self._journal.watch()
            await self._finish()
        ended = self._ended()
        if ended.outcome is Outcome.GONE and self._journal.record.watched_at is not None:
            await self._delivery.posts.tell_asker(THREAD_GONE)
        return ended

    async def _listen(self, left: TurnRecord | None) -> None:
        """Ask the agent, or go on with what another process `left`. A stop does not wait for Slack."""
        if left is not None:
            await self._handle.race(self._is_settled.wait())
        await self._consumer.consume(left)

    async def _sending(self, baseline: TaskBaseline | None) -> Surroundings:
        """What goes along with the question. Who stops the turn does not wait for it. Raises NothingToAsk."""
        assert self._around is not None
        await self._handle.race(asyncio.wait({self._around}))
        around = self._around.result() if self._around.done() else Surroundings()
        if around.not_given and not (self._question.text or around.files):
            raise NothingToAsk("none of the question's files was given", safe=" ".join(around.not_given))
        await self._journal.sending(baseline, around.heard)
        self._observer(facts.AgentAsked(self._now(), self._question.key))
        return around

    async def _take_over(self, record: TurnRecord) -> None:
        others = {*await self._journal.other_messages(), *(extra.ts for extra in record.extras)}
        is_watched = record.watched_at is not None
        if not record.messages:  # its reader has seen nothing at all, and goes before those who read half
            self._sink.waits_since(self._now() - (self._clock.wall() - record.accepted_at))
        await self._delivery.take_over(record.sent_at or 0.0, others, has_note=is_watched)
        if is_watched and self._handle.stopped_by is None:
            after = in_words(self._clock.wall() - record.accepted_at)
            asker = f"<@{record.question.user}> " if record.question.user else ""
            await self._sink.announce(asker + GOES_ON_NOW.format(after))

    def _cancel_writes_if_stopped(self) -> None:
        """Who presses Stop does not wait for Slack's budget."""
        if self._handle.stopped_by is not None:
            self._sink.cancel_writes()

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        """A writer or a worker that broke ends the listening too."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._broken = self._broken or error
            self._handle.mark_gone()

    def _on_agent_event(self, kind: str, raw: Mapping[str, Any]) -> None:
        self._observer(facts.AgentEvent(self._now(), self._question.key, kind, raw))

    @property
    def unseen_since(self) -> float | None:
        """When the oldest text came that its reader cannot see yet."""
        return self._buffer.waiting_since

    def _show_measured(self, since: float | None, *, is_late: bool = False) -> None:
        if since is not None:
            self._observer(facts.TextShown(self._now(), self._question.key, since, is_late))

    # -- deciding --------------------------------------------------------------------------------------------

    def _handle_event(self, event: Event) -> bool:
        """Now, where one step is enough and nothing is before it. True: the writer is due."""
        work = self._steps(event)
        if not self._backlog and next(work, _DONE) is _DONE:
            return self._wake.is_set()
        self._backlog.append(work)
        if self._broken is None and (self._worker is None or self._worker.done()):
            self._worker = asyncio.create_task(self._work_off(), name=f"worker {self._question.key}")
            self._worker.add_done_callback(self._task_ended)
        return True

    async def _work_off(self) -> None:
        while self._backlog:
            await asyncio.sleep(0)
            if next(self._backlog[0], _DONE) is _DONE:
                self._backlog.popleft()

    def _steps(self, event: Event) -> Iterator[None]:
        """Decide what `event` means, and carry it out. Yields after each step but the last."""
        may_be_due = False
        yield from self._machine.prepare(event)
        for number, action in enumerate(self._decide(event), start=1):
            if isinstance(action, actions.AppendText):
                for at, piece in enumerate(slices(action.text)):
                    if at:  # the front of it may be shown while the rest is sanitized
                        self._wake.set()
                        yield
                    may_be_due |= self._buffer.push(piece, self._now(), unproven=action.unproven)
            else:
                may_be_due = True
                yield from self._apply(action)
            if number % _ACTIONS == 0:
                yield
        if isinstance(event, NarrationConfirmed):
            self._buffer.start_new_text()
            may_be_due = True
        self._handle.is_waiting_for_human = self._machine.waits_for_human
        # the writer is woken only for what is earlier than it knows
        deadline = self._buffer.deadline() if may_be_due else None
        if deadline is not None and (self._deadline is None or deadline < self._deadline):
            self._wake.set()

    def _decide(self, event: Event) -> list[actions.Action]:
        late = self._machine.late
        if not self._is_heard and self._consumer.view.heard:
            self._is_heard = True
            self._observer(facts.AgentHeard(self._now(), self._question.key))
        if isinstance(event, _ENDS):
            # Its words are cut for a note: a secret that is cut in two would not be recognised any more.
            event = replace(event, text=sanitize_beginning(event.text, self._secrets))
        elif isinstance(event, NarrationConfirmed):
            event = replace(event, unseen=self._buffer.is_unsent)
        decided = self._machine.handle(event)
        if self._has_details:
            now, state, is_late = self._now(), str(self._machine.state), self._machine.late > late
            key = self._question.key
            self._observer(facts.EventHandled(now, key, event, tuple(decided), state, is_late))
        return decided

    def _apply(self, action: actions.Action) -> Iterator[None]:  # noqa: C901  an arm for each
        secrets, stream = self._secrets, self._settings.stream
        match action:
            case actions.FlushText() | actions.RetractText():
                (self._buffer.flush if isinstance(action, actions.FlushText) else self._buffer.retract)()
            case actions.AppendText() | actions.NoOp():  # text is appended in steps
                return
            case actions.RewriteAnswer(text=text):
                masked = Counter[str]()
                shown = yield from sanitize_in_steps(text, secrets, masked)
                self._buffer.text_was_replaced(masked)
                self._rewrite = shown if shown.strip() else NO_ANSWER
                return
            case actions.ShowStatus(text=text):
                self._status = sanitize_beginning(text, secrets)
            case actions.UpdateCard(card=card):
                card = sanitize_card(card, secrets)
                self._cards[card.id] = self._cards[card.id].then(card) if card.id in self._cards else card
            case actions.SetPlanTitle(title=title):
                self._plan_title = sanitize_beginning(title, secrets)
            case actions.ShowForm(form=form):
                most = stream.max_form_fields, stream.max_form_choices
                self._form = yield from sanitize_form(form, secrets, *most)
                self._form_due = self._now() + stream.first_flush_delay
            case actions.ShowExtra() | actions.NameSources():
                yield from self._sink.extras.take(action, secrets)
                return
            case actions.SaveIds():
                self._around = None  # the agent has it, with files that may be large
                self._ids.append(action)
                if action.task_id is not None:
                    self._handle.know_task(action.task_id)
            case actions.EndTurn():
                self._buffer.end(self._now())
                self._end = action
            case _:
                assert_never(action)
        self._wake.set()

    # -- writing ---------------------------------------------------------------------------------------------

    async def _write(self, left: TurnRecord | None) -> None:
        """Show what waits, one call at a time, until the turn is decided. `left`: see `_listen`."""
        if left is not None:
            await self._take_over(left)
            self._is_settled.set()
        while True:
            self._wake.clear()
            waiting, self._ids = self._ids, []
            for ids in waiting:
                self._sink.set_task(ids.task_id)
                await self._journal.task_known(ids.task_id, ids.context_id)
            status, self._status = self._status, None
            if status is not None:
                await self._sink.show_status(status)
            if self._form_due is not None and self._now() + TIMER_TOLERANCE >= self._form_due:
                self._form_due = None
                if self._form is not None and self._machine.waits_for_human:
                    await self._sink.ask(self._form, await self._open(self._form))
                    await self._journal.form_shown(self._sink.form_message)
            if not await self._write_batch():
                return
            await self._sleep_until_due()

    async def _write_batch(self) -> bool:
        """One write. False when there will be no more."""
        goes_on, now = self._end is None, self._now()
        is_rewritten = self._rewrite is not None or self._delivery.ledger.has_diverged
        if self._handle.stopped_by is not None or not self._delivery.is_live or is_rewritten:
            return goes_on
        if not self._is_due(now):
            return goes_on
        if not self._delivery.may_write(self._priority(), self._wake.set):
            await self._wait_for_slot(now)
            return goes_on  # the end takes this place in the queue, with all that is left
        is_late, self._slot_until = self._slot_until is not None, None
        since = self._buffer.waiting_since
        released, cards = self._buffer.release(now, is_late=is_late), self._take_cards()
        if not released and cards.is_plain and self._delivery.due() != 0.0:
            return goes_on
        written = await self._sink.write(cards)
        await self._journal.shown(self._delivery.records)
        if written is WriteResult.GONE:
            self._handle.mark_gone()
            return False
        if written is WriteResult.STOPPED:
            self._handle.stop(self._question.user)
        else:
            self._buffer.acknowledge(self._now())
            if released:
                self._show_measured(since, is_late=is_late)
        return written is WriteResult.SHOWN or self._end is None

    @property
    def _has_cards(self) -> bool:
        return bool(self._cards) or self._plan_title is not None

    def _take_cards(self) -> Batch:
        batch = Batch("", tuple(self._cards.values()), self._plan_title)
        self._cards, self._plan_title = {}, None
        return batch

    def _is_due(self, now: float) -> bool:
        is_ready = self._has_cards or self._buffer.is_ready(now)
        return (is_ready and self._delivery.pause() == 0.0) or self._delivery.due() == 0.0

    def _priority(self) -> Priority:
        if not self._question.user:
            return Priority.BACKGROUND
        if self._buffer.deadline() is not None and not self._buffer.begun:
            return Priority.FIRST
        return Priority.CARDS if self._has_cards else Priority.LATER

    async def _wait_for_slot(self, now: float) -> None:
        """Before the stream is started, the status says that Slack's budget is spent.

        Whose answer another process had begun has waited already.
        """
        if self._slot_until is None:
            timeout = self._settings.governor.start_slot_timeout
            self._slot_until = now + (0.0 if self._journal.is_takeover else timeout)
            await self._sink.show_status(WRITING)
        elif now + TIMER_TOLERANCE >= self._slot_until and self._delivery.begins and not self._is_late:
            self._is_late = True
            self._wake.set()  # the other surface waits for a slot of its own
            self._delivery.downgrade_surface()
            await self._sink.show_status(WRITING_BUSY)

    async def _sleep_until_due(self) -> None:
        if self._end is not None or self._wake.is_set():
            await asyncio.sleep(0)  # white space is taken without a call: no other await may have come
            return
        now, is_live = self._now(), self._delivery.is_live
        live = self._next_due(now) if is_live else None
        self._deadline = self._buffer.deadline()
        if self._deadline is None and is_live:  # text that comes before the next one need not wake it
            self._deadline = self._buffer.next_deadline(now)
            live = _soonest(live, None if self._deadline is None else self._deadline - now)
        due = _soonest(live, None if self._form_due is None else max(0.0, self._form_due - now))
        try:
            async with asyncio.timeout(None if due is None else max(due, _TICK)):
                await self._wake.wait()
        except TimeoutError:
            await asyncio.sleep(0)  # an event of this very moment goes along

    def _next_due(self, now: float) -> float | None:
        """Seconds until there is something to write; None: until the writer is woken."""
        if self._slot_until is not None and self._is_due(now):
            return None if self._is_late or not self._delivery.begins else max(0.0, self._slot_until - now)
        deadline = now if self._has_cards else self._buffer.deadline()
        due = None if deadline is None else max(0.0, deadline - now, self._delivery.pause())
        return _soonest(due, self._delivery.due())

    async def _finish(self) -> None:
        end = self._end
        assert end is not None
        if self._journal.is_takeover:
            self._compare_with_shown(end.outcome)
        since = self._buffer.waiting_since if self._rewrite is None else self._now()
        self._delivery.add(self._take_cards())
        if end.outcome is not Outcome.STOPPED and self._rewrite is None:
            self._buffer.release_all()
        is_blank = self._rewrite is None and not self._buffer.begun and self._sink.extras.is_empty
        if end.outcome is Outcome.ANSWERED and (is_blank or self._rewrite == NO_ANSWER):
            reason = "nothing that the agent wrote can be shown"
            end = self._end = replace(end, outcome=Outcome.NO_TEXT, offer_retry=True, reason=reason)
        note = sanitize(end.note, self._secrets)
        form = self._form if end.outcome is Outcome.ASKED else None
        await self._sink.finish(
            Ending(
                end.outcome,
                rest=NO_ANSWER if is_blank and end.outcome is Outcome.NO_TEXT else "",
                rewrite=self._rewrite,
                note=facts.referred(note, self._question.key) if end.outcome in WRONG else note,
                offer_retry=end.offer_retry,
                form=form,
                handle="" if form is None else await self._open(form),
            )
        )
        if form is not None:
            await self._journal.form_shown(self._sink.form_message)
        if end.outcome is not Outcome.STOPPED and not self._delivery.is_gone:
            self._show_measured(since)

    async def _open(self, form: Form) -> str:
        view = self._consumer.view
        return await self._journal.open_form(form, None if view.state.is_terminal else view.task_id)

    def _compare_with_shown(self, outcome: Outcome) -> None:
        """The answer may differ from what another process showed, or the agent kept only a part of it."""
        ledger, answer, shown = self._delivery.ledger, self._machine.answer, self._journal.record.text
        is_shorter = outcome is Outcome.ANSWERED and bool(ledger.repeated.strip()) and bool(answer.strip())
        if self._rewrite is not None or not (ledger.has_diverged or is_shorter):
            return
        answer = sanitize(answer, self._secrets)
        if outcome is Outcome.ANSWERED and not contains(shown, answer):
            self._rewrite = answer
        else:
            ledger.discard()

    def _ended(self) -> facts.TurnEnded:
        if self._delivery.is_gone:
            self._handle.mark_gone()
        gone, end, task, machine = self._handle.is_gone, self._end, self._consumer.view, self._machine
        outcome = Outcome.GONE if gone or end is None else end.outcome
        if outcome.has_completed and self._sink.is_stopped:
            outcome = Outcome.STOPPED  # while the last of it was written
        reason = "the thread was deleted" if outcome is Outcome.GONE else (end.reason if end else None)
        is_awaiting = outcome is Outcome.ASKED and not task.state.is_terminal
        ended = facts.TurnEnded(
            self._now(),
            self._question.key,
            outcome,
            None if outcome is Outcome.ANSWERED else reason,
            task.context_id,
            task.task_id,
            task.trace_id,
            machine.latches,
            machine.late,
            self._delivery.records,
            task.task_id if is_awaiting else None,
            outcome.is_whole,
            self._consumer.has_continued,
            tuple(self._delivery.fallbacks),
            dict(self._buffer.masked),
            "" if end is None else end.said,
        )
        self._observer(ended)
        assert gone or machine.state is State.CLOSED
        return ended


def _soonest(*dues: float | None) -> float | None:
    return min((due for due in dues if due is not None), default=None)


def _buffer_of(ledger: Ledger, stream: StreamSettings, secrets: tuple[str, ...]) -> StreamBuffer:
    return StreamBuffer(
        ledger,
        first_flush_delay=stream.first_flush_delay,
        flush_interval=stream.flush_interval,
        unproven_delay=stream.unproven_delay,
        unproven_calls=stream.unproven_calls,
        unproven_interval=stream.unproven_interval,
        secrets=secrets,
    )
