"""Who may use the HTTP API: keys of programs (`[keys.NAME]`) and webhooks of systems (`[hooks.NAME]`).

Of a key the file has only a hash. The secret of a webhook is a variable, `SLACK_BOT_HOOKS__NAME__SECRET`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SecretStr

from ..turn.json_values import list_of, text_in, text_of
from .agents import AgentTable
from .channels import PEOPLE_IDS
from .load import HOOKS_PREFIX, Settings
from .names import nearest
from .places import Channel, Person, Team
from .schedules import agent_problems
from .section import SettingsSection, Texts, ids_of
from .tables import named_entries, tables_below
from .teams import team_problems

KEYS, HOOKS = "keys", "hooks"
ANYWHERE = "*"
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_HEADER = re.compile(r"[A-Za-z0-9-]{1,64}")
_MOST_TEMPLATE = 4_000  # characters


def _hash(value: str) -> str:
    if not _HASH.fullmatch(value):
        raise ValueError(
            "should be the hash that `slack-bot api-key` prints (sha256:...), not the key itself"
        )
    return value


def _places(value: tuple[str, ...]) -> tuple[str, ...]:
    if not all(each == ANYWHERE or re.fullmatch(r"[CG][A-Z0-9]+", each) for each in value):
        raise ValueError('should be ids of channels (C0123456), or "*" for all that the bot is in')
    return value


def _header(value: str) -> str:
    if not _HEADER.fullmatch(value):
        raise ValueError("should be the name of an HTTP header")
    return value


Template = Annotated[str, Field(max_length=_MOST_TEMPLATE)]


class KeyEntry(SettingsSection):
    """A key for `POST /v1/messages`, and what a program that has it may do."""

    hash: Annotated[str, AfterValidator(_hash)]
    """The hash of the key, as `slack-bot api-key` prints it."""
    channels: Annotated[Texts, AfterValidator(_places)] = ()
    """Ids of the channels into which it may write; "*": all that the bot is in."""
    teams: Annotated[Texts, ids_of("T", "ids of workspaces (T0123456)")] = ()
    """Ids of the workspaces in which it may write, where there are several. Empty: all of them."""
    may_dm: bool = False
    """Whether it may write to people directly."""
    people: Annotated[Texts, PEOPLE_IDS] = ()
    """With `may_dm`: to these people only. Empty: to all."""
    may_ask: bool = False
    """Whether it may have an agent answer."""
    agents: Texts = ()
    """Names of the agents that it may choose among. Empty: it gets the channel's."""
    may_mention: bool = False
    """Whether mentions in its texts take effect. If not, they read as text."""
    rate: int = Field(default=60, gt=0, le=10_000)
    """Messages of an hour; more are refused."""


class HookEntry(SettingsSection):
    """A webhook, `POST /v1/hooks/NAME`, of a system that cannot send what `POST /v1/messages` wants.

    `ask`, `text`, `headline` and `once` may have places for fields of its JSON: `{alerts.0.labels.severity}`.
    """

    verify: Literal["hmac", "bearer"]
    """How its sender proves that it has the secret: hmac, by the HMAC-SHA256 of the body in hex in `header`;
    bearer, by the secret in the header Authorization."""
    header: Annotated[str, AfterValidator(_header)] = "X-Hub-Signature-256"
    """With hmac: the header of the signature."""
    prefix: str = "sha256="
    """With hmac: what is before the signature in the header."""
    once_header: Annotated[str, AfterValidator(_header)] | None = None
    """The header that names a delivery: one with the same name is taken once."""
    once: Template = ""
    """What names it in its fields, in place of a header. Without both it is the whole body."""
    only: Mapping[str, tuple[str, ...]] = {}
    """Values of fields; what has others is ignored."""
    channel: Channel = None
    """Id of the channel into which it is posted."""
    user: Person = None
    """Id of the person who gets it directly."""
    team: Team = None
    """Id of the workspace of that channel or person. It is needed where there are several
    (`SLACK_BOT_TOKENS`)."""
    ask: Template = ""
    """The question to the agent. All fields go along as quoted data."""
    text: Template = ""
    """What is posted, where there is no `ask`."""
    headline: Template = ""
    """Line above the answer or the text."""
    agent: str | None = None
    """Name of the agent. Unset: that of the channel."""
    skip_if_silent: bool = False
    """Whether the agent may have nothing to say: then nothing is posted."""
    rate: int = Field(default=60, gt=0, le=10_000)
    """Deliveries of an hour; more are refused."""
    secret: SecretStr | None = None
    """Set by the variable, never in the file."""

    @classmethod
    def contradictions(cls, values: Mapping[str, Any]) -> Iterator[str]:
        if (values.get("channel") is None) == (values.get("user") is None):
            yield "set either channel or user, which is where it goes"
        ask, text = (str(values.get(name) or "").strip() for name in ("ask", "text"))
        if bool(ask) == bool(text):
            yield "set either ask or text, which is what is said"
        if values.get("once") and values.get("once_header"):
            yield "set once or once_header: one of them names a delivery"


@dataclass(frozen=True, slots=True)
class ApiTable:
    """All keys and webhooks by name."""

    keys: Mapping[str, KeyEntry]
    hooks: Mapping[str, HookEntry]

    def __bool__(self) -> bool:
        return bool(self.keys or self.hooks)


def api_table(
    settings: Settings,
    file: Mapping[str, Any],
    agents: AgentTable,
    problems: list[str],
    *,
    again: bool = False,
) -> ApiTable:
    """The keys and webhooks of the parsed file. Adds one line for each mistake to `problems`. `again`: a
    running process reads it, whose variables may have secrets of webhooks that are gone.
    """
    keys = dict(named_entries(KEYS, KeyEntry, file.get(KEYS, {}), problems))
    for name, own in tables_below(KeyEntry, file.get(KEYS, {})):
        for agent in map(text_of, list_of(own.get("agents"))):
            problems += agent_problems(f"{KEYS}.{name}", agent, agents, "a program")
    tables = file.get(HOOKS, {})
    hooks: dict[str, HookEntry] = {}
    for name, hook in named_entries(HOOKS, HookEntry, tables, problems):
        hooks[name] = hook.model_copy(update={"secret": settings.hook_variables.get(secret_variable(name))})
    for name, own in tables_below(HookEntry, tables):
        problems += agent_problems(f"{HOOKS}.{name}", text_in(own, "agent"), agents, "a webhook")
        problems += team_problems(f"{HOOKS}.{name}", own.get("team"), settings.slack.bot_tokens)
        variable = secret_variable(name)
        if own.get("secret") is not None:
            problems.append(f"{HOOKS}.{name}.secret does not belong here: set {variable} in the environment")
        elif variable not in settings.hook_variables:
            problems.append(f"{HOOKS}.{name} has no secret: set {variable} in the environment")
    known = {secret_variable(name) for name in (tables if isinstance(tables, dict) else ())}
    for variable in () if again else settings.hook_variables.keys() - known:
        guess = nearest(variable, known)
        end = f"did you mean {guess}?" if guess else f"the file's webhooks: {', '.join(hooks) or 'none'}"
        problems.append(f"{variable} is not a setting; {end}")
    return ApiTable(keys, hooks)


def secret_variable(name: str) -> str:
    """The variable of the secret of a webhook."""
    return f"{HOOKS_PREFIX}{name}__SECRET".upper().replace("-", "_")
