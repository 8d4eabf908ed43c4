"""Slack's side: tokens, scopes, event subscriptions, connections, clock, signing secret."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from ...clock import Clock
from ...errors import SlackError
from ...inbound.authorizer import call_or_raise
from ...inbound.token_results import app_of, sign_in
from ...manifest import Permission, manifest_of
from ...observe.findings import Diagnosis, DiagnosisState, failed, ok, split, unknown, warning
from ...settings.models import SlackSettings
from ...settings.teams import tokens_in
from ...slack.api import new_web_client
from ...slack.features import FeatureFinding, WorkspaceFeature
from ...testing.slack.workspace import SIGNING_SECRET

_HELLO = 10.0  # seconds
_SKEW = 60.0  # seconds; Slack's signatures are good for 300
_MOST_CONNECTIONS = 10
_SECRET = re.compile(r"[0-9a-f]{32}\Z")
_FEWER = "end other processes of this app, or set SLACK_BOT_SLACK__SOCKET_CONNECTIONS to 1"
_APPS = "https://api.slack.com/apps"


@dataclass(slots=True)
class SlackApp:
    """What is known of the app: its id, once a connection named it, and who its bot is. `found`: what a
    probe showed of its workspace. `has_agents`: its bot has several. `clients`: of several
    tokens, by workspace.
    """

    app_id: str = ""
    team_id: str = ""
    user_id: str = ""
    has_agents: bool = False
    clients: dict[str, AsyncWebClient] = field(default_factory=dict)
    found: dict[WorkspaceFeature, FeatureFinding] = field(default_factory=dict)

    def page(self, name: str) -> str:
        """The address of a page of the app's settings."""
        return f"{_APPS}/{self.app_id}/{name}" if self.app_id else _APPS


async def check_socket(
    client: AsyncWebClient, settings: SlackSettings, session: aiohttp.ClientSession, app: SlackApp
) -> AsyncIterator[Diagnosis]:
    """The app-level token, by a connection that is closed after Slack's hello."""
    if settings.app_token is None:
        return
    try:
        answer = await call_or_raise(
            client,
            "apps.connections.open",
            setting="SLACK_APP_TOKEN",
            token=settings.app_token.get_secret_value(),
        )
    except SlackError as error:
        yield split("app token", str(error))
        return
    try:
        opening = session.ws_connect(str(answer.get("url")), proxy=client.proxy)
        async with asyncio.timeout(_HELLO), opening as socket:
            said = json.loads((await socket.receive()).data or "{}")
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError, TypeError):
        yield failed(
            "app token",
            "Slack takes it, but its socket server cannot be reached",
            "let the process open web sockets (wss) to Slack, or use run --http",
        )
        return
    app.app_id = str((said.get("connection_info") or {}).get("app_id") or "")
    if said.get("type") != "hello":
        yield _refused(str(said.get("reason")), app)
        return
    yield ok("app token", f"Slack takes it, for the app {app.app_id}")
    yield _connections(int(said.get("num_connections") or 1) - 1, settings.socket_connections)


def _refused(reason: str, app: SlackApp) -> Diagnosis:
    if reason == "link_disabled":
        text = f"Socket Mode is off in the app's settings ({reason}): no event reaches the bot"
        remedy = "switch it on, or start the bot with run --http"
        return failed("connections", text, remedy, app.page("socket-mode"))
    text = f"Slack refuses one more ({reason}); an app may have {_MOST_CONNECTIONS}"
    return failed("connections", text, _FEWER)


def _connections(others: int, ours: int) -> Diagnosis:
    """`ours`: of a process, which opens as many again while it renews them."""
    if _MOST_CONNECTIONS - others < 2 * ours:
        text = f"{others} of {_MOST_CONNECTIONS} are in use, and a process needs {2 * ours} for moments"
        return warning("connections", text, _FEWER)
    return ok("connections", f"{others} of {_MOST_CONNECTIONS} are in use")


async def check_bot(
    client: AsyncWebClient,
    permissions: tuple[Permission, ...],
    clock: Clock,
    app: SlackApp,
    *,
    is_signed: bool,
) -> AsyncIterator[Diagnosis]:
    """The bot token, its scopes, and the clock. `is_signed`: events come as signed requests (HTTP)."""
    try:
        answer = await call_or_raise(client, "auth.test", setting="SLACK_BOT_TOKEN")
    except SlackError as error:
        yield split("bot token", str(error))
        return
    app.team_id, app.user_id = str(answer.get("team_id") or ""), str(answer.get("user_id") or "")
    yield ok("bot token", f"signed in as {answer.get('user')} in {answer.get('team')}")
    named = answer.headers.get("x-oauth-scopes")
    granted = None if named is None else named.split(",")
    lacking = _lacking("scopes", granted, permissions, app)
    for finding in lacking or [ok("scopes", f"all {len(permissions)} are granted")]:
        yield finding
    yield _clock(answer, clock, is_signed=is_signed)


def _lacking(
    check: str, named: Sequence[str] | None, permissions: tuple[Permission, ...], app: SlackApp
) -> list[Diagnosis]:
    """What the scopes that Slack names lack."""
    if named is None:
        return [unknown(check, "Slack does not name the token's scopes")]
    granted = {each.strip() for each in named}
    return [
        (warning if each.is_optional else failed)(
            check,
            f"{each.scope} is missing: {each.lost}",
            "add it there and install the app again",
            app.page("oauth"),
        )
        for each in permissions
        if each.scope not in granted
    ]


async def check_workspaces(
    settings: SlackSettings,
    session: aiohttp.ClientSession,
    permissions: tuple[Permission, ...],
    clock: Clock,
    app: SlackApp,
    *,
    is_signed: bool,
) -> AsyncIterator[Diagnosis]:
    """Each of several bot tokens: its workspace and its scopes. One that does not work stops no other."""
    tokens = tokens_in(settings.bot_tokens)
    clients = [(number, new_web_client(settings, session, each)) for number, each in enumerate(tokens, 1)]
    app_token = settings.app_token.get_secret_value() if settings.app_token else ""
    results = await sign_in(clients, app.app_id or app_of(app_token))
    works = [each for each in results if each.identity is not None]
    for each in results:
        check = f"workspace {each.team}" if each.team else f"token {each.number}"
        if each.identity is None:
            refused = split(check, each.problem)
            yield replace(refused, state=DiagnosisState.WARNING) if works else refused
        elif lacking := _lacking(check, each.identity.bot_scopes, permissions, app):
            for finding in lacking:
                yield finding
        else:
            who = f"signed in as {each.identity.user} in {each.identity.team} by token {each.number}"
            yield ok(check, f"{who}; all {len(permissions)} scopes are granted")
    app.clients |= {each.team: each.client for each in works}
    if works:
        yield _clock(await works[0].client.auth_test(), clock, is_signed=is_signed)


def _clock(answer: AsyncSlackResponse, clock: Clock, *, is_signed: bool) -> Diagnosis:
    try:
        theirs = parsedate_to_datetime(str(answer.headers.get("Date"))).timestamp()
    except ValueError:
        return unknown("clock", "Slack's answer has no date to compare with")
    late = clock.wall() - theirs
    if abs(late) < _SKEW:
        return ok("clock", f"within {_SKEW:.0f} s of Slack's")
    way = "ahead of" if late > 0 else "behind"
    text = f"this machine's is {abs(late):.0f} s {way} Slack's"
    remedy = "let the machine keep its time by NTP"
    if is_signed:  # https://docs.slack.dev/authentication/verifying-requests-from-slack
        return failed("clock", f"{text}, whose signed requests are good for 300 s", remedy)
    return warning("clock", f"{text}: what is kept for a time is kept too long or too short", remedy)


async def check_events(
    client: AsyncWebClient, settings: SlackSettings, permissions: tuple[Permission, ...], app: SlackApp
) -> AsyncIterator[Diagnosis]:
    """What the app subscribes to, by its manifest, which only a configuration token may read."""
    by_hand = "compare Event Subscriptions with slack-bot manifest"
    token, page = settings.config_token, app.page("event-subscriptions")
    if token is None:
        remedy = f"{by_hand}, or set SLACK_BOT_SLACK__CONFIG_TOKEN"
        yield unknown("events", "a bot token cannot see what the app subscribes to", remedy, page)
        return
    if not app.app_id:
        yield unknown("events", "only a connection of Socket Mode tells the app's id", by_hand, page)
        return
    try:
        answer = await client.api_call(
            "apps.manifest.export",
            params={"app_id": app.app_id},
            headers={"Authorization": f"Bearer {token.get_secret_value()}"},
        )
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        problem = f"Slack did not answer the configuration token ({type(error).__name__})"
        yield unknown("events", problem, f"look again, or {by_hand}", page)
        return
    except SlackApiError as error:
        why = error.response.get("error") if isinstance(error.response, AsyncSlackResponse) else "no answer"
        remedy = f"make a new one at {_APPS} (it lives 12 hours), or {by_hand}"
        yield unknown("events", f"Slack refuses the configuration token ({why})", remedy, _APPS)
        return
    for finding in _compared(answer.get("manifest") or {}, manifest_of(permissions), app):
        yield finding


def _compared(theirs: Mapping[str, Any], ours: Mapping[str, Any], app: SlackApp) -> list[Diagnosis]:
    has, wants = theirs.get("settings") or {}, ours["settings"]
    events = set((has.get("event_subscriptions") or {}).get("bot_events") or ())
    lacking = [each for each in wants["event_subscriptions"]["bot_events"] if each not in events]
    found: list[Diagnosis] = []
    if lacking:
        page = app.page("event-subscriptions")
        text = f"the app does not subscribe to {', '.join(lacking)}"
        found.append(failed("events", text, "add it there under bot events", page))
    if not (has.get("interactivity") or {}).get("is_enabled"):
        page = app.page("interactive-messages")
        found.append(failed("events", "Interactivity is off: no button works", "switch it on", page))
    return found or [ok("events", "the app subscribes to all that the bot wants")]


async def check_http(settings: SlackSettings) -> AsyncIterator[Diagnosis]:
    """HTTP mode: the signing secret. That it is the right one shows with Slack's first request."""
    if settings.signing_secret is None:
        return
    secret = settings.signing_secret.get_secret_value()
    if _SECRET.match(secret):
        yield ok("signing secret", "it has the form of one; Slack's first request shows whether it is right")
    elif secret == SIGNING_SECRET and settings.api_url != SlackSettings().api_url:
        yield ok("signing secret", "it is that of the emulated workspace")
    else:
        text = "SLACK_SIGNING_SECRET is not 32 hexadecimal digits, as Slack's are"
        yield warning("signing secret", text, "copy it again from Basic Information", _APPS)
