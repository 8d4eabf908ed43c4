"""`slack-bot manifest`: the manifest of the Slack app that fits the settings."""

import argparse
import json
import re
import sys
from functools import partial
from typing import Any

from rich.console import Console
from rich.table import Table

from ..agents.wire.auth import origin_of
from ..errors import SettingsError
from ..manifest import LONGEST_NAME, Permission, Wants, install_link, manifest_of, wanted
from ..settings.channels import ChannelPolicies
from ..settings.config_file import read_agents, read_config
from ..settings.load import Settings, load


def main(args: argparse.Namespace) -> int:
    """Print it, the link that makes an app of it, or why each scope is wanted. Raises SettingsError."""
    settings = load()
    permissions = permissions_for(settings)
    manifest = manifest_of(permissions, name=_name(args.app_name), public_url=_https(args.http))
    if args.why:
        table = Table("scope", "", "events", "without it", box=None, pad_edge=False)
        for each in permissions:
            need = "optional" if each.is_optional else "needed"
            table.add_row(each.scope, need, "\n".join(each.events), each.lost)
        Console(file=sys.stdout).print(table)
    elif args.link:
        sys.stdout.write(f"{install_link(manifest)}\n")
    else:
        sys.stdout.write(json.dumps(manifest, indent=2) + "\n")
    return 0


def permissions_for(settings: Settings, *, has_agents: bool = False) -> tuple[Permission, ...]:
    """What the settings want of Slack. Raises SettingsError.

    `has_agents`: also what several agents want, one of which knows people.
    """
    policies = ChannelPolicies(settings.channel, partial(read_config, settings.slack.config))
    agents = read_agents(settings)
    return wanted(
        Wants.by(
            policies.values,
            knows_people=has_agents or agents.knows_people,
            has_agents=has_agents or agents.are_listed,
        )
    )


def manifest_for(settings: Settings, *, has_agents: bool = False) -> dict[str, Any]:
    """The manifest of the app that fits the settings; as of `permissions_for`. Raises SettingsError."""
    return manifest_of(permissions_for(settings, has_agents=has_agents))


def _name(word: str) -> str:
    if len(word) > LONGEST_NAME or not re.fullmatch(r"[\w.-]+", word):
        raise SettingsError(
            f"--name is {word!r}; give at most {LONGEST_NAME} letters, digits, '-', '_' or '.':"
            " the bot's mention is made of it"
        )
    return word


def _https(word: str | None) -> str | None:
    if word is not None and (origin_of(word) is None or not word.lower().startswith("https:")):
        raise SettingsError(f"--http is {word!r}; give the https address at which Slack reaches the bot")
    return word
