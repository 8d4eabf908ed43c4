"""docs/development.md tells the path of an event as it is."""

from __future__ import annotations

import re
from pathlib import Path
from types import FrameType
from typing import Any

from slack_bot.testing.virtual_clock import on_virtual_time
from tests.house import walks
from tests.house.walks import Function, callers, function_of

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| `(\S+\.py)` \| `(\S+)` \|", re.MULTILINE)
MOST_FUNCTIONS, MOST_FILES = 27, 18
MOST_WITH_HELPERS = 232
"""All functions of the bot that one chunk runs through, helpers too, without comprehensions. What is cached
in the process makes a difference of a few. It rose when the answer became a value with one driver, and when
Slack's API, the buffer and the task got parts."""
NAMED = re.compile(r"`([\w./-]+\.(?:py|js|md|json|txt|yml|toml|sse))`")
"""A file that the page names; not a pattern of files."""
HELD = re.compile(r"`([A-Za-z_][\w.]*)` (?:of|in) `([\w./-]+\.(?:py|js))`")
"""What the page says to be in a file."""
THERE = re.compile(r"`([A-Za-z_]\w*)`(?: of `\w+`)? there\b")
"""What it says to be in the file that it named last."""
PART = re.compile(r"`(\w+)` of (?:a |an |the )?`([A-Z]\w*[a-z]\w*)`")
"""What it says a class to have."""
BEGINS = re.compile(r"^\| \[[^\]]+\]\(#([\w-]+)\) \| (?:`\w+` in )?`(\S+\.py)`(?:,.*)? \|$", re.MULTILINE)
"""A row that says in which file a change begins: the recipe, and the file."""
UNTABLED = {"a-recording-that-is-read-wrong"}
"""Recipes that begin in no file of the package."""


class Trace:
    """The functions of the bot that ran, and those that were on the stack at the two ends."""

    def __init__(self) -> None:
        self.ran: set[Function] = set()
        self.at_ends: set[Function] = set()
        self.ends: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (function := function_of(frame)) is None:
            return
        self.ran.add(function)
        if function in {("text/buffer.py", "push"), ("slack/api.py", "_send")}:
            self.ends.add(function[1])
            self.at_ends.update(callers(frame))


def one_chunk() -> Trace:
    """The trace of one chunk that ends a line, in a message that is open."""
    trace = Trace()
    on_virtual_time(walks.one_chunk)(trace)
    return trace


def test_the_path_of_an_event_is_as_the_page_says() -> None:
    rows = ROW.findall((ROOT / "docs/development.md").read_text("utf-8"))
    table = {(path, name.rpartition(".")[2]) for path, name in rows}
    trace = one_chunk()
    assert trace.ends == {"push", "_send"}
    assert table - trace.ran == set()
    assert trace.at_ends - table == set()
    assert len(rows) <= MOST_FUNCTIONS
    assert len({path for path, _ in rows}) <= MOST_FILES
    assert len(trace.ran) <= MOST_WITH_HELPERS


def _file(name: str, text: str, at: int) -> Path | None:
    """Where `name` is: in the repository, in the package, or in the folder that was named last before it."""
    before = [each[1] for each in NAMED.finditer(text, 0, at) if "/" in each[1]]
    beside = (ROOT / "slack_bot" / before[-1]).parent if before else ROOT
    folders = (ROOT, ROOT / "slack_bot", ROOT / "slack_bot/testing/slack", beside)
    return next((folder / name for folder in folders if (folder / name).exists()), None)


def test_the_files_that_the_page_names_are_there() -> None:
    text = (ROOT / "docs/development.md").read_text("utf-8")
    found = [each for each in NAMED.finditer(text) if "NAME" not in each[1]]
    assert len(found) > 200
    assert [each[1] for each in found if _file(each[1], text, each.start()) is None] == []


def test_what_the_page_says_to_be_in_a_file_is_there() -> None:
    text = (ROOT / "docs/development.md").read_text("utf-8")
    wrong = []
    for found in HELD.finditer(text):
        path = _file(found[2], text, found.start())
        name = found[1].rpartition(".")[2]
        if path is None or not re.search(rf"\b{name}\b", path.read_text("utf-8")):
            wrong.append(found.group())
    assert len(list(HELD.finditer(text))) > 60
    for found in THERE.finditer(text):
        path = _file([*NAMED.finditer(text, 0, found.start())][-1][1], text, found.start())
        if path is not None and not re.search(rf"\b{found[1]}\b", path.read_text("utf-8")):
            wrong.append(f"{found.group()}: {path.name}")
    assert len(list(THERE.finditer(text))) > 10
    sources = [path.read_text("utf-8") for path in ROOT.glob("slack_bot/**/*.py")]
    for found in PART.finditer(text):
        of_class = [each for each in sources if re.search(rf"^class {found[2]}\b", each, re.MULTILINE)]
        if not any(re.search(rf"\b{found[1]}\b", each) for each in of_class):
            wrong.append(found.group())
    assert len(list(PART.finditer(text))) > 10
    assert wrong == []


def _recipes(text: str) -> dict[str, str]:
    """Each recipe by the anchor of its heading."""
    recipes = text.partition("\n## Recipes\n")[2].partition("\n## ")[0]
    headed = (section.partition("\n") for section in recipes.split("\n### ")[1:])
    return {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-"): body for head, _, body in headed}


def test_the_table_of_the_recipes_leads_to_each_and_to_the_file_in_which_it_begins() -> None:
    text = (ROOT / "docs/development.md").read_text("utf-8")
    recipes, rows = _recipes(text), BEGINS.findall(text)
    assert len(rows) == len(re.findall(r"^\| \[", text, re.MULTILINE)), "a row that cannot be read"
    assert {"recipes", *recipes} - {anchor for anchor, _ in rows} == UNTABLED
    for anchor, file in rows:
        assert anchor in {"recipes", *recipes}, anchor
        if anchor in recipes:
            assert f"`{file}`" in recipes[anchor] or f"+++ {file}" in recipes[anchor], (anchor, file)
        if begins := re.search(r"^(?:.*[.] )?Begin (?:in|at)\b", recipes.get(anchor, ""), re.MULTILINE):
            first = NAMED.search(recipes[anchor], begins.end())
            assert first is not None
            assert first[1] == file
