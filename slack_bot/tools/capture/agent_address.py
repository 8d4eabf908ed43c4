"""The agent that a tool asks: its address from the command line, the rest from the settings.

The settings' credentials are for the settings' agent alone: a mistyped address must not get a token.
"""

import sys
from pathlib import Path

from ...agents.agent import Agent
from ...agents.wire.auth import admits, has_credentials, login_remedy, origin_of
from ...agents.wire.card import AgentCard
from ...agents.wire.transport import new_http
from ...clock import system_clock
from ...errors import (
    CARD_ADDRESS,
    AgentError,
    AgentRefused,
    AgentUnreachable,
    BotError,
    CardRefused,
    NoCard,
    UnreadableInput,
    WrongAddress,
)
from ...http_client import URL
from ...observe.facts import is_turn_name
from ...settings.load import FIELDS, Settings, value_of
from ...settings.names import dotted
from ...settings.secret_values import secrets_of
from ...testing.overrides import with_overrides
from ...text.redaction import Redactor
from ..doctor.login_checks import refused_login
from ..files import kind_of, make_tape

_URL = ("agent", "url")
_SECTIONS = frozenset({"agent", "agent__client"})
_READING = frozenset(
    {"protocol_version", "binding", "dialect", "answer_source", "extensions", "use_configured_url"}
)


def is_address(text: str) -> bool:
    """`text` is an address, not a file's name."""
    return text.startswith(("http://", "https://"))


def check_there(*targets: str) -> None:
    """Raises UnreadableInput for what is neither an address nor the path of something."""
    for target in targets:
        if not is_address(target) and kind_of(Path(target)) is None:
            if is_turn_name(target):
                raise UnreadableInput(f"{target}: no such file; {make_tape(target)}")
            raise UnreadableInput(
                f"{target}: no such file, and an agent's address begins with http:// or https://"
            )


def settings_for(url: str, settings: Settings) -> Settings:
    """`settings` with the agent at `url`; stderr says where credentials were left out.

    Raises UnreadableInput if `url` is not an http or https address.
    """
    if origin_of(url) is None or any(letter.isspace() for letter in url):
        raise UnreadableInput(f"{url} is not an address; write http://HOST:PORT or https://HOST/PATH")
    known = settings.agent.url
    if known is not None and admits(url, known, settings.agent.allowed_hosts):
        return with_overrides(settings, {"agent.url": url})
    left = {
        (section, name): field.get_default()
        for (section, name), field in FIELDS.items()
        if section in _SECTIONS and name not in _READING and not isinstance(field.get_default(), int | float)
    }
    named = {path: default for path, default in left.items() if path != _URL}
    if any(value_of(settings, path) != default for path, default in named.items()):
        sys.stderr.write(
            f"note: the credentials of the settings are not sent to {origin_of(url)}: they belong to"
            f" {origin_of(known) if known else 'no agent'}; set A2A_AGENT_URL to this address to use them\n"
        )
    overrides = {dotted(path): value for path, value in {**left, _URL: url}.items()}
    return with_overrides(settings, overrides)


def masks_of(*settings: Settings) -> Redactor:
    """Takes out every secret of `settings`, and the password in an agent's address, however short."""
    addresses = (URL(each.agent.url or "") for each in settings)
    passwords = (address.password for address in addresses if address.password)
    return Redactor((*(secret for each in settings for secret in secrets_of(each)), *passwords))


async def card_of(settings: Settings, argument: str) -> AgentCard:
    """The card of the agent of `settings`, whose address `argument` of the command line gave.

    Raises BotError, with the remedy, where no agent answers, its card cannot be used, or it wants a login
    that the settings do not have.
    """
    async with new_http(settings.agent, None) as http:
        agent = Agent(http, settings.agent, system_clock())
        try:
            card = await agent.ensure_card()
            await agent.try_login()
        except AgentError as error:
            raise with_remedy(error, argument, settings) from error
    return card


def with_remedy(
    problem: AgentError, argument: str, settings: Settings, masks: Redactor | None = None
) -> BotError:
    """`problem` with the remedy, without secrets: it may quote the agent.

    `argument` of the command line gave the address, not a setting as in the bot's own sentence. `settings`:
    with which the agent was asked. `masks` (default: of `settings`) take the secrets out.
    """
    match problem:
        case AgentRefused(is_lasting=True):
            found = refused_login(problem, settings.agent)
            sentence = f"{found.text}; {_at_this_address(found.remedy, settings)}"
        case CardRefused(tried=tried):
            sentence = f"{tried}; {_at_this_address(login_remedy(settings.agent), settings)}"
        case AgentUnreachable() if not isinstance(problem, WrongAddress):
            sentence = f"{problem}; is the agent running at this address?"
        case NoCard(tried=tried):
            sentence = f"{tried}; {argument} {CARD_ADDRESS}"
        case _:
            sentence = str(problem)
    return BotError((masks or masks_of(settings)).text(sentence))


def _at_this_address(remedy: str, settings: Settings) -> str:
    """Credentials count for the settings' own agent only, which the address may not belong to."""
    if has_credentials(settings.agent):
        return remedy
    return f"set A2A_AGENT_URL to this address, and {remedy}"
