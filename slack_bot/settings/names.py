"""PURE. The names of settings, and which known name one is most like."""

import difflib
from collections.abc import Iterable
from typing import TypeAlias

SettingPath: TypeAlias = tuple[str, str]
"""Section and name."""
PREFIX = "SLACK_BOT_"


def env_name(path: SettingPath) -> str:
    """The variable of a setting."""
    return f"{PREFIX}{path[0]}__{path[1]}".upper()


def dotted(path: SettingPath) -> str:
    """The name of a setting outside of the environment: `agent.client.scope`."""
    return ".".join(path).replace("__", ".")


def nearest(name: str, known: Iterable[str], cutoff: float = 0.75) -> str | None:
    """The one of `known` that is most like `name`, if one is near enough (1: the same)."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)), None)
