"""Carries out what the line of one thread orders. It decides nothing.

A command is handled at once, and its orders are begun in their order. One that waits for the store, Slack or
the agent is a task, whose result comes back as a command: so a stop, or the loss of the lease, never waits
behind another command. What is stored of one turn is stored in the order in which it was ordered.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from ..errors import BotError
from ..observe.facts import TurnTakenOver
from ..observe.logs import log_if_broken
from ..slack.status import QueuedReaction
from ..text.words import QUESTION_REWORDED_LATE, STOP_IS_ASKERS
from ..turn.progress import TurnRecord
from ..turn.record import Outcome, Question, ThreadKey
from . import commands as c
from .background import TaskSet
from .edits import begins_thread, offer_to_ask_again
from .leases import Leases
from .line import Rules, ThreadLine
from .turn_run import TurnParts, TurnRun
from .watch import TaskWatch

_log = logging.getLogger(__name__)

_Work: TypeAlias = Callable[[], Awaitable[object]]


class Conversation:
    """One thread in this process. `turns`: the tasks of all running turns."""

    def __init__(
        self,
        thread: ThreadKey,
        rules: Rules,
        turn_parts: TurnParts,
        leases: Leases,
        turns: TaskSet,
    ) -> None:
        self.thread = thread
        self.line = ThreadLine(rules)
        self._parts, self._leases = turn_parts, leases
        self._turns, self._spawn = turns, turn_parts.background.spawn
        self._run: TurnRun | None = None
        self._task: asyncio.Task[None] | None = None  # of that turn
        self._timer: tuple[float, asyncio.Task[None]] | None = None
        self._watches: dict[str, tuple[TaskWatch, asyncio.Task[None]]] = {}
        self._marks: dict[str, QueuedReaction] = {}
        self._writes: dict[str, asyncio.Task[None]] = {}  # the last one of each turn
        # one thing after the other: a thread is not let go while it is claimed again
        self._lease = asyncio.Lock()
        self._claims = 0  # that were answered
        self._is_letting_go = False
        self._requests: dict[int, tuple[c.Request, asyncio.Future[c.Value]]] = {}

    @property
    def is_awaited(self) -> bool:
        """The agent of the running turn waits for a sign-in."""
        return self._run is not None and self._run.is_awaited

    @property
    def unseen_since(self) -> float | None:
        """When the oldest text of the running turn came that its reader cannot see yet."""
        return None if self._run is None else self._run.unseen_since

    def is_over(self, at: float) -> bool:
        """It may be forgotten. `at`: seconds since 1970."""
        return self.line.is_over(at) and not (self._is_letting_go or self._lease.locked())

    async def claim_left(self, turn: TurnRecord) -> None:
        """Go on with `turn`, which was left, if this process gets it."""
        async with self._lease:
            claimed, _ = await self._leases.claim(turn, with_left=False)
            self._claims += 1
        if claimed is not None:
            self.tell(c.TakeOver(claimed))

    def request(self, wish: c.Request) -> asyncio.Future[c.Value]:
        """As `tell`, with what comes of it. That may be a BotError."""
        response: asyncio.Future[c.Value] = asyncio.get_running_loop().create_future()
        self._requests[id(wish)] = wish, response
        self.tell(wish)
        return response

    def stop(self, user: str, messages: frozenset[str]) -> asyncio.Future[c.Value]:
        """Slack's own button, about these messages. See `Stop`."""
        is_shown = self._run is not None and bool(messages & self._run.shown)
        return self.request(c.Stop(user, messages, is_about_others=False if is_shown else None))

    def tell(self, command: c.Command) -> None:
        """Have the line decide, and begin what it orders."""
        self._carry_out_all(self._decide(command))

    def ask(self, turn: TurnRecord) -> Coroutine[Any, Any, None]:
        """`tell` of a question that was stored; to be awaited until it is known who has the thread."""
        return self._claim_all(self._decide(c.Ask(turn)))

    async def _claim_all(self, orders: Iterable[c.Order]) -> None:
        for order in orders:
            if isinstance(order, c.Claim):
                await self._claim(order)

    def _decide(self, command: c.Command) -> list[c.Order]:
        now = self._parts.clock.monotonic()
        return [
            *self.line.handle(c.HumanAwaited(self.is_awaited), now),
            *self.line.handle(command, now),
        ]

    def _carry_out_all(self, orders: Iterable[c.Order]) -> None:
        writes: list[asyncio.Task[None]] = []
        for order in orders:
            if isinstance(order, c.Respond):
                self._respond_after(writes, order)
            elif (write := self._carry_out(order)) is not None:
                writes.append(write)
        self._set_timer(self.line.deadline())

    async def unwatch(self) -> None:
        """Watch nothing any more."""
        tasks = [task for _, task in self._watches.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- orders

    def _carry_out(self, order: c.Order) -> asyncio.Task[None] | None:  # noqa: C901  an arm for each kind
        """Begin it. What is given back stores something."""
        match order:
            case c.Claim() | c.LetGo() | c.PassOn() | c.EditElsewhere():
                return self._share(order)
            case c.Save() | c.End() | c.BreakOff() | c.StopAnothers() | c.StopFollowing():
                return self._store(order)
            case c.Mark() | c.Unmark() | c.Say() | c.Notify() | c.Offer():
                self._show(order)
            case c.Watch(turn=turn):
                self._watch(turn)
            case c.Unwatch(key=key):
                self._watches.pop(key)[1].cancel()
            case c.ReadTask(key=key):
                self._watches[key][0].hint()
            case c.StopForms(command=stop):
                self._spawn(self._respond(stop, partial(self._parts.forms.stop, self.thread, stop.user)))
            case c.ReportTakeover(turn=turn, is_given_up=is_given_up):
                self._report_takeover(turn, is_given_up=is_given_up)
            case c.Begin():
                self._begin(order)
            case c.Respond():
                raise AssertionError("`tell` responds")
            case _ if self._run is not None:
                return self._steer(self._run, order)
        return None

    def _share(self, request: c.SharingOrder) -> asyncio.Task[None] | None:
        """What other processes have to do with."""
        match request:
            case c.Claim():
                self._spawn(self._claim(request))
            case c.LetGo(ends=ends):
                self._is_letting_go = True
                self._spawn(self._let_go(ends))
            case c.PassOn(command=passed):
                self._spawn(self._pass_on(passed, self._claims))
            case c.EditElsewhere(command=edit):
                return self._spawn(self._respond(edit, partial(self._edit_elsewhere, edit, self._claims)))
        return None

    def _steer(self, run: TurnRun, control: c.RunningOrder) -> asyncio.Task[None] | None:
        """What is about the running turn."""
        match control:
            case c.StopRunning(user=user):
                return self._spawn(run.stop(user))
            case c.Reword(text=text):
                return self._spawn(run.reword(text))
            case c.StepAside(interrupted_by=user):
                run.leave(user)
            case c.AbandonRunning():
                run.lose()
                if self._task is not None:
                    self._task.cancel()
            case c.Interrupt(question=question):
                run.interrupt().add_done_callback(partial(self._interrupted, run, question))
            case c.CheckMessages(command=stop):
                self._spawn(self._respond(stop, partial(self._find_messages, run, stop)))
        return None

    def _store(self, write: c.StoringOrder) -> asyncio.Task[None]:
        match write:
            case c.Save(turn=turn):
                return self._write(turn, partial(self._parts.journal.keep, turn))
            case c.End(turn=turn):
                return self._write(turn, partial(self._end, write), is_end=True)
            case c.StopAnothers(word=turn):
                return self._write(turn, partial(self._stop_anothers, turn), is_end=True)
            case c.StopFollowing(turn=turn):
                return self._write(turn, partial(self._stop_following, turn), is_end=True)
            case c.BreakOff(turn=turn, reason=reason, note=note):
                ending = partial(self._parts.notices.break_off, turn, Outcome.LOST, reason, note)
                return self._write(turn, ending, is_end=True)

    def _show(self, notice: c.ShowingOrder) -> None:
        notices = self._parts.notices
        match notice:
            case c.Mark(question=question, is_shown=is_shown):
                mark = self._marks[question.key] = notices.reaction(question, is_shown=is_shown)
                self._spawn(mark.show(), question.key)
            case c.Unmark(key=key, stays=stays):
                self._marks.pop(key).over(stays=stays)
            case c.Say(question=question, words=words):
                self._spawn(self._say(question, words), question.key)
            case c.Notify(question=question, note=note):
                self._spawn(notices.notify(question, note), question.key)
            case c.Offer(question=question, user=user, words=words, labels=labels):
                running, shown = self.line.running, self._run.shown if self._run is not None else ()
                is_first = running is not None and begins_thread(running.turn.question)
                is_bare = is_first and not (shown or self.line.waiting)
                offering = notices.offer(question, user, words, labels, is_bare=is_bare)
                self._spawn(offering, question.key)

    def _respond_after(self, writes: Iterable[asyncio.Task[None]], order: c.Respond) -> None:
        """What a person did is stored before they learn of it."""
        _, response = self._requests.pop(id(order.command), (None, None))
        if response is None:  # the line gave the command to itself
            return
        if waits := tuple(writes):
            self._spawn(_give_when(waits, response, order.value))
        else:
            _give(response, order.value)

    async def _respond(self, wish: c.Request, work: Callable[[], Awaitable[c.Value]]) -> None:
        """With what `work` gives, or its BotError."""
        _, response = self._requests.pop(id(wish), (None, None))
        try:
            value = await work()
        except BotError as error:
            if response is None:
                raise
            if not response.done():
                response.set_exception(error)
            return
        if response is not None:
            _give(response, value)

    def _set_timer(self, deadline: float | None) -> None:
        if self._timer is not None and self._timer[0] != deadline:
            self._timer[1].cancel()
            self._timer = None
        if self._timer is None and deadline is not None:
            self._timer = deadline, self._spawn(self._sleep(deadline))

    async def _sleep(self, until: float) -> None:
        await asyncio.sleep(max(0.0, until - self._parts.clock.monotonic()))
        self._timer = None
        self.tell(c.Timer())

    # -- the lease

    async def _claim(self, claim: c.Claim) -> None:
        async with self._lease:
            turn, left = await self._leases.claim(claim.turn, with_left=claim.with_left)
            self._claims += 1
        self.tell(c.ClaimResult(claim.turn.key, turn, left))

    async def _let_go(self, ends: bool) -> None:
        async with self._lease:
            if not self.line.is_needed:  # since it was ordered
                await self._leases.let_go(self.thread, ends=ends)
        self._is_letting_go = False

    async def _pass_on(self, command: c.Passed, claims: int) -> None:
        """Decided again after a claim: the store may have given this process what the command is about.
        `claims`: how many were answered when it was decided first.
        """
        async with self._lease:
            is_passed = claims == self._claims and await self._leases.tell(self.thread, command)
        self.tell(c.PassedOn(command, is_passed) if claims == self._claims else command)

    async def _edit_elsewhere(self, edit: c.Edit, claims: int) -> c.Value:
        """As `_pass_on`."""
        async with self._lease:
            if claims == self._claims:
                if (answered := await self._leases.edit(edit)) is not None:
                    self._show(offer_to_ask_again(answered, QUESTION_REWORDED_LATE))
                return False
        return await self.request(edit)

    # -- the running turn

    def _begin(self, begin: c.Begin) -> None:
        run = self._run = TurnRun(begin.turn, begin.asked, self._parts)
        task = self._task = self._turns.spawn(
            self._run_turn(run, begin.asked), begin.turn.key, f"turn {begin.turn.key}"
        )
        task.add_done_callback(partial(self._turn_is_over, run))

    async def _run_turn(self, run: TurnRun, asked: tuple[TurnRecord, ...]) -> None:
        async with run.truthful_end():
            if await run.is_stopped_before():
                return
            if writes := [self._writes[turn.key] for turn in asked if turn.key in self._writes]:
                await asyncio.wait(writes)
            if not await run.merge():
                self.tell(c.MergeFailure())
            await run.answer()

    def _turn_is_over(self, run: TurnRun, _task: asyncio.Task[None]) -> None:
        self._run = self._task = None
        self.tell(run.result)

    def _interrupted(self, run: TurnRun, question: Question, task: asyncio.Task[str | None]) -> None:
        if task.cancelled():
            return
        task_id = None if task.exception() is not None else task.result()
        if task_id != "":
            self.tell(c.Interrupted(run.result.turn.key, question, task_id))

    async def _find_messages(self, run: TurnRun, stop: c.Stop) -> c.Value:
        is_about_others = await run.is_about_others(stop.messages) or run is not self._run
        return await self.request(c.Stop(stop.user, stop.messages, is_about_others))

    # -- watched tasks

    def _watch(self, turn: TurnRecord) -> None:
        agents = self._parts.agents
        if (agent := agents.get(turn.agent)) is None:
            words = agents.words_without(turn.agent)
            asyncio.get_running_loop().call_soon(self.tell, c.WatchFailure(turn, words))
            return
        watch = TaskWatch(turn, agent, self._parts.settings.push, self._parts.clock)
        task = asyncio.create_task(self._watch_until_news(watch, turn), name=f"watch {turn.key}")
        task.add_done_callback(partial(log_if_broken, turn=turn.key))
        self._watches[turn.key] = watch, task

    async def _watch_until_news(self, watch: TaskWatch, turn: TurnRecord) -> None:
        news = self._parts.news
        if (target := news.new_target(turn)) is not None:
            offered = replace(turn, push_id=target.push_id, push_hash=target.secret_hash)
            self.tell(c.PushOffer(offered))
            await self._parts.journal.keep(offered)
            if await news.offer(turn, target):
                turn = offered
            else:
                self.tell(c.PushOffer(turn))
        note = await watch.wait_for_news(is_offered=turn.push_id is not None)
        await news.withdraw(turn)
        del self._watches[turn.key]
        self.tell(c.News(turn) if note is None else c.WatchFailure(turn, note))

    # -- what is stored and said

    def _write(self, turn: TurnRecord, work: _Work, *, is_end: bool = False) -> asyncio.Task[None]:
        task = self._spawn(self._store_after(self._writes.get(turn.key), work, turn.key, is_end), turn.key)
        self._writes[turn.key] = task
        return task

    async def _store_after(
        self, before: asyncio.Task[None] | None, work: _Work, key: str, is_end: bool
    ) -> None:
        try:
            await _after(before, work)
        finally:
            if self._writes.get(key) is asyncio.current_task():
                del self._writes[key]
            if is_end:
                self.tell(c.EndStored(key))

    async def _end(self, ending: c.End) -> None:
        if ending.words and ending.is_public:
            await self._parts.notices.post(ending.turn.question, ending.words)
        elif ending.words:
            await self._say(ending.turn.question, ending.words)
        await self._parts.journal.end(ending.turn, ending.outcome)

    async def _stop_anothers(self, word: TurnRecord) -> None:
        if not await self._parts.forms.stop(self.thread, word.question.user):
            await self._say(word.question, STOP_IS_ASKERS)
        await self._parts.journal.end(word, Outcome.STOPPED)

    async def _stop_following(self, turn: TurnRecord) -> None:
        await self._parts.follow.stop(turn.question, float(turn.question.ts))
        await self._parts.journal.end(turn, Outcome.STOPPED)

    async def _say(self, question: Question, words: str) -> None:
        await self._parts.notices.post_ephemeral(question.thread, question.user, words)

    def _report_takeover(self, turn: TurnRecord, *, is_given_up: bool) -> None:
        fields = {"turn": turn.key, "thread_ts": turn.question.thread.ts, "task": turn.task_id}
        if is_given_up:
            _log.error("a turn is given up: each process that went on with it ended", extra=fields)
            return
        _log.info("a turn is taken over", extra=fields)
        now = self._parts.clock.monotonic()
        self._parts.observer(TurnTakenOver(now, turn.key, turn.accepted_at))


async def _after(before: asyncio.Task[None] | None, work: _Work) -> None:
    if before is not None:
        await asyncio.wait({before})
    await work()


def _give(future: asyncio.Future[c.Value], value: c.Value) -> None:
    if not future.done():  # who asked may have been cancelled
        future.set_result(value)


async def _give_when(
    waits: tuple[asyncio.Task[None], ...], future: asyncio.Future[c.Value], value: c.Value
) -> None:
    await asyncio.wait(waits)
    _give(future, value)
