"""A store is a row: nothing else asks which one it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import slack_bot
from slack_bot.store_kinds import STORES, is_store_address, store_kind

PACKAGE = Path(slack_bot.__file__).parent


def test_each_row_names_a_module_of_the_store() -> None:
    for kind in STORES.values():
        assert (PACKAGE / "store" / f"{kind.module}.py").is_file()


def test_an_address_without_a_known_scheme_is_left_to_the_store_in_a_file() -> None:
    assert store_kind("bot.sqlite") is store_kind("postgres://h") is STORES["sqlite"]
    assert store_kind("rediss://h").is_shared


@pytest.mark.parametrize(
    ("url", "is_one"),
    [
        ("sqlite:///bot.sqlite", True),
        ("sqlite:////var/bot.sqlite", True),
        ("sqlite://bot.sqlite", False),
        ("sqlite:///", False),
        ("memory://", True),
        ("rediss://host", True),
        ("redis://", False),
        ("postgres://host", False),
        ("bot.sqlite", False),
        ("", False),
    ],
)
def test_an_address_has_a_known_scheme_and_says_where(url: str, is_one: bool) -> None:
    assert is_store_address(url) is is_one


def test_no_module_asks_whether_the_store_is_redis() -> None:
    asking = re.compile(r"is_redis|startswith\(.redis|isinstance\([^)]*(?:Redis|Sqlite)Store\)")
    found = {path.name for path in PACKAGE.rglob("*.py") if asking.search(path.read_text(encoding="utf-8"))}
    assert found <= {"redis_hour.py", "redis_errors.py"}, "TLS and the counts of Redis are its own affair"
