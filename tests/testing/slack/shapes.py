"""What JSON holds, compared with a table of what was recorded of Slack, both ways."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import slack_bot
from slack_bot.testing.slack.state import Json

READERS = ("features", "inbound", "slack", "threads", "turn")
"""Rooms of the bot that read what Slack sends."""

OPAQUE = frozenset({"blocks", "metadata", "attachments", "root", "state", "close"})
"""What is not looked into: Block Kit, whose shapes other tests are about, and what apps and people gave."""


def shape(value: Json, place: str = "", opaque: frozenset[str] = OPAQUE) -> Iterator[tuple[str, str, str]]:
    """Place, name and type of all that it holds."""
    for name, each in value.items():
        if each is None or (place, name) == ("", "ok"):
            continue
        yield place, name, type(each).__name__
        if name in opaque:
            continue
        inside = f"{place}.{name}" if place else name
        for item in each if isinstance(each, list) else [each]:
            if isinstance(item, dict):
                yield from shape(item, inside, opaque)


def names_in(rows: Mapping[str, str]) -> dict[tuple[str, str], tuple[str, bool]]:
    """By place and name: the type, and whether the emulated workspace sends it. A word is `name` or
    `name:type`; one with a minus is not sent, one with a plus was not recorded."""
    found = {}
    for place, row in rows.items():
        for word in row.split():
            name, _, kind = word.lstrip("-+").partition(":")
            found[place, name] = kind or "str", not word.startswith("-")
    return found


def difference(seen: Iterable[tuple[str, str, str]], rows: Mapping[str, str]) -> set[tuple[str, ...]]:
    """What was sent and is not in the table, or of another type, and what the table promises and was not."""
    sent, known = set(seen), names_in(rows)
    wrong = {each for each in sent if known.get(each[:2], ("", False)) != (each[2], True)}
    promised = {key for key, (_, is_sent) in known.items() if is_sent}
    return {*wrong, *(promised - {each[:2] for each in sent})}


def read_of_what_is_left_out(tables: Iterable[Mapping[str, str]]) -> set[str]:
    """The names that nothing of the emulated workspace sends, and that code of the bot has nevertheless."""
    rows = [row for rows in tables for row in names_in(rows).items()]
    left_out = {name for (_, name), (_, is_sent) in rows if not is_sent}
    sent = {name for (_, name), (_, is_sent) in rows if is_sent}
    package = Path(slack_bot.__file__).parent
    files = [file for room in READERS for file in (package / room).rglob("*.py")]
    words = {
        node.value
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return (left_out - sent) & words
