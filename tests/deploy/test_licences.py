"""docs/licences.md: it is what the libraries declare, and every licence is one that we may use."""

from __future__ import annotations

import re

import pytest

from tests.deploy.dockerfile import ROOT
from tests.deploy.licences import ALLOWED, declared, ids_in, licences_of, page
from tests.deploy.locks import LOCKS, entries_of


def test_the_table_is_what_the_locks_name_and_the_libraries_declare() -> None:
    """`python -m tests.deploy.licences > docs/licences.md` makes it again."""
    assert (ROOT / "docs" / "licences.md").read_text("utf-8") == page()


def test_each_library_is_there_with_a_licence_that_we_may_use() -> None:
    known = licences_of(ROOT)
    named = {re.split(r"[=\[]", entry)[0] for lock in LOCKS for entry in entries_of(lock)}
    assert known.keys() == named
    assert {
        name: ids_in(licence) - ALLOWED for name, licence in known.items() if ids_in(licence) - ALLOWED
    } == {}


@pytest.mark.parametrize(
    ("expression", "ids"),
    [
        ("MIT", {"MIT"}),
        ("Apache-2.0 OR BSD-3-Clause", {"Apache-2.0", "BSD-3-Clause"}),
        ("(MIT AND LGPL-3.0-only) OR ISC", {"MIT", "LGPL-3.0-only", "ISC"}),
    ],
)
def test_each_licence_of_an_expression_counts(expression: str, ids: set[str]) -> None:
    assert ids_in(expression) == ids


def test_what_a_library_says_is_read_by_its_expression_or_its_classifiers() -> None:
    assert declared("aiohttp") == "Apache-2.0 AND MIT"
    assert declared("no-such-library") == ""
