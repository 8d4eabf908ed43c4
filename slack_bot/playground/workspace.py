"""`slack-bot workspace`: the emulated workspace alone, with its page, for a bot that is a process of its own.

    slack-bot workspace
    SLACK_API_URL=http://127.0.0.1:8766/api/ SLACK_BOT_TOKEN=... slack-bot run

It keeps Slack's rules: what a bot does not acknowledge comes again, also to the bot that is started after it.
It forgets everything when it ends.
"""

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..agents.wire.auth import bare, origin_of
from ..clock import system_clock
from ..errors import BotError, UnreadableInput
from ..http_client import AsyncHTTPTransport, shared_tls
from ..settings.load import load
from ..settings.measured_rules import read_measured
from ..testing.slack.rules import SHIPPED, AppManifest
from ..testing.slack.server import SlackServer
from ..testing.slack.workspace import (
    APP_TOKEN,
    BOT_TOKEN,
    CONFIG_TOKEN,
    SIGNING_SECRET,
    Workspace,
    WorkspaceRules,
)
from .control import WorkspaceControl
from .feed import PageUpdate
from .hosting import check_port, no_address, serve_until_stopped, set_up_logs
from .recorder import ReplayRouter
from .server import serve_page
from .visitor import Visitor

_PAGE_PORT, _API_PORT = 8765, 8766
_OWN_AGENT = "http://127.0.0.1:8001/"
_NOT_HERE = {
    "replay": "The bot is a process of its own here. slack-bot replay FILE, or slack-bot play, shows a file.",
    "export": "The bot is a process of its own here. slack-bot store export-tape has what its agent sent.",
    "faults": "The agent is not a part of this workspace: only Slack's calls can be made to fail here.",
}


@dataclass(frozen=True, slots=True)
class RunningWorkspace:
    """A running workspace. `url` is the page's, `api_url` the Web API's."""

    url: str
    api_url: str
    workspace: Workspace
    visitor: Visitor


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: host, port, api_port, events (the address for HTTP mode, or None), manifest and
    rules (a file each, or None). Returns the status.

    Raises UnreadableInput if one of them makes no sense, BotError if an address cannot be had.
    """
    page_port, api_port = ports_of(args.port, args.api_port)
    for port in (page_port, api_port):
        check_port(port)
    manifest = SHIPPED if args.manifest is None else _manifest_of(Path(args.manifest))
    rules = WorkspaceRules.real()
    if args.rules is not None:
        rules = rules.as_measured(read_measured(Path(args.rules)).values)
    if args.events is not None and origin_of(args.events) is None:
        raise UnreadableInput(
            f"--events is {args.events!r}; give the address of `slack-bot run --http`,"
            " such as http://127.0.0.1:3000/slack/events"
        )
    set_up_logs(())
    opened = open_workspace(args.host, page_port, api_port, args.events, manifest, rules)
    asyncio.run(serve_until_stopped(opened, lambda running: _announce(running, args.events)))
    return 0


def ports_of(page: int | None, api: int | None) -> tuple[int, int]:
    """The ports of the page and of the Web API. None: not given. Who takes any free port for one of them, 0,
    takes it for the other one too.
    """
    takes_any = 0 in (page, api)
    page_usual, api_usual = (0, 0) if takes_any else (_PAGE_PORT, _API_PORT)
    return page_usual if page is None else page, api_usual if api is None else api


def _manifest_of(path: Path) -> AppManifest:
    try:
        return AppManifest.from_json(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UnreadableInput(f"{path} cannot be read: {error.strerror}; name a file") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableInput(
            f"{path} is no manifest in JSON with oauth_config.scopes.bot and"
            " settings.event_subscriptions.bot_events; slack-bot manifest prints one"
        ) from error


def _announce(running: RunningWorkspace, events: str | None) -> str:
    mode = "run --http" if events else "run"
    own = f"SLACK_SIGNING_SECRET={SIGNING_SECRET}" if events else f"SLACK_APP_TOKEN={APP_TOKEN}"
    port = urlsplit(events).port if events else None
    own += f" SLACK_BOT_SLACK__HTTP_PORT={port}" if port else ""
    return f"""\
The workspace is at {running.url}
A bot connects to it with these settings; slack-bot agent is an agent to ask:

export SLACK_API_URL={running.api_url}
export SLACK_BOT_TOKEN={BOT_TOKEN} {own}
export SLACK_BOT_SLACK__CONFIG_TOKEN={CONFIG_TOKEN}
export A2A_AGENT_URL={_agent_url()}
slack-bot {mode}
"""


def _agent_url() -> str:
    """That of the settings, which may hold a password; without one, where `slack-bot agent` is."""
    url = load().agent.url
    return _OWN_AGENT if url is None else bare(url)


@asynccontextmanager
async def open_workspace(
    host: str = "127.0.0.1",
    port: int = 0,
    api_port: int = 0,
    events: str | None = None,
    manifest: AppManifest = SHIPPED,
    rules: WorkspaceRules | None = None,
) -> AsyncIterator[RunningWorkspace]:
    """Serve page and workspace until the context is left. Raises BotError if an address cannot be had.

    `events`: where payloads are posted to, signed; None: Socket Mode. `manifest` is enforced, and `rules`
    are (None: all of Slack's).
    """
    clock = system_clock()
    workspace = Workspace(rules=rules or WorkspaceRules.real(), manifest=manifest)
    async with ReplayRouter(AsyncHTTPTransport(verify=shared_tls())) as nobody:
        visitor = _WorkspaceVisitor(workspace, nobody, clock, has_bot=False)
        server = SlackServer(workspace, clock, bot_url=events, host=host, port=api_port)
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(server)
            except OSError as error:
                raise BotError(no_address("Web API", host, api_port, error, "--api-port")) from error
            control = WorkspaceControl(workspace, visitor, server, clock)
            stack.callback(control.close)
            url = await stack.enter_async_context(serve_page(visitor, host, port, control.routes()))
            yield RunningWorkspace(url, server.api_url, workspace, visitor)


class _WorkspaceVisitor(Visitor):
    """A visitor of a workspace whose bot cannot be looked into."""

    async def take(self, order: Mapping[str, Any]) -> PageUpdate | None:
        kind = str(order.get("type"))
        is_agents = kind == "faults" and (order.get("away") or order.get("cut_after") is not None)
        if kind in ("replay", "export") or is_agents:
            return {"type": "refused", "text": _NOT_HERE[kind]}
        return await super().take(order)
