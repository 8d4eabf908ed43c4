"""The composition root: every object of the bot is built here once, in order, and closed in reverse."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import aiohttp
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from .agents.agent import Agent
from .agents.agents import Agents
from .agents.wire.asker_tokens import PeopleTokens
from .clock import Clock, system_clock
from .errors import (
    AgentError,
    AgentUnreachable,
    BotError,
    SettingsError,
    StoreAway,
    StoreError,
    StoreFailover,
)
from .features.agent_acts.feature import FEATURE as AGENT_ACTS
from .features.agent_events.keeper import FEATURE as AGENT_EVENTS
from .features.api.feature import FEATURE as API
from .features.audit.audit_log import FEATURE as AUDIT
from .features.channel_questions.feature import FEATURE as CHANNEL_QUESTIONS
from .features.context.thread_context import FEATURE as CONTEXT
from .features.feature import BotParts, Feature, FeatureWork, RequestReceiver
from .features.feedback.buttons import FEATURE as FEEDBACK
from .features.forms.form_presses import FEATURE as FORMS
from .features.home.listeners import FEATURE as HOME
from .features.identity.published_keys import FEATURE as IDENTITY
from .features.next_questions.feature import FEATURE as NEXT_QUESTIONS
from .features.outbound.sender import FEATURE as OUTBOUND
from .features.push.receiver import FEATURE as PUSH
from .features.reactions.feature import FEATURE as REACTIONS
from .features.routing.feature import FEATURE as ROUTING
from .features.schedules.feature import FEATURE as SCHEDULES
from .features.settings_view.feature import FEATURE as SETTINGS_VIEW
from .features.share.feature import FEATURE as SHARE
from .features.sign_in.sign_ins import FEATURE as SIGN_IN
from .features.traces.observer import FEATURE as TRACES
from .features.usage.feature import FEATURE as USAGE
from .http_client import AsyncBaseTransport, AsyncClient, shared_tls
from .inbound.access import Access, BotAccess, HourCounts, HourlyQuestions, LocalHour, TotalOf
from .inbound.authorizer import Identities
from .inbound.backfill import Backfill
from .inbound.bolt_app import new_bolt
from .inbound.buttons import ButtonRouter, TurnButtons
from .inbound.events import SlackListeners
from .inbound.health_server import serving_health
from .inbound.http_mode import HTTP_ADDRESS, serve_http
from .inbound.http_server import check_address
from .inbound.socket_mode import SocketAddress, SocketConnections
from .manifest import Wants, missing, wanted
from .observe.facts import Observer, ToAll, traceparent_of
from .observe.health import ENDING, STORE_FAILED, STORE_FAILOVER, Health, HealthCheck
from .observe.logs import LogObserver, log_if_broken
from .observe.outage import Outage
from .settings.agents import in_words_of
from .settings.channels import ChannelPolicies
from .settings.config_file import check_file, read_agents
from .settings.load import CONFIG, Settings
from .settings.models import SlackSettings
from .settings.store import StoreSettings
from .slack.api import new_web_client
from .slack.history import History
from .slack.proven_people import ProvenPeople
from .slack.rate_limiter.local import RateLimiter
from .slack.workspaces import InstallationMaker, Workspaces
from .store.collection import Ages, Collection
from .store.contracts import Store
from .store.knowledge import KNOWLEDGE, Profiles
from .store.stores import StoreOptions, check_store, open_store
from .threads.ports import CommonParts, ThreadPorts
from .threads.threads import Threads, new_common_parts
from .workspace_tokens import WorkspaceTokens, check_tokens

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from .observe.metrics import Metrics

log = logging.getLogger(__name__)

FEATURES: Sequence[Feature] = [
    CONTEXT,
    FORMS,
    HOME,
    OUTBOUND,
    FEEDBACK,
    PUSH,
    REACTIONS,
    AUDIT,
    TRACES,
    AGENT_EVENTS,
    ROUTING,
    CHANNEL_QUESTIONS,
    IDENTITY,
    SIGN_IN,
    SETTINGS_VIEW,
    USAGE,
    SCHEDULES,
    AGENT_ACTS,
    NEXT_QUESTIONS,
    SHARE,
    API,
]
"""What the bot does beside answering. Each may be taken out, with its folder."""
_LOGIN_SECONDS = 2.0
COLLECTIONS: Sequence[Collection[Any]] = [
    *(kind for feature in FEATURES for kind in feature.collections),
    *KNOWLEDGE,
]
"""What the bot keeps beside its turns."""
_CHECKED = "store-check"  # stands in the place of an agent's name


@dataclass(frozen=True, slots=True)
class App:
    """All parts of a bot. Close it, or use it as an async context manager."""

    settings: Settings
    clock: Clock
    store: Store
    agents: Agents
    web_client: AsyncWebClient
    workspaces: Workspaces
    identities: Identities
    tokens: WorkspaceTokens
    policies: ChannelPolicies
    threads: Threads
    bolt: AsyncApp
    health: Health
    backfill: Backfill
    features: Mapping[str, FeatureWork]
    closers: AsyncExitStack

    @property
    def agent(self) -> Agent:
        """The one that is asked if nothing else is said."""
        return self.agents.default

    @property
    def receivers(self) -> list[RequestReceiver]:
        """Of the features that take requests from outside."""
        return [work.receiver for work in self.features.values() if work.receiver is not None]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self, grace: float = 0.0, hurry: asyncio.Event | None = None) -> None:
        """Wait `grace` seconds for the turns, or until `hurry` is set; end them, and release everything.

        May be called twice.
        """
        self.health.failed(HealthCheck.RUNNING, ENDING)
        await self.threads.close(grace, hurry)
        await self.closers.aclose()


async def build(
    settings: Settings,
    *,
    clock: Clock | None = None,
    observer: Observer | None = None,
    http_transport: AsyncBaseTransport | None = None,
    slack_session: Any = None,
    store: Store | None = None,
    rate_limiter: RateLimiter | None = None,
    health: Health | None = None,
) -> App:
    """Build a bot; nothing is sent. The caller closes what it gives. Raises SettingsError and StoreError.

    `slack_session` is an aiohttp session, or something in its place. `rate_limiter` is for bots that share
    one Slack app. Facts are logged where there is no `observer`. `health` is told what the parts know.
    """
    check_file(settings)
    clock, observers = clock or system_clock(), ToAll(observer or LogObserver())
    health, outage = health or Health(), Outage(clock)
    async with AsyncExitStack() as stack:
        if store is None:
            store = await open_store(store_options(settings.store), outage)
            stack.push_async_callback(store.close)
        health.passed(HealthCheck.STORE)
        profiles = Profiles(store)
        if slack_session is None:
            slack_session = await stack.enter_async_context(_new_session())
        web_client = new_web_client(settings.slack, slack_session)
        maker = InstallationMaker(settings, clock, observers, health)
        limiters = _Limiters(settings, clock, stack, outage, rate_limiter)
        tokens = WorkspaceTokens(settings.slack, slack_session, maker, limiters.new, health)
        workspaces, identities = await tokens.open()
        directory = ProvenPeople(workspaces, settings.identity)
        agents = Agents(
            read_agents(settings), clock, health, profiles, partial(traceparent_of, observers),
            PeopleTokens(settings.identity, directory, clock),
        )  # fmt: skip
        await agents.open(stack, http_transport)
        common = new_common_parts(settings, clock, observers, health, store, agents, workspaces, directory)
        threads = Threads(common, _thread_ports(common))
        bolt = new_bolt(new_web_client(settings.slack, slack_session), identities, settings.slack)
        access = Access(common.policies, workspaces.people, clock)
        bots = BotAccess(settings.slack.allowed_bots, settings.turns.max_bot_turns)
        total_of = workspaces.total_of
        hourly = HourlyQuestions(settings.turns, _new_hour(settings, store, clock, total_of), total_of)
        router, web = ButtonRouter(access, threads), await _new_web(stack, http_transport)
        parts = BotParts(common, threads, hourly, access, router, identities, http=web)
        features = _start_features(parts, bolt, observers, stack)
        (listeners := SlackListeners(threads, common.policies, access, bots, hourly, clock)).register(bolt)
        backfill = _new_backfill(listeners, common, identities, settings.slack, features.values())
        return App(
            settings=settings, clock=clock, store=store, agents=agents, web_client=web_client,
            workspaces=workspaces, identities=identities, tokens=tokens, policies=common.policies,
            threads=threads, bolt=bolt, health=health, backfill=backfill, features=features,
            closers=stack.pop_all(),
        )  # fmt: skip


async def _new_web(stack: AsyncExitStack, transport: AsyncBaseTransport | None) -> AsyncClient:
    tls = transport is not None or shared_tls()
    return await stack.enter_async_context(AsyncClient(verify=tls, transport=transport))


def _new_session() -> aiohttp.ClientSession:
    """Without aiohttp's limit of 100 connections: answers are long."""
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))


def _thread_ports(common: CommonParts) -> ThreadPorts:
    ports = ThreadPorts()
    for feature in FEATURES:
        if feature.serve_threads is not None:
            ports = feature.serve_threads(common, ports)
    return ports


def _start_features(
    bot: BotParts, bolt: AsyncApp, observers: ToAll, stack: AsyncExitStack
) -> dict[str, FeatureWork]:
    """By name; `observers` get theirs. Every control is registered, and what features listen to: before
    `SlackListeners`, which match everything.
    """
    features = {each.name: each.start(bot) for each in FEATURES if each.start is not None}
    bot.router.add(TurnButtons(bot.threads, bot.hourly).buttons())
    bot.router.add(button for work in features.values() for button in work.buttons)
    bot.router.register(bolt)
    for work in features.values():
        if work.register is not None:
            work.register(bolt)
        if work.observe is not None:
            observers.add(work.observe)
        if work.close is not None:
            stack.push_async_callback(work.close)
    return features


def store_options(kept: StoreSettings) -> StoreOptions:
    """How the store is opened."""
    days = kept.turn_days, kept.conversation_days, kept.feedback_days
    ages = Ages(kept.dedupe_hours, *days, kept.overheard_hours, kept.form_days)
    return StoreOptions(
        kept.url,
        ages,
        COLLECTIONS,
        lock_wait=kept.lock_wait,
        lease=kept.lease,
        patience=kept.redis_timeout,
    )


class _Limiters:
    """Makes the rate limiters of workspaces. `given`: in place of the one of the only workspace."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        stack: AsyncExitStack,
        outage: Outage,
        given: RateLimiter | None,
    ) -> None:
        self._settings, self._clock, self._stack = settings, clock, stack
        self._outage, self._given = outage, given
        self._redis: Redis | None = None

    async def new(self, team: str) -> RateLimiter:
        """`team`: "" for the only workspace."""
        settings, store = self._settings, self._settings.store
        if self._given is not None and not team:
            return self._given
        if not store.is_shared:
            return RateLimiter(settings.governor, self._clock)
        from .slack.rate_limiter.shared import SharedRateLimiter
        from .store.redis_connection import connect

        if self._redis is None:
            self._redis = connect(store.url)
            self._stack.push_async_callback(self._redis.aclose)
        limiter = SharedRateLimiter(
            settings.governor, self._clock, self._redis, store.lease, self._outage, team=team
        )
        self._stack.push_async_callback(limiter.close)
        await limiter.start()
        return limiter


def _new_backfill(
    listeners: SlackListeners,
    common: CommonParts,
    identities: Identities,
    settings: SlackSettings,
    features: Iterable[FeatureWork],
) -> Backfill:
    def history_of(team: str) -> History:
        return History(common.workspaces.of(team).api)

    looks = [each.look_back for each in features if each.look_back is not None]
    return Backfill(listeners, common.store, identities, history_of, settings, common.clock, looks)


def _new_hour(settings: Settings, store: Store, clock: Clock, total_of: TotalOf) -> HourCounts:
    if not settings.store.is_shared:
        return LocalHour(store, clock, total_of)
    from .store.redis_hour import RedisHour

    return RedisHour(store)


async def serve(
    app: App,
    stop: asyncio.Event,
    *,
    http: bool = False,
    ready: Callable[[], None] | None = None,
    first: SocketAddress | None = None,
) -> None:
    """Let Slack in until `stop` is set; `ready` is called when it is in. `first`: as of `SocketConnections`.

    Raises SettingsError, SlackError, and StoreError if the store failed for good.
    """
    slack, receivers = app.settings.slack, app.receivers
    for receiver in receivers:
        await receiver.prepare()
    cleaning = asyncio.create_task(_clean_up(app), name="store cleanup")
    checking = asyncio.create_task(_check_store(app), name="store check")
    watching = asyncio.create_task(app.threads.wait_for_broken_store(), name="store health")
    watching.add_done_callback(lambda _: stop.set())
    tasks: list[asyncio.Task[Any]] = [cleaning, checking, watching]
    works = {name: feature.run for name, feature in app.features.items() if feature.run is not None}
    works["tokens"] = partial(app.tokens.keep_trying, partial(_join, app))
    tasks += [asyncio.create_task(run(), name=name) for name, run in works.items()]
    for task in tasks:
        task.add_done_callback(log_if_broken)

    def let_in() -> None:
        app.threads.context.forget()
        looking = app.threads.replicas.look_back(app.backfill.run)
        tasks.append(asyncio.create_task(looking, name="backfill"))
        tasks[-1].add_done_callback(log_if_broken)
        if ready is not None:
            ready()

    health = app.health
    try:
        if http:
            others = {path: handler for each in receivers for path, handler in each.routes.items()}
            now = app.clock.wall
            await serve_http(app.bolt, slack, stop, health=health, now=now, ready=let_in, others=others)
        else:
            is_alone = not app.settings.store.is_shared
            socket = SocketConnections(
                app.bolt, slack, app.web_client, health, is_alone=is_alone, ready=let_in
            )
            async with _ports_open(receivers, slack):
                await socket.serve(stop, first)
    finally:
        for task in tasks:
            task.cancel()
    if watching.done():
        raise watching.result()


@asynccontextmanager
async def _ports_open(receivers: Iterable[RequestReceiver], slack: SlackSettings) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for receiver in receivers:
            await stack.enter_async_context(receiver.listening(slack))
        yield


async def _clean_up(app: App) -> None:
    """Errors are only logged: no question depends on it."""
    while True:
        try:
            await app.store.remove_old(app.clock.wall())
        except StoreError as error:
            log.warning("old entries of the store were not removed: %s", error)
        await asyncio.sleep(app.settings.store.cleanup_interval)


async def _check_store(app: App) -> None:
    """Where there is a port for probes: nothing else would see that a store works again without questions."""
    settings, health, works = app.settings.health, app.health, True
    while settings.port:
        now = app.clock.wall()
        try:
            async with asyncio.timeout(settings.store_interval):
                await Profiles(app.store).save_fact(_CHECKED, "at", f"{now:.0f}", now)
        except (StoreError, TimeoutError) as error:
            if works and not isinstance(error, StoreAway):
                log.warning("the store does not work: %s", str(error) or "it did not answer in time")
            is_failover = isinstance(error, StoreFailover)
            health.failed(HealthCheck.STORE, STORE_FAILOVER if is_failover else STORE_FAILED)
            works = False
        else:
            works = True
            health.passed(HealthCheck.STORE)
        await asyncio.sleep(settings.store_interval)


async def run(settings: Settings, *, http: bool = False) -> None:
    """`slack-bot run`, until SIGTERM or SIGINT. Raises BotError if it cannot start."""
    ending, health = _Ending(asyncio.Event(), asyncio.Event()), Health()
    bot = asyncio.create_task(_run(settings, ending, health, http=http), name="bot")

    def end() -> None:
        """The second signal ends the grace. One at the start, which may wait, ends the start."""
        health.failed(HealthCheck.RUNNING, ENDING)
        (ending.hurry if ending.stop.is_set() else ending.stop).set()
        if not ending.has_begun:
            bot.cancel()

    for sign in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sign, end)
    try:
        await bot
    except asyncio.CancelledError:
        if not ending.stop.is_set():
            raise
    log.info("ended")


@dataclass(slots=True)
class _Ending:
    """Of a process: its first signal, its second one, and whether it had begun by then."""

    stop: asyncio.Event
    hurry: asyncio.Event
    has_begun: bool = False


async def _run(settings: Settings, ending: _Ending, health: Health, *, http: bool) -> None:
    wait = settings.store.lock_wait
    clock = system_clock()
    check_file(settings)
    await check_store(store_options(settings.store))  # before a port is waited for
    metrics = _new_metrics(settings, clock)
    async with AsyncExitStack() as stack:
        scrape = None if metrics is None else metrics.scrape
        await stack.enter_async_context(serving_health(settings.health, health, wait, scrape))
        if http:
            await check_address(HTTP_ADDRESS, settings.slack.http_host, settings.slack.http_port, wait)
        async with _new_session() as session:
            first = await check_tokens(settings.slack, session, http=http)
        observers: list[Observer] = [LogObserver(), *([metrics] if metrics else [])]
        for feature in FEATURES:
            if feature.observe is not None and (facts := feature.observe(settings, clock)) is not None:
                observers.append(await stack.enter_async_context(facts))
        app = await build(settings, clock=clock, observer=ToAll(*observers), health=health)
        await stack.enter_async_context(app)
        if metrics is not None:
            metrics.watch(app.threads.conversations.load, app.threads.conversations.unseen_since, health)
            stack.enter_context(_running(metrics.measure_loop()))
        for receiver in () if http else app.receivers:
            await receiver.check_port(wait)
        await check_slack(app)
        await asyncio.gather(*(check_agent(each, app.agents.label(each)) for each in app.agents))
        await app.threads.replicas.start()
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, read_config_again, app)
        ending.has_begun = True
        await serve(app, ending.stop, http=http, first=first)
        log.info("ending")
        await app.close(settings.turns.shutdown_grace, ending.hurry)


def _new_metrics(settings: Settings, clock: Clock) -> "Metrics | None":
    """None where there is no port to read them from."""
    if not settings.health.port:
        return None
    from .observe.metrics import Metrics

    return Metrics(clock, by_team=settings.slack.bot_tokens is not None)


@contextmanager
def _running(work: Coroutine[Any, Any, None]) -> Iterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()


def read_config_again(app: App) -> None:
    """What a bad file says does not count. Running turns keep what they began with."""
    file = app.settings.slack.config
    try:
        check_file(app.settings, again=True)
        table = read_agents(app.settings)
        app.policies.reload()
        for work in app.features.values():
            if work.reload is not None:
                work.reload()
    except SettingsError as error:
        why = str(error).replace("\n", "; ")
        log.error("%s was not read again, what it said before still counts: %s", file, why)
    else:
        log.info("read again: %s", file or f"nothing, {CONFIG} is not set")
        if table != app.agents.settings:
            log.warning("the agents of %s have changed: that counts after a restart", file)


async def _join(app: App, identity: AuthorizeResult) -> None:
    """A workspace whose token did not work at the start: what was left there goes on."""
    _note_identity(app, identity)
    await app.threads.replicas.take_over_left()
    await app.backfill.run(identity.team_id or "")


async def check_slack(app: App) -> None:
    """Log who the bot is at Slack, and which scopes it lacks. Raises SlackError if the token is not good."""
    for identity in await app.identities.all():
        _note_identity(app, identity)
    if not app.workspaces.are_several:
        app.health.passed(HealthCheck.TOKEN)


def _note_identity(app: App, identity: AuthorizeResult) -> None:
    team = identity.team_id if app.workspaces.are_several else None
    log.info("signed in to Slack as %s in %s", identity.user, identity.team, extra={"team": team})
    agents = app.agents.settings
    wants = wanted(
        Wants.by(app.policies.values, knows_people=agents.knows_people, has_agents=agents.are_listed)
    )
    for sentence in missing(identity.bot_scopes, wants) if identity.bot_scopes is not None else ():
        log.warning("%s", sentence, extra={"team": team})


async def check_agent(agent: Agent, label: str) -> None:
    """Fetch the agent card, and see whether the agent lets the bot in. Else there is only a warning: that may
    be mended later. An agent that is slow to say so does not hold up the start.
    """
    try:
        await agent.ensure_card()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOGIN_SECONDS):
                await agent.try_login()
    except BotError as error:
        why = str(error.brief if isinstance(error, AgentError) else error)
        if type(error) is AgentUnreachable:  # nobody answers there; the others name a remedy of their own
            why = f"{why}; check A2A_AGENT_URL, and whether the agent runs"
        words = in_words_of(agent.name, why)
        log.warning("the agent is not ready, questions will say so until it is: %s: %s", label, words)
    else:
        log.info("the agent is ready: %s", label)
