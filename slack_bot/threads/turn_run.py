"""One turn in this process: from the moment at which it may begin to its truthful end.

A turn that broke ends here, and only here: the traceback is logged and the reader gets a notice.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..agents.agent import Agent
from ..agents.agents import Agents
from ..agents.task.stopping import StoppedTasks
from ..agents.task.stream_consumer import TurnHandle
from ..clock import Clock
from ..errors import AgentError, StoreError
from ..observe.facts import Observer
from ..settings.load import Settings
from ..slack.question_files import QuestionFiles
from ..store.contracts import Store
from ..store.knowledge import Profiles, workspace_name
from ..text.words import BROKE, NOT_BEGUN, QUESTION_AUDIO_UNNAMED, RESTARTING, TOO_LONG
from ..turn.files import GivenFile
from ..turn.progress import Stage, TurnRecord
from ..turn.quotes import Heard, Surroundings, one_line
from ..turn.record import Outcome, Question, QuestionOrigin
from .asker_rights import AskerRights
from .background import TaskSet
from .commands import TurnResult
from .follow import FollowedThreads
from .journal import Journal, TurnJournal
from .looks import look_of
from .notices import Notices
from .ports import AgentActs, FormAnswers, NewsOffers, PersonalSignIn, QuestionContext, UsageMeters
from .runner import TurnRunner
from .team_shares import TeamShares
from .thread_agents import ThreadAgents

log = logging.getLogger(__name__)


class LearnedFacts:
    """What turns learn of the agent and of workspaces. A store that fails is only logged."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._profiles, self._clock = Profiles(store), clock

    async def of_workspace(self, team: str) -> dict[str, str]:
        """What is known of it."""
        try:
            return await self._profiles.profile(workspace_name(team))
        except StoreError as error:
            log.error("what is known of the workspace was not read: %s", error)
            return {}

    async def save(self, subject: str, facts: Mapping[str, str]) -> None:
        """Store what is new."""
        try:
            known = await self._profiles.profile(subject) if facts else {}
            for name, value in facts.items():
                if known.get(name) != value:
                    await self._profiles.save_fact(subject, name, value, self._clock.wall())
        except StoreError as error:
            log.error("what was learned was not stored: %s", error)


@dataclass(frozen=True, slots=True)
class TurnParts:
    """What all turns of the bot work with.

    `secrets`: all secret values of `settings`. `background`: work that is not awaited.
    """

    agents: Agents
    thread_agents: ThreadAgents
    rights: AskerRights
    store: Store
    settings: Settings
    secrets: tuple[str, ...]
    clock: Clock
    observer: Observer
    journal: Journal
    notices: Notices
    follow: FollowedThreads
    forms: FormAnswers
    context: QuestionContext
    files: QuestionFiles
    learned: LearnedFacts
    news: NewsOffers
    sign_in: PersonalSignIn
    usage: UsageMeters
    acts: AgentActs
    background: TaskSet
    shares: TeamShares


class LookAround:
    """Finds what goes to `agent` beside a question."""

    def __init__(self, turn_parts: TurnParts, agent: Agent) -> None:
        self._context, self._files = turn_parts.context, turn_parts.files
        self._agent = agent
        self._follow, self._acts = turn_parts.follow, turn_parts.acts
        self._notices, self._background = turn_parts.notices, turn_parts.background

    async def __call__(self, question: Question, heard: Heard) -> Surroundings:
        """Which files the agent does not get is said in the thread: its answer is without them."""
        most = self._agent.settings.identity
        looking, reading = self._context.look_around(question, heard, most), self._files.read(question)
        around, read = await asyncio.gather(looking, reading)
        around = replace(around, files=read.given, not_given=read.not_given)
        if around.place and (refused := await self._acts.refused(question, self._agent.name)):
            around = replace(around, place={**around.place, "refused_actions": list(refused)})
        if around.is_alone:
            await self._follow.read_alone(question)
        notes = [*around.not_given, *await self._audio_notes(read.given)]
        if notes and question.is_addressed and (question.text or around.files):
            saying = self._notices.post(question, "\n".join(notes))
            self._background.spawn(saying, question.key)
        return around

    async def _audio_notes(self, files: Sequence[GivenFile]) -> list[str]:
        """The agent gets audio in any case: many cards name less than their agent takes."""
        audio = [one_line(each.name) for each in files if each.media_type.startswith("audio/")]
        try:
            takes_audio = not audio or (await self._agent.ensure_card()).takes_audio
        except AgentError:  # the question will say so
            takes_audio = True
        if takes_audio:
            return []
        return [QUESTION_AUDIO_UNNAMED.format(name) for name in audio]


class QuestionGate:
    """Whether a question is asked. If not, its asker reads why, and the turn is over."""

    def __init__(self, turn_parts: TurnParts, handle: TurnHandle) -> None:
        self._rights, self._forms = turn_parts.rights, turn_parts.forms
        self._sign_in, self._handle = turn_parts.sign_in, handle
        self._notices = turn_parts.notices

    async def lets_pass(self, journal: TurnJournal, agent: Agent) -> bool:
        """False: the asker may not ask this agent here, or may not answer its form, or ends its task."""
        if not journal.is_takeover and (words := await self._rights.refusal(journal.question, agent)):
            await self._refuse(journal, words)
            return False
        if await self._forms.is_stop(journal):
            await journal.end(Outcome.STOPPED)
            return False
        words = await self._forms.before(journal)
        if words is None:
            return agent.settings.identity != "oauth" or await self._is_signed_in(journal, agent)
        asked = journal.question
        await self._notices.post_ephemeral(asked.thread, asked.answered_by or asked.user, words)
        await journal.end(Outcome.REFUSED)
        return False

    async def _is_signed_in(self, journal: TurnJournal, agent: Agent) -> bool:
        """Waits until the asker has signed in, if the agent has not been asked yet."""
        if journal.record.stage is not Stage.ACCEPTED:
            return True
        if words := await self._sign_in.before(journal, agent.name, self._handle):
            await self._refuse(journal, words)
            return False
        if self._handle.stopped_by is not None:
            await self._notices.break_off(journal.record, Outcome.STOPPED, "stopped", NOT_BEGUN)
            return False
        return True

    async def _refuse(self, journal: TurnJournal, words: str) -> None:
        if not journal.question.is_addressed:  # then its author waits for no words
            await journal.end(Outcome.REFUSED, reason=words)
            return
        if journal.question.asker_is_bot:
            await self._notices.break_off(journal.record, Outcome.REFUSED, words, words)
            return
        await self._notices.refuse(journal.question, words)
        await journal.end(Outcome.REFUSED)


class TurnRun:
    """`turn` is made of the questions `asked`."""

    def __init__(self, turn: TurnRecord, asked: Sequence[TurnRecord], turn_parts: TurnParts) -> None:
        self._turn, self._asked, self._parts = turn, asked, turn_parts
        self._agent = turn_parts.agents.get(turn.agent)
        who_listens = partial(turn_parts.follow.listens_to, turn.question)
        self._writer = turn_parts.notices.turn_writer(
            turn.question,
            turn.messages,
            (*turn_parts.secrets, *turn_parts.agents.secrets),
            who_listens,
            look_of(turn_parts.agents, turn.agent),
            is_personal=self._agent is not None and self._agent.settings.is_personal,
        )
        self._handle = TurnHandle()
        self._journal: TurnJournal | None = None
        self._runner: TurnRunner | None = None
        self._outcome: Outcome | None = None
        self._is_lost = False
        self._fields = {"turn": turn.key, "thread_ts": turn.question.thread.ts, "task": turn.task_id}
        if turn.stopped_by is not None:
            self._handle.stop(turn.stopped_by)

    # -- what the thread knows and wants of it

    @property
    def result(self) -> TurnResult:
        """How far it has come, and how the agent ended it."""
        turn = self._turn if self._journal is None else self._journal.record
        return TurnResult(turn, self._outcome)

    @property
    def is_awaited(self) -> bool:
        """The agent waits for a sign-in."""
        return self._handle.is_waiting_for_human

    @property
    def unseen_since(self) -> float | None:
        """When the oldest text came that its reader cannot see yet."""
        return None if self._runner is None else self._runner.unseen_since

    def stop(self, user: str) -> Coroutine[Any, Any, None]:
        """End it for `user`; to be awaited until it is stored: who takes it over ends it too.

        Where it has left its task to be watched, the agent hears of it now. The turn comes back once Slack
        shows its end, and says how that went.
        """
        task_id, agent = self._handle.left_task, self._agent
        if self._handle.stopped_by is None and task_id is not None and agent is not None:
            asked = self._turn.question
            here = agent.in_conversation(asked.thread, asker=asked.asker)
            cancelling = StoppedTasks(here, agent.settings, self._handle).cancel_early(task_id)
            self._parts.background.spawn(cancelling, self._turn.key)
        self._handle.stop(user)
        if self._journal is not None:
            return self._journal.stop(user)
        return self._parts.journal.keep_stop(self._turn, user)

    def lose(self) -> None:
        """Another process works on the thread: it is to be cancelled, and writes nothing more."""
        self._is_lost = True

    def leave(self, interrupted_by: str | None) -> None:
        """Listen no longer. `interrupted_by`: the agent ended the task for this user."""
        self._handle.leave(interrupted_by)

    async def reword(self, text: str) -> None:
        """The message of its question says `text` now."""
        if self._journal is not None:
            await self._journal.reword(text)
        else:
            self._turn = replace(self._turn, reworded=text)
            await self._parts.journal.keep(self._turn)

    @property
    def shown(self) -> frozenset[str]:
        """The messages of its answer, by `ts`."""
        return frozenset(message.ts for message in self._writer.answer.state.messages if message.ts)

    async def is_about_others(self, messages: frozenset[str]) -> bool:
        """Whether these messages are of other turns in its thread."""
        if messages & self.shown:
            return False
        return (await self._parts.journal.store.messages_in(self._turn.question.thread)).issuperset(messages)

    def interrupt(self) -> asyncio.Task[str | None]:
        """Have the agent end its task. Gives that task's id; "": it is over; None: it goes on."""
        work = self._interrupt()
        self._handle.interruption = self._parts.background.spawn(work, self._turn.key)
        return self._handle.interruption

    async def _interrupt(self) -> str | None:
        """Nothing is sent into a running task: servers drop it, or begin a second run (facts: A2A 2.6)."""
        handle, asked = self._handle, self._turn.question
        if self._agent is None:
            return ""
        try:
            async with asyncio.timeout(self._agent.settings.stop_timeout):
                task_id = await handle.task_to_cancel()
                if task_id is None:
                    return ""
                here = self._agent.in_conversation(asked.thread, asker=asked.asker)
                task = await here.task("cancel", task_id)
                if not task.state.is_terminal:
                    await handle.over.wait()
        except (AgentError, TimeoutError) as error:
            why = self._agent.why(error) if isinstance(error, AgentError) else "no answer in time"
            log.info("an answer could not be interrupted: %s", why, extra=self._fields)
            return "" if handle.over.is_set() else None
        return task_id

    # -- its way

    @asynccontextmanager
    async def truthful_end(self) -> AsyncIterator[None]:
        """However what is done meanwhile ends, the reader and the store learn it."""
        writer, store = self._writer, self._parts.store
        try:
            async with self._place(), asyncio.timeout(self._parts.settings.turns.turn_deadline):
                yield
        except asyncio.CancelledError:
            if self._is_lost:
                await writer.carry_out(writer.answer.hand_over.leave())
            elif store.is_durable:  # the next process goes on with it
                await self._hand_over()
            else:
                await self._break_off(Outcome.LOST, "the bot was stopped", RESTARTING)
            raise
        except TimeoutError:
            log.error("turn exceeded turns.turn_deadline", extra=self._fields)
            await self._break_off(Outcome.LOST, "its deadline has passed", TOO_LONG)
        except Exception:  # the only one: a turn that broke ends here
            log.exception("turn broke", extra=self._fields)
            await self._break_off(Outcome.FAILED, "the turn broke; see the log", BROKE)

    def _place(self) -> AbstractAsyncContextManager[None]:
        """Among the turns of its workspace. What another process has begun goes on at once."""
        if self._turn.stage is not Stage.ACCEPTED:
            return nullcontext()
        question = self._turn.question
        mark = partial(self._parts.notices.reaction, question)
        return self._parts.shares.place(question.thread.team, self._handle, mark)

    async def is_stopped_before(self) -> bool:
        """Somebody stopped it before the agent was asked: then it ends."""
        stopped_by = self._turn.stopped_by or self._handle.stopped_by
        if self._turn.stage is not Stage.ACCEPTED or stopped_by is None:
            return False
        await self._break_off(Outcome.STOPPED, "stopped", NOT_BEGUN)
        return True

    async def merge(self) -> bool:
        """What became one question is one in the store. False: it is not, and the first is asked alone."""
        first, *others = self._asked
        if not others or await self._parts.journal.merge(self._turn, others):
            return True
        self._turn = first
        return False

    async def answer(self) -> None:
        """Ask the agent and show its answer."""
        if (agent := self._agent) is None:
            reason = f"the settings have no agent {self._turn.agent} any more"
            await self._break_off(Outcome.REFUSED, reason, self._parts.agents.words_without(self._turn.agent))
            return
        opens_forms = self._parts.forms.can_be_answered
        meter = self._parts.usage.of_turn(self._turn.question, self._turn.agent)
        acts = self._parts.acts.of_turn(self._turn.question, self._turn.agent)
        journal = await self._parts.journal.begin(self._turn, opens_forms=opens_forms, meter=meter, acts=acts)
        self._journal = journal
        if self._turn.reworded != journal.record.reworded:  # meanwhile
            await journal.reword(self._turn.reworded)
        if await QuestionGate(self._parts, self._handle).lets_pass(journal, agent):
            await self._ask(journal, agent)

    async def _ask(self, journal: TurnJournal, agent: Agent) -> None:
        parts, writer, answer = self._parts, self._writer, self._writer.answer
        runner = self._runner = TurnRunner(
            journal, agent, writer, parts.settings, parts.clock, parts.observer, self._handle,
            LookAround(parts, agent),
        )  # fmt: skip
        question = journal.question
        is_first = not (question.attempt or journal.record.messages)
        if question.origin is QuestionOrigin.SUGGESTION and is_first:
            await parts.notices.show_question(journal.record, is_again=journal.is_takeover)
        known = await parts.learned.of_workspace(question.thread.team)
        answer.know_workspace(known, parts.clock.monotonic())
        ended = await runner.run()
        await journal.shown(answer.state.records)
        outcome = Outcome(ended.outcome)
        if outcome is Outcome.WATCHED:
            await journal.watch()
        else:
            why = ended.reason or "", ended.said
            await journal.end(outcome, ended.awaiting_task_id, ended.trace_id, *why)
            if outcome is not Outcome.ASKED:
                await parts.forms.close(journal)
        self._outcome = outcome
        is_shown = outcome in (Outcome.ANSWERED, Outcome.ASKED)
        await parts.follow.answered(question, is_told=outcome.has_completed, is_shown=is_shown)
        await parts.learned.save(agent.key, agent.profile)
        if facts := dict(answer.workspace.items() - known.items()):
            await parts.learned.save(workspace_name(question.thread.team), facts)

    async def _hand_over(self) -> None:
        """The next process goes on with it, from what is stored, even if this one ends in between."""
        if self._journal is not None:
            await self._journal.hand_over(self._writer.answer.state.records)
        step = self._writer.answer.hand_over.stop_for_next_process(is_sure=self._parts.store.is_sure)
        if await self._writer.carry_out(step) and self._journal is not None:
            await self._journal.hand_over(self._writer.answer.state.records)

    async def _break_off(self, outcome: Outcome, reason: str, note: str) -> None:
        await self._parts.notices.break_off(self.result.turn, outcome, reason, note, self._writer)
