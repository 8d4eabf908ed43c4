"""The agent, the store, and addresses of ours."""

from __future__ import annotations

import errno
import shutil
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from ...agents.agent import NO_TASK, Agent
from ...agents.recovery_policy import NOT_OFFERED, TASK_NOT_FOUND
from ...agents.wire.auth import missing
from ...agents.wire.calls import Binding, Interface
from ...agents.wire.card import AgentCard
from ...agents.wire.transport import new_http
from ...app import store_options
from ...clock import Clock
from ...errors import (
    AgentError,
    AgentFailed,
    AgentRefused,
    SettingsError,
    StoreError,
    StoreMissing,
    StoreOutdated,
    StreamCut,
)
from ...features.feature import SettingsCheck
from ...http_client import AsyncClient
from ...inbound.health_server import ALIVE, HEALTH_ADDRESS
from ...inbound.http_server import answer_at, check_address
from ...observe.findings import Diagnosis, DiagnosisState, failed, ok, split, unknown, warning
from ...settings.agents import in_words_of
from ...settings.config_file import read_agents
from ...settings.load import Settings
from ...settings.models import AgentSettings, HealthSettings
from ...settings.store import StoreSettings
from ...slack.features import FeatureFinding, WorkspaceFeature
from ...store.knowledge import Profiles, workspace_name
from ...store.sqlite import file_of
from ...store.stores import open_admin, opener_of
from ...store_kinds import store_kind
from ...turn.progress import DEFAULT_AGENT
from .login_checks import check_api_key, check_login, refused_login
from .redis_checks import check_redis
from .slack_checks import SlackApp

_NOT_THERE = frozenset((404, 405, 410, 501))  # HTTP of a server that has no A2A at this address
MEND_FIRST = "mend the settings first, then look again"
_LITTLE = 200_000_000  # bytes of free disk
_ROOM = "make room on that disk"
_RIGHT_ADDRESS = (
    "let the card name the address where the agent takes {}, or set SLACK_BOT_AGENT__USE_CONFIGURED_URL=true"
    " if that is A2A_AGENT_URL itself"
)
_NAMES: Mapping[Binding, str] = {"JSONRPC": "JSON-RPC", "HTTP+JSON": "HTTP+JSON"}
_OTHER: Mapping[Binding, Binding] = {"JSONRPC": "HTTP+JSON", "HTTP+JSON": "JSONRPC"}
_UNCHECKED = "its signature is not looked at, as SLACK_BOT_AGENT__CARD_KEYS is not set"
_WANTS_CERTIFICATE = (
    "look at the agent's log; if it wants a certificate of the bot (mTLS), set"
    " SLACK_BOT_AGENT__CLIENT__CERTIFICATE"
)


async def check_agents(settings: Settings, clock: Clock) -> AsyncIterator[Diagnosis]:
    """Check each agent. With several, the name of a check ends with that of its agent."""
    try:
        table = read_agents(settings)
    except SettingsError:  # the check of the file says why
        text = "not looked at, as something is wrong in the file that names them"
        yield unknown("agents", text, MEND_FIRST)
        return
    for name, entry in table.entries.items():
        async for each in _agent(name, entry, settings.store, clock):
            yield _of(name, each) if table.are_listed else each


def _of(name: str, found: Diagnosis) -> Diagnosis:
    text, remedy = in_words_of(name, found.text), in_words_of(name, found.remedy)
    return replace(found, check=f"{found.check} ({name})", text=text, remedy=remedy)


async def _agent(
    name: str, settings: AgentSettings, kept: StoreSettings, clock: Clock
) -> AsyncIterator[Diagnosis]:
    """Its card, its wire, and whether it takes the credentials: a task is asked for that it cannot know."""
    if settings.url is None:
        return
    is_lost = False
    async for each in check_login(settings.client, clock):
        is_lost = is_lost or each.state is DiagnosisState.FAILED
        yield each
    if is_lost:
        return  # the agent would not be asked
    try:
        async with new_http(settings) as http:
            agent = Agent(http, settings, clock, store=_ReadFacts(kept), name=name)
            card = await agent.ensure_card()
            wires = ", ".join(dict.fromkeys(_spoken(each) for each in card.interfaces))
            yield ok("agent card", f"{card.name or 'without a name'} speaks {wires}{_signature(card)}")
            if card.streaming is False:
                text = "the card says that it does not stream: answers come whole, in the end"
                yield warning("agent card", text, "switch streaming on in the agent, if it can")
            if lacking := missing(card.auth, settings):
                yield warning("agent login", *lacking)
            if (unplaced := check_api_key(settings.client, card)) is not None:
                yield unplaced
            yield await _called(agent, card, http, clock)
    except (AgentError, SettingsError) as error:
        is_without = settings.url.startswith("https:") and settings.client.certificate is None
        if is_without and isinstance(error.__cause__, StreamCut):
            yield failed("agent card", str(error), _WANTS_CERTIFICATE)
        else:
            address = "A2A_AGENT_URL" if name == DEFAULT_AGENT else f"agents.{name}.url"
            yield split("agent card", str(error), f"check {address}, and whether the agent runs")


def _signature(card: AgentCard) -> str:
    if card.signed_by:
        return f", verified by the key {card.signed_by}"
    return f"; it is signed, and {_UNCHECKED}" if card.is_signed else ""


class _ReadFacts:
    """What the bot's store has of cards. To look at a card is not to trust it."""

    def __init__(self, kept: StoreSettings) -> None:
        self._kept = kept

    async def profile(self, agent: str) -> dict[str, str]:
        try:
            async with open_admin(store_options(self._kept)) as store:
                return await Profiles(store).profile(agent)
        except (StoreError, SettingsError, ModuleNotFoundError):  # the last: Redis' library is missing
            return {}  # the checks of settings and store say why

    async def save_fact(self, agent: str, name: str, value: str, now: float) -> None:
        """Nothing is kept."""


def _spoken(at: Interface) -> str:
    return f"A2A {at.wire}" + (" over HTTP+JSON" if at.binding == "HTTP+JSON" else "")


async def _called(agent: Agent, card: AgentCard, http: AsyncClient, clock: Clock) -> Diagnosis:
    """Whether it takes calls."""
    if agent.settings.knows_people:
        return unknown("agent login", "the agent is asked for people only: their questions show it")
    answered = await _login(agent, card, agent.settings)
    if answered.check == "agent address":
        return await _with_other_binding(http, agent.settings, clock, card) or answered
    return answered


async def _login(agent: Agent, card: AgentCard, settings: AgentSettings) -> Diagnosis:
    at = card.interfaces[0]  # where it says that it takes calls
    try:
        await agent.task("get", NO_TASK)
    except AgentRefused as error:
        if error.is_lasting:
            return refused_login(error, settings, card.token_servers)
        return _refused(error.status, at)
    except AgentFailed as error:
        if error.code in (TASK_NOT_FOUND, *NOT_OFFERED):
            return ok("agent login", "the agent takes calls")
        return unknown("agent login", f"the agent answers error {error.code} when asked for a task")
    except AgentError as error:
        return split("agent login", str(error), "look at the agent's log")
    return unknown("agent login", "the agent knows a task that nobody began")


async def _with_other_binding(
    http: AsyncClient, settings: AgentSettings, clock: Clock, card: AgentCard
) -> Diagnosis | None:
    """Nothing takes calls as the card says. None: nor in the other binding."""
    at = card.interfaces[0]
    other = _OTHER[at.binding]
    agent = Agent(http, settings.model_copy(update={"binding": other}), clock)
    if (await _login(agent, card, settings)).state is not DiagnosisState.OK:
        return None
    text = f"the card says that {at.url} takes {_NAMES[at.binding]}, and it takes {_NAMES[other]}"
    return failed("agent address", text, f"correct the card, or set SLACK_BOT_AGENT__BINDING={other}")


def _refused(status: int, at: Interface) -> Diagnosis:
    if status in _NOT_THERE:
        text = f"the card says to ask at {at.url}, and nothing takes calls there (HTTP {status})"
        return failed("agent address", text, _RIGHT_ADDRESS.format(_NAMES[at.binding]))
    text = f"the agent answers HTTP {status} when asked for a task"
    return unknown("agent login", text, "look whether the agent has started, and at its log")


async def check_store(settings: Settings, clock: Clock) -> AsyncIterator[Diagnosis]:
    """That it opens, its version, and what an operator forgets."""
    kept = settings.store
    kind, found = store_kind(kept.url), list[Diagnosis]()
    if kind.is_lost:
        text = f"{kept.url} is gone when the process ends: a restart loses what runs and waits"
        yield warning("store", text, "set SLACK_BOT_STORE__URL to sqlite:///slack_bot.sqlite")
        return
    try:
        if kept.is_shared:
            found = await check_redis(kept, settings.governor, clock)
        elif kind.is_file:
            found = _file(file_of(kept.url))
    except SettingsError as error:
        found = [split("store", str(error))]
    for each in found:
        yield each
    if not any(each.state is DiagnosisState.FAILED for each in found):
        yield await _opened(kept)


async def _opened(kept: StoreSettings) -> Diagnosis:
    try:
        async with open_admin(store_options(kept)) as store:
            summary = await store.summary()
        is_held = await opener_of(kept.url).is_held(kept.url)
    except StoreMissing:
        place = opener_of(kept.url).place(kept.url)
        if kept.is_shared:
            return ok("store", f"{place} has nothing of the bot yet: the first start prepares it")
        return ok("store", f"{place} is made at the first start")
    except StoreOutdated:
        return ok("store", "an older version wrote it; the next start brings it up to date")
    except (StoreError, SettingsError) as error:
        return split("store", str(error))
    now = ", a bot runs on it" if is_held else ""
    unfinished = len(summary.unfinished)
    return ok("store", f"{summary.place}, format {summary.format}, {unfinished} turns go on{now}")


def _file(path: Path) -> list[Diagnosis]:
    """What is wrong with a file's directory or its disk."""
    folder = path.parent
    if not folder.is_dir():
        return [failed("store", f"there is no directory {folder}", "make it, or set SLACK_BOT_STORE__URL")]
    probe = folder / f".{path.name}.doctor"
    try:
        probe.touch(mode=0o600)
        probe.unlink()
    except OSError as error:
        why = f"nothing can be written into {folder} ({error.strerror})"
        other = "let the bot's user write there, or set SLACK_BOT_STORE__URL"
        return [failed("store", why, _ROOM if error.errno == errno.ENOSPC else other)]
    if (free := shutil.disk_usage(folder).free) < _LITTLE:
        return [failed("store", f"{free // 1_000_000} MB are free at {folder}", _ROOM)]
    return []


async def check_feature(name: str, check: SettingsCheck, settings: Settings) -> AsyncIterator[Diagnosis]:
    """What a feature finds out about its own settings."""
    try:
        async for finding in check.look(settings):
            yield finding
    except SettingsError as error:
        yield split(name, str(error))


async def workspace_findings(app: SlackApp, settings: Settings, clock: Clock) -> AsyncIterator[Diagnosis]:
    """What a probe showed is kept for the bot, which does not try what is missing. Without a probe: what the
    store has of it.
    """
    whose = workspace_name(app.team_id)
    known: dict[str, Mapping[str, str]] = {}
    try:
        async with open_admin(store_options(settings.store)) as store:
            for feature, finding in app.found.items():
                await Profiles(store).save_fact(whose, feature, str(finding), clock.wall())
            for team in () if app.found else sorted(app.clients) or (app.team_id,):
                check = f"workspace {team}" if app.clients else "workspace"
                known[check] = await Profiles(store).profile(workspace_name(team))
    except (StoreError, SettingsError):
        if not all(each.works for each in app.found.values()):
            text = "there is no store yet that could remember what is missing: the bot tries it again"
            yield warning("probe", text, "probe again once the bot has run")
        return
    for check, facts in known.items():
        for feature in WorkspaceFeature:
            if (found := FeatureFinding.parse(facts.get(feature))) is not None:
                yield _remembered(check, feature, found, clock.wall(), settings.stream.workspace_days)


_SHOWN_OTHERWISE = (WorkspaceFeature.TABLES, WorkspaceFeature.NAMES)


def _remembered(
    check: str, feature: WorkspaceFeature, found: FeatureFinding, now: float, days: float
) -> Diagnosis:
    when = datetime.fromtimestamp(found.found_at, UTC).strftime("found on %Y-%m-%d at %H:%M UTC")
    word = "works" if found.works else f"does not work ({found.error})" if found.error else "does not work"
    if not found.is_good(now, days):
        return ok(check, f"{feature}: {word}, {when}: too long ago, the bot tries again")
    if found.works or feature in _SHOWN_OTHERWISE:
        return ok(check, f"{feature}: {word}, {when}")
    text = f"{feature}: {word}, {when}: the bot does not try"
    return warning(check, text, "once that is mended, look with --probe and the id of a person")


async def check_health(health: HealthSettings) -> AsyncIterator[Diagnosis]:
    """That its port is free. A bot that runs has it too."""
    if not health.port:
        return
    try:
        await check_address(HEALTH_ADDRESS, health.host, health.port)
    except SettingsError as error:
        if await answer_at(health.host, health.port, "/livez") == ALIVE:
            yield ok("health", f"a bot that runs has the port {health.port}")
        else:
            yield split("health", str(error))
    else:
        yield ok("health", f"the port {health.port} is free")
