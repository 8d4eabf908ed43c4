"""Carries out what an answer orders: calls Slack, waits, stores. It decides nothing.

The answer is a generator (`orders`). Its next order comes when it was sent the result of the one before. An
order that is cancelled raises in it: then the result is not known.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar, cast

from ..clock import Clock
from ..turn.extras import ExtraRecord
from ..turn.form import Form
from ..turn.progress import MessageRecord
from ..turn.thread_state import ListensTo
from ..web.addresses import NotFetched, WebFile
from . import orders
from .answer import SlackAnswer
from .api import SlackApi
from .faults import CallFailed, CallResult, Fault
from .orders import Messages, Order, Step
from .status import TypingStatus
from .stream_starts import StreamStart
from .turn_calls import DROPPED, UNANSWERED, TurnCalls

_log = logging.getLogger(__name__)
_LEVELS = logging.getLevelNamesMapping()
_T = TypeVar("_T")
_TICK = 0.001  # seconds to wait at least: what is due sooner than a clock can tell would keep the loop busy

FetchFile: TypeAlias = Callable[[str, tuple[str, ...]], Awaitable[WebFile | NotFetched]]
WhoListens: TypeAlias = Callable[[], Awaitable[ListensTo | None]]


class TurnJournalPort(Protocol):
    """Stores what becomes of the turn."""

    async def task_known(self, task_id: str | None, context_id: str | None) -> None: ...
    async def shown(self, messages: tuple[MessageRecord, ...]) -> None: ...
    async def attached(self, extras: tuple[ExtraRecord, ...]) -> None: ...
    async def thread_begun(self, root: str) -> None: ...
    async def open_form(self, form: Form) -> str: ...
    async def form_shown(self, message: MessageRecord | None) -> None: ...


class TurnEnds(Protocol):
    """Ends the listening to the agent."""

    def mark_gone(self) -> None: ...
    def stop(self, user: str) -> None: ...


@dataclass(frozen=True, slots=True)
class TurnServices:
    """What a turn's answer needs besides Slack. `fetch` gets files that an agent linked."""

    journal: TurnJournalPort
    handle: TurnEnds
    fetch: FetchFile


class Writer:
    """The driver of one turn's `answer` in Slack. One step at a time; steps about late streams run beside it.

    `calls` makes the orders, and `clock` is read into it; `api` is the turn's. `shown`: what another process
    wrote of the answer. `secrets` must never be shown. `who_listens` None: each further question in the
    thread needs a mention. `wake` is set where something is due earlier than the answer said.
    """

    def __init__(
        self,
        calls: TurnCalls,
        api: SlackApi,
        clock: Clock,
        shown: Sequence[MessageRecord] = (),
        secrets: tuple[str, ...] = (),
        who_listens: WhoListens | None = None,
    ) -> None:
        self.calls, self._api = calls, api
        self._clock, self._who_listens = clock, who_listens
        self._status = TypingStatus(calls, self._api, clock)
        self._services: TurnServices | None = None
        self._writes_given_up, self.wake = asyncio.Event(), asyncio.Event()
        self._limit: asyncio.Timeout | None = None  # of the write under way
        self._late: list[Awaitable[None]] = []  # steps about streams that appeared late
        self._read_clocks()
        self.answer = SlackAnswer(calls, shown, secrets)

    # -- the turn says

    def serve(self, services: TurnServices) -> None:
        """By these a turn that is running stores what becomes of it."""
        self._services = services

    def name_task(self, task_id: str | None) -> None:
        """Log lines carry the id."""
        if task_id is not None:
            self._api.log_fields["task"] = task_id

    def waits_since(self, at: float) -> None:
        """The reader has seen nothing of the answer, and waits since `at` on the clock."""
        self._api.permits.waits_since(at)

    def give_up_writes(self) -> None:
        """As `GiveUpWrites`."""
        self.calls.are_writes_given_up = True
        self._writes_given_up.set()
        self._api.permits.give_back()
        if self._limit is not None:
            _end_in(self._limit, 0.0)

    # -- orders

    async def carry_out(self, step: Step[_T]) -> _T:
        """All that `step` orders. Returns its value."""
        self._read_clocks()
        try:
            order = next(step)
            while True:
                try:
                    if isinstance(order, orders.CallSlack):
                        result = await self._call(order)
                    else:
                        result = await self._carry_out(order)
                except BaseException as error:  # noqa: BLE001  the step learns it, and raises it again
                    self._read_clock()
                    order = step.throw(error)
                else:
                    if order.takes_time:
                        self._read_clock()
                    order = step.send(result)
        except StopIteration as stop:
            return cast(_T, stop.value)

    def _read_clocks(self) -> None:
        self._read_clock()
        self.calls.set_wall(self._clock.wall())

    def _read_clock(self) -> None:
        self.calls.now = self._clock.monotonic()

    async def _carry_out(self, order: Order[Any]) -> Any:
        match order:
            case orders.ReadMessages():
                return await self._read(order)
            case orders.SlotOrder():
                return self._order_slot(order)
            case orders.StatusOrder():
                return await self._order_status(order)
            case orders.TurnOrder():
                return await self._order_turn(order)
            case orders.LateStreamOrder():
                return await self._order_late(order)
            case _:
                return await self._work(order)

    async def _work(self, order: Order[Any]) -> Any:
        match order:
            case orders.Wait():
                await self._wait(order)
            case orders.Wake():
                self.wake.set()
            case orders.Sleep():
                await self._sleep(order)
            case orders.UploadFile(url, content):
                return await self._api.transport.upload(url, content)
            case orders.Compute(work):
                return await asyncio.to_thread(work)
            case orders.LetOthersRun():
                await asyncio.sleep(0)
            case orders.FetchFile(url, kinds):
                assert self._services is not None, "`serve` comes first"
                return await self._services.fetch(url, kinds)
            case orders.AskWhoListens():
                return ListensTo.NOBODY if self._who_listens is None else await self._who_listens()
            case _:
                self._note(order)
        return None

    def _note(self, order: Order[Any]) -> None:
        match order:
            case orders.Log(level, message, args):
                _log.log(_LEVELS[level.upper()], message, *args, extra=self._api.log_fields)
            case orders.Report(fact):
                self._api.observer(fact)
            case _:
                raise AssertionError(order)

    def _order_slot(self, slot_order: orders.SlotOrder[Any]) -> bool:
        match slot_order:
            case orders.ReserveSlot(method, priority, wakes=wakes):
                wake = self.wake.set if wakes else None
                return self._api.permits.reserve(method, self.calls.channel, priority, wake)
            case orders.GiveUpWrites():
                self.give_up_writes()
            case _:
                self._api.permits.give_back()
        return True

    async def _order_late(self, late_order: orders.LateStreamOrder) -> None:
        match late_order:
            case orders.WhenSeen(start, step):
                start.tell = lambda: self._late.append(self.calls.stream_starts.spawn(self.carry_out(step())))
            case _:
                late, self._late = self._late, []
                await asyncio.gather(*late)

    async def _order_turn(self, turn_order: orders.TurnOrder[Any]) -> str:
        if self._services is None:
            assert isinstance(turn_order, orders.StoreRoot), "`serve` comes first"
            return ""  # a notice found out where the thread of another one's turn is
        journal, handle = self._services.journal, self._services.handle
        match turn_order:
            case orders.StoreRoot(ts):
                await journal.thread_begun(ts)
            case orders.StoreMessages(records):
                await journal.shown(records)
            case orders.StoreIds(task_id, context_id):
                self.name_task(task_id)
                await journal.task_known(task_id, context_id)
            case orders.StoreForm(form):
                return await journal.open_form(form)
            case orders.StoreFormMessage(message):
                await journal.form_shown(message)
            case orders.StoreExtras(extras):
                await journal.attached(extras)
            case orders.ReportStopped(user):
                handle.stop(user)
            case _:
                handle.mark_gone()
        return ""

    async def _wait(self, wait: orders.Wait) -> None:
        if wait.is_over or self.wake.is_set():
            await asyncio.sleep(0)  # white space is taken without a call: no other await may have come
        else:
            due = None if wait.until is None else max(_TICK, wait.until - self._clock.monotonic())
            try:
                async with asyncio.timeout(due):
                    await self.wake.wait()
            except TimeoutError:
                await asyncio.sleep(0)  # an event of this very moment goes along
        self.wake.clear()

    async def _order_status(self, status_order: orders.StatusOrder) -> None:
        match status_order:
            case orders.ShowTyping(text):
                self._status.show(text)
            case orders.ReopenStatus(forget):
                self._status.reopen(forget=forget)
            case orders.CloseStatus():
                await self._status.close()
            case _:
                await self._status.clear()

    async def _call(self, call: orders.CallSlack) -> CallResult:
        api, calls = self._api, self.calls
        if call.priority is not None:
            api = api.for_turn(calls.turn, calls.thread_ts, call.priority, is_sure=api.is_sure)
        if call.is_write and calls.are_writes_given_up:
            return CallFailed(Fault.LATER, DROPPED)
        if not call.is_write:
            return await api.call(call.method, call.args, patience=call.patience)
        start = call.start
        try:
            async with asyncio.timeout(None) as limit:
                self._limit = limit
                if start is not None:
                    start.tell = lambda: _end_in(limit, call.answer_wait)
                return await api.call(call.method, call.args, patience=call.patience)
        except TimeoutError:
            return CallFailed(Fault.UNKNOWN, DROPPED if calls.are_writes_given_up else UNANSWERED)
        finally:
            self._limit = None
            if start is not None:
                start.tell = None

    async def _read(self, read: orders.ReadMessages) -> Messages | CallFailed | None:
        if read.until_seen is None:
            return await self._api.read(read.method, read.args)
        async with _ended_by(read.until_seen):
            return await self._api.read(read.method, read.args)
        return None

    async def _sleep(self, sleep: orders.Sleep) -> None:
        if sleep.until_seen is not None:
            async with _ended_by(sleep.until_seen):
                await asyncio.sleep(sleep.seconds)
        elif sleep.until_given_up:
            with suppress(TimeoutError):
                async with asyncio.timeout(sleep.seconds):
                    await self._writes_given_up.wait()
        else:
            await asyncio.sleep(sleep.seconds)


@asynccontextmanager
async def _ended_by(start: StreamStart) -> AsyncIterator[None]:
    """What is awaited meanwhile ends when Slack's event names the stream."""
    try:
        async with asyncio.timeout(None) as limit:
            start.tell = lambda: _end_in(limit, 0.0)
            yield
    except TimeoutError:
        pass
    finally:
        start.tell = None


def _end_in(limit: asyncio.Timeout, seconds: float) -> None:
    """Let `limit` expire in so many seconds, unless it was to sooner."""
    before, when = limit.when(), asyncio.get_running_loop().time() + seconds
    if not limit.expired() and (before is None or when < before):
        limit.reschedule(when)
