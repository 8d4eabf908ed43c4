"""Keeps what was seen in a private file: rule, expected, observed, when, with which libraries. No ids."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ...errors import SettingsError, UnreadableInput
from ...settings.measured_rules import as_file, read_measured
from ...settings.slack_rules import CATALOGUE, RuleValue
from .result import RuleResult

KEPT = "slack-rules.json"
_PRIVATE = 0o600
_LIBRARIES = ("slack_sdk", "aiohttp")


def check_place(output: str) -> None:
    """Raises UnreadableInput where the file cannot be written, or holds something else."""
    path = Path(output)
    if not path.parent.is_dir():
        raise UnreadableInput(f"{output}: there is no folder {path.parent}; create it, or give another file")
    _known(path)


def keep(output: str, results: Sequence[RuleResult], now: float) -> None:
    """Write what was seen, beside what an earlier run saw of other rules. Raises UnreadableInput."""
    path = Path(output)
    values = {**_known(path), **{each.rule.id: each.value for each in results if each.value is not None}}
    at = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    content = as_file({name: values[name] for name in CATALOGUE if name in values}, at, _versions())
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh.touch(mode=_PRIVATE, exist_ok=False)
        fresh.write_text(content, encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        reason = error.strerror or "it cannot be written"
        raise UnreadableInput(f"{output}: {reason}; give another file") from error


def _known(path: Path) -> Mapping[str, RuleValue]:
    """What the file holds; nothing where there is none."""
    if not path.exists():
        return {}
    try:
        return read_measured(path).values
    except SettingsError as error:
        raise UnreadableInput(f"{error}; or give another file with -o") from error


def _versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
