"""One turn: the agent's events go through the machine and the buffer into the thread.

The *consumer* handles each event as it comes and never waits for Slack. The *writer* makes one Slack call at
a time, and is woken only for what is earlier than it knows. An event that takes more than some milliseconds
goes on in the *worker*, with the loop in between; later events wait for it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, assert_never

from .a2a.agent import Agent
from .clock import Clock
from .consumer.stream_consumer import TurnHandle
from .consumer.task_consumer import TaskConsumer
from .observe.facts import (
    AgentEvent,
    EventHandled,
    Observer,
    TurnEnded,
    TurnStarted,
    reference_of,
    wants_details,
)
from .pending_writes import PendingWrites
from .settings.models import AgentSettings, StreamSettings
from .slack.model import TurnEnd, WriteResult
from .slack.rate_limiter.governor import Priority
from .slack.sink import Sink
from .turn.actions import (
    Action,
    AppendText,
    EndTurn,
    FlushText,
    NoOp,
    RetractText,
    RewriteAnswer,
    SaveIds,
    SetPlanTitle,
    ShowForm,
    ShowStatus,
    UpdateCard,
)
from .turn.buffer import TIMER_TOLERANCE, StreamBuffer
from .turn.events import Event, NarrationConfirmed, StreamEnded, TaskEnded, TurnBegun
from .turn.form import Form
from .turn.machine import NO_ANSWER, State, Turn
from .turn.record import Outcome, Question, TurnResult
from .turn.sanitize import (
    sanitize,
    sanitize_beginning,
    sanitize_card,
    sanitize_form,
    sanitize_in_steps,
    slices,
)

WRITING = "is writing..."
BUSY = "is writing; Slack is busy, it follows shortly..."
"""Shown while an answer waits for the slot to start its stream, at first and for longer."""
_WRONG = frozenset({Outcome.FAILED, Outcome.REFUSED, Outcome.LOST})
_ACTIONS = 50  # actions that are carried out in one step
_DONE = object()  # what `next` gives where no step is left
_TICK = 0.001  # seconds to sleep at least: what is due sooner than a clock can tell would keep the loop busy


@dataclass(frozen=True, slots=True)
class RunnerOptions:
    """`secrets` never reach Slack; `remember` keeps ids once they are known.

    `start_slot_timeout`: seconds an answer waits for a slot to start its stream.
    """

    agent: AgentSettings
    stream: StreamSettings
    secrets: tuple[str, ...]
    remember: Callable[[SaveIds], Awaitable[None]]
    start_slot_timeout: float


def referred(note: str, turn: str) -> str:
    """`note`, with the turn's name in the log."""
    return f"{note} Reference: {reference_of(turn)}."


class TurnRunner:
    """Asks the agent and writes its answer into the thread."""

    def __init__(
        self,
        question: Question,
        agent: Agent,
        sink: Sink,
        options: RunnerOptions,
        clock: Clock,
        observer: Observer,
        handle: TurnHandle,
    ) -> None:
        self._question, self._sink, self._options = question, sink, options
        self._now, self._observer, self._handle = clock.monotonic, observer, handle
        self._has_details = wants_details(observer)
        stream = options.stream
        self._machine = Turn(shows_words=options.agent.error_text == "show")
        self._pending = PendingWrites(
            StreamBuffer(
                sink.ledger,
                first_flush_delay=stream.first_flush_delay,
                flush_interval=stream.flush_interval,
            ),
            options.secrets,
        )
        self._wake = asyncio.Event()
        self._deadline: float | None = None  # the text's, as the writer knows it
        self._backlog: deque[Iterator[None]] = deque()  # events that take more than a step, and later ones
        self._worker: asyncio.Task[None] | None = None
        self._ids: list[SaveIds] = []  # to be kept before anything is shown
        self._status: str | None = None  # that waits
        self._form: Form | None = None
        self._form_due: float | None = None  # when it is to be shown, if the turn goes on until then
        self._slot_until: float | None = None  # how long something waits for Slack's budget
        self._is_late = False  # no stream could be started in time
        self._end: EndTurn | None = None
        self._rewrite: str | None = None
        self._consumer = TaskConsumer(
            question,
            agent.in_conversation(question.thread),
            options.agent,
            clock,
            handle,
            self._handle_event,
            self._on_agent_event if self._has_details else None,
        )

    async def run(self) -> TurnResult:
        """The turn, to its end.

        Raises `SlackError` if Slack cannot be written to for good, `StoreError` if `remember` does.
        """
        asked, thread = self._question, self._question.thread
        self._observer(TurnStarted(self._now(), asked.key, asked.user, thread.channel, thread.ts, asked.text))
        self._handle_event(TurnBegun())
        self._handle.on_exit(self._cancel_writes_if_stopped)
        writer = asyncio.create_task(self._write(), name=f"writer {asked.key}")
        writer.add_done_callback(self._task_ended)
        try:
            await self._consumer.consume()
            if self._worker is not None and (self._worker.done() or not self._handle.is_gone):
                await self._worker
            await writer
        finally:
            for task in (writer, self._worker):
                if task is not None:
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task
        if self._handle.is_gone:
            await self._sink.abandon()
        else:
            await self._finish()
        return self._result()

    def _cancel_writes_if_stopped(self) -> None:
        """Who presses Stop does not wait for Slack's budget."""
        if self._handle.stopped_by is not None:
            self._sink.cancel_writes()

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        """A writer or a worker that broke ends the listening too."""
        if not task.cancelled() and task.exception() is not None:
            self._handle.mark_gone()

    def _on_agent_event(self, kind: str, raw: Mapping[str, Any]) -> None:
        self._observer(AgentEvent(self._now(), self._question.key, kind, raw))

    # -- deciding --------------------------------------------------------------------------------------------

    def _handle_event(self, event: Event) -> bool:
        """Now, where one step is enough and nothing is before it. True: the writer is due."""
        work = self._steps(event)
        if not self._backlog and next(work, _DONE) is _DONE:
            return self._wake.is_set()
        self._backlog.append(work)
        if self._worker is None or self._worker.done():
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
        yield from self._machine.prepare(event)
        for number, action in enumerate(self._decide(event), start=1):
            if isinstance(action, AppendText):
                for at, piece in enumerate(slices(action.text)):
                    if at:  # the front of it may be shown while the rest is sanitized
                        self._wake.set()
                        yield
                    self._pending.add_text(piece, self._now())
            else:
                yield from self._apply(action)
            if number % _ACTIONS == 0:
                yield
        if isinstance(event, NarrationConfirmed):
            self._pending.start_new_text(self._now())
        self._handle.is_waiting_for_human = self._machine.waits_for_human
        # the writer is woken only for what is earlier than it knows
        deadline = self._pending.buffer.deadline()
        if deadline is not None and (self._deadline is None or deadline < self._deadline):
            self._wake.set()

    def _decide(self, event: Event) -> list[Action]:
        late = self._machine.late
        if isinstance(event, TaskEnded | StreamEnded):
            # Its words are cut for a note: a secret that is cut in two would not be recognised any more.
            event = replace(event, text=sanitize_beginning(event.text, self._options.secrets))
        elif isinstance(event, NarrationConfirmed):
            event = replace(event, unseen=self._pending.is_unsent)
        actions = self._machine.handle(event)
        if self._has_details:
            now, state, is_late = self._now(), str(self._machine.state), self._machine.late > late
            self._observer(EventHandled(now, self._question.key, event, tuple(actions), state, is_late))
        return actions

    def _apply(self, action: Action) -> Iterator[None]:  # noqa: C901  one arm an action, as the union has
        secrets, stream = self._options.secrets, self._options.stream
        match action:
            case FlushText():
                self._pending.flush()
                return
            case RetractText():
                self._pending.retract()
                return
            case AppendText() | NoOp():  # text is appended in steps
                return
            case RewriteAnswer(text=text):
                shown = yield from sanitize_in_steps(text, secrets)
                self._rewrite = shown if shown.strip() else NO_ANSWER
                return
            case ShowStatus(text=text):
                self._status = text
            case UpdateCard(card=card):
                self._pending.add_card(sanitize_card(card, secrets))
            case SetPlanTitle(title=title):
                self._pending.plan_title = sanitize_beginning(title, secrets)
            case ShowForm(form=form):
                most = stream.max_form_fields, stream.max_form_choices
                self._form = yield from sanitize_form(form, secrets, *most)
                self._form_due = self._now() + stream.first_flush_delay
            case SaveIds():
                self._ids.append(action)
            case EndTurn():
                self._pending.end(self._now())
                self._end = action
            case _:
                assert_never(action)
        self._wake.set()

    # -- writing ---------------------------------------------------------------------------------------------

    async def _write(self) -> None:
        """Show what waits, one call at a time, until the turn is decided."""
        while True:
            self._wake.clear()
            waiting, self._ids = self._ids, []
            for ids in waiting:
                self._sink.set_task(ids.task_id)
                await self._options.remember(ids)
            status, self._status = self._status, None
            if status is not None:
                await self._sink.show_status(status)
            if self._form_due is not None and self._now() + TIMER_TOLERANCE >= self._form_due:
                self._form_due = None
                if self._form is not None and self._machine.waits_for_human:
                    await self._sink.ask(self._form)
            if not await self._write_batch():
                return
            await self._sleep_until_due()

    async def _write_batch(self) -> bool:
        """One write. False when there will be no more."""
        goes_on, now = self._end is None, self._now()
        if self._handle.stopped_by is not None or not self._sink.is_live or self._rewrite is not None:
            return goes_on
        if not self._is_due(now):
            return goes_on
        if not self._sink.may_write(self._priority(), self._wake.set):
            await self._wait_for_slot(now)
            return goes_on  # the end takes this place in the queue, with all that is left
        is_late, self._slot_until = self._slot_until is not None, None
        released, cards = self._pending.buffer.release(now, is_late=is_late), self._pending.take_cards()
        if not released and cards.is_empty and self._sink.due() != 0.0:
            return goes_on
        written = await self._sink.write(cards)
        if written is WriteResult.GONE:
            self._handle.mark_gone()
            return False
        if written is WriteResult.STOPPED:
            self._handle.stop(self._question.user)
        else:
            self._pending.buffer.acknowledge(self._now())
        return written is WriteResult.SHOWN or self._end is None

    def _is_due(self, now: float) -> bool:
        is_ready = self._pending.has_cards or self._pending.buffer.is_ready(now)
        return (is_ready and self._sink.pause() == 0.0) or self._sink.due() == 0.0

    def _priority(self) -> Priority:
        if self._pending.buffer.deadline() is not None and not self._pending.buffer.begun:
            return Priority.FIRST
        return Priority.CARDS if self._pending.has_cards else Priority.LATER

    async def _wait_for_slot(self, now: float) -> None:
        """Before the stream is started, the status says that Slack's budget is spent."""
        if self._slot_until is None:
            self._slot_until = now + self._options.start_slot_timeout
            await self._sink.show_status(WRITING)
        elif now + TIMER_TOLERANCE >= self._slot_until and self._sink.begins and not self._is_late:
            self._is_late = True
            self._wake.set()  # the other surface waits for a slot of its own
            self._sink.fall_back()
            await self._sink.show_status(BUSY)

    async def _sleep_until_due(self) -> None:
        if self._end is not None or self._wake.is_set():
            await asyncio.sleep(0)  # white space is taken without a call: no other await may have come
            return
        now = self._now()
        live = self._next_due(now) if self._sink.is_live else None
        self._deadline = self._pending.buffer.deadline()
        form = None if self._form_due is None else max(0.0, self._form_due - now)
        due = _soonest(live, form)
        try:
            async with asyncio.timeout(None if due is None else max(due, _TICK)):
                await self._wake.wait()
        except TimeoutError:
            await asyncio.sleep(0)  # an event of this very moment goes along

    def _next_due(self, now: float) -> float | None:
        """Seconds until there is something to write; None: until the writer is woken."""
        if self._slot_until is not None and self._is_due(now):
            return None if self._is_late or not self._sink.begins else max(0.0, self._slot_until - now)
        due = self._pending.due(now)
        return _soonest(due if due is None else max(due, self._sink.pause()), self._sink.due())

    async def _finish(self) -> None:
        end = self._end
        assert end is not None
        self._sink.enqueue(self._pending.take_cards())
        if end.outcome is not Outcome.STOPPED and self._rewrite is None:
            self._pending.buffer.release_all()
        is_blank = self._rewrite is None and not self._pending.buffer.begun
        note = sanitize(end.note, self._options.secrets)
        await self._sink.finish(
            TurnEnd(
                end.outcome,
                # what the agent wrote may be nothing that can be shown
                rest=NO_ANSWER if is_blank and end.outcome is Outcome.ANSWERED else "",
                rewrite=self._rewrite,
                note=referred(note, self._question.key) if end.outcome in _WRONG else note,
                offer_retry=end.offer_retry,
                form=self._form if end.outcome is Outcome.ASKED else None,
            )
        )

    def _result(self) -> TurnResult:
        if self._sink.is_gone:
            self._handle.mark_gone()
        gone, end, task, machine = self._handle.is_gone, self._end, self._consumer.view, self._machine
        outcome = Outcome.GONE if gone or end is None else end.outcome
        if outcome is Outcome.ANSWERED and self._sink.is_stopped:
            outcome = Outcome.STOPPED  # while the last of it was written
        reason = "the thread was deleted" if outcome is Outcome.GONE else (end.reason if end else None)
        is_awaiting = outcome is Outcome.ASKED and not task.state.is_terminal
        result = TurnResult(
            outcome,
            None if outcome is Outcome.ANSWERED else reason,
            task.context_id,
            task.task_id,
            task.trace_id,
            awaiting_task_id=task.task_id if is_awaiting else None,
        )
        self._observer(
            TurnEnded(
                self._now(),
                self._question.key,
                str(outcome),
                result.reason,
                result.context_id,
                result.task_id,
                result.trace_id,
                machine.latches,
                machine.late,
                self._sink.markup,
            )
        )
        assert gone or machine.state is State.CLOSED
        return result


def _soonest(*dues: float | None) -> float | None:
    return min((due for due in dues if due is not None), default=None)
