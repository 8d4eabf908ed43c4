"""A subject is declared once, and nothing forgets it."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import slack_bot
from slack_bot.app import COLLECTIONS
from slack_bot.store.collection import Ages, Collection, KeptPerson, key_of, name_of

PACKAGE = Path(slack_bot.__file__).parent
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))


@given(st.lists(WORDS))
def test_the_name_of_a_key_reads_back_and_is_its_own(parts: list[str]) -> None:
    assert key_of(name_of(tuple(parts))) == tuple(parts)


def test_names_are_written_as_sqlite_writes_them() -> None:
    key = ("a'b", 'c"d', "e\\f", "ü\u2028😀", "")
    with closing(sqlite3.connect(":memory:")) as connection:
        (written,) = connection.execute("SELECT json_array(?, ?, ?, ?, ?)", key).fetchone()
    assert name_of(key) == written


def test_every_collection_of_the_package_is_among_those_of_the_bot() -> None:
    """Else export, erasure, counts and retention would not know it."""
    modules = [
        path
        for path in PACKAGE.rglob("*.py")
        if re.search(r"(?<!TypeAlias )= Collection[(\[]", path.read_text("utf-8"))
    ]
    assert len(modules) >= 3
    for path in modules:
        name = ".".join(("slack_bot", *path.relative_to(PACKAGE).with_suffix("").parts))
        found = [each for each in vars(import_module(name)).values() if isinstance(each, Collection)]
        assert found and all(each in COLLECTIONS for each in found), name
    names = [each.name for each in COLLECTIONS]
    assert len(set(names)) == len(names)


def test_what_is_about_people_has_a_label_and_an_age() -> None:
    for each in COLLECTIONS:
        if each.people is not None:
            assert each.label, each.name
            assert each.age is not None and each.age(Ages()) > 0, each.name


def test_a_record_is_about_a_person_in_their_workspace_or_in_all() -> None:
    people: Any = lambda key, _: [KeptPerson("U1", key[0])]  # noqa: E731
    kind = Collection("k", str, people=people)
    assert kind.is_about(("T1",), "", "U1", None)
    assert kind.is_about(("T1",), "", "U1", "T1")
    assert not kind.is_about(("T1",), "", "U1", "T2")
    assert not kind.is_about(("T1",), "", "U2", None)
    assert kind.is_about(("",), "", "U1", "T2"), "it has no workspace"
    assert not Collection("k", str).is_about(("T1",), "", "U1", None)
