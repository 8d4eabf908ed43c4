"""`slack-bot config`: checks the file of channels and agents, and shows which settings count where."""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from ..agents.wire.card import check_card_keys
from ..agents.wire.person_signer import signing_keys
from ..clock import system_clock
from ..errors import SettingsError
from ..features.settings_view.view import value_text
from ..inbound.access import Access, Operators
from ..inbound.authorizer import call_or_raise
from ..inbound.read import Asker
from ..inbound.token_results import sign_in
from ..installing import is_installed
from ..settings.agents import AgentTable
from ..settings.channels import ALL, DIRECT, ChannelPolicies, ChannelTables
from ..settings.config_file import check_file, read_agents, read_api, read_config, read_schedules
from ..settings.load import Settings, load, read
from ..settings.models import SlackSettings
from ..settings.teams import tokens_in
from ..slack.api import new_web_client
from ..testing.overrides import with_overrides
from ..text.home_words import SETTINGS_DEFAULT
from ..turn.people import Organisation
from ..turn.record import Question, ThreadKey, is_direct
from .files import check_readable
from .tables import plain_table


def main(args: argparse.Namespace) -> int:
    """Run the verb. Raises SettingsError and SlackError."""
    if args.what == "check":
        return _check(args.file)
    settings = load()
    if args.file is not None:
        check_readable(args.file)
        settings = with_overrides(settings, {"config": args.file})
    return asyncio.run(_show(settings, (args.channel or "", args.team or ""), args.user, as_json=args.json))


def _check(file: str) -> int:
    check_readable(file)
    settings, problems, _ = read()
    of_file = with_overrides(settings, {"config": file})
    if problems := [*problems, *_in_files(of_file)]:
        raise SettingsError("\n".join(problems))
    channels = read_config(file)
    tables = [f"[{_path_of(name)}]" for name, own in channels.items() if own]
    agents, schedules = read_agents(of_file), read_schedules(of_file)
    table = read_api(of_file)
    if agents.are_listed:
        tables.append(f"agents: {', '.join(agents.entries)}; {agents.default} is asked if none is named")
    for what, names in (("keys", table.keys), ("hooks", table.hooks)):
        if names:
            tables.append(f"{what}: {', '.join(names)}")
    if schedules:
        tables.append(f"schedules: {', '.join(schedules)}")
    sys.stdout.write(f"{file} is right: {', '.join(tables) or 'it changes nothing'}\n")
    policies = ChannelPolicies(of_file.channel, lambda: channels)
    sys.stdout.writelines(f"{line}\n" for line in _without_effect(channels, policies))
    if (keys := settings.agent.card_keys) is not None:
        sys.stdout.write(f"{keys} is right: it holds public keys for the agent's card\n")
    return 0


def _in_files(settings: Settings) -> Iterator[str]:
    """What is wrong in the file of channels and agents, and in the files of keys."""
    checks: list[Callable[[], object]] = [partial(check_file, settings)]
    if is_installed("joserfc"):  # else the check of the settings says so
        if settings.agent.card_keys is not None:
            checks.append(partial(check_card_keys, settings.agent.card_keys))
        if _knows_people(settings):
            checks.append(partial(signing_keys, settings.identity))
    for check in checks:
        try:
            check()
        except SettingsError as error:
            yield from error.problems


def _knows_people(settings: Settings) -> bool:
    try:
        return read_agents(settings).knows_people
    except SettingsError:  # the check of the file says why
        return bool(settings.identity.keys)


def _path_of(name: str) -> str:
    """What a table is called in the file."""
    kind = "teams" if name.startswith("T") else "channels"
    return "channel" if name == ALL else f"{kind}.{name}"


def _without_effect(channels: ChannelTables, policies: ChannelPolicies) -> Iterator[str]:
    """A line for each table with settings that count only where each message is a question."""
    for name, own in channels.items():
        set_there = [each for each in ("match", "ask") if own.get(each)]
        responds = {policies.of(name).respond}
        if name == ALL or name in policies.teams:
            responds = policies.values("respond")
        if set_there and "channel" not in responds:
            yield (
                f"{_path_of(name)}: without effect: {', '.join(set_there)}; this counts where respond is"
                f" channel, and it is {', '.join(sorted(responds))}"
            )


async def _show(settings: Settings, place: tuple[str, str], user: str | None, *, as_json: bool) -> int:
    """`place`: the channel and its workspace, "" if that is not said."""
    channel, team = place
    policies = ChannelPolicies(settings.channel, partial(read_config, settings.slack.config))
    agents = read_agents(settings)
    if user is not None and not channel:
        raise SettingsError("--user needs CHANNEL: give the id of the channel (C...), or dm")
    rights = None if user is None else await _rights(settings, policies, agents, place, user)
    effective = policies.effective(channel, team)
    tables = {} if channel else _tables(settings, policies, agents)
    if as_json:
        values = {each.name: {"value": each.value, "source": each.source} for each in effective}
        found = {"channel": channel, "settings": values, "agent": _default_agent(policies, agents, place)}
        found |= tables
        sys.stdout.write(json.dumps(found | ({} if rights is None else {"user": rights})) + "\n")
        return 0
    rows = [(each.name, value_text(each.value), each.source or SETTINGS_DEFAULT) for each in effective]
    lines = [*plain_table(("setting", "value", "from"), rows), ""]
    lines.append(f"asked if no agent is named: {_default_agent(policies, agents, place)}")
    if of_file := [f"{what} {', '.join(names)}" for what, names in tables.items() if names]:
        lines.append(f"the file has tables of: {'; '.join(of_file)}")
    sys.stdout.write("\n".join([*lines, *([] if rights is None else _said(rights))]) + "\n")
    return 0


def _tables(settings: Settings, policies: ChannelPolicies, agents: AgentTable) -> dict[str, list[str]]:
    """What else the file speaks of, by kind. Raises SettingsError."""
    api = read_api(settings)
    return {
        "channels": [*([DIRECT] if policies.has_direct else []), *policies.channels],
        "workspaces": policies.teams,
        "agents": list(agents.entries) if agents.are_listed else [],
        "schedules": list(read_schedules(settings)),
        "keys": list(api.keys),
        "webhooks": list(api.hooks),
    }


def _default_agent(policies: ChannelPolicies, agents: AgentTable, place: tuple[str, str]) -> str:
    channel, team = place
    return policies.of("D" if channel == DIRECT else channel, team).agent or agents.default


def _said(rights: Mapping[str, Any]) -> Iterator[str]:
    user = rights["id"]
    if rights["refused"]:
        yield f"{user} may not ask here: {rights['refused']}"
    else:
        yield f"{user} may ask here; these agents: {', '.join(rights['agents']) or 'none of them'}"
    if rights["is_operator"]:
        yield f"{user} is an operator"


async def _rights(
    settings: Settings, policies: ChannelPolicies, agents: AgentTable, where: tuple[str, str], user: str
) -> dict[str, Any]:
    """What `user` may do `where` (a channel and its workspace), by the same rules as the bot."""
    channel, team = where
    if settings.slack.bot_token is None and settings.slack.bot_tokens is None:
        raise SettingsError("--user asks Slack who this person is: set SLACK_BOT_TOKEN, or leave --user out")
    async with aiohttp.ClientSession() as session:
        client = new_web_client(settings.slack, session)
        if settings.slack.bot_tokens is not None:
            client = await _client_in(settings.slack, session, team)
        me = await call_or_raise(client, "auth.test", setting="SLACK_BOT_TOKEN")
        people = _SlackPeople(client)
        ours = Organisation(str(me.get("team_id") or ""), str(me.get("enterprise_id") or ""))
        place = "D0" if channel == DIRECT else channel
        question = Question(ThreadKey(ours.team, place, "0.0"), "0.0", user, ours.team, "")
        access = Access(policies, lambda _: people, system_clock())
        refusal = await access.refusal(question, Asker(user, frozenset({user}), frozenset()), ours)
        allowed = policies.of(place, ours.team).agents if not is_direct(place) else ()
        listed = [
            name
            for name, entry in agents.entries.items()
            if (not allowed or name in allowed)
            and (
                not entry.is_for_some
                or await Operators((*entry.people, *entry.groups), lambda _: people).has(user, ours.team)
            )
        ]
        operators = Operators(settings.slack.operators, lambda _: people)
        return {
            "id": user,
            "refused": "" if refusal is None else refusal.reason,
            "agents": listed,
            "is_operator": await operators.has(user, ours.team),
        }


async def _client_in(settings: SlackSettings, session: aiohttp.ClientSession, team: str) -> AsyncWebClient:
    """The one of several tokens that is of the workspace `team`. Raises SettingsError."""
    tokens = enumerate(tokens_in(settings.bot_tokens), start=1)
    results = await sign_in(
        [(number, new_web_client(settings, session, each)) for number, each in tokens], ""
    )
    clients = {each.team: each.client for each in results if each.identity is not None}
    if not team and len(clients) == 1:
        return next(iter(clients.values()))
    if team not in clients:
        known = ", ".join(sorted(clients)) or "none"
        raise SettingsError(f"--user needs --team, a workspace of which there is a token that works: {known}")
    return clients[team]


class _SlackPeople:
    """Reads people of Slack, once each: the command ends soon."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client

    async def user(self, user: str) -> Mapping[str, Any] | None:
        found = await self._read("users.info", {"user": user})
        return None if found is None else found.get("user")

    async def members(self, group: str) -> frozenset[str] | None:
        found = await self._read("usergroups.users.list", {"usergroup": group})
        return None if found is None else frozenset(map(str, found.get("users") or ()))

    async def _read(self, method: str, args: Mapping[str, str]) -> Mapping[str, Any] | None:
        try:
            answer = await self._client.api_call(method, http_verb="GET", params=dict(args))
        except (SlackApiError, aiohttp.ClientError, TimeoutError, OSError):
            return None
        return answer.data if isinstance(answer.data, Mapping) else None
