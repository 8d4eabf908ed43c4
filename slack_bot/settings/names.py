"""PURE. The names of settings, and how to find the name that was probably meant."""

import difflib
from collections.abc import Iterable
from typing import TypeAlias

SettingPath: TypeAlias = tuple[str, str]
"""The section and the name of a setting."""
PREFIX = "SLACK_BOT_"


def env_name(path: SettingPath) -> str:
    """The environment variable of a setting."""
    return f"{PREFIX}{path[0]}__{path[1]}".upper()


def dotted(path: SettingPath) -> str:
    """The name of a setting outside of the environment: `agent.client.scope`."""
    return ".".join(path).replace("__", ".")


def nearest(name: str, candidates: Iterable[str], cutoff: float = 0.75) -> str | None:
    """The one of `candidates` that is most similar to `name`, or None.

    `cutoff`: the least similarity (1: the same).
    """
    return next(iter(difflib.get_close_matches(name, list(candidates), n=1, cutoff=cutoff)), None)
