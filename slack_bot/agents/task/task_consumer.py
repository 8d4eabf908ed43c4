"""The agent's side of one turn: ask, listen, find out what became of the task, and report how it ended."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from uuid import NAMESPACE_URL, uuid5

from ... import errors
from ...clock import Clock
from ...settings.agents import in_words_of
from ...settings.models import AgentSettings
from ...text.words import (
    AGENT_FORGOT_QUESTION,
    AGENT_NEVER_UNDERSTOOD,
    AGENT_SILENT,
    AGENT_TOOK_TOO_LONG,
    CONNECTION_CLOSED,
    INTERRUPTED,
    NOT_BEGUN,
    OUTCOME_UNKNOWN,
    SECRETS_LOST,
    STOPPED_MAY_GO_ON,
    WATCHING,
    WATCHING_AFTER_LOSS,
    WATCHING_AFTER_REPLY,
)
from ...turn.events import StopRequested, StreamEnd, StreamEnded, TaskKnowledge, TaskKnown
from ...turn.form import Form
from ...turn.progress import TaskBaseline, TurnRecord
from ...turn.quotes import Surroundings
from ...turn.record import Question
from ..agent import CONTEXT, Agent
from ..content.replies import reply_of
from ..recovery_policy import (
    NOT_OFFERED,
    TASK_NOT_FOUND,
    PollPolicy,
    PollResult,
    RetryPolicy,
    TaskLost,
)
from ..wire.calls import MISSED_MESSAGES, MessageRequest
from ..wire.frames import Received, Snapshot, TaskState
from .baseline import RepeatedFrames, baseline_of, before_question
from .stopping import StoppedTasks
from .stream_consumer import StreamConsumer, StreamExit, TurnHandle
from .task_view import OnEvent, OnRaw, TaskView

log = logging.getLogger(__name__)

_OURS, _REFUSED = "ours", "refused"  # values of the habit `CONTEXT`: who names the conversation
_UNKNOWN_CONTEXT = (-32602, TASK_NOT_FOUND)
"""Invalid parameters, not found: the question was refused before anything ran (facts: A2A 2.6)."""
_SKEW = 60.0  # seconds that the agent's clock may differ from ours
_POLLED = {"asked": True}  # in a raw event: it answers a poll of ours
_NOT_ASKED = (
    errors.AgentUnreachable,
    errors.TokenRefused,
    errors.CardError,
    errors.AgentRefused,
    errors.NothingToAsk,
)
_NAMES: Mapping[type[errors.AgentError], str] = {
    errors.AgentUnreachable: "the agent could not be reached",
    errors.TokenUnavailable: "the token for the agent could not be had",
    errors.TokenRefused: "the bot gets no token for the agent",
    errors.TaskOver: "the task had ended before its form was answered",
    errors.NoCard: "there is no agent card at the agent's address",
    errors.CardError: "the agent's card could not be used",
    errors.CardUntrusted: "the agent's card is refused",
    errors.CardRefused: "the agent's server gives its card only to those who log in",
    errors.StreamCut: "the connection to the agent was cut",
    errors.StreamIdle: "the agent said nothing for too long",
}


class TaskFollower:
    """Finds out what became of a task: it is asked for, and its stream is joined again.

    `has_continued`: the task was followed where its stream was lost.
    """

    def __init__(
        self,
        question: Question,
        agent: Agent,
        settings: AgentSettings,
        handle: TurnHandle,
        now: Callable[[], float],
        *,
        view: TaskView,
        stream_consumer: StreamConsumer,
        stopped_tasks: StoppedTasks,
    ) -> None:
        self._question, self._agent = question, agent
        self._settings, self._handle, self._now = settings, handle, now
        self._view, self._stream_consumer = view, stream_consumer
        self._stopped_tasks = stopped_tasks
        self._retry_after = 0.0  # seconds that the agent asked for in the last poll
        self.has_continued = False
        self._has_gap = False  # a joined stream may have left something out
        self._sent_baseline: TaskBaseline | None = None  # of another process, until the task was asked for

    def resume(self, baseline: TaskBaseline | None) -> None:
        """Another process asked the question, when the task was as `baseline` says."""
        self._sent_baseline = baseline

    async def on_silence(self) -> bool:
        """Whether to go on listening, where nothing came for a while.

        Where nothing that can be read has come, there is no task to ask for, and pings prove nothing. Only
        where the answer comes whole, to a call that waits for it, is that silence as it should be. An agent
        that answers by messages names no task, but has begun: it may pause.
        """
        if self._view.task_id is None and await self._stopped_tasks.works_on():
            self._view.notify_behind("a stopped task works on")
            return True
        has_begun = self._view.task_id is not None or self._view.is_understood
        if not (has_begun or self._agent.waits_for_whole):
            setting = in_words_of(self._agent.name, "SLACK_BOT_AGENT__IDLE_TIMEOUT")
            fields = _log_fields(self._question, self._view.task_id)
            log.warning("the agent said nothing within %s", setting, extra=fields)
            return False
        if self._view.is_stream_final and not self._view.is_over:
            return False  # nothing comes on this stream any more: the task alone can tell
        result = PollResult.CANNOT if self._view.task_id is None else await self.poll()
        if self._view.waits_for_sign_in:
            return True
        if result not in (PollResult.RUNNING, PollResult.CANNOT):
            return False
        known = TaskKnowledge.WORKING if result is PollResult.RUNNING else TaskKnowledge.UNKNOWN
        self._view.notify_waiting("no event on the stream", known)
        return True

    async def _look(self) -> Snapshot | PollResult:
        """The task, or why it is not to be had."""
        assert self._view.task_id is not None
        self._retry_after = 0.0
        try:
            snapshot = await self._handle.race(self._agent.task("get", self._view.task_id, MISSED_MESSAGES))
        except errors.AgentFailed as error:
            if error.code == TASK_NOT_FOUND:
                return PollResult.UNKNOWN
            return PollResult.CANNOT if error.code in NOT_OFFERED else PollResult.AWAY
        except errors.AgentError as error:
            if isinstance(error, errors.AgentRefused):
                self._retry_after = error.retry_after or 0.0
            log.info(
                "the task could not be asked for: %s",
                self._agent.why(error),
                extra={"task": self._view.task_id},
            )
            return PollResult.AWAY
        return PollResult.AWAY if snapshot is None else snapshot

    async def poll(self) -> PollResult:
        snapshot = await self._look()
        if isinstance(snapshot, PollResult):
            return snapshot
        if self._sent_baseline is not None:
            before, self._sent_baseline = before_question(snapshot, self._sent_baseline), None
            await self._view.set_baseline(before)
        is_over = snapshot.state.is_terminal or snapshot.state.is_asking
        if self._view.is_over and not (is_over or self._has_gap):
            return PollResult.OVER  # it is older than what the stream has said
        self._has_gap = self._has_gap and not is_over
        raw = {"kind": "task", "state": snapshot.state.value, **_POLLED}
        is_news = await self._view.on_frame(Received(raw, snapshot), is_polled=True)
        if self._view.is_over:
            return PollResult.OVER
        return PollResult.NEWS if is_news else PollResult.RUNNING

    async def follow(self) -> TaskLost | None:
        self.has_continued = True
        settings = self._settings
        joins = self._agent.can_resubscribe and not self._view.is_stream_final
        steps, jitter, seed = settings.poll_intervals, settings.poll_jitter, self._question.message_id
        policy = PollPolicy(steps, jitter, seed, patience=settings.poll_timeout, joins=joins, now=self._now())
        if joins and self._view.ids.last and not self._view.is_over:
            await self._join(policy)  # first, because what was polled would come again behind that id
        while not self._view.is_over or self._has_gap:
            result = await self.poll()
            if self._handle.must_exit:
                return TaskLost("left")
            if result is PollResult.OVER:
                return None
            step = policy.after(result, self._now(), self._retry_after)
            if isinstance(step, TaskLost):
                return step
            if step is None:
                await self._join(policy)
            elif self._is_without_news():
                return TaskLost("the task goes on without news", may_go_on=True)
            else:
                goes_on = result in (PollResult.RUNNING, PollResult.NEWS)
                why = "the task goes on" if goes_on else "no answer yet"
                self._view.notify_waiting(why, TaskKnowledge.WORKING if goes_on else TaskKnowledge.UNKNOWN)
                await self._handle.race(asyncio.sleep(step))
        return TaskLost("left") if self._handle.must_exit else None

    def _is_without_news(self) -> bool:
        """For so long that its task is watched, and what waits in the thread goes on."""
        patience = self._settings.watch_after
        if self._view.is_stream_final:
            patience = min(patience, self._settings.idle_timeout)
        return self._view.news.age >= patience and not self._view.waits_for_sign_in

    async def _join(self, policy: PollPolicy) -> None:
        assert self._view.task_id is not None
        heard, possible = self._view.heard, True
        self._has_gap = False
        try:
            await self._stream_consumer.consume(self._subscribe(self._view.task_id), self.on_silence)
        except errors.AgentError as error:
            possible = not (isinstance(error, errors.AgentFailed) and error.code in NOT_OFFERED)
            log.info("the task's stream was not joined, or broke again: %s", self._agent.why(error))
        if self._view.is_over and not self._has_gap:
            await self.poll()  # more than one chunk may have come twice, or one was no repetition
        # the snapshot that a joined stream begins with is no news: the task was polled a moment ago
        policy.joined(brought_news=self._view.heard > heard + 1, possible=possible)

    async def _subscribe(self, task_id: str) -> AsyncGenerator[Received, None]:
        """The joined stream. One that does not begin with a snapshot may have left something out.

        a2a-sdk listens before it reads the task: the snapshot's last chunk often comes once more, and so do
        its last statuses.
        """
        repeats: RepeatedFrames | None = None  # until the first frame
        async with aclosing(await self._agent.subscribe(task_id, self._view.ids.last)) as stream:
            async for received in stream:
                frame = received.frame
                if repeats is None:
                    task = frame if isinstance(frame, Snapshot) else None
                    goes_on = self._view.ids.goes_on_with(received.event_id)
                    self._has_gap = not goes_on and task is None
                    repeats = RepeatedFrames(task)
                    yield replace(received, raw={**received.raw, **_POLLED}) if task else received
                elif repeats.take(frame):
                    self._view.ids.take(received.event_id)
                else:
                    yield received


class TaskConsumer:
    """`view` is what is known of its task."""

    def __init__(
        self,
        question: Question,
        agent: Agent,
        settings: AgentSettings,
        clock: Clock,
        handle: TurnHandle,
        on_event: OnEvent,
        on_raw: OnRaw,
        on_send: Callable[[TaskBaseline | None], Awaitable[Surroundings]],
    ) -> None:
        self._on_send = on_send
        self._baseline: TaskBaseline | None = None
        self._question, self._agent, self._settings = question, agent, settings
        self._handle, self._on_event, self._now = handle, on_event, clock.monotonic
        self.view = TaskView(
            question.task_id, question.context_id, settings, on_event, on_raw, self._now, agent.habits
        )
        self._stream_consumer = StreamConsumer(self.view, handle, settings, self._now)
        self._stopped_tasks = StoppedTasks(agent, settings, handle)
        self.follower = TaskFollower(
            question,
            agent,
            settings,
            handle,
            self._now,
            view=self.view,
            stream_consumer=self._stream_consumer,
            stopped_tasks=self._stopped_tasks,
        )

    async def consume(self, sent: TurnRecord | None = None) -> None:
        """Ask and listen; report all events, and how it ended. Raises no AgentError.

        `sent`: another process may have asked, so what became of the question is looked for.
        """
        try:
            async with asyncio.timeout(self._settings.turn_timeout):
                end = await self._listen(sent)
        except TimeoutError:
            goes_on = self.view.task_id is not None and not self.view.is_over
            kind, note = (StreamEnd.WATCHED, WATCHING) if goes_on else (StreamEnd.LOST, AGENT_TOOK_TOO_LONG)
            end = StreamEnded(kind, note, reason="the turn's time is up")
        await self._handle.end_listening()
        if self._handle.interrupted_by is not None and self.view.state is not TaskState.COMPLETED:
            self._on_event(StopRequested(self._handle.interrupted_by))
            end = StreamEnded(StreamEnd.CLOSED, INTERRUPTED, reason="interrupted by a new message")
        elif (user := self._handle.stopped_by) is not None:
            self._on_event(StopRequested(user))
            end = await self._cancel(end)
        await self.view.finish()
        if end.end is StreamEnd.CLOSED and self.view.heard:
            self._name_context()
        if end.end is StreamEnd.WATCHED:
            self._handle.leave_task(self.view.task_id)
        self._on_event(end)

    def with_known_schemes(self, form: Form) -> Form:
        """A request to sign in. Where the settings know a sign-in that the agent names, that one is used, and
        no link of the agent.
        """
        people, card = self._agent.tokens.people, self._agent.cards.card
        if people is None or card is None:
            return replace(form, schemes=())
        schemes = tuple(each for each in form.schemes if people.knows(card.sign_ins.get(each, ())))
        return replace(form, schemes=schemes, url="" if schemes else form.url)

    def _name_context(self) -> None:
        """An agent that names no conversation is given one: with the next question, and from then on."""
        habits, view = self._agent.habits, self.view
        if view.context_id is None and habits.get(CONTEXT) != _REFUSED:
            habits[CONTEXT], view.context_id = _OURS, self._own_context
            self._on_event(TaskKnown(context_id=view.context_id, reason="the agent names no conversation"))

    @property
    def _own_context(self) -> str:
        return str(uuid5(NAMESPACE_URL, self._question.message_id))

    async def _listen(self, sent: TurnRecord | None) -> StreamEnded:
        try:
            try:
                if sent is not None:
                    self.follower.resume(sent.baseline)
                    self.view.task_id = sent.task_id or self.view.task_id or await self._find_task(sent)
                    return await self._after(OUTCOME_UNKNOWN, "the bot was restarted", cut=True)
                if (answer := self._question.answer) is not None and answer.has_lost_secrets:
                    return StreamEnded(StreamEnd.REFUSED, SECRETS_LOST, reason="secrets are not stored")
                left = await self._ask_behind_stopped()
                safe, why, cut = CONNECTION_CLOSED, f"stream {left}", left is StreamExit.SILENT
                if cut:
                    safe, why = AGENT_SILENT, "the stream fell silent"
                if self.view.heard and not self.view.is_understood:
                    safe, why = AGENT_NEVER_UNDERSTOOD, f"{why}; no event was of a known kind"
            except errors.StreamLost as error:
                safe, why, cut = error.safe, self._log(error), True
            return await self._after(safe, why, cut=cut)
        except errors.AgentError as error:
            is_refused = isinstance(error, _NOT_ASKED)
            end = StreamEnd.REFUSED if is_refused else StreamEnd.FAILED
            why = self._log(error)
            code, lasts = error.code if isinstance(error, errors.AgentFailed) else None, error.is_lasting
            return StreamEnded(end, error.safe, reason=why, text=error.said, is_lasting=lasts, code=code)

    async def _ask_behind_stopped(self) -> StreamExit:
        """Ask; once more where the question is refused because a task that was stopped works on."""
        try:
            return await self._ask()
        except errors.AgentError as error:
            if self.view.heard or not self._stopped_tasks.is_refused_for_it(error):
                raise
            log.info(
                "asked again when the stopped task has ended: %s",
                self._agent.why(error),
                extra=self._fields,
            )
            self.view.notify_behind("refused while a stopped task works on")
            await self._stopped_tasks.wait()
            if self._handle.must_exit:
                raise
        return await self._ask()

    async def _ask(self) -> StreamExit:
        """Send the question; again only while it cannot have been taken (D5)."""
        asked, now, habits = self._question, self._now, self._agent.habits
        reply = reply_of(asked)
        request = MessageRequest(
            *(reply.text, asked.message_id, asked.context_id, asked.task_id, asked.references),
            data=reply.data,
            metadata=reply.metadata,
        )
        is_ours = asked.context_id is None and habits.get(CONTEXT) == _OURS
        if is_ours:
            request = replace(request, context_id=self._own_context)
        retries = RetryPolicy(self._settings.connect_retries, now() + self._settings.accept_timeout)
        if asked.task_id is not None:
            await self._poll_baseline()
        while True:
            try:
                card = await self._agent.ensure_card()
                # without names: large files are let go while the agent answers
                return await self._stream_consumer.consume(
                    self._agent.ask(
                        _with(request, await self._on_send(self._baseline), takes_json=card.takes_json)
                    ),
                    self.follower.on_silence,
                )
            except errors.AgentFailed as error:
                if not is_ours or self.view.heard or error.code not in _UNKNOWN_CONTEXT:
                    raise
                is_ours, habits[CONTEXT] = False, _REFUSED
                request = replace(request, context_id=None)
            except (errors.AgentUnreachable, errors.AgentRefused) as error:
                pause = None if self.view.heard else retries.pause_after(error, now())
                if pause is None or self._handle.must_exit:
                    raise
                why = self._agent.why(error)
                log.info("the question was not taken, once more in %g s: %s", pause, why, extra=self._fields)
                await self._handle.race(asyncio.sleep(pause))
                if self._handle.must_exit:
                    raise

    async def _after(self, safe: str, why: str, *, cut: bool) -> StreamEnded:
        view = self.view
        if view.has_ended(cut=cut):
            if view.ids.has_gap and view.task_id is not None:
                await self.follower.poll()  # what was left out is in the task, if it can be had
            return StreamEnded(StreamEnd.CLOSED, reason=why)
        if view.task_id is None or self._handle.must_exit:
            return StreamEnded(StreamEnd.LOST, safe, reason=why)
        if view.is_settled:
            result = await self.follower.poll()
            found = "the task was asked" if result is PollResult.OVER else "its result is known"
            return StreamEnded(StreamEnd.CLOSED, reason=f"{why}; {found}")
        end = await self.follower.follow()
        if isinstance(end, TaskLost) and end.may_go_on:
            note = WATCHING_AFTER_REPLY if view.is_stream_final else WATCHING_AFTER_LOSS
            return StreamEnded(StreamEnd.WATCHED, note, reason=f"{why}; {end.why}")
        if isinstance(end, TaskLost):
            note = AGENT_FORGOT_QUESTION if end.is_forgotten else safe
            return StreamEnded(StreamEnd.LOST, note, reason=f"{why}; {end.why}")
        return StreamEnded(StreamEnd.CLOSED, reason=f"{why}; the task was asked")

    async def _find_task(self, sent: TurnRecord) -> str | None:
        """The task of a question that may have been sent. Only the agent may know its conversation."""
        asked = self._question
        is_ours = asked.context_id is None and self._agent.habits.get(CONTEXT) == _OURS
        context_id = self._own_context if is_ours else asked.context_id
        since = max(0.0, (sent.sent_at or 0.0) - _SKEW)
        return await self._handle.race(self._agent.find_task(context_id, asked.message_id, since))

    async def _poll_baseline(self) -> None:
        """The task as it is before its question is answered, if it can be had. Raises TaskOver."""
        assert self.view.task_id is not None
        try:
            task = await self._handle.race(self._agent.task("get", self.view.task_id, MISSED_MESSAGES))
        except errors.AgentError as error:
            log.info(
                "the task could not be asked for: %s",
                self._agent.why(error),
                extra={"task": self.view.task_id},
            )
        else:
            if task is not None:
                if task.state.is_terminal and self._question.answer is not None:
                    raise errors.TaskOver(f"the task is {task.state}")
                self._baseline = baseline_of(task)
                await self.view.set_baseline(task)

    async def _cancel(self, end: StreamEnded) -> StreamEnded:
        if self.view.task_id is None:
            note = NOT_BEGUN if end.end is StreamEnd.REFUSED else STOPPED_MAY_GO_ON
            return StreamEnded(StreamEnd.CLOSED, note, reason="no task to stop")
        note, why = await self._stopped_tasks.cancel(self.view.task_id)
        return StreamEnded(StreamEnd.CLOSED, note, reason=why if isinstance(why, str) else self._log(why))

    @property
    def _fields(self) -> dict[str, str | None]:
        return _log_fields(self._question, self.view.task_id)

    def _log(self, error: errors.AgentError) -> str:
        """Log an error, and name it. What the agent's server wrote is logged at debug only."""
        if isinstance(error, errors.TokenUnavailable | errors.TokenRefused):
            log.warning("the bot cannot log in to the agent: %s", self._agent.why(error), extra=self._fields)
        else:
            log.warning("the agent's side failed: %s", self._agent.why(error), extra=self._fields)
        if error.said:
            log.debug("the agent's server wrote: %s", error.said, extra=self._fields)
        match error:
            case errors.AgentFailed(code=code):
                return f"the agent answered with error {code}"
            case errors.AgentRefused(status=status):
                return f"the agent's server refused with HTTP {status}"
            case errors.ServerFailed(status=status):
                return f"the agent's server answered with HTTP {status}"
            case _:
                found = (_NAMES[kind] for kind in type(error).__mro__ if kind in _NAMES)
                return next(found, "the agent's answer could not be read")


def _with(request: MessageRequest, around: Surroundings, *, takes_json: bool) -> MessageRequest:
    """The question with what goes along. Without words it has the names of its files: some read text only."""
    return replace(
        request,
        text=request.text or ", ".join(each.name for each in around.files),
        files=around.files,
        quoted=around.part(takes_json=takes_json),
        metadata={**around.metadata, **request.metadata},
    )


def _log_fields(question: Question, task_id: str | None) -> dict[str, str | None]:
    return {"turn": question.key, "thread_ts": question.thread.ts, "task": task_id}
