"""One turn: the agent's events go through the machine and the buffer into the thread.

Two coroutines share one turn. The *reader* takes events from the agent and never waits for Slack; the
*writer* makes one Slack call at a time and never waits for the agent. Between them stands the outbox, which
holds at most one write's worth. The writer also keeps the clock: text that waits is shown when its time has
come, whether or not the agent says anything more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, assert_never, cast

from .a2a.agent import Agent
from .a2a.frames import Received
from .a2a.parser import EventParser
from .a2a.resume import NOT_CANCELABLE, TASK_NOT_FOUND, Next, after_end, pauses
from .clock import Clock
from .errors import AgentError, AgentFailed, AgentRefused, AgentUnreachable, CardError, StreamLost
from .observe.facts import AgentEvent, Decided, TurnClosed, TurnOpened, Watcher
from .outbox import Outbox
from .settings import AgentSettings, StreamSettings
from .slack.orders import Ending, Written
from .slack.sink import Sink
from .turn.actions import (
    Action,
    AppendText,
    AskForm,
    CancelTask,
    Close,
    FlushText,
    Noted,
    Remember,
    RetitlePlan,
    RewriteAnswer,
    ShowStatus,
    UpdateCard,
)
from .turn.buffer import StreamBuffer
from .turn.events import Event, StopPressed, StreamEnd, StreamEnded, TaskKnown, TurnBegan
from .turn.form import Form
from .turn.machine import State, Turn
from .turn.record import Outcome, Question, TurnResult
from .turn.safety import Safety, neutralise


class Control:
    """The handle on a running turn, for those outside it."""

    def __init__(self) -> None:
        self._stopped_by: str | None = None
        self._changed = asyncio.Event()

    @property
    def stopped_by(self) -> str | None:
        """Who stopped the turn, if anybody did."""
        return self._stopped_by

    def stop(self, user: str) -> None:
        """End the turn for `user`. May be called at any time, more than once; the first caller counts."""
        if self._stopped_by is None:
            self._stopped_by = user
            self._changed.set()

    async def wait(self) -> None:
        """Return when the turn has been stopped."""
        await self._changed.wait()


@dataclass(frozen=True, slots=True)
class RunnerOptions:
    """What a turn needs to know. `secrets` never reach Slack; `remember` keeps ids once they are known."""

    agent: AgentSettings
    stream: StreamSettings
    secrets: tuple[str, ...] = ()
    remember: Callable[[Remember], Awaitable[None]] | None = None


async def run_turn(
    question: Question,
    agent: Agent,
    sink: Sink,
    options: RunnerOptions,
    clock: Clock,
    watcher: Watcher,
    control: Control,
) -> TurnResult:
    """Ask the agent and write its answer into the thread, to the end. Returns how it ended.

    Raises `SlackError` if Slack cannot be written to for good, `StoreError` if `remember` does.
    """
    return await _Run(question, agent, sink, options, clock, watcher, control).go()


class _Run:
    def __init__(
        self,
        question: Question,
        agent: Agent,
        sink: Sink,
        options: RunnerOptions,
        clock: Clock,
        watcher: Watcher,
        control: Control,
    ) -> None:
        self._question, self._agent, self._sink, self._options = question, agent, sink, options
        self._clock, self._watcher, self._control = clock, watcher, control
        stream, settings = options.stream, options.agent
        self._machine = Turn()
        self._parser = EventParser(settings.convention, settings.answer_from, settings.max_turn_chars)
        self._safety = Safety(options.secrets)
        self._outbox = Outbox(
            StreamBuffer(
                first_flush=stream.first_flush,
                flush_interval=stream.flush_interval,
                max_call_chars=stream.max_call_chars,
            )
        )
        self._wake = asyncio.Event()
        self._gone = asyncio.Event()
        self._close: Close | None = None
        self._rewrite: str | None = None
        self._form: Form | None = None
        self._task_id, self._context_id = question.task_id, question.context_id
        self._trace_id: str | None = None
        self._events = 0
        self._grace_until: float | None = None

    async def go(self) -> TurnResult:
        asked = self._question
        thread = asked.thread
        self._watcher(TurnOpened(self._now(), asked.key, asked.user, thread.channel, thread.ts, asked.text))
        self._take(TurnBegan())
        writer = asyncio.create_task(self._write(), name=f"writer {asked.key}")
        writer.add_done_callback(self._writer_ended)
        try:
            await self._read()
            await writer
        finally:
            writer.cancel()
            with suppress(asyncio.CancelledError):
                await writer
        if not self._gone.is_set():
            await self._finish()
        return self._result()

    def _writer_ended(self, writer: asyncio.Task[None]) -> None:
        """A writer that broke ends the reading too: nobody would see what comes."""
        if not writer.cancelled() and writer.exception() is not None:
            self._gone.set()

    # -- reading ---------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        try:
            async with asyncio.timeout(self._options.agent.turn_timeout):
                end = await self._listen()
        except TimeoutError:
            end = StreamEnded(StreamEnd.LOST, "The agent took too long.", why="the turn's time is up")
        if (user := self._control.stopped_by) is not None:
            self._take(StopPressed(user))
            end = await self._cancelled()
        for event in self._parser.finish():
            self._take(event)
        self._take(end)

    async def _listen(self) -> StreamEnded:
        """Read the stream to its end, and past it where the end is not known."""
        try:
            await self._stream()
        except StreamLost as error:
            return await self._recover(error.safe, why=str(error))
        except (AgentUnreachable, CardError, AgentRefused) as error:
            return StreamEnded(StreamEnd.REFUSED, error.safe, why=str(error))
        except AgentError as error:
            return StreamEnded(StreamEnd.FAILED, error.safe, why=str(error))
        return await self._recover("The agent closed the connection before it was done.", why="stream closed")

    async def _stream(self) -> None:
        asked = self._question
        stream = self._agent.ask(
            asked.text,
            message_id=asked.message_id,
            context_id=asked.context_id,
            task_id=asked.task_id,
        )
        async with aclosing(cast(Any, stream)), _Leaving(self._control, self._gone) as leaving:
            while (received := await self._next(stream, leaving)) is not None:
                self._received(received)

    async def _next(self, stream: AsyncIterator[Received], leaving: _Leaving) -> Received | None:
        """The next event; None when there is none, or when it is no longer waited for."""
        if leaving.now and (self._task_id is not None or self._gone.is_set()):
            return None
        coming = asyncio.ensure_future(anext(stream, None))
        try:
            watched = {coming} if leaving.now else {coming, *leaving.tasks}
            while not coming.done():
                done, _ = await asyncio.wait(
                    watched, timeout=self._grace_left(), return_when=asyncio.FIRST_COMPLETED
                )
                if not done or (leaving.now and (self._task_id is not None or self._gone.is_set())):
                    return None
                watched = {coming}
            return coming.result()
        finally:
            coming.cancel()
            with suppress(asyncio.CancelledError, AgentError):
                await coming

    def _grace_left(self) -> float | None:
        return None if self._grace_until is None else max(0.0, self._grace_until - self._now())

    def _received(self, received: Received) -> None:
        self._events += 1
        self._feed(received.frame, received.raw)
        state, settings = self._parser.state, self._options.agent
        if self._grace_until is None and state.is_terminal:
            self._grace_until = self._now() + settings.terminal_grace
        elif self._grace_until is None and state.value == "input-required":
            self._grace_until = self._now() + settings.asked_grace

    def _feed(self, frame: Any, raw: Any) -> None:
        events = self._parser.feed(frame)
        kind = self._parser.kind_of(frame)
        self._watcher(AgentEvent(self._now(), self._question.key, kind, raw))
        for event in events:
            self._take(event)

    async def _recover(self, safe: str, why: str) -> StreamEnded:
        """Learn how the task ended after its stream did, by asking it, within `poll_for` seconds."""
        parser = self._parser
        step = after_end(
            state=parser.state,
            has_final=parser.has_final,
            task_id=self._task_id,
            said_something=self._events > 0,
        )
        if step is Next.DONE:
            return StreamEnded(StreamEnd.CLOSED, why=why)
        if step is Next.GIVE_UP or self._control.stopped_by or self._gone.is_set():
            return StreamEnded(StreamEnd.LOST, safe, why=why)
        until = self._now() + self._options.agent.poll_for
        for pause in pauses():
            if await self._task_is_over():
                return StreamEnded(StreamEnd.CLOSED, why=f"{why}; the task was asked")
            if self._control.stopped_by or self._now() + pause > until or self._task_id is None:
                break
            with suppress(TimeoutError):
                await asyncio.wait_for(self._control.wait(), pause)
        return StreamEnded(StreamEnd.LOST, safe, why=f"{why}; the task's end could not be learned")

    async def _task_is_over(self) -> bool:
        assert self._task_id is not None
        try:
            snapshot = await self._agent.get(self._task_id)
        except AgentFailed as error:
            if error.code == TASK_NOT_FOUND:
                self._task_id = None  # nobody left to ask
            return False
        except AgentError:
            return False
        self._feed(snapshot, {"kind": "task", "asked": True, "state": snapshot.state.value})
        return self._parser.state.is_terminal or self._parser.state.is_asking

    async def _cancelled(self) -> StreamEnded:
        """Tell the agent to stop, and what became of that (delivery.md D6)."""
        if self._task_id is None:
            return StreamEnded(StreamEnd.CLOSED, "Stopped before the agent had begun.", why="no task yet")
        try:
            await self._agent.cancel(self._task_id)
        except AgentFailed as error:
            if error.code == NOT_CANCELABLE:
                return StreamEnded(
                    StreamEnd.CLOSED, "Stopped. The agent had already finished.", why=str(error)
                )
            return _may_go_on(error)
        except AgentError as error:
            return _may_go_on(error)
        return StreamEnded(StreamEnd.CLOSED, "Stopped.", why="the agent stopped")

    # -- deciding --------------------------------------------------------------------------------------------

    def _take(self, event: Event) -> None:
        late = self._machine.late
        if isinstance(event, TaskKnown):
            self._task_id = event.task_id or self._task_id
            self._context_id = event.context_id or self._context_id
            self._trace_id = event.trace_id or self._trace_id
        actions = self._machine.handle(event)
        self._watcher(
            Decided(
                self._now(),
                self._question.key,
                event,
                tuple(actions),
                str(self._machine.state),
                late=self._machine.late > late,
            )
        )
        for action in actions:
            self._order(action)
        self._wake.set()

    def _order(self, action: Action) -> None:  # noqa: C901  one arm an action: the union is the complexity
        match action:
            case ShowStatus(text=text):
                self._outbox.status = text
            case AppendText(text=text):
                self._outbox.buffer.push(self._safety.push(text), self._now())
            case FlushText():
                self._outbox.buffer.flush()
            case UpdateCard(card=card):
                self._outbox.card(card)
            case RetitlePlan(title=title):
                self._outbox.retitle(title)
            case RewriteAnswer(text=text):
                self._rewrite = neutralise(text, self._options.secrets)
            case AskForm(form=form):
                self._form = form
            case Remember():
                self._outbox.remember(action)
            case Close():
                self._outbox.buffer.push(self._safety.end(), self._now())
                self._outbox.buffer.flush()
                self._close = action
            case CancelTask() | Noted():
                pass  # cancelling is done by the reader, which knows when
            case _:
                assert_never(action)

    # -- writing ---------------------------------------------------------------------------------------------

    async def _write(self) -> None:
        """Show what waits, one call at a time, until the turn is decided and nothing waits any more."""
        while True:
            self._wake.clear()
            for ids in self._outbox.take_memories():
                if self._options.remember is not None:
                    await self._options.remember(ids)
            if (status := self._outbox.take_status()) is not None:
                await self._sink.show_status(status)
            if not await self._write_batch():
                return
            await self._rest_until_due()

    async def _write_batch(self) -> bool:
        """One write. False when there will be no more."""
        batch = self._outbox.batch(self._now())
        stopped = self._control.stopped_by is not None
        if batch.is_empty or not self._sink.is_live or stopped or self._rewrite is not None:
            return self._close is None
        match await self._sink.write(batch):
            case Written.SHOWN:
                self._outbox.buffer.shown(batch.text, self._now())
            case Written.HELD:
                return self._close is None
            case Written.GONE:
                self._gone.set()
                return False
            case Written.STOPPED:
                self._control.stop(self._question.user)
        return True

    async def _rest_until_due(self) -> None:
        if self._close is not None or self._wake.is_set():
            return
        due = self._outbox.due(self._now()) if self._sink.is_live else None
        keep = self._options.stream.status_refresh
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), keep if due is None else min(due, keep))
        if not self._wake.is_set() and due is None:
            await self._sink.keep_status()

    async def _finish(self) -> None:
        close = self._close
        assert close is not None
        stopped = close.outcome is Outcome.STOPPED
        rest = "" if stopped or self._rewrite is not None else self._outbox.buffer.rest()
        await self._sink.finish(
            Ending(
                close.outcome,
                rest=rest if rest.strip() else "",
                rewrite=self._rewrite,
                note=neutralise(close.note, self._options.secrets),
                offer_retry=close.offer_retry,
                form=self._harmless(self._form),
            )
        )

    def _harmless(self, form: Form | None) -> Form | None:
        if form is None:
            return None
        return Form(neutralise(form.prompt, self._options.secrets), form.fields, form.title, form.is_auth)

    # -- ending ----------------------------------------------------------------------------------------------

    def _result(self) -> TurnResult:
        gone = self._gone.is_set()
        close = self._close
        outcome = Outcome.GONE if gone or close is None else close.outcome
        reason = "the thread was deleted" if outcome is Outcome.GONE else (close.reason if close else None)
        waits = outcome is Outcome.ASKED and not self._parser.state.is_terminal
        result = TurnResult(
            outcome,
            None if outcome is Outcome.ANSWERED else reason,
            self._context_id,
            self._task_id,
            self._trace_id,
            answers=self._task_id if waits else None,
        )
        machine = self._machine
        self._watcher(
            TurnClosed(
                self._now(),
                self._question.key,
                str(outcome),
                result.reason,
                result.context_id,
                result.task_id,
                result.trace_id,
                machine.latches,
                machine.late,
            )
        )
        assert gone or machine.state is State.CLOSED
        return result

    def _now(self) -> float:
        return self._clock.monotonic()


class _Leaving:
    """Watches for a reason to stop reading: the human stopped the turn, or the thread is gone."""

    def __init__(self, control: Control, gone: asyncio.Event) -> None:
        self._control, self._gone = control, gone
        self.tasks: set[asyncio.Future[Any]] = set()

    @property
    def now(self) -> bool:
        return self._control.stopped_by is not None or self._gone.is_set()

    async def __aenter__(self) -> _Leaving:
        self.tasks = {asyncio.ensure_future(self._control.wait()), asyncio.ensure_future(self._gone.wait())}
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


def _may_go_on(error: AgentError) -> StreamEnded:
    return StreamEnded(
        StreamEnd.CLOSED,
        "Stopped here. The agent could not be stopped and may still be working.",
        why=str(error),
    )
