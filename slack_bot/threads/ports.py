"""What features do for threads. Each class does here what is done in a bot without that feature."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..agents.agents import Agents
from ..agents.push_target import PushTarget
from ..agents.task.stream_consumer import TurnHandle
from ..clock import Clock
from ..observe.facts import Observer
from ..observe.health import Health
from ..settings.channels import ChannelPolicies
from ..settings.identity import Identity
from ..settings.load import Settings
from ..slack.proven_people import ProvenPeople
from ..slack.stream_starts import StreamStartTracker
from ..slack.workspaces import Workspaces
from ..store.contracts import Store
from ..turn.acts import TurnActs
from ..turn.progress import TurnRecord
from ..turn.quotes import Heard, Surroundings, ThreadMessage
from ..turn.record import Introduction, Question, ThreadKey
from ..turn.usage import UsageMeter
from .background import TaskSet
from .journal import Journal, TurnJournal
from .leases import Leases
from .notices import Notices
from .thread_agents import ThreadAgents


@dataclass(frozen=True, slots=True)
class CommonParts:
    """What the threads and the features are built of.

    `secrets`: all secret values of `settings`. `directory` vouches for people. `background`: work that is not
    awaited.
    """

    settings: Settings
    secrets: tuple[str, ...]
    policies: ChannelPolicies
    clock: Clock
    observer: Observer
    health: Health
    store: Store
    agents: Agents
    workspaces: Workspaces
    directory: ProvenPeople
    background: TaskSet
    leases: Leases
    journal: Journal
    stream_starts: StreamStartTracker
    thread_agents: ThreadAgents
    notices: Notices


@dataclass(frozen=True, slots=True)
class Route:
    """`question` is asked of the agent with this name; None: of the thread's own, or else the default one.

    `words`: the notice for the asker, if the question is not asked. `reason`: why, in words for the log.
    `near`: the agents among which the asker chooses before it is asked. `hint`: what the asker alone reads
    beside that.
    """

    question: Question
    agent: str | None = None
    reason: str = ""
    words: str = ""
    near: tuple[str, ...] = ()
    hint: str = ""

    @property
    def is_asked(self) -> bool:
        """The question goes to its agent."""
        return not (self.words or self.near)


@dataclass(frozen=True, slots=True)
class ListedAgent:
    """An agent as one person sees it. `shown`: the name that people read.

    `is_for_some`: not everybody may ask it; `may_ask`: this person may. `is_chosen`: it answers this person's
    direct messages. `introduction` is empty as long as nothing of it could be read.
    """

    name: str
    shown: str
    introduction: Introduction
    is_reachable: bool = True
    is_for_some: bool = False
    may_ask: bool = True
    is_default: bool = False
    is_chosen: bool = False


class AgentRouting:
    """Chooses which agent a question is for. This one leaves it to the thread: there is one agent only."""

    async def route(self, question: Question, *, is_mention: bool, named: str | None = None) -> Route:
        """`is_mention`: the question mentions the bot, or is a direct message. `named`: the agent that its
        asker named by other means than words. Raises StoreError.
        """
        return Route(question)

    async def listed(self, user: str, team: str) -> Sequence[ListedAgent]:
        """All agents, as this person sees them; none where there is one only. Raises StoreError."""
        return ()

    async def choose_direct(self, user: str, team: str, agent: str) -> None:
        """`agent` answers this person's direct messages from now on, if they may ask it.

        Raises StoreError.
        """

    async def offer(self, question: Question, near: tuple[str, ...]) -> None:
        """Let its asker choose among these agents, once. Raises StoreError."""

    def without_name(self, text: str) -> str:
        """What an edited message says to its agent, without the name in front."""
        return text

    async def reword(self, key: str, text: str | None) -> bool:
        """The message of a question was edited, or deleted (None). Whether its asker is to choose its agent.
        Raises StoreError.
        """
        return False


class WordsForBot:
    """Answers words after a mention that are for the bot and for no agent. This one knows no such word."""

    async def route(self, question: Question, *, is_mention: bool) -> Route | None:
        """The notice for the asker of such a word; None: it is a question. Raises StoreError."""
        return None


@dataclass(frozen=True, slots=True)
class ChannelVerdict:
    """What a message of a channel is that does not mention the bot: a question, or none for a `reason`.

    `quoted`: the messages that the question is about.
    """

    question: Question | None = None
    reason: str = ""
    quoted: tuple[ThreadMessage, ...] = ()


class ChannelQuestions:
    """Which new messages of a channel are questions without a mention of the bot. Here none is."""

    def mention_of_agent(self, message: Question, text: str) -> tuple[Question, str] | None:
        """The question and its agent, if `text`, as Slack has it, mentions a user group of an agent."""
        return None

    async def judge(
        self, message: Question, event: Mapping[str, Any], *, names_others: bool, is_old: bool
    ) -> ChannelVerdict:
        """Judge a new message outside of threads. `event`: Slack's. `names_others`: it mentions people.

        `is_old`: it was written while the bot was away.
        """
        return ChannelVerdict(reason="a message that does not mention the bot")

    async def requote(self, question: Question, event: Mapping[str, Any]) -> None:
        """The message that `question` is about reads as in `event` now. Raises StoreError."""


class FormAnswers:
    """What becomes of an agent's questions beside the answer in words. Here nothing else answers them."""

    can_be_answered = False
    """A question gets buttons that name it."""

    async def before(self, turn: TurnJournal) -> str | None:
        """Called before a turn's question is sent. Returns what its asker reads if it is not to be sent."""
        return None

    async def is_stop(self, turn: TurnJournal) -> bool:
        """Whether the question ends the task that waits for its asker. Raises StoreError."""
        return False

    async def words_withheld(self, reply: Question) -> str | None:
        """What the author of `reply` reads if it may be a secret: nothing of it is stored or sent then."""
        return None

    async def stop(self, thread: ThreadKey, user: str) -> bool:
        """End the tasks that wait for `user` in a thread where nothing runs. False: none did."""
        return False

    async def close(self, turn: TurnJournal) -> None:
        """The turn that asked has ended, and needs no answer any more."""


class PersonalSignIn:
    """Has people sign in before an agent is asked that acts with their rights. Here no agent does."""

    async def before(self, turn: TurnJournal, agent_name: str, handle: TurnHandle) -> str | None:
        """Called before a turn's question is sent, and waits until its asker is signed in or the turn ends.

        Returns what the asker reads if the question is not to be sent.
        """
        return None

    async def awaited(self, user: str, team: str) -> Mapping[str, str]:
        """Where this person is to sign in now (a host), by the keys of the questions that wait for it.

        Raises StoreError.
        """
        return {}


class NewsOffers:
    """Lets agents say that there is news of a watched task. This one lets none: tasks are only polled."""

    def new_target(self, turn: TurnRecord) -> PushTarget | None:
        """Where the agent may post news of this turn's task. None: nowhere, or it knows already."""
        return None

    async def offer(self, turn: TurnRecord, target: PushTarget) -> bool:
        """Send `target` to the agent. Returns whether the agent will post there."""
        return False

    async def withdraw(self, turn: TurnRecord) -> None:
        """The task of this turn is watched no longer: its agent need not post."""


class UsageMeters:
    """Counts what turns use. This one counts nothing."""

    def of_turn(self, question: Question, agent: str) -> UsageMeter | None:
        """The meter of a turn that the agent with this name answers. None: nothing is counted."""
        return None


class AgentActs:
    """What agents do in Slack beside answering. Here they do nothing."""

    async def refused(self, question: Question, agent: str) -> Sequence[Mapping[str, str]]:
        """What the agent with this name asked for earlier in the thread of `question` and was not done, for
        the agent: each is told with one question.
        """
        return ()

    def of_turn(self, question: Question, agent: str) -> TurnActs:
        """Carries out what the agent with this name asks for in one turn."""
        return TurnActs()


class QuestionContext:
    """What goes to the agent beside a question and its files. This one: nothing."""

    async def look_around(self, question: Question, heard: Heard, most: Identity) -> Surroundings:
        """What goes along with `question` to an agent that has `heard` so much of the thread, and that may
        learn at `most` so much of who asks.
        """
        return Surroundings()

    async def overhear(self, said: Question, event: Mapping[str, Any], *, is_asked: bool) -> None:
        """A person or another bot wrote `said`: Slack's event. `is_asked`: it is for the bot."""

    async def reword(self, thread: ThreadKey, change: Mapping[str, Any], *, is_gone: bool) -> None:
        """Slack's event of a message that its author edited or deleted."""

    def viewed(self, person: tuple[str, str], channels: tuple[str, ...]) -> None:
        """Workspace and user, and what they look at now beside their messages with the bot."""

    def forget(self) -> None:
        """Events may have been missed."""


@dataclass(frozen=True, slots=True)
class ThreadPorts:
    """All that features do for threads."""

    acts: AgentActs = field(default_factory=AgentActs)
    channels: ChannelQuestions = field(default_factory=ChannelQuestions)
    context: QuestionContext = field(default_factory=QuestionContext)
    forms: FormAnswers = field(default_factory=FormAnswers)
    news: NewsOffers = field(default_factory=NewsOffers)
    routing: AgentRouting = field(default_factory=AgentRouting)
    words: WordsForBot = field(default_factory=WordsForBot)
    sign_in: PersonalSignIn = field(default_factory=PersonalSignIn)
    usage: UsageMeters = field(default_factory=UsageMeters)
