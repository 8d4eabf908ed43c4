"""What only a workspace can tell, tried in a direct message to a named person, and deleted again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from ...clock import Clock
from ...observe.findings import Diagnosis, failed, ok, unknown, warning
from ...slack.features import FeatureFinding, WorkspaceFeature
from ...slack.look import CUSTOMIZE
from ...slack.readback import draws_tables
from .slack_checks import SlackApp

_HELLO = "I am checking what this workspace offers me. The messages below are gone in a moment."
_NAME = "Name of an agent"
_TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n"


class _Refused(Exception):
    """`str()` is Slack's error."""


async def probe(client: AsyncWebClient, app: SlackApp, person: str, clock: Clock) -> AsyncIterator[Diagnosis]:
    """Streams, tables and names in them, agent sessions and files."""
    if not app.user_id:  # nobody is signed in
        return
    try:
        opened = await _call(client, "conversations.open", users=person)
        channel = str((opened.get("channel") or {}).get("id"))
        root = str((await _call(client, "chat.postMessage", channel=channel, text=_HELLO)).get("ts"))
    except _Refused as error:
        remedy = (
            "give the id of a person in this workspace (U...), and see the scopes im:write and chat:write"
        )
        yield failed("probe", f"{person} cannot be written to ({error})", remedy)
        return
    try:
        place, now = (channel, root), clock.wall()
        async for finding in _streams(client, app, person, place, now):
            yield finding
        if app.has_agents:
            yield await _names(client, app, person, place, now)
        yield await _session(client, app, place, now)
        yield await _file(client, app, now)
    finally:
        await _delete(client, channel, root)


async def probe_somewhere(app: SlackApp, person: str, clock: Clock) -> AsyncIterator[Diagnosis]:
    """`probe` in that of several workspaces which knows the person as its own."""
    for team, client in app.clients.items():
        with suppress(_Refused):
            user = (await _call(client, "users.info", user=person)).get("user")
            if isinstance(user, Mapping) and user.get("team_id") == team:
                app.team_id, app.user_id = team, person
                async for finding in probe(client, app, person, clock):
                    yield finding
                return
    yield failed("probe", f"{person} is in none of the workspaces", "give the id of a person in one (U...)")


async def _streams(
    client: AsyncWebClient, app: SlackApp, person: str, at: tuple[str, str], now: float
) -> AsyncIterator[Diagnosis]:
    channel, root = at
    place = {"channel": channel, "thread_ts": root}
    to = {"recipient_user_id": person, "recipient_team_id": app.team_id}
    try:
        chunk = [{"type": "markdown_text", "text": _TABLE}]
        ts = str((await _call(client, "chat.startStream", **place, **to, chunks=chunk)).get("ts"))
        await _call(client, "chat.stopStream", channel=channel, ts=ts)
    except _Refused as error:
        _note(app, WorkspaceFeature.STREAMS, FeatureFinding.refused(str(error), now))
        text = f"Slack refuses streams here ({error}): answers are messages that are edited as they grow"
        yield warning("streams", text, "declare the app as an agent, as in the manifest (agent_view)")
        return
    _note(app, WorkspaceFeature.STREAMS, FeatureFinding(True, now))
    yield ok("streams", "answers can be written live")
    try:
        thread = await _call(client, "conversations.replies", channel=channel, ts=root, limit=10)
    except _Refused as error:
        yield warning("tables", f"the stream cannot be read back ({error})", "add the scope im:history")
    else:
        shown: Mapping[str, Any] = next(
            (each for each in thread.get("messages") or () if each.get("ts") == ts), {}
        )
        is_drawn = draws_tables(shown, _TABLE)
        if is_drawn is None:
            yield unknown("tables", "what was streamed cannot be read back")
        else:
            _note(app, WorkspaceFeature.TABLES, FeatureFinding(is_drawn, now))
            words = "drawn in streams" if is_drawn else "not drawn in streams: sent whole, as blocks"
            yield ok("tables", words)
    await _delete(client, channel, ts)


async def _names(
    client: AsyncWebClient, app: SlackApp, person: str, at: tuple[str, str], now: float
) -> Diagnosis:
    """Whether a stream stands under a name of its own."""
    channel, root = at
    place = {"channel": channel, "thread_ts": root}
    to = {"recipient_user_id": person, "recipient_team_id": app.team_id}
    below = "the agent's name is below its answers"
    try:
        chunk = [{"type": "markdown_text", "text": _NAME}]
        started = await _call(client, "chat.startStream", **place, **to, chunks=chunk, username=_NAME)
        ts = str(started.get("ts"))
        await _call(client, "chat.stopStream", channel=channel, ts=ts)
        thread = await _call(client, "conversations.replies", channel=channel, ts=root, limit=10)
    except _Refused as error:
        _note(app, WorkspaceFeature.NAMES, FeatureFinding.refused(str(error), now))
        return warning("names", f"Slack refuses them ({error}): {below}", f"add the scope {CUSTOMIZE}")
    await _delete(client, channel, ts)
    is_shown = any(each.get("username") == _NAME for each in thread.get("messages") or ())
    _note(app, WorkspaceFeature.NAMES, FeatureFinding(is_shown, now))
    words = "answers stand under the name of their agent"
    return ok("names", words if is_shown else f"streams do not show them: {below}")


async def _session(client: AsyncWebClient, app: SlackApp, at: tuple[str, str], now: float) -> Diagnosis:
    try:
        place = {"channel_id": at[0], "thread_ts": at[1]}
        await _call(client, "agents.sessions.setStatus", **place, status="active")
    except _Refused as error:
        _note(app, WorkspaceFeature.SESSIONS, FeatureFinding.refused(str(error), now))
        text = f"there are none ({error}): no Stop of Slack's own, no state of a conversation"
        return warning("agent sessions", text, "declare the app as an agent, as in the manifest (agent_view)")
    _note(app, WorkspaceFeature.SESSIONS, FeatureFinding(True, now))
    return ok("agent sessions", "Slack shows the state of a conversation, and its own Stop")


async def _file(client: AsyncWebClient, app: SlackApp, now: float) -> Diagnosis:
    """An upload is begun and not completed: nobody sees it."""
    try:
        await _call(client, "files.getUploadURLExternal", filename="probe.txt", length=1)
    except _Refused as error:
        _note(app, WorkspaceFeature.FILES, FeatureFinding.refused(str(error), now))
        return warning("files", f"Slack refuses uploads ({error})", "add the scope files:write")
    _note(app, WorkspaceFeature.FILES, FeatureFinding(True, now))
    return ok("files", "long answers can come as a file")


def _note(app: SlackApp, feature: WorkspaceFeature, finding: FeatureFinding | None) -> None:
    if finding is not None:
        app.found[feature] = finding


async def _delete(client: AsyncWebClient, channel: str, ts: str) -> None:
    with suppress(_Refused):  # it stays then, and says what it is
        await _call(client, "chat.delete", channel=channel, ts=ts)


async def _call(client: AsyncWebClient, method: str, **args: Any) -> Mapping[str, Any]:
    is_read = method in ("conversations.replies", "files.getUploadURLExternal", "users.info")
    try:
        given = (args, None) if is_read else (None, args)
        answer = await client.api_call(method, params=given[0], json=given[1])
    except SlackApiError as error:
        body = getattr(error.response, "data", None)
        raise _Refused(str(body.get("error")) if isinstance(body, dict) else "no answer") from error
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise _Refused("no answer") from error
    return answer.data if isinstance(answer.data, dict) else {}
