"""The whole bot against an emulated workspace: only what is behind its two HTTP borders is replaced."""

import asyncio
import fcntl
import functools
import itertools
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from ..app import App, build, serve
from ..clock import Clock, system_clock
from ..http_client import AsyncBaseTransport
from ..observe.facts import Fact, Observer, ToAll, TurnEnded
from ..settings.load import Settings, load
from ..slack.rate_limiter.local import RateLimiter
from ..store.collection import Ages
from ..store.contracts import Store
from ..store.knowledge import AgentContext, save_conversation
from ..turn.record import ThreadKey
from . import virtual_clock
from .agent.scripted import ScriptedAgent, ScriptedTransport, serve_scripted
from .kill import Life, MortalSession, MortalStore, MortalTransport
from .memory_store import MemoryStore
from .overrides import with_overrides
from .slack.in_process import SlackSession
from .slack.rules import SHIPPED, AppManifest
from .slack.server import SlackServer
from .slack.workspace import (
    APP_TOKEN,
    BOT_TOKEN,
    SIGNING_SECRET,
    Envelope,
    PersonFile,
    SeenMessage,
    Workspace,
    WorkspaceRules,
)
from .tape.builders import answer
from .tape.tape import Tape

AGENT_URL = "http://agent.invalid/"
CHANNEL = "C1"
_FIRST_PORT, _PORTS_OF_PROCESS, _BLOCKS = 10_000, 50, 200  # below those that the system gives to connections


# -- settings


def bot_settings(overrides: Mapping[str, Any] | None = None, agent_url: str = AGENT_URL) -> Settings:
    """The defaults with `overrides`, for an emulated workspace; nothing of the environment."""
    env = {"SLACK_BOT_TOKEN": BOT_TOKEN, "SLACK_SIGNING_SECRET": SIGNING_SECRET, "A2A_AGENT_URL": agent_url}
    settings = load(env, env_file=None, secrets_dir=None)
    return with_overrides(settings, overrides) if overrides else settings


def emulated(settings: Settings, api_url: str | None = None, *, keep_access: bool = False) -> Settings:
    """`settings` with an emulated workspace in place of Slack; with `api_url`, one on the network.

    Everybody there may ask, unless `keep_access`: the settings know other people and channels.
    """
    overrides: dict[str, object] = {
        "bot_token": BOT_TOKEN,
        "bot_tokens": None,
        "signing_secret": SIGNING_SECRET,
    }
    if not keep_access:
        overrides |= {"config": None, "people": (), "groups": ()}
        overrides |= dict.fromkeys(("hourly_person", "hourly_channel", "hourly_total"), 0)
    if api_url is not None:
        overrides |= {"app_token": APP_TOKEN, "api_url": api_url, "store.url": "memory://"}
    return with_overrides(settings, overrides)


def allow_bot(settings: Settings, bot: str) -> Settings:
    """`settings` with which `bot` may ask any number of questions."""
    return with_overrides(settings, {"allowed_bots": [bot], "max_bot_turns": sys.maxsize})


# -- parts


async def build_in_memory(
    workspace: Workspace,
    settings: Settings,
    clock: Clock,
    transport: AsyncBaseTransport | None,
    *,
    observer: Observer | None = None,
    store: Store | None = None,
    rate_limiter: RateLimiter | None = None,
    slack_session: SlackSession | None = None,
) -> App:
    """A bot in `workspace`, without a socket; without `transport` its agent is on the network."""
    return await build(
        settings,
        clock=clock,
        observer=observer,
        http_transport=transport,
        slack_session=slack_session or SlackSession(workspace, clock, timeout=settings.slack.timeout),
        store=store or MemoryStore(Ages(settings.store.dedupe_hours)),
        rate_limiter=rate_limiter,
    )


async def deliver(app: App, payload: Mapping[str, Any], *, retry: int = 0) -> BoltResponse:
    """Hand a payload to the bot, as Socket Mode does. `retry`: how often it came before."""
    headers: dict[str, Sequence[str]] = {"x-slack-retry-num": [str(retry)]} if retry else {}
    request = AsyncBoltRequest(body=dict(payload), mode="socket_mode", headers=headers)
    return await app.bolt.async_dispatch(request)


async def hand_over(app: App, workspace: Workspace, envelope: Envelope, *, retry: int = 0) -> int:
    """Hand an envelope to the bot. Returns the status of its answer, which the workspace gets too."""
    response = await deliver(app, envelope.payload, retry=retry)
    workspace.answered(envelope, response.body)
    return response.status


async def keep_delivering(app: App, workspace: Workspace) -> None:
    """Hand all that Slack sends to the bot, as it comes, until this is cancelled."""
    with _changes(workspace, "envelope") as changed:
        while True:
            changed.clear()
            for envelope in workspace.take():
                await hand_over(app, workspace, envelope)
            await changed.wait()


@contextmanager
def _changes(workspace: Workspace, *kinds: str) -> Iterator[asyncio.Event]:
    changed = asyncio.Event()
    stop = workspace.listen(lambda change: changed.set() if change.kind in kinds else None)
    try:
        yield changed
    finally:
        stop()


async def set_context(app: App, thread: ThreadKey, context_id: str) -> None:
    """The bot knows the A2A context of a thread already."""
    known = AgentContext(context_id=context_id)
    await save_conversation(app.store, app.agent.key, thread, known, app.clock.wall())


# -- in memory


class BotHarness:
    """A bot with its workspace and its agent. `statuses` are Bolt's answers to what Slack delivered."""

    def __init__(
        self,
        app: App,
        workspace: Workspace,
        agent: ScriptedAgent,
        facts: list[Fact],
        store: Store,
        life: Life,
    ) -> None:
        self.app, self.workspace, self.agent, self.facts = app, workspace, agent, facts
        self.store, self.life = store, life
        self.statuses: list[int] = []

    @property
    def now(self) -> float:
        return self.app.clock.wall()

    @property
    def outcomes(self) -> list[str]:
        return [str(fact.outcome) for fact in self.facts if isinstance(fact, TurnEnded)]

    async def ask(self, text: str, *files: PersonFile, user: str = "U1", thread_ts: str | None = None) -> str:
        """Mention the bot and deliver that. Returns the message's ts."""
        said = f"<@{self.workspace.bot.user_id}> {text}"
        return await self.say(said, *files, user=user, thread_ts=thread_ts)

    async def say(
        self,
        text: str,
        *files: PersonFile,
        user: str = "U1",
        thread_ts: str | None = None,
        channel: str = CHANNEL,
    ) -> str:
        ts = self.workspace.say(user, channel, text, now=self.now, thread_ts=thread_ts, files=files)
        await self.deliver()
        return ts

    async def deliver(self, envelopes: Sequence[Envelope] | None = None, *, retry: int = 0) -> list[int]:
        """Hand `envelopes` to the bot (None: the outbox) and return the statuses of its answers."""
        taken = self.workspace.take() if envelopes is None else envelopes
        statuses = [await hand_over(self.app, self.workspace, each, retry=retry) for each in taken]
        self.statuses += statuses
        await asyncio.sleep(0)
        return statuses

    async def idle(self) -> None:
        """Wait until no turn runs and everything is delivered."""
        await asyncio.sleep(0.01)
        await self.app.threads.idle()
        await self.deliver()
        await self.app.threads.idle()

    def thread(self, root: str, channel: str = CHANNEL) -> list[SeenMessage]:
        return self.workspace.thread(channel, root)

    def read(self, root: str, channel: str = CHANNEL) -> list[str]:
        """The texts of the bot's messages in a thread, without the ephemeral ones."""
        return [seen.text for seen in self.thread(root, channel) if seen.is_bot and not seen.ephemeral_for]

    def ephemeral(self, root: str) -> list[tuple[str, str]]:
        """The ephemeral messages of a thread: (recipient, text)."""
        return [(seen.ephemeral_for, seen.text) for seen in self.thread(root) if seen.ephemeral_for]

    def calls(self, method: str) -> list[Mapping[str, Any]]:
        """The arguments of all calls of a Web API method."""
        return [call.args for call in self.workspace.calls if call.method == method]


def _new_workspace(
    rules: WorkspaceRules | None = None,
    faults: Mapping[str, Sequence[str | None]] | None = None,
    manifest: AppManifest = SHIPPED,
) -> Workspace:
    workspace = Workspace(rules=rules or WorkspaceRules.real(), manifest=manifest, faults=faults)
    workspace.add_channel(CHANNEL).members.update(workspace.add_user(user).id for user in ("U1", "U2"))
    return workspace


@asynccontextmanager
async def run_bot(
    *tapes: Tape,
    store: Store | None = None,
    faults: Mapping[str, Sequence[str | None]] | None = None,
    cut_after: int | None = None,
    rules: WorkspaceRules | None = None,
    manifest: AppManifest = SHIPPED,
    through: Callable[[AsyncBaseTransport], AsyncBaseTransport] = lambda inner: inner,
    observer: Observer = lambda fact: None,
    after: BotHarness | None = None,
    **overrides: Any,
) -> AsyncIterator[BotHarness]:
    """A bot on virtual time whose agent answers the n-th question with the n-th tape.

    `rules`: Slack's limits; None: all of them. `manifest`: the app's, all of it granted. `faults`: as in
    `FaultScript`. `cut_after`: as for `Playback`. `through` wraps the transport between the bot and its
    agent. `observer` gets each fact, after the harness has kept it. `after`: the same bot's process before,
    which is gone: what it left is taken over; with a `store` that both share it may be there still.
    `overrides` are settings by leaf name.
    """
    clock, facts, life = virtual_clock.new_clock(), list[Fact](), Life()
    workspace = after.workspace if after else _new_workspace(rules, faults, manifest)
    tapes = tapes or (answer("Hello."),)
    agent = after.agent if after else ScriptedAgent(*tapes, cut_after=cut_after)
    store = store or (after.store if after else MemoryStore())
    settings = bot_settings(overrides)
    app = await build_in_memory(
        workspace,
        settings,
        clock,
        MortalTransport(life, through(ScriptedTransport(agent))),
        observer=ToAll(facts.append, observer),
        store=cast(Store, MortalStore(life, store)),
        slack_session=MortalSession(life, workspace, clock, timeout=settings.slack.timeout),
    )
    async with app:
        if after is not None:
            if isinstance(store, MemoryStore):
                store.handed_on()
            await app.threads.replicas.start()
        yield BotHarness(app, workspace, agent, facts, store, life)


# -- on the network


@asynccontextmanager
async def bot_on_network(
    *tapes: Tape, http: bool = False, retry_delays: Sequence[float] = (0.05, 0.05), **overrides: Any
) -> AsyncIterator[tuple[Workspace, SlackServer, App]]:
    """The same with real sockets and real time: Slack's HTTP or Socket Mode, the agent's HTTP."""
    clock, port = system_clock(), free_port()
    workspace = _new_workspace()
    agent = ScriptedAgent(*(tapes or (answer("Hello.", seconds=0.2),)))
    bot_url = f"http://127.0.0.1:{port}/slack/events" if http else None
    async with (
        serve_scripted(agent) as agent_url,
        SlackServer(workspace, clock, bot_url=bot_url, retry_delays=retry_delays) as server,
    ):
        settings = emulated(bot_settings({"http_port": port}, agent_url), server.api_url)
        settings = with_overrides(settings, {"http_host": "127.0.0.1", **overrides})
        async with await build(settings, clock=clock) as app, connected(app, http=http):
            yield workspace, server, app


@asynccontextmanager
async def connected(app: App, *, http: bool = False) -> AsyncIterator[None]:
    """The bot is connected to its workspace meanwhile."""
    stop, ready = asyncio.Event(), asyncio.Event()
    serving = asyncio.create_task(serve(app, stop, http=http, ready=ready.set), name="emulated bot")
    waiting = asyncio.create_task(ready.wait())
    try:
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            await serving
        yield
    finally:
        waiting.cancel()
        stop.set()
        await serving


def free_port() -> int:
    """A free port of this machine that no other process gets from here while this one lives."""
    while True:
        port = next(_ports())
        with socket.socket() as probe, suppress(OSError):
            # as servers do: connections of an earlier one that wait for their end are no reason to wait
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return port


@functools.cache
def _ports() -> Iterator[int]:
    """Those of this process, again and again. Their block is locked until it ends."""
    folder = Path(tempfile.gettempdir(), f"slack-bot-ports-{os.getuid()}")
    folder.mkdir(exist_ok=True)
    for block in range(_BLOCKS):
        lock = os.open(folder / str(block), os.O_CREAT | os.O_RDWR)
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            first = _FIRST_PORT + block * _PORTS_OF_PROCESS
            return itertools.cycle(range(first, first + _PORTS_OF_PROCESS))
        os.close(lock)
    raise OSError(f"{_BLOCKS} processes have ports from here: end some of them")


async def wait_until(condition: Callable[[], object], workspace: Workspace, within: float = 60.0) -> None:
    """Wait until `condition` holds, looking again at each change and call. `within` is in seconds."""
    async with asyncio.timeout(within):
        with _changes(workspace, "thread", "view", "envelope", "call") as changed:
            while not condition():
                changed.clear()
                await changed.wait()
