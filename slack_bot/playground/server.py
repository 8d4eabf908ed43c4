"""`slack-bot play`: agent, workspace, bot and page in one process, on this machine only.

The bot is the one of `slack-bot run`; workspace and agent are on real sockets.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from ..agents.wire.auth import bare
from ..app import App, build
from ..clock import system_clock
from ..errors import BotError, UnreadableInput
from ..http_client import AsyncHTTPTransport, Limits, shared_tls
from ..settings.load import Settings, load
from ..settings.models import ReferenceSettings
from ..settings.secret_values import secrets_of
from ..slack.rate_limiter.local import RateLimiter
from ..testing.harness import bot_settings, connected, deliver, emulated
from ..testing.overrides import with_overrides
from ..testing.slack.rules import AppManifest
from ..testing.slack.server import SlackServer
from ..testing.slack.workspace import Workspace, WorkspaceRules
from ..tools.capture.agent_address import card_of, settings_for
from ..tools.files import open_capture
from ..tools.manifest import manifest_for
from ..tools.replay.replay import check_options, read_scenario_file
from ..tools.replay.scenario import Scenario, as_captured
from .hosting import check_port, no_address, serve_until_stopped, set_up_logs
from .others.three_agents import SIGN_IN_HOSTS, PlayedAgents, serve_three
from .page_server import build_site
from .recorder import ReplayRouter
from .reference.agent import chosen_agent
from .replays import PlannedReplay, Replays
from .visitor import CHANNEL, Visitor
from .yesterday import post_yesterday

_GRACE = 1.0  # seconds for running answers when the playground ends


@dataclass(frozen=True, slots=True)
class Playground:
    """A running playground. `url` is the page's."""

    url: str
    workspace: Workspace
    visitor: Visitor
    app: App


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: host, port, url, pace, mode (None for what the settings say). Returns the status.

    Raises BotError if one of them makes no sense, there is no agent at `url`, or the port cannot be had.
    """
    chosen = chosen_agent(args)
    theirs = None if args.url is None else _theirs(args)
    set_up_logs(() if theirs is None else secrets_of(theirs))
    # Of a bot's own settings only who may ask and how it answers: agent and workspace are the playground's.
    channels = load() if theirs is None else None
    # An answer in the name of an agent that never gave it would mislead.
    opened = open_playground(args.host, args.port, chosen, theirs, channels, has_past=theirs is None)
    asyncio.run(serve_until_stopped(opened, lambda playground: f"The playground is at {playground.url}"))
    return 0


def _theirs(args: argparse.Namespace) -> Settings:
    """The settings for an agent that is not ours, once it has shown its card."""
    if args.pace is not None or args.mode is not None:
        raise UnreadableInput("--pace and --mode are the playground agent's; leave them out with --url")
    settings = settings_for(args.url, load())
    asyncio.run(card_of(settings, "--url"))
    return settings


def show_replays(args: argparse.Namespace) -> int:
    """`slack-bot replay FILE... --play`: the tapes in the page, from when it is opened. Returns the status.

    `args`: files, key, scenario, speed (None: 1), port. Raises UnreadableInput, SettingsError, BotError.
    """
    check_options(args)
    check_port(args.port)
    speed = 1.0 if args.speed is None else args.speed
    around, usual = read_scenario_file(args.scenario), Scenario()
    planned = [
        PlannedReplay(Path(path).name, open_capture(Path(path), args.key, around), speed, args.key, around)
        for path in args.files
    ]
    for each in planned:
        # raises now what would be raised on the page
        bot_settings(as_captured(around, each.capture).settings)
    if (around.channel, around.thread_ts, around.team) != (usual.channel, usual.thread_ts, usual.team):
        sys.stderr.write(
            "note: the page has a place of its own; the scenario's channel, thread_ts and team are not used\n"
        )

    def announce(playground: Playground) -> str:
        playground.visitor.set_faults(around)
        playground.visitor.planned += planned
        return f"The replay begins when you open {playground.url}"

    set_up_logs(())
    asyncio.run(serve_until_stopped(open_playground(port=args.port), announce))
    return 0


@asynccontextmanager
async def open_playground(
    host: str = "127.0.0.1",
    port: int = 0,
    chosen: ReferenceSettings | None = None,
    theirs: Settings | None = None,
    channels: Settings | None = None,
    has_past: bool = False,
) -> AsyncIterator[Playground]:
    """Run everything until the context is left. `chosen`: the reference agent, which has two others beside
    it. `theirs`: settings with an agent that is asked in place of all three. `channels`: settings whose
    sections `channel`, `turns` and `usage`, and whose `config`, `operators` and `allowed_bots`, count with
    the playground's own agents. With `has_past` the first channel holds a question of the day before, and
    its answer.

    Raises BotError if the page's address cannot be had.
    """
    clock = system_clock()
    wanted = manifest_for(theirs or channels or Settings(), has_agents=theirs is None)
    manifest = AppManifest.from_json(wanted)
    workspace = Workspace(rules=WorkspaceRules.real(), manifest=manifest)
    router = ReplayRouter(AsyncHTTPTransport(verify=shared_tls(), limits=Limits(max_connections=None)))
    shown = None if theirs is None else bare(theirs.agent.url or "").partition("?")[0]
    async with AsyncExitStack() as stack:
        stack.push_async_callback(router.aclose)
        if theirs is None:
            known = channels or Settings()
            usual = Settings(channel=known.channel, turns=known.turns, usage=known.usage)
            ours = ("config", "operators", "allowed_bots")
            usual = with_overrides(usual, {name: getattr(known.slack, name) for name in ours})
            has_sign_in = host in SIGN_IN_HOSTS
            serving = serve_three(usual, chosen or ReferenceSettings(), clock, has_sign_in=has_sign_in)
            agents = await stack.enter_async_context(serving)
        else:
            agents = PlayedAgents(theirs)
        rate_limiter = RateLimiter(agents.settings.governor, clock)
        visitor = Visitor(workspace, router, clock, shown, rate_limiter, asked=agents.asked)
        if has_past:
            post_yesterday(workspace, CHANNEL, clock.wall())
        url = await stack.enter_async_context(serve_page(visitor, host, port))
        face = await stack.enter_async_context(SlackServer(workspace, clock))
        app = await build(
            emulated(agents.settings, face.api_url, keep_access=True),
            clock=clock,
            observer=visitor.on_fact,
            http_transport=router,
            rate_limiter=rate_limiter,
        )
        _hand_on(app, visitor.replays)
        stack.push_async_callback(visitor.replays.close, _GRACE)
        stack.push_async_callback(app.close, _GRACE)
        await stack.enter_async_context(connected(app))
        reading = asyncio.create_task(_read_cards(app), name="playground cards")
        stack.callback(reading.cancel)
        yield Playground(url, workspace, visitor, app)


async def _read_cards(app: App) -> None:
    """So that the first question does not wait for the cards of agents that it is not for."""
    if app.agents.are_several:
        await asyncio.gather(*(agent.introduction() for agent in app.agents), return_exceptions=True)


def _hand_on(app: App, replays: Replays) -> None:
    """Hand payloads about a replay to that replay's own bot in place of `app`."""

    async def hand_on(body: dict[str, Any], next: Callable[[], Awaitable[None]]) -> Any:
        bot = await replays.bot_for(body)
        return await (next() if bot is None else deliver(bot, body))

    app.bolt.use(hand_on)


@asynccontextmanager
async def serve_page(
    visitor: Visitor, host: str, port: int, others: Iterable[web.RouteDef] = ()
) -> AsyncIterator[str]:
    """The page until the context is left, and `others` beside it; yields its address.

    Raises BotError if that cannot be had.
    """
    runner = web.AppRunner(build_site(visitor, [host], others), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise BotError(no_address("page", host, port, error)) from error
        yield f"http://{f'[{host}]' if ':' in host else host}:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()
