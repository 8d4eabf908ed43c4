"""One turn: the agent's events go through the machine into the answer, and the answer into the thread.

The *consumer* handles each event as it comes and never waits for Slack. The *writer* makes one Slack call at
a time (`slack/answer.py` says which), and is woken only for what is earlier than it knows. An event that
takes more than some milliseconds goes on in the *worker*, with the loop in between; later events wait for it.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, TypeVar, assert_never

from ..agents.agent import Agent
from ..agents.task.stream_consumer import TurnHandle
from ..agents.task.task_consumer import TaskConsumer
from ..clock import Clock
from ..errors import NothingToAsk
from ..observe import facts
from ..settings.load import Settings
from ..settings.models import StreamSettings
from ..slack.model import Ending
from ..slack.writer import TurnServices, Writer
from ..text.sanitize import sanitize, sanitize_beginning, sanitize_in_steps, slices
from ..text.words import GOES_ON_NOW, THREAD_GONE
from ..turn import actions
from ..turn.durations import in_words
from ..turn.events import Event, InputRequired, NarrationConfirmed, StreamEnded, TaskEnded, TurnBegun
from ..turn.machine import WHOLE, State, Turn
from ..turn.progress import TaskBaseline, TurnRecord
from ..turn.quotes import Heard, Surroundings
from ..turn.record import Outcome, Question
from ..turn.sanitize import sanitize_card, sanitize_form
from ..web.fetch import fetch_file
from .journal import TurnJournal
from .raw_events import RawEvents

_ENDS = (TaskEnded, StreamEnded)
_ACTIONS = 50  # actions that are carried out in one step
LookAround: TypeAlias = Callable[[Question, Heard], Coroutine[Any, Any, Surroundings]]
"""Finds what goes to the agent beside a question. Never raises."""
_T = TypeVar("_T")
_DONE = object()  # what `next` gives where no step is left


class TurnTasks:
    """The tasks of one turn. One that breaks ends the listening too."""

    def __init__(self, handle: TurnHandle) -> None:
        self._handle = handle
        self._tasks: set[asyncio.Task[Any]] = set()
        self.broken: BaseException | None = None  # why one of them ended

    def spawn(self, work: Coroutine[Any, Any, _T], name: str) -> asyncio.Task[_T]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.broken = self.broken or error
            self._handle.mark_gone()

    def forget(self, task: asyncio.Task[Any]) -> None:
        """Hold what `task` gives in memory no longer, and do not wait for it."""
        self._tasks.discard(task)

    async def cancel(self) -> None:
        """Returns when all are over."""
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)


class QuestionSender:
    """Finds what goes along with the question, and stores that it is sent."""

    def __init__(
        self,
        journal: TurnJournal,
        look_around: LookAround,
        observer: facts.Observer,
        clock: Clock,
        handle: TurnHandle,
        tasks: TurnTasks,
    ) -> None:
        self._journal, self.question = journal, journal.record.question
        self.meter, self.acts = journal.meter, journal.acts
        self._look_around = look_around
        self._observer, self._now = observer, clock.monotonic
        self._handle, self._tasks = handle, tasks
        self._around: asyncio.Task[Surroundings] | None = None

    def begin(self, heard: Heard) -> None:
        """Look around, while other things are done. `heard`: what the agent knows of the thread."""
        looking = self._look_around(self.question, heard)
        self._around = self._tasks.spawn(looking, f"surroundings {self.question.key}")

    async def send(self, baseline: TaskBaseline | None) -> Surroundings:
        """What goes along with the question. A Stop does not wait for it. Raises NothingToAsk."""
        assert self._around is not None, "`begin` comes first"
        await self._handle.race(asyncio.wait({self._around}))
        around = self._around.result() if self._around.done() else Surroundings()
        if around.not_given and not (self.question.text or around.files):
            raise NothingToAsk("none of the question's files was given", safe=" ".join(around.not_given))
        await self._journal.sending(baseline, around.heard)
        self._observer(facts.AgentAsked(self._now(), self.question.key))
        return around

    def forget(self) -> None:
        """The agent has it, with files that may be large."""
        if self._around is not None:
            self._tasks.forget(self._around)
        self._around = None


class StepWorker:
    """Does what takes more than one step, and what came after it, with the loop in between."""

    def __init__(self, tasks: TurnTasks, name: str) -> None:
        self._tasks, self._name = tasks, name
        self.backlog: deque[Iterator[None]] = deque()
        self._task: asyncio.Task[None] | None = None

    def add(self, work: Iterator[None]) -> None:
        """Go on with `work` when what was there before is done."""
        self.backlog.append(work)
        if self._tasks.broken is None and (self._task is None or self._task.done()):
            self._task = self._tasks.spawn(self._work_off(), self._name)

    async def _work_off(self) -> None:
        while self.backlog:
            await asyncio.sleep(0)
            if next(self.backlog[0], _DONE) is _DONE:
                self.backlog.popleft()

    async def finish(self) -> None:
        """Return when all is done. Raises what broke."""
        if self._task is not None:
            await self._task


class ActionHandler:
    """Carries out what the machine decided, on the answer. `end`: how the turn ends, once that is decided."""

    def __init__(
        self,
        writer: Writer,
        settings: StreamSettings,
        clock: Clock,
        handle: TurnHandle,
        sender: QuestionSender,
    ) -> None:
        self._writer, self._answer = writer, writer.answer
        self._settings, self._now = settings, clock.monotonic
        self._handle, self._sender = handle, sender
        self.end: actions.EndTurn | None = None

    def apply(self, action: actions.Action) -> Iterator[None]:  # noqa: C901  an arm for each
        """Yields after each step but the last."""
        answer, buffer, news = self._answer, self._answer.buffer, self._answer.news
        secrets = answer.buffer.input.secrets
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
                most = self._settings.max_form_fields, self._settings.max_form_choices
                form = yield from sanitize_form(form, secrets, *most)
                news.ask_at(form, self._now() + self._settings.first_flush_delay)
            case actions.ShowExtra() | actions.NameSources() | actions.SuggestQuestions():
                yield from answer.extras.take(action, secrets)
                return
            case actions.ActInSlack(acts=acts):
                self._sender.acts.take([replace(each, text=sanitize(each.text, secrets)) for each in acts])
                return
            case actions.SaveIds():
                self._sender.forget()
                news.ids.append(action)
                if action.task_id is not None:
                    self._handle.know_task(action.task_id)
            case actions.EndTurn():
                buffer.end(self._now())
                self.end = action
                answer.end_soon()
            case _:
                assert_never(action)
        self._writer.wake.set()

    def _add_news(self, action: actions.ShowStatus | actions.UpdateCard | actions.SetPlanTitle) -> None:
        news, secrets = self._answer.news, self._answer.buffer.input.secrets
        match action:
            case actions.ShowStatus(text=text):
                news.set_status(sanitize_beginning(text, secrets))
            case actions.UpdateCard(card=card):
                news.add_card(sanitize_card(card, secrets))
            case actions.SetPlanTitle(title=title):
                news.set_plan_title(sanitize_beginning(title, secrets))


class TurnListener:
    """Listens to the agent: decides what each event means, and changes the answer. Never waits for Slack."""

    def __init__(
        self,
        agent: Agent,
        writer: Writer,
        settings: Settings,
        clock: Clock,
        observer: facts.Observer,
        handle: TurnHandle,
        sender: QuestionSender,
        tasks: TurnTasks,
    ) -> None:
        question = sender.question
        self._writer, self._answer, self._handle = writer, writer.answer, handle
        self._key, self._now, self._observer = question.key, clock.monotonic, observer
        self._has_details = facts.wants_details(observer)
        raw_events = RawEvents(sender.meter, observer, clock, question.key, writer)
        self.actions = ActionHandler(writer, settings.stream, clock, handle, sender)
        self.worker = StepWorker(tasks, f"worker {question.key}")
        is_begun = bool(self._answer.state.ledger.repeated.rest.strip())
        self.machine = Turn(
            shows_words=agent.settings.error_text == "show",
            is_begun=is_begun,
            may_be_silent=not question.is_addressed,
        )
        self._is_heard = False  # the agent was
        self.consumer = TaskConsumer(
            question,
            agent.in_conversation(
                question.thread, question.key, question.asker, self._answer.buffer.input.learn
            ),
            agent.settings,
            clock,
            handle,
            self.handle_event,
            raw_events if raw_events.are_wanted else None,
            sender.send,
        )

    def handle_event(self, event: Event) -> bool:
        """Now, where one step is enough and nothing is before it. True: the writer is due."""
        work = self._steps(event)
        if not self.worker.backlog and next(work, _DONE) is _DONE:
            return self._writer.wake.is_set()
        self.worker.add(work)
        return True

    def _steps(self, event: Event) -> Iterator[None]:
        """Decide what `event` means, and carry it out. Yields after each step but the last."""
        may_be_due, buffer, news = False, self._answer.buffer, self._answer.news
        if isinstance(event, WHOLE):
            yield from self.machine.prepare(event)
        decided = self._decide(event)
        is_awaited = self.machine.waits_for_human
        for number, action in enumerate(decided, start=1):
            if isinstance(action, actions.AppendText):
                for at, piece in enumerate(slices(action.text)):
                    if at:  # the front of it may be shown while the rest is sanitized
                        self._writer.wake.set()
                        yield
                    may_be_due |= buffer.push(piece, self._now(), unproven=action.unproven)
            else:  # wakes the writer itself
                yield from self.actions.apply(action)
            if number % _ACTIONS == 0:
                yield
        if isinstance(event, NarrationConfirmed):
            buffer.input.mark()
            may_be_due = True
        self._handle.is_waiting_for_human = news.is_awaited = is_awaited
        if not may_be_due or self._writer.wake.is_set():
            return
        if self._answer.pace.is_earlier(buffer.deadline()):
            self._writer.wake.set()

    def _decide(self, event: Event) -> list[actions.Action]:
        late = self.machine.late
        if not self._is_heard and self.consumer.view.heard:
            self._is_heard = True
            self._observer(facts.AgentHeard(self._now(), self._key))
        if isinstance(event, _ENDS) and event.text:
            # Its words are cut for a note: a secret that is cut in two would not be recognised any more.
            event = replace(event, text=sanitize_beginning(event.text, self._answer.buffer.input.secrets))
        elif isinstance(event, InputRequired) and event.form.schemes:
            event = replace(event, form=self.consumer.with_known_schemes(event.form))
        elif isinstance(event, NarrationConfirmed):
            event = replace(event, unseen=self._answer.buffer.input.is_unsent)
        decided = self.machine.handle(event)
        if self._has_details:
            now, state, is_late = self._now(), str(self.machine.state), self.machine.late > late
            self._observer(facts.EventHandled(now, self._key, event, tuple(decided), state, is_late))
        return decided


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
        self._journal, self._settings = journal, settings
        self._writer, self._answer = writer, writer.answer
        self._clock, self._observer, self._handle = clock, observer, handle
        self._is_settled = asyncio.Event()  # what another process left in the thread is
        self._tasks = TurnTasks(handle)
        self._sender = QuestionSender(journal, look_around, observer, clock, handle, self._tasks)
        self._listener = TurnListener(
            agent, writer, settings, clock, observer, handle, self._sender, self._tasks
        )

    async def run(self) -> facts.TurnEnded:
        """The turn, to its end. Raises `SlackError` if Slack cannot be written to for good."""
        asked, now = self._sender.question, self._clock.monotonic
        self._observer(self._started(asked))
        self._begin_answer()
        self._listener.handle_event(TurnBegun())
        self._handle.on_exit(self._give_up_writes_if_stopped)
        left = self._journal.record if self._journal.is_takeover else None
        if left is None:
            self._sender.begin(self._journal.context.heard)
        writing = self._write() if left is None else self._go_on(left)
        writer = self._tasks.spawn(writing, f"writer {asked.key}")
        try:
            await self._listen(left)
            self._observer(facts.AgentLeft(now(), asked.key))
            if not self._handle.is_gone:
                await self._listener.worker.finish()
            if self._tasks.broken is not None:
                raise self._tasks.broken
            await writer
        except asyncio.CancelledError:
            self._answer.buffer.release(now(), is_late=True)  # goes along where the stream is stopped
            raise
        finally:
            await self._tasks.cancel()
        if self._listener.consumer.view.heard or self._journal.record.task_id is not None:
            await self._journal.taken()
        end = self._listener.actions.end
        if self._handle.is_gone:
            await self._writer.carry_out(self._answer.hand_over.abandon())
        else:
            if end is not None and end.outcome is Outcome.WATCHED:
                await self._journal.watch()
            end = await self._finish()
        ended = self._ended(end)
        if ended.outcome is Outcome.GONE and self._journal.record.watched_at is not None:
            await self._writer.carry_out(self._answer.delivery.posts.tell_asker(THREAD_GONE))
        return ended

    def _started(self, question: Question) -> facts.TurnStarted:
        thread, record = question.thread, self._journal.record
        return facts.TurnStarted(
            at=self._clock.monotonic(),
            turn=question.key,
            user=question.user,
            channel=thread.channel,
            thread_ts=thread.ts,
            text=question.text,
            accepted_at=record.accepted_at,
            agent=record.agent,
        )

    def _begin_answer(self) -> None:
        journal, settings = self._journal, self._settings
        # an answer that another process had begun has waited already
        start_timeout = 0.0 if journal.is_takeover else settings.governor.start_slot_timeout
        web = settings.web
        fetch = partial(fetch_file, web)
        self._writer.serve(TurnServices(journal, self._handle, fetch))
        uploads_images = web.images == "upload"
        self._answer.extras.begin(journal.record.extras, web.fetch_hosts, uploads_images=uploads_images)
        self._answer.begin(start_timeout)

    async def _listen(self, left: TurnRecord | None) -> None:
        """Ask the agent, or go on with what another process `left`. A stop does not wait for Slack."""
        if left is not None:
            await self._handle.race(self._is_settled.wait())
        await self._listener.consumer.consume(left)

    async def _take_over(self, record: TurnRecord) -> None:
        others = {*await self._journal.other_messages(), *(extra.ts for extra in record.extras)}
        is_watched = record.watched_at is not None
        if not record.messages:  # its reader has seen nothing at all, and goes before those who read half
            self._writer.waits_since(self._clock.monotonic() - (self._clock.wall() - record.accepted_at))
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

    @property
    def unseen_since(self) -> float | None:
        """When the oldest text came that its reader cannot see yet."""
        return self._answer.buffer.waiting_since

    def _write(self) -> Coroutine[Any, Any, None]:
        """Write until the turn is decided."""
        self._writer.wake.clear()  # what has come until now is read at once
        return self._writer.carry_out(self._answer.write())

    async def _go_on(self, left: TurnRecord) -> None:
        """Settle what another process `left`, and write."""
        await self._take_over(left)
        self._is_settled.set()
        await self._write()

    async def _finish(self) -> actions.EndTurn:
        """Show the end. Returns how the turn ended, by what can be shown."""
        answer, journal, secrets = self._answer, self._journal, self._answer.buffer.input.secrets
        end = self._listener.actions.end
        assert end is not None, "the writer writes until then"
        if journal.is_takeover:
            said = sanitize(self._listener.machine.answer, secrets)
            answer.compare_with_shown(said, journal.record.text, end.outcome)
        form = answer.news.form if end.outcome is Outcome.ASKED else None
        handle = ""
        if form is not None:
            task = self._listener.consumer.view
            handle = await journal.open_form(form, is_over=task.state.is_terminal)
        note = sanitize(end.note, secrets) if end.note else ""
        stopper = self._handle.stopped_by or ""
        is_named = end.outcome is Outcome.STOPPED and not journal.record.question.is_of(stopper)
        used = journal.meter.footer(self._clock.wall() - journal.record.accepted_at)
        ending = Ending(
            end.outcome,
            note=note,
            offer_retry=end.offer_retry,
            form=form,
            handle=handle,
            used=used,
            stopped_by=stopper if is_named else "",
        )
        ended = await self._writer.carry_out(answer.finish(ending))
        if ended.outcome is end.outcome:
            return end
        reason = "nothing that the agent wrote can be shown"
        return replace(end, outcome=ended.outcome, offer_retry=True, reason=reason)

    def _ended(self, end: actions.EndTurn | None) -> facts.TurnEnded:
        if self._answer.state.is_gone:
            self._handle.mark_gone()
        gone, consumer, machine = self._handle.is_gone, self._listener.consumer, self._listener.machine
        task = consumer.view
        outcome = Outcome.GONE if gone or end is None else end.outcome
        if outcome.has_completed and self._answer.is_stopped:
            outcome = Outcome.STOPPED  # while the last of it was written
        reason = "the thread was deleted" if outcome is Outcome.GONE else (end.reason if end else None)
        is_awaiting = outcome is Outcome.ASKED and not task.state.is_terminal
        ended = facts.TurnEnded(
            self._clock.monotonic(),
            self._sender.question.key,
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
            consumer.follower.has_continued,
            tuple(self._answer.state.surface.fallbacks),
            dict(self._answer.buffer.input.masked),
            "" if end is None else end.said,
            self._journal.record.agent,
            None if end is None else end.code,
        )
        self._observer(ended)
        assert gone or machine.state is State.CLOSED
        return ended
