"""The room of the threads, put together: what accepts questions, runs their turns and ends them."""

import asyncio
import logging
from functools import partial

from ..agents.agents import Agents
from ..clock import Clock
from ..errors import StoreError
from ..observe.facts import Observer
from ..observe.health import Health
from ..settings.channels import ChannelPolicies
from ..settings.config_file import read_config
from ..settings.load import Settings
from ..settings.secret_values import secrets_of
from ..slack.proven_people import ProvenPeople
from ..slack.question_files import QuestionFiles
from ..slack.stream_starts import StreamStartTracker
from ..slack.workspaces import Workspaces
from ..store.contracts import Store
from .asker_rights import AskerRights
from .background import TaskSet, wait_for_tasks
from .follow import FollowedThreads
from .intake import Intake, StoreTrouble
from .journal import Journal
from .leases import Leases
from .notices import Notices
from .ports import (
    AgentActs,
    AgentRouting,
    ChannelQuestions,
    CommonParts,
    FormAnswers,
    PersonalSignIn,
    QuestionContext,
    ThreadPorts,
    WordsForBot,
)
from .refusals import Refusals
from .registry import Conversations, Registry
from .replicas import Replicas
from .team_shares import TeamShares
from .thread_agents import ThreadAgents
from .turn_run import LearnedFacts, TurnParts

log = logging.getLogger(__name__)

_NOTIFY_SECONDS = 5.0
_NOTIFY_ROUNDS = 5  # as long as each round ends some: within Slack's budgets some forty readers get a notice


def new_common_parts(
    settings: Settings,
    clock: Clock,
    observer: Observer,
    health: Health,
    store: Store,
    agents: Agents,
    workspaces: Workspaces,
    directory: ProvenPeople,
) -> CommonParts:
    """Build the others of them. Raises SettingsError for a bad file of channels."""
    policies = ChannelPolicies(settings.channel, partial(read_config, settings.slack.config))
    background, leases = TaskSet(), Leases(store, clock.wall)
    journal = Journal(store, agents, clock, settings.store.checkpoint_interval, leases, observer)
    starts = StreamStartTracker(background.spawn)
    return CommonParts(
        settings=settings, secrets=secrets_of(settings), policies=policies, clock=clock, observer=observer,
        health=health, store=store, agents=agents, workspaces=workspaces, directory=directory,
        background=background, leases=leases, journal=journal, stream_starts=starts,
        thread_agents=ThreadAgents(store, agents, clock),
        notices=Notices(workspaces, settings.stream, policies, clock, observer, journal, starts, store),
    )  # fmt: skip


class Threads:
    """All parts of the room. One for a process."""

    def __init__(self, common: CommonParts, ports: ThreadPorts) -> None:
        self._turns, self._background = TaskSet(), common.background
        settings, store = common.settings, common.store
        clock, observer = common.clock, common.observer
        turns, background = settings.turns, common.background
        leases, notices = common.leases, common.notices
        self._ports, self.agents = ports, common.thread_agents
        self.follow = FollowedThreads(
            store, common.policies, turns.follow_for, clock, notices, background, turns.stop_grace
        )
        rights = AskerRights(common.policies, common.directory, common.agents)
        parts = TurnParts(
            agents=common.agents, thread_agents=common.thread_agents, rights=rights,
            store=store, settings=settings,
            secrets=common.secrets, clock=clock, observer=observer, journal=common.journal, notices=notices,
            follow=self.follow, forms=ports.forms, context=ports.context,
            files=QuestionFiles(common.workspaces, settings.files),
            learned=LearnedFacts(store, clock), news=ports.news, sign_in=ports.sign_in, usage=ports.usage,
            acts=ports.acts, background=background,
            shares=TeamShares(
                turns.max_team_turns if common.workspaces.are_several else 0, background
            ),
        )  # fmt: skip
        self._journal, self.notices = common.journal, notices
        self.conversations = Conversations(parts, leases, common.policies, self._turns)
        self.registry = Registry(parts, leases, self.conversations, common.stream_starts)
        self.replicas = Replicas(
            store,
            leases,
            self.registry,
            background,
            common.health,
            settings.slack.backfill_after,
            common.workspaces,
        )
        self.intake = Intake(
            store=store, registry=self.registry, journal=common.journal,
            thread_agents=common.thread_agents, clock=clock, observer=observer, background=background,
            store_trouble=StoreTrouble(settings.store.max_failures, common.health),
        )  # fmt: skip
        self.refusals = Refusals(notices, clock, observer, background)

    @property
    def acts(self) -> AgentActs:
        """Does what agents ask for."""
        return self._ports.acts

    @property
    def channels(self) -> ChannelQuestions:
        """Which messages of channels are questions without a mention of the bot."""
        return self._ports.channels

    @property
    def context(self) -> QuestionContext:
        """What goes to the agent beside a question."""
        return self._ports.context

    @property
    def forms(self) -> FormAnswers:
        """What becomes of an agent's questions."""
        return self._ports.forms

    @property
    def routing(self) -> AgentRouting:
        """Which agent a question is for."""
        return self._ports.routing

    @property
    def words(self) -> WordsForBot:
        """Words that are for the bot itself."""
        return self._ports.words

    @property
    def sign_in(self) -> PersonalSignIn:
        """Has people sign in."""
        return self._ports.sign_in

    async def wait_for_broken_store(self) -> StoreError:
        """Wait until `store.max_failures` questions in a row could not be stored, and no answer runs."""
        trouble = self.intake.store_trouble
        while True:
            await trouble.wait()
            problem = trouble.problem
            log.error("%s The bot ends as soon as no answer runs.", problem)
            await self.idle()
            if trouble.is_broken:
                end = "The bot ends so that it is started again and opens the store again."
                return StoreError(f"{problem} {end}")

    async def close(self, grace: float, hurry: asyncio.Event | None = None) -> None:
        """Accept nothing more, wait `grace` seconds for running turns or until `hurry` is set, and leave the
        rest to the next process. If the store does not outlive this one, they end with a notice.
        """
        self.intake.close()
        self.conversations.close()
        self.replicas.keep_only()
        if grace and self._turns:
            log.info("running answers: %d; they get %g s", len(self._turns), grace)
        await wait_for_tasks({*self._turns}, grace, hurry)
        await self._journal.wait_for_names(hurry)
        self._turns.cancel()
        for _ in range(_NOTIFY_ROUNDS):
            left = {*self._turns, *self._background}
            await wait_for_tasks(left, _NOTIFY_SECONDS)
            if left <= {*self._turns, *self._background}:
                break
        for _ in range(_NOTIFY_ROUNDS):  # what is cancelled may begin something: the end of a thread's lease
            if not (left := {*self._turns, *self._background}):
                break
            self._turns.cancel()
            self._background.cancel()
            await wait_for_tasks(left, _NOTIFY_SECONDS)
        await self.conversations.unwatch()
        await self.replicas.close()
        await self._journal.close()

    async def idle(self) -> None:
        """Return when no turn runs or waits, and no background task is left."""
        while busy := {*self._turns, *self._background}:
            await asyncio.wait(busy)
