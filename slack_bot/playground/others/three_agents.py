"""The playground's three agents, as the bot's settings name them: all of them, and where people sign in, are
served in this process.
"""

from __future__ import annotations

import base64
import os
import socket
import tomllib
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from ...clock import Clock
from ...settings.config_file import read_config
from ...settings.load import Settings
from ...settings.models import ReferenceSettings
from ...testing.overrides import with_overrides
from ..reference.agent import serve
from .accounts import PlayedAccount
from .authorization import CLIENT, AuthorizationDesk
from .authorization_pages import AuthorizationPages, new_secret, serve_authorization
from .served_agent import serve_agent
from .tickets import build_tickets
from .travel import build_travel

HERE = "127.0.0.1"
CALLBACK_PATH = "/oauth/callback"
"""Where browsers come back to: the redirect address below that of the bot (docs/configure.md)."""
SIGN_IN_HOSTS = frozenset({HERE, "localhost", "::1"})
"""Hosts of the page from which browsers can come to the pages of a sign-in: they are on this machine."""
_QUESTIONS = {"Plan a trip to Lisbon": False}
_TICKET_QUESTIONS = {"Tickets for Lisbon": False, "Show my tickets": True}
_AGENTS = """
[agents.guide]
url = "{guide}"
name = "slack_bot"
{travel}
[routing]
choose = "skills"
"""
TRAVEL = """
[agents.travel]
url = "{travel}"
icon = ":airplane:"
"""
TICKETS = """
[agents.tickets]
url = "{tickets}"
icon = ":ticket:"
identity = "oauth"

[agents.tickets.oauth]
issuer = "{issuer}"
id = "{client}"
scope = "openid email offline_access tickets.read"
resource = "{tickets}"
"""


@dataclass(frozen=True, slots=True)
class PlayedAgents:
    """The settings of a bot with the agents that are served. `asked`: questions that show the agents beside
    the reference agent, and whether each is one for a direct message.
    """

    settings: Settings
    asked: Mapping[str, bool] = field(default_factory=dict)


@asynccontextmanager
async def serve_three(
    usual: Settings, chosen: ReferenceSettings, clock: Clock, *, has_sign_in: bool
) -> AsyncIterator[PlayedAgents]:
    """Serve the agents until the context is left; yields `usual` with them. `chosen`: the reference agent.

    A file of `usual` that has agents of its own keeps those alone, beside the reference agent. Without
    `has_sign_in` the agent at which people sign in is left out: their browsers are on another machine.

    Raises SettingsError for a file that cannot be read.
    """
    async with AsyncExitStack() as stack:
        guide = await stack.enter_async_context(serve(chosen))
        # The errors of the playground's agent are for people.
        usual = with_overrides(usual, {"error_text": "show"})
        own = _text_of(usual.slack.config)
        if {"agents", "routing"} & tomllib.loads(own).keys():
            yield PlayedAgents(with_overrides(usual, {"agent.url": guide}))
            return
        travel = await stack.enter_async_context(serve_agent(partial(build_travel, pace=chosen.pace)))
        text = own + _AGENTS.format(guide=guide, travel=TRAVEL.format(travel=travel))
        if has_sign_in:
            usual = with_overrides(usual, _sign_in_settings(_free_port()))
            callback = f"{usual.sign_in.base_url}{CALLBACK_PATH}"
            tickets, issuer = await stack.enter_async_context(serve_tickets(callback, clock))
            text += tickets_lines(tickets, issuer)
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="slack-bot-play-")))
        file = folder / "slack_bot.toml"
        file.write_text(text, encoding="utf-8")
        asked = {**_QUESTIONS, **(_TICKET_QUESTIONS if has_sign_in else {})}
        yield PlayedAgents(with_overrides(usual, {"config": str(file)}), asked)


def _text_of(config: str | None) -> str:
    """The text of the file, which is as it should be. Raises SettingsError."""
    read_config(config)
    return "" if config is None else Path(config).read_text(encoding="utf-8")


def _sign_in_settings(port: int) -> dict[str, object]:
    return {
        "sign_in.base_url": f"http://{HERE}:{port}",
        "sign_in.host": HERE,
        "sign_in.port": port,
        "sign_in.keys": base64.b64encode(os.urandom(32)).decode(),
    }


@asynccontextmanager
async def serve_tickets(
    callback: str, clock: Clock, port: int = 0, issuer_port: int = 0
) -> AsyncIterator[tuple[str, str]]:
    """The agent with its authorization server, until the context is left; yields their addresses.

    `callback`: where browsers come back to, an address of the bot. Raises OSError where a port is taken.
    """
    port = port or _free_port()  # the tokens are for its address, which has to be known before
    desk = AuthorizationDesk(callback, f"http://{HERE}:{port}/", new_secret)

    def account_of(token: str, url: str, scope: str) -> PlayedAccount | None:
        return desk.account_of(token, url, scope, clock.monotonic())

    def build_pages(issuer: str) -> AuthorizationPages:
        return AuthorizationPages(issuer, desk, callback, clock)

    async with serve_authorization(build_pages, issuer_port) as issuer:
        build = partial(build_tickets, issuer=issuer, account_of=account_of)
        async with serve_agent(build, HERE, port) as url:
            yield url, issuer


def tickets_lines(url: str, issuer: str) -> str:
    """What the file of a bot has of the agent for tickets."""
    return TICKETS.format(tickets=url, issuer=issuer, client=CLIENT)


def _free_port() -> int:
    with socket.create_server((HERE, 0)) as bound:
        port: int = bound.getsockname()[1]
    return port
