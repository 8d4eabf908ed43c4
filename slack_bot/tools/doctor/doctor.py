"""The checks one after the other, as a table or as JSON."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from functools import partial

import aiohttp
from rich.console import Console

from ...app import FEATURES
from ...clock import Clock, system_clock
from ...errors import SettingsError
from ...manifest import Permission, Wants, wanted
from ...observe.findings import FILE, Diagnosis, DiagnosisState, ok, split, unknown, wrong_in_file
from ...settings.channels import ChannelPolicies
from ...settings.config_file import problems_of, read_agents, read_config
from ...settings.load import Settings, read
from ...settings.models import SlackSettings
from ...settings.names import SettingPath
from ...settings.slack_tokens import APP_TOKEN, BOT_TOKEN
from ...slack.api import new_web_client
from ...turn.people import PERSON_ID
from .other_checks import (
    MEND_FIRST,
    check_agents,
    check_feature,
    check_health,
    check_store,
    workspace_findings,
)
from .place_checks import check_places
from .probe import probe, probe_somewhere
from .rule_checks import check_rules
from .slack_checks import SlackApp, check_bot, check_events, check_http, check_socket, check_workspaces

_ALL = "see .env.example, which lists them all"
_NEEDED = {
    "slack": ("api_url", "bot_token", "bot_tokens", "app_token", "signing_secret"),
    "agent": ("url", "bearer_token", "header_name", "header_value", "allowed_hosts", "card_keys"),
    "store": ("url",),
    "health": ("host", "port"),
    **{feature.name: feature.check.needed for feature in FEATURES if feature.check is not None},
}
"""The settings without which a part cannot be looked at."""
_SIGNS = {
    DiagnosisState.OK: "[green]ok[/]",
    DiagnosisState.WARNING: "[yellow]warning[/]",
    DiagnosisState.FAILED: "[red]failed[/]",
    DiagnosisState.UNKNOWN: "[cyan]unknown[/]",
}


def main(args: argparse.Namespace) -> int:
    """Look at everything. 1 if something is found with which the bot cannot run. Raises SettingsError."""
    if args.probe is not None and not PERSON_ID.fullmatch(args.probe):
        raise SettingsError(
            f"--probe is {args.probe!r}; give a person's id (U...), as their profile shows it"
        )
    console = Console(file=sys.stdout, soft_wrap=True, highlight=False)
    found: list[Diagnosis] = []

    async def run() -> None:
        async for finding in findings(http=args.http, person=args.probe, clock=system_clock()):
            found.append(finding)
            if not args.json:
                _show(console, finding)

    asyncio.run(run())
    bad = sum(each.state is DiagnosisState.FAILED for each in found)
    if args.json:
        sys.stdout.write(json.dumps({"ok": not bad, "findings": [asdict(each) for each in found]}, indent=2))
        sys.stdout.write("\n")
    else:
        told = (
            f"not ready: {bad} failed. Mend that and run doctor again: it may find more then"
            if bad
            else "the bot can run"
        )
        console.print(f"\n{told}")
    return 1 if bad else 0


def _show(console: Console, finding: Diagnosis) -> None:
    console.print(f"{_SIGNS[finding.state]:<18} {finding.check}: ", end="")
    console.print(finding.text, markup=False)
    for line in filter(None, (finding.remedy, finding.page)):
        console.print(f"{'':9}-> {line}", markup=False)


async def findings(*, http: bool, person: str | None, clock: Clock) -> AsyncIterator[Diagnosis]:
    """All findings, as they are made. `person`: who gets a direct message with the probes."""
    try:
        settings, problems, unread = read(http=http)
    except SettingsError as error:  # a file that cannot be read at all: nothing is known
        for line in error.problems:
            yield split("settings", line, _ALL)
        return
    for line in problems:
        yield split("settings", line, _ALL)
    if not problems:
        yield ok("settings", "those of the environment are known, and in their limits")
    policies, of_file = _channels(settings)
    for each in [*of_file, *check_rules(settings)]:
        yield each
    app, slack = SlackApp(), _without_told(settings.slack)
    async with aiohttp.ClientSession() as session:
        app.has_agents, knows_people = _about_agents(settings)
        wants = Wants.by(policies.values, knows_people=knows_people, has_agents=app.has_agents)
        permissions = wanted(wants)
        skipped = set[str]()
        for section, checks in (
            ("slack", _slack(slack, permissions, session, clock, app, http=http, person=person)),
            ("slack", check_places(settings, policies, app, new_web_client(slack, session))),
            ("agent", check_agents(settings, clock)),
            ("store", check_store(settings, clock)),
            ("store", workspace_findings(app, settings, clock)),
            ("health", check_health(settings.health)),
            *((each.name, check_feature(each.name, each.check, settings)) for each in FEATURES if each.check),
        ):
            if _is_unread(section, unread):
                if section not in skipped:
                    text = "not looked at, as not all of its settings can be used"
                    yield unknown(section, text, MEND_FIRST)
                skipped.add(section)
                continue
            async for each in checks:
                yield each


def _is_unread(section: str, unread: set[SettingPath]) -> bool:
    inner = f"{section}__"
    return any((section, leaf) in unread for leaf in _NEEDED[section]) or any(
        path[0].startswith(inner) for path in unread
    )


def _without_told(slack: SlackSettings) -> SlackSettings:
    """The settings without the tokens that cannot be ones: the check of settings says so already."""
    told = {
        token.field: None
        for token in (BOT_TOKEN, APP_TOKEN)
        if (value := getattr(slack, token.field)) is not None and token.problem(value.get_secret_value())
    }
    return slack.model_copy(update=told)


async def _slack(
    slack: SlackSettings,
    permissions: tuple[Permission, ...],
    session: aiohttp.ClientSession,
    clock: Clock,
    app: SlackApp,
    *,
    http: bool,
    person: str | None,
) -> AsyncIterator[Diagnosis]:
    client = new_web_client(slack, session)
    checks = [check_http(slack) if http else check_socket(client, slack, session, app)]
    if slack.bot_token is not None:
        checks.append(check_bot(client, permissions, clock, app, is_signed=http))
        checks.append(check_events(client, slack, permissions, app))
    elif slack.bot_tokens is not None:
        checks.append(check_workspaces(slack, session, permissions, clock, app, is_signed=http))
        checks.append(check_events(client, slack, permissions, app))
    if person is not None:
        probing = probe(client, app, person, clock)
        checks.append(probing if slack.bot_tokens is None else probe_somewhere(app, person, clock))
    for each in checks:
        async for finding in each:
            yield finding


def _about_agents(settings: Settings) -> tuple[bool, bool]:
    """Whether there are several agents, and whether one of them gets tokens of people."""
    try:
        agents = read_agents(settings)
        return agents.are_listed, agents.knows_people
    except SettingsError:  # the check of agents says why
        return False, False


def _channels(settings: Settings) -> tuple[ChannelPolicies, list[Diagnosis]]:
    """What counts in channels, and what is wrong in the file, of all its tables."""
    file, found = settings.slack.config, list[Diagnosis]()
    if file is not None:
        try:
            problems: Sequence[str] = problems_of(settings)
        except SettingsError as error:
            problems = error.problems
        found = wrong_in_file(problems) or [ok(FILE, f"{file} is right")]
    try:
        return ChannelPolicies(settings.channel, partial(read_config, file)), found
    except SettingsError:
        return ChannelPolicies(settings.channel), found
