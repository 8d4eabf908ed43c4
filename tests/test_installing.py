"""What is named exists: a lock in a checkout, the extra in an installed wheel."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from slack_bot.installing import how_to_install, is_installed

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("extra", "lock"), [("play", "play.txt"), ("redis", "run.txt"), ("otel", "otel.txt")]
)
def test_a_lock_is_named_where_it_is(extra: str, lock: str, tmp_path: Path) -> None:
    assert how_to_install(extra, lock) == f"pip install --require-hashes -r deploy/{lock}"
    assert (ROOT / "deploy" / lock).is_file()
    assert how_to_install(extra, lock, tmp_path) == f"pip install 'slack-bot-a2a[{extra}]'"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == "slack-bot-a2a" and extra in project["optional-dependencies"]


@pytest.mark.parametrize(
    ("module", "expected"),
    [("json", True), ("xml.etree", True), ("no_such_module", False), ("no.such", False)],
)
def test_a_library_is_looked_for(module: str, expected: bool) -> None:
    assert is_installed(module) is expected
