"""One turn: the agent's events go through the machine into the answer, and the answer into the thread.

The *consumer* handles each event as it comes and never waits for Slack. The *writer* makes one Slack call at
a time (`slack/answer.py` says which), and is woken only for what is earlier than it knows. An event that
takes more than some milliseconds goes on in the *worker*, with the loop in between; later events wait for it.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, assert_never

from ..agents.agent import Agent
from ..agents.task.stream_consumer import TurnHandle
from ..agents.task.task_consumer import TaskConsumer
from ..clock import Clock
from ..errors import NothingToAsk
from ..observe import facts
from ..settings.load import Settings
from ..slack.model import Ending
from ..slack.writer import TurnServices, Writer
from ..text.sanitize import sanitize, sanitize_beginning, sanitize_in_steps, slices
from ..text.words import GOES_ON_NOW, THREAD_GONE
from ..turn import actions
from ..turn.durations import in_words
from ..turn.events import Event, NarrationConfirmed, StreamEnded, TaskEnded, TurnBegun
from ..turn.machine import State, Turn
from ..turn.progress import TaskBaseline, TurnRecord
from ..turn.quotes import Heard, Surroundings
from ..turn.record import Outcome, Question
from ..turn.sanitize import sanitize_card, sanitize_form
from ..web.fetch import fetch_file
from .journal import TurnJournal

_ENDS = (TaskEnded, StreamEnded)
_ACTIONS = 50  # actions that are carried out in one step
LookAround: TypeAlias = Callable[[Question, Heard], Coroutine[Any, Any, Surroundings]]
"""Finds what goes to the agent beside a question. Never raises."""
_DONE = object()  # what `next` gives where no step is left


class TurnRunner:
    """Asks the agent and writes its answer into the thread, or goes on where another process was."""

    def __init__(
        self,
        journal: TurnJournal,
        agent: Agent,
        writer: Writer,
        settings: Settings,
        clock: Clock,
        observer: facts.Observer,
        handle: TurnHandle,
        look_around: LookAround,
    ) -> None:
        self._question, self._settings, self._journal = journal.question, settings, journal
        self._writer, self._answer, self._look_around = writer, writer.answer, look_around
        self._secrets = writer.answer.secrets
        self._clock, self._now, self._observer, self._handle = clock, clock.monotonic, observer, handle
        self._has_details = facts.wants_details(observer)
        is_begun = bool(self._answer.state.ledger.repeated.strip())
        self._machine = Turn(shows_words=settings.agent.error_text == "show", is_begun=is_begun)
        self._is_settled = asyncio.Event()  # what another process left in the thread is
        self._backlog: deque[Iterator[None]] = deque()  # events that take more than a step, and later ones
        self._worker: asyncio.Task[None] | None = None
        self._broken: BaseException | None = None  # why the worker or the writer ended
        self._is_heard = False  # the agent was
        self._end: actions.EndTurn | None = None
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
        self._begin_answer()
        self._handle_event(TurnBegun())
        left = self._journal.record if self._journal.is_takeover else None
        if left is None:
            self._around = asyncio.create_task(self._look_around(asked, self._journal.context.heard))
        self._handle.on_exit(self._give_up_writes_if_stopped)
        writing = self._write() if left is None else self._go_on(left)
        writer = asyncio.create_task(writing, name=f"writer {asked.key}")
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
            self._answer.buffer.release(self._now(), is_late=True)  # goes along where the stream is stopped
            raise
        finally:
            tasks = [task for task in (writer, self._worker, self._around) if task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        if self._consumer.view.heard or self._journal.record.task_id is not None:
            await self._journal.taken()
        if self._handle.is_gone:
            await self._writer.carry_out(self._answer.hand_over.abandon())
        else:
            if self._end is not None and self._end.outcome is Outcome.WATCHED:
                await self._journal.watch()
            await self._finish()
        ended = self._ended()
        if ended.outcome is Outcome.GONE and self._journal.record.watched_at is not None:
            await self._writer.carry_out(self._answer.delivery.posts.tell_asker(THREAD_GONE))
        return ended

    def _begin_answer(self) -> None:
        journal, settings = self._journal, self._settings
        web = settings.web
        fetch = partial(fetch_file, web)
        self._writer.serve(TurnServices(journal, self._handle, fetch))
        uploads_images = web.images == "upload"
        self._answer.extras.begin(journal.record.extras, web.fetch_hosts, uploads_images=uploads_images)
        # an answer that another process had begun has waited already
        self._answer.begin(0.0 if journal.is_takeover else settings.governor.start_slot_timeout)

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
            self._writer.waits_since(self._now() - (self._clock.wall() - record.accepted_at))
        step = self._answer.delivery.take_over(record.sent_at or 0.0, others, has_note=is_watched)
        await self._writer.carry_out(step)
        if is_watched and self._handle.stopped_by is None:
            after = in_words(self._clock.wall() - record.accepted_at)
            asker = f"<@{record.question.user}> " if record.question.user else ""
            await self._writer.carry_out(self._answer.announce(asker + GOES_ON_NOW.format(after)))

    def _give_up_writes_if_stopped(self) -> None:
        """Who presses Stop does not wait for Slack's budget."""
        if self._handle.stopped_by is not None:
            self._writer.give_up_writes()

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
        return self._answer.buffer.waiting_since

    # -- deciding --------------------------------------------------------------------------------------------

    def _handle_event(self, event: Event) -> bool:
        """Now, where one step is enough and nothing is before it. True: the writer is due."""
        work = self._steps(event)
        if not self._backlog and next(work, _DONE) is _DONE:
            return self._writer.wake.is_set()
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
        may_be_due, buffer, news = False, self._answer.buffer, self._answer.news
        yield from self._machine.prepare(event)
        for number, action in enumerate(self._decide(event), start=1):
            if isinstance(action, actions.AppendText):
                for at, piece in enumerate(slices(action.text)):
                    if at:  # the front of it may be shown while the rest is sanitized
                        self._writer.wake.set()
                        yield
                    may_be_due |= buffer.push(piece, self._now(), unproven=action.unproven)
            else:
                may_be_due = True
                yield from self._apply(action)
            if number % _ACTIONS == 0:
                yield
        if isinstance(event, NarrationConfirmed):
            buffer.start_new_text()
            may_be_due = True
        self._handle.is_waiting_for_human = news.is_awaited = self._machine.waits_for_human
        if may_be_due and self._answer.pace.is_due_earlier():
            self._writer.wake.set()

    def _decide(self, event: Event) -> list[actions.Action]:
        late = self._machine.late
        if not self._is_heard and self._consumer.view.heard:
            self._is_heard = True
            self._observer(facts.AgentHeard(self._now(), self._question.key))
        if isinstance(event, _ENDS):
            # Its words are cut for a note: a secret that is cut in two would not be recognised any more.
            event = replace(event, text=sanitize_beginning(event.text, self._secrets))
        elif isinstance(event, NarrationConfirmed):
            event = replace(event, unseen=self._answer.buffer.is_unsent)
        decided = self._machine.handle(event)
        if self._has_details:
            now, state, is_late = self._now(), str(self._machine.state), self._machine.late > late
            key = self._question.key
            self._observer(facts.EventHandled(now, key, event, tuple(decided), state, is_late))
        return decided

    def _apply(self, action: actions.Action) -> Iterator[None]:  # noqa: C901  an arm for each
        secrets, stream = self._secrets, self._settings.stream
        answer, buffer, news = self._answer, self._answer.buffer, self._answer.news
        match action:
            case actions.FlushText():
                buffer.flush()
            case actions.RetractText():
                buffer.retract()
            case actions.AppendText() | actions.NoOp():  # text is appended in steps
                return
            case actions.RewriteAnswer(text=text):
                masked = Counter[str]()
                shown = yield from sanitize_in_steps(text, secrets, masked)
                answer.replace_text(shown, masked)
                return
            case actions.ShowStatus() | actions.UpdateCard() | actions.SetPlanTitle():
                self._add_news(action)
            case actions.ShowForm(form=form):
                most = stream.max_form_fields, stream.max_form_choices
                form = yield from sanitize_form(form, secrets, *most)
                news.ask_at(form, self._now() + stream.first_flush_delay)
            case actions.ShowExtra() | actions.NameSources():
                yield from answer.extras.take(action, secrets)
                return
            case actions.SaveIds():
                self._around = None  # the agent has it, with files that may be large
                news.ids.append(action)
                if action.task_id is not None:
                    self._handle.know_task(action.task_id)
            case actions.EndTurn():
                buffer.end(self._now())
                self._end = action
                answer.end_soon()
            case _:
                assert_never(action)
        self._writer.wake.set()

    def _add_news(self, action: actions.ShowStatus | actions.UpdateCard | actions.SetPlanTitle) -> None:
        news, secrets = self._answer.news, self._secrets
        match action:
            case actions.ShowStatus(text=text):
                news.set_status(sanitize_beginning(text, secrets))
            case actions.UpdateCard(card=card):
                news.add_card(sanitize_card(card, secrets))
            case actions.SetPlanTitle(title=title):
                news.set_plan_title(sanitize_beginning(title, secrets))

    # -- writing ---------------------------------------------------------------------------------------------

    def _write(self) -> Coroutine[Any, Any, None]:
        """Write until the turn is decided."""
        return self._writer.carry_out(self._answer.write())

    async def _go_on(self, left: TurnRecord) -> None:
        """Settle what another process `left`, and write."""
        await self._take_over(left)
        self._is_settled.set()
        await self._write()

    async def _finish(self) -> None:
        end, answer, journal = self._end, self._answer, self._journal
        assert end is not None
        if journal.is_takeover:
            said = sanitize(self._machine.answer, self._secrets)
            answer.compare_with_shown(said, journal.record.text, end.outcome)
        form = answer.news.form if end.outcome is Outcome.ASKED else None
        handle = "" if form is None else await journal.open_form(form, is_over=self._is_task_over)
        note = sanitize(end.note, self._secrets)
        ending = Ending(end.outcome, note=note, offer_retry=end.offer_retry, form=form, handle=handle)
        ended = await self._writer.carry_out(answer.finish(ending))
        if ended.outcome is not end.outcome:
            reason = "nothing that the agent wrote can be shown"
            self._end = replace(end, outcome=ended.outcome, offer_retry=True, reason=reason)

    @property
    def _is_task_over(self) -> bool:
        return self._consumer.view.state.is_terminal

    def _ended(self) -> facts.TurnEnded:
        if self._answer.state.is_gone:
            self._handle.mark_gone()
        gone, end, task, machine = self._handle.is_gone, self._end, self._consumer.view, self._machine
        outcome = Outcome.GONE if gone or end is None else end.outcome
        if outcome.has_completed and self._answer.is_stopped:
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
            self._answer.state.records,
            task.task_id if is_awaiting else None,
            outcome.is_whole,
            self._consumer.has_continued,
            tuple(self._answer.state.surface.fallbacks),
            dict(self._answer.buffer.masked),
            "" if end is None else end.said,
        )
        self._observer(ended)
        assert gone or machine.state is State.CLOSED
        return ended
