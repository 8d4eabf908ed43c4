"""Makes the experiments of a catalogue in a place, and says what came of each."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from ...settings.slack_rules import CATALOGUE
from ...testing import virtual_clock
from ...testing.slack.rules import CUSTOMIZE, EVERYTHING
from ...testing.slack.server import SlackServer
from ...testing.slack.workspace import APP_TOKEN, BOT_TOKEN, Workspace, WorkspaceRules
from .hand import EmulatedHand
from .port import CannotTell, Need, Place, Probe, SlackPort
from .rate_probes import REST
from .result import RuleResult
from .tidying import tidy

HELLO = "I am measuring how this workspace treats what I write. This thread is deleted in a moment."
_USER, _CHANNEL = "U1", "C1"


Tell: TypeAlias = Callable[[RuleResult], None]


async def make_trial(slack: SlackPort, place: Place, probes: Iterable[Probe], tell: Tell) -> list[RuleResult]:
    """Run `probes`, in the order of the catalogue; `tell` hears of each result as it comes.

    Those that take minutes run beside the others, those that use up a rate after all others.
    """
    results: dict[str, RuleResult] = {}

    async def run(each: Probe) -> None:
        result = results[each.rule] = await _result(slack, place, each)
        tell(result)

    async def run_all(some: Iterable[Probe]) -> None:
        for each in some:
            await run(each)

    chosen = list(probes)
    apart = {Need.TIME, Need.ALONE, Need.RATE}
    others = [each for each in chosen if not apart & each.needs]
    async with asyncio.TaskGroup() as group:
        for each in _needing(Need.TIME, chosen):
            group.create_task(run(each))
        group.create_task(run_all(others))
    await run_all(_needing(Need.ALONE, chosen))
    if rates := _needing(Need.RATE, chosen):
        await asyncio.sleep(REST if results else 0.0)
        async with asyncio.TaskGroup() as group:
            for each in rates:
                group.create_task(run(each))
    return [results[rule] for rule in CATALOGUE if rule in results]


def _needing(need: Need, probes: Iterable[Probe]) -> list[Probe]:
    return [each for each in probes if need in each.needs]


async def _result(slack: SlackPort, place: Place, each: Probe) -> RuleResult:
    rule = CATALOGUE[each.rule]
    try:
        seen = await each.run(slack, place)
    except CannotTell as reason:
        return RuleResult(rule, reason=str(reason))
    return RuleResult(rule, seen.value, detail=seen.detail)


async def open_place(slack: SlackPort, channel: str, user: str) -> Place:
    """Begin a thread in the channel, and one in the direct message with `user`. Raises CannotTell."""
    own = await slack.ok("auth.test")
    known = await slack.call("users.info", user=user)
    if known.error in ("user_not_found", "users_not_found"):
        raise CannotTell(f"nobody there is {user}")
    team = str((known.body.get("user") or {}).get("team_id") or own.get("team_id"))
    root = str((await slack.ok("chat.postMessage", channel=channel, text=HELLO)).get("ts"))
    direct, direct_root = "", ""
    with suppress(CannotTell):
        opened = (await slack.ok("conversations.open", users=user)).get("channel") or {}
        direct = str(opened.get("id") or "")
        direct_root = str((await slack.ok("chat.postMessage", channel=direct, text=HELLO)).get("ts"))
    return Place(channel, root, (direct, direct_root), user, team, str(own.get("user_id")))


@asynccontextmanager
async def emulated(rules: WorkspaceRules, *, is_http: bool = False) -> AsyncIterator[tuple[SlackPort, Place]]:
    """An emulated workspace on the running loop's virtual time, and a place in it.

    `is_http`: its events come by HTTP, else by Socket Mode.
    """
    clock = virtual_clock.new_clock()
    manifest = replace(EVERYTHING, scopes=EVERYTHING.scopes | {CUSTOMIZE})
    workspace = Workspace(rules=rules, manifest=manifest)
    workspace.add_channel(_CHANNEL).members.add(workspace.add_user(_USER).id)
    with tempfile.TemporaryDirectory() as folder:
        socket, bot = (str(Path(folder) / name) for name in ("slack", "bot"))
        url, to_bot = ("http://localhost/", _connector(bot)) if is_http else (None, None)
        async with (
            SlackServer(workspace, clock, host=socket, bot_url=url, bot_connector=to_bot) as server,
            aiohttp.ClientSession(connector=_connector(socket)) as http,
        ):
            client = AsyncWebClient(token=BOT_TOKEN, base_url=server.api_url, session=http, retry_handlers=[])
            hand = EmulatedHand(workspace, clock, _USER)
            slack = SlackPort(client, http, clock, app_token=APP_TOKEN, hand=hand)
            async with slack.listening(bot if is_http else None):
                yield slack, await open_place(slack, _CHANNEL, _USER)


def measure_trial(probes: Iterable[Probe]) -> tuple[int, float]:
    """How many calls `probes` make, and how many seconds they wait, on the emulated workspace."""

    async def run() -> tuple[int, float]:
        async with emulated(WorkspaceRules.real()) as (slack, place):
            began = slack.clock.wall()
            await make_trial(slack, place, list(probes), lambda result: None)
            await tidy(slack, place.bot_user)
            return slack.calls, slack.clock.wall() - began

    return virtual_clock.run(run())


def trial_of_emulator(
    probes: Iterable[Probe], rules: WorkspaceRules | None = None, tell: Tell = lambda result: None
) -> list[RuleResult]:
    """The results of an emulated workspace with `rules` (None: all of Slack's limits), at once."""

    async def run(some: list[Probe], *, is_http: bool) -> list[RuleResult]:
        if not some:
            return []
        async with emulated(rules or WorkspaceRules.real(), is_http=is_http) as (slack, place):
            return await make_trial(slack, place, some, tell)

    async def run_both() -> list[RuleResult]:
        chosen = list(probes)
        by_http = _needing(Need.HTTP, chosen)
        found = await run([each for each in chosen if each not in by_http], is_http=False)
        return [*found, *await run(by_http, is_http=True)]

    results = {each.rule.id: each for each in virtual_clock.run(run_both())}
    return [results[rule] for rule in CATALOGUE if rule in results]


def _connector(path: str) -> aiohttp.UnixConnector:
    return aiohttp.UnixConnector(path, force_close=True)
