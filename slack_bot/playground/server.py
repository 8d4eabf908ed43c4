"""`python -m slack_bot play`: agent, workspace, bot and page in one process, on this machine only.

The bot is the one that `python -m slack_bot run` starts, with its tokens and addresses pointing at the
emulated workspace and the playground's agent, both on real sockets. The page only watches, and acts as the
people in the workspace.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from aiohttp import web

from ..a2a.wire.origins import bare
from ..app import App, build
from ..clock import loop_clock
from ..errors import BotError, UnreadableInput
from ..observe import logs
from ..settings.load import Settings, load, secrets_of, with_overrides
from ..settings.models import ReferenceSettings
from ..slack.rate_limiter.local import LocalRateLimiter
from ..testing.harness import connected, deliver, emulated
from ..testing.slack.server import SlackServer
from ..testing.slack.workspace import Workspace, WorkspaceRules
from ..tools.capture.agent_address import card_of, settings_for
from .page_server import build_site
from .reference import agent
from .reference.agent_server import chosen_agent, no_address
from .replay_router import ReplayRouter
from .replays import Replays
from .visitor import Visitor

_GRACE = 1.0  # seconds for running answers when the playground ends


@dataclass(frozen=True, slots=True)
class Playground:
    """A running playground. `url` is the page's."""

    url: str
    workspace: Workspace
    stage: Visitor
    app: App


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: host, port, url, pace, mode (None for what the settings say). Returns the status.

    Raises BotError in one sentence if one of them makes no sense, there is no agent at `url`, or the page's
    address cannot be had.
    """
    chosen = chosen_agent(args)
    theirs = None if args.url is None else _theirs(args)
    logs.setup("warning", "text", () if theirs is None else secrets_of(theirs))
    logging.getLogger("a2a").setLevel(
        logging.ERROR
    )  # the SDK warns of every task that is ended with the agent
    asyncio.run(_play(args.host, args.port, chosen, theirs))
    return 0


def _theirs(args: argparse.Namespace) -> Settings:
    """The settings for an agent that is not ours, once it has shown its card."""
    if args.pace is not None or args.mode is not None:
        raise UnreadableInput("--pace and --mode are the playground agent's; leave them out with --url")
    settings, note = settings_for(args.url, load())
    if note:
        sys.stderr.write(f"note: {note}\n")
    asyncio.run(card_of(settings, "--url"))
    return settings


async def _play(host: str, port: int, chosen: ReferenceSettings, theirs: Settings | None) -> None:
    stop = asyncio.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sign, stop.set)
    async with open_playground(host, port, chosen=chosen, theirs=theirs) as playground:
        sys.stdout.write(f"The playground is at {playground.url}\nCtrl-C ends it.\n")
        sys.stdout.flush()
        await stop.wait()


@asynccontextmanager
async def open_playground(
    host: str = "127.0.0.1",
    port: int = 0,
    pace: float | None = None,
    rules: WorkspaceRules | None = None,
    chosen: ReferenceSettings | None = None,
    theirs: Settings | None = None,
) -> AsyncIterator[Playground]:
    """Run everything until the context is left. Port 0 takes a free one; `rules` None: all of Slack's limits.
    `chosen` is the agent, `pace` its tokens a second, which counts more; `theirs` names another agent, which
    is asked in its place.

    Raises BotError in one sentence if the page's address cannot be had.
    """
    clock = loop_clock()
    workspace = Workspace(rules=WorkspaceRules.real() if rules is None else rules)
    switchboard = ReplayRouter(httpx.AsyncHTTPTransport(limits=httpx.Limits(max_connections=None)))
    gate = LocalRateLimiter((theirs or Settings()).governor, clock)
    stage = Visitor(workspace, switchboard, clock, None if theirs is None else _shown(theirs), gate)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(switchboard.aclose)
        url = await stack.enter_async_context(_page(stage, host, port))
        if theirs is None:
            serving = agent.serve(pace=pace, settings=chosen or ReferenceSettings())
            # nothing is read from the environment: the playground needs no configuration. Its agent's errors
            # are written for people
            ours = {"agent.url": await stack.enter_async_context(serving), "error_text": "show"}
            theirs = with_overrides(Settings(), ours)
        face = await stack.enter_async_context(SlackServer(workspace, clock))
        app = await build(
            emulated(theirs, face.api_url),
            clock=clock,
            observer=stage.heard,
            http_transport=switchboard,
            gate=gate,
        )
        _hand_on(app, stage.replays)
        stack.push_async_callback(stage.replays.close, _GRACE)
        stack.push_async_callback(app.close, _GRACE)
        await stack.enter_async_context(connected(app))
        yield Playground(url, workspace, stage, app)


def _shown(theirs: Settings) -> str:
    """The agent's address as everybody may read it: without credentials and query."""
    return bare(theirs.agent.url or "").partition("?")[0]


def _hand_on(app: App, replays: Replays) -> None:
    """What Slack sends about a replay is for that replay's own bot, and not for `app`."""

    async def hand_on(body: dict[str, Any], next: Callable[[], Awaitable[None]]) -> Any:
        bot = await replays.bot_for(body)
        return await (next() if bot is None else deliver(bot, body))

    app.bolt.use(hand_on)


@asynccontextmanager
async def _page(stage: Visitor, host: str, port: int) -> AsyncIterator[str]:
    runner = web.AppRunner(build_site(stage, [host]), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise BotError(_no_address(host, port, error)) from error
        yield f"http://{f'[{host}]' if ':' in host else host}:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


def _no_address(host: str, port: int, error: OSError) -> str:
    return no_address("page", host, port, error)
