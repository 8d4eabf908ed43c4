"""Slack's side of the settings: whether the channels and people that they name are there, for the bot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from ...errors import SettingsError, SlackError
from ...inbound.authorizer import call_or_raise
from ...observe.findings import Diagnosis, ok, unknown, warning
from ...settings.api_access import ANYWHERE, HookEntry
from ...settings.channels import DIRECT, PAIRS, ChannelPolicies
from ...settings.config_file import read_api, read_schedules
from ...settings.load import Settings
from ...settings.places import is_person
from ...settings.schedules import ScheduleEntry
from ...turn.json_values import object_of
from .slack_checks import SlackApp

_CHECK = "places"
_MOST = 40  # Slack answers about 50 such questions a minute
_LACKS_SCOPE = "missing_scope"
"""The check of scopes has named it."""
_NOT_THERE = frozenset({"channel_not_found", "user_not_found", "user_not_visible"})


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A channel or a person that the settings name. `team`: its workspace; "": not said."""

    id: str
    team: str = ""


async def check_places(
    settings: Settings, policies: ChannelPolicies, app: SlackApp, client: AsyncWebClient
) -> AsyncIterator[Diagnosis]:
    """Ask Slack for each place once. `client`: of the one token, where there are not several."""
    named = _named(settings, policies)
    clients = app.clients or ({app.team_id: client} if app.team_id else {})
    if not named or not clients:
        return
    wrong = 0
    for place, names in list(named.items())[:_MOST]:
        finding = await _look(place, ", ".join(names), clients)
        if finding is not None:
            wrong += 1
            yield finding
    if len(named) > _MOST:
        text = f"only {_MOST} of {len(named)} channels and people that the settings name were looked at"
        yield unknown(_CHECK, text)
    elif not wrong:
        text = f"the bot sees all channels and people that the settings name ({len(named)})"
        yield ok(_CHECK, text)


async def _look(
    place: NamedPlace, settings_of: str, clients: Mapping[str, AsyncWebClient]
) -> Diagnosis | None:
    """What is wrong with a place; None: nothing, or it cannot be seen for a reason that is said elsewhere."""
    if place.team and place.team not in clients:
        text = f"{settings_of}: {place.id} is in the workspace {place.team}, of which no token works"
        return warning(_CHECK, text, "name another workspace as team, or set its token")
    asked = [clients[place.team]] if place.team else list(clients.values())
    error = ""
    for client in asked:  # which workspace a table is of is not said: the first that has it
        try:
            found = await _described(place.id, client)
        except SlackError as refused:
            error = refused.error or str(refused)
            continue
        return _wrong(place.id, settings_of, found)
    if error == _LACKS_SCOPE:
        return None
    if error not in _NOT_THERE:
        text = f"{settings_of}: Slack does not say what {place.id} is ({error})"
        return unknown(_CHECK, text, "look again in a minute")
    if is_person(place.id):
        text = f"{settings_of}: Slack knows nobody with the id {place.id}"
        return warning(_CHECK, text, 'correct the id: in the profile, under "Copy member ID"')
    text = f"{settings_of}: there is no channel {place.id}, or it is a private one that the bot is not in"
    return warning(
        _CHECK, text, "correct the id, which is at the end of its details in Slack, or invite the bot"
    )


async def _described(place: str, client: AsyncWebClient) -> Mapping[str, Any]:
    """What Slack says of it. Raises SlackError."""
    if is_person(place):
        answer = await call_or_raise(client, "users.info", setting="the id", params={"user": place})
        return object_of(answer.get("user"))
    answer = await call_or_raise(client, "conversations.info", setting="the id", params={"channel": place})
    return object_of(answer.get("channel"))


def _wrong(place: str, settings_of: str, found: Mapping[str, Any]) -> Diagnosis | None:
    name = f"{place} (#{found['name']})" if found.get("name") and not is_person(place) else place
    if found.get("deleted"):
        text = f"{settings_of}: the account of {name} is deactivated"
        return warning(_CHECK, text, "name somebody else")
    if found.get("is_archived"):
        text = f"{settings_of}: the channel {name} is archived, and nothing can be written there"
        return warning(_CHECK, text, "unarchive it in Slack, or name another one")
    if found.get("is_member") is False:
        text = (
            f"{settings_of}: the bot is not in the channel {name}: it hears nothing there, and writes nothing"
        )
        return warning(_CHECK, text, "invite it there with /invite")
    return None


def _named(settings: Settings, policies: ChannelPolicies) -> Mapping[NamedPlace, list[str]]:
    """The places, and the settings that name each."""
    found = defaultdict[NamedPlace, list[str]](list)
    for setting, place, team in _all_of(settings, policies):
        found[NamedPlace(place, team or "")].append(setting)
    return found


def _all_of(settings: Settings, policies: ChannelPolicies) -> Iterator[tuple[str, str, str | None]]:
    """Each setting that names a place, the place, and its workspace."""
    for channel in policies.channels:
        yield f"channels.{channel}", channel, None
    for channel in (DIRECT, *policies.channels):
        own = policies.of("D" if channel == DIRECT else channel)
        for leaf in sorted(PAIRS):
            yield from ((f"channels.{channel}.{leaf}", each, None) for each in getattr(own, leaf))
    yield from _of_speakers(settings)


def _of_speakers(settings: Settings) -> Iterator[tuple[str, str, str | None]]:
    """Where schedules, webhooks and programs speak."""
    try:
        schedules, api = read_schedules(settings), read_api(settings)
    except SettingsError:
        return  # the check of the file says why
    entries: list[tuple[str, ScheduleEntry | HookEntry]] = [
        *((f"schedules.{name}", entry) for name, entry in schedules.items()),
        *((f"hooks.{name}", entry) for name, entry in api.hooks.items()),
    ]
    for path, entry in entries:
        places = ((leaf, getattr(entry, leaf, None)) for leaf in ("channel", "user", "on_failure"))
        yield from ((f"{path}.{leaf}", place, entry.team) for leaf, place in places if place is not None)
    for name, key in api.keys.items():
        team = key.teams[0] if len(key.teams) == 1 else None
        yield from ((f"keys.{name}.channels", each, team) for each in key.channels if each != ANYWHERE)
