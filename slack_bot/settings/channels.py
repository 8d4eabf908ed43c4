"""Settings that may differ from channel to channel.

From weakest to strongest: `[channel]` of the file (`config_file`), `[teams.T...]` in a workspace,
`[channels.dm]` in direct messages, `[channels.C...]`, and variables (`SLACK_BOT_CHANNEL__BUSY`), which count
in every channel.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field

from ..turn.acts import POST, REACT
from ..turn.record import is_direct
from .names import env_name
from .reactions import Reactions, ReactionUse, emoji_of
from .section import SettingsSection, Texts, ids_of

PAIRS = frozenset({"post_to", "post_to_public"})
"""Settings that name from which channel to which one: so they stand below a single channel, or `dm`."""
ALL, DIRECT = "", "dm"
"""The keys of the tables for all channels and for all direct messages."""

ChannelTables: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The settings in the file, by the id of a channel or a workspace, `ALL` or `DIRECT`."""


PEOPLE_IDS = ids_of("UW", "ids of people, as their profiles show them (U0123456 or W0123456)")
GROUP_IDS = ids_of("S", "ids of user groups, as S0123456")
_MOST_PATTERNS, _LONGEST_PATTERN = 100, 100
_LONGEST_ASK = 2_000


def _patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    if not all(each.strip() for each in patterns):
        raise ValueError("should be words or phrases, and one of them is empty")
    if len(patterns) > _MOST_PATTERNS or any(len(each) > _LONGEST_PATTERN for each in patterns):
        raise ValueError(
            f"should be at most {_MOST_PATTERNS} words or phrases of at most {_LONGEST_PATTERN} characters"
        )
    return patterns


def _short(text: str) -> str:
    if len(text) > _LONGEST_ASK:
        raise ValueError(f"should be a question of at most {_LONGEST_ASK} characters")
    return text.strip()


def _actions(names: tuple[str, ...]) -> tuple[str, ...]:
    if not set(names) <= {REACT}:
        raise ValueError(f"should be {REACT}, or nothing")
    return names


_CHANNEL_IDS = ids_of("CG", "ids of channels, as C0123456")
_APPROVERS = ids_of("UWS", "ids of people or user groups (U0123456, W0123456 or S0123456)")


class ChannelSettings(SettingsSection):
    """What the file of `SLACK_BOT_CONFIG` may say of single channels. A variable counts in all of them."""

    respond: Literal["mention", "auto", "thread", "channel"] = "auto"
    """What is a question besides a mention, in a thread that the bot answered in: auto: what its asker writes
    there, until somebody else does; thread: what anybody writes. channel: as auto, and each new message of
    the channel outside of threads. Direct messages are always answered."""
    match: Annotated[Texts, AfterValidator(_patterns)] = ()
    """Where `respond` is channel: words of which a new message must have one to be a question. In a word `*`
    is any characters and `?` is one; several words must follow each other. Empty: each message."""
    ask: Annotated[str, AfterValidator(_short)] = ""
    """Where `respond` is channel: what the agent is asked about a new message of a bot that may ask
    (`allowed_bots`). Empty: nothing."""
    reactions: Reactions = ()
    """What reactions of people mean, by emoji: ask (the agent is asked about the message), stop, again, good,
    bad (as the buttons). In a variable as robot_face=ask,repeat=again. Empty: nothing."""
    agent: str | None = None
    """Name of the agent that is asked here unless another one is named. Unset: the default one."""
    agents: Texts = ()
    """Names of the agents that may be named here. Empty: all of them."""
    busy: Literal["queue", "collect", "interrupt"] = "queue"
    """What happens to a question that comes while an answer runs: it waits; it waits and becomes one with the
    others of its asker; it ends the answer."""
    context: Literal["none", "asker", "thread"] = "thread"
    """What the agent gets to read of a thread besides the question: nothing, what its asker wrote, or all."""
    identity: Literal["none", "id", "name", "email"] = "id"
    """What the agent learns of who asks. Each includes the one before."""
    personal: bool = False
    """Whether agents that act with the rights of the asker (`identity` exchange or oauth) may be asked here,
    where others read their answers. In direct messages they always may."""
    audience: Literal["asker", "everyone"] = "asker"
    """Who sees an answer grow in a channel. Slack shows a stream to its asker only; everyone: a message that
    is edited."""
    footer: Literal["none", "time", "tokens", "cost"] = "none"
    """What is shown below an answer of what it took: nothing, its time, the tokens that the agent reports, or
    their cost too."""
    share: bool = False
    """Whether there is a button below an answer with which its asker also sends it to the channel."""
    actions: Annotated[Texts, AfterValidator(_actions)] = ()
    """What an agent may do here beside answering, if it asks for it: react (put an emoji on the question, or
    on another message of its thread). Empty: nothing."""
    post_to: Annotated[Texts, _CHANNEL_IDS] = ()
    """Ids of channels into which an agent that is asked here may post, if it asks for it. Only in the file,
    for single channels and `dm`. If this is a private conversation, only into private channels."""
    post_to_public: Annotated[Texts, _CHANNEL_IDS] = ()
    """As `post_to`, and from a private conversation also into public channels."""
    suggestions: Annotated[int, Field(ge=0, le=5)] = 3
    """How many of the next questions that an agent suggests are buttons below its answer. 0: none."""
    external: Literal["allow", "deny"] = "deny"
    """Whether people of other organisations (Slack Connect) may ask."""
    guests: Literal["allow", "deny"] = "allow"
    """Whether guests of the workspace may ask."""
    people: Annotated[Texts, PEOPLE_IDS] = ()
    """Ids of the people who may ask (`U...`, `W...`). Empty, and no `groups`: everybody."""
    groups: Annotated[Texts, GROUP_IDS] = ()
    """Ids of user groups (`S...`) whose members may ask too."""
    instructions: str = Field(default="", max_length=4_000)
    """What the agent is to know or to do in this channel. It gets these words with each question, in the
    metadata, and decides itself what to make of them."""
    approvers: Annotated[Texts, _APPROVERS] = ()
    """Ids of people and user groups (`U...`, `W...`, `S...`) who alone may approve what an agent wants to do,
    and may answer its forms as well. Empty: the person who asked."""

    def use_of(self, emoji: str) -> ReactionUse | None:
        """What a reaction with `emoji`, as Slack names it, means here. None: nothing."""
        return dict(self.reactions).get(emoji_of(emoji)) if self.reactions else None

    @property
    def acts(self) -> tuple[str, ...]:
        """The kinds of acts that an agent may do here."""
        return (*self.actions, *([POST] if self.post_places else []))

    @property
    def post_places(self) -> tuple[str, ...]:
        """The channels into which an agent may post from here."""
        return tuple(dict.fromkeys((*self.post_to, *self.post_to_public)))

    @property
    def reads_channel(self) -> bool:
        """Whether a new message may be a question without a mention."""
        return self.respond == "channel"

    @property
    def interrupts(self) -> bool:
        """Whether a new question of the asker ends the running answer."""
        return self.busy == "interrupt"

    @property
    def collects(self) -> bool:
        """Whether a question waits until its asker has paused writing for a moment."""
        return self.busy == "collect"

    @property
    def merges(self) -> bool:
        """Whether the questions of one person during an answer are asked together as one."""
        return self.interrupts or self.collects


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    """What counts in a channel. `source`: the variable or the table that says so; "": it is the default."""

    name: str
    value: Any
    source: str = ""


class ChannelPolicies:
    """The settings of each channel. `fixed`: those set by variables; `read` returns the tables of the file.

    `read` raises SettingsError for a bad file, and so do the methods that call it.
    """

    def __init__(self, fixed: ChannelSettings, read: Callable[[], ChannelTables] = dict) -> None:
        self._fixed, self._read = fixed.model_dump(exclude_unset=True), read
        self._tables = read()

    def of(self, channel: str, team: str = "") -> ChannelSettings:
        """The settings of `channel`, in the workspace `team`, now. A turn keeps its own, because the file may
        be read again.
        """
        values = dict(self._tables.get(ALL, {}))
        if team:
            values |= self._tables.get(team, {})
        if is_direct(channel):
            values |= self._tables.get(DIRECT, {})
        return ChannelSettings(**{**values, **self._tables.get(channel, {}), **self._fixed})

    def effective(self, channel: str, team: str = "") -> list[EffectiveSetting]:
        """Each setting of `channel`, in the workspace `team`, and where it is from. `DIRECT`: of direct
        messages.
        """
        tables = [("[channel]", self._tables.get(ALL, {}))]
        if team:
            tables.append((f"[teams.{team}]", self._tables.get(team, {})))
        if channel == DIRECT or is_direct(channel):
            tables.append(("[channels.dm]", self._tables.get(DIRECT, {})))
        if channel not in (ALL, DIRECT):
            tables.append((f"[channels.{channel}]", self._tables.get(channel, {})))
        now = self.of("D" if channel == DIRECT else channel, team)
        found = []
        for name in ChannelSettings.model_fields:
            sources = [place for place, table in tables if name in table]
            sources += [env_name(("channel", name))] if name in self._fixed else []
            found.append(EffectiveSetting(name, getattr(now, name), sources[-1] if sources else ""))
        return found

    @property
    def channels(self) -> list[str]:
        """The ids of the channels that have settings of their own."""
        return sorted(self._tables.keys() - {ALL, DIRECT, *self.teams})

    @property
    def has_direct(self) -> bool:
        """Whether direct messages have settings of their own."""
        return bool(self._tables.get(DIRECT))

    @property
    def teams(self) -> list[str]:
        """The ids of the workspaces that have settings of their own."""
        return sorted(each for each in self._tables if each.startswith("T"))

    def values(self, name: str) -> set[Any]:
        """All values that a setting, or what follows from some, has: in all channels, in direct messages, in
        single channels and workspaces.
        """
        places = [(channel, "") for channel in ("", "D", *self.channels)]
        places += [(channel, team) for team in self.teams for channel in ("", "D")]
        return {getattr(self.of(*place), name) for place in places}

    def reload(self) -> None:
        """Read the file again. If that raises SettingsError, the old settings stay."""
        self._tables = self._read()
