"""Data and files as a person reads them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.content import data_markdown
from slack_bot.agents.content.data_markdown import TextBeside, as_markdown, beside, file_line
from slack_bot.agents.wire.frames import FileRef, Part
from tests.agents.hostile_events import cost


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        (3.0, "3"),
        (None, ""),
        ({}, ""),
        ([], ""),
        ([[{}]], ""),
        ({"content": "The fox", "ok": True, "n": None}, "The fox"),
        ({"ticket_id": "A-1", "open": False, "n": 1.5}, "- **ticket id**: A-1\n- **open**: no\n- **n**: 1.5"),
        ({"tags": ["a", "b"], "empty": None}, "- **tags**: a, b\n- **empty**: –"),
        ({"owner": {"name": "Ada"}}, "- **owner**:\n  - **name**: Ada"),
        (
            {"n": 1, "rows": [{"a": 1, "b": 2}, {"a": 3, "b": 4}], "m": 2},
            "- **n**: 1\n\n**rows**\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n\n- **m**: 2",
        ),
        ([{"a": 1, "b": {"c": 2}}], "- **a**: 1\n  - **b**:\n    - **c**: 2"),
        (["a", {"b": 1}, [2, 3]], "- a\n- **b**: 1\n- 2, 3"),
        ([{"a": 1, "b": "x|y"}, {"a": 2, "b": ""}], "| a | b |\n| --- | --- |\n| 1 | x\\|y |\n| 2 |  |"),
        ([{"a": 1}, {"b": 2}], "- **a**: 1\n- **b**: 2"),
        ([{"a": 1, "b": 2}, {"a": 1, "c": 2}], "- **a**: 1\n  - **b**: 2\n- **a**: 1\n  - **c**: 2"),
        ([{"a": 1, "b": 2}, {"a": 1, "b": [2]}], "- **a**: 1\n  - **b**: 2\n- **a**: 1\n  - **b**: 2"),
        ({"arguments": '{"door": 3}'}, "- **arguments**:\n  - **door**: 3"),
        ({"ids": " [1, 2]"}, "- **ids**: 1, 2"),
        ({"a": "{door}", "b": "[x", "c": "{}"}, "- **a**: {door}\n- **b**: [x\n- **c**: {}"),
        ({"note": "two\nlines"}, "- **note**: two\n  lines"),
    ],
)
def test_values(value: Any, text: str) -> None:
    assert as_markdown(value) == text


def test_it_stays_within_bounds() -> None:
    assert as_markdown([*map(str, range(300)), "a\nb"]).endswith("_… and 101 more lines_")
    deep: Any = "x"
    for _ in range(20):
        deep = {"a": deep}
    assert as_markdown(deep).endswith("- …")


@pytest.mark.parametrize(
    "wrap", [lambda inner: [inner], lambda inner: {"a": inner}, lambda inner: [[inner], 1]]
)
def test_what_is_nested_as_deep_as_json_goes_is_read_all_the_same(wrap: Callable[[Any], Any]) -> None:
    deep: Any = "x"
    for _ in range(2_000):
        deep = wrap(deep)
    assert "…" in as_markdown(deep)
    assert "…" in beside(Part(data=deep, has_data=True), TextBeside("The answer."))


def test_files() -> None:
    assert (
        file_line(FileRef("a[1].png", url="https://e.example/a.png")) == "[a(1).png](https://e.example/a.png)"
    )
    assert file_line(FileRef(url="javascript:x")) == "_The agent made a file that is not shown here: a file_"
    said = file_line(FileRef("h.txt", "text/plain"))
    assert said == "_The agent made a file that is not shown here: h.txt (text/plain)_"


def test_what_the_text_says_already_is_not_said_again() -> None:
    data = Part(data={"count": 3, "name": "fox"}, has_data=True)
    assert beside(data, TextBeside("The fox was seen 3 times.")) == ""
    empty = Part(data={"note": None}, has_data=True)
    assert beside(empty, TextBeside("The fox.")) == ""
    assert beside(data, TextBeside("The fox.")) == "- **count**: 3\n- **name**: fox"
    assert (
        beside(
            Part(data={"a": 1}, has_data=True, metadata={"mimeType": "application/json+a2ui"}), TextBeside("")
        )
        == ""
    )
    assert beside(Part(text="x"), TextBeside("")) == ""
    assert beside(Part(file=FileRef("f")), TextBeside("x")).startswith("_The agent made a file")


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(0, 99) | st.text("ab|\n", max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("kn_", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_any_value_is_words_and_never_json(value: Any) -> None:
    text = as_markdown(value)
    assert not text.startswith(("{", "["))
    assert not (isinstance(value, dict | list) and value and text == json.dumps(value))


def test_of_a_hundred_thousand_items_a_few_are_shown_and_that_there_are_more_is_said() -> None:
    lines = as_markdown([f"item {n}" for n in range(100_000)]).splitlines()
    assert lines[:2] == ["- item 0", "- item 1"]
    assert lines[200:] == ["_… and more than 19800 more lines_"]
    lines = as_markdown({"rows": [{"a": n, "b": "x"} for n in range(100_000)]}).splitlines()
    assert lines[2:5] == ["| a | b |", "| --- | --- |", "| 0 | x |"]
    assert lines[-1].startswith("_… and more than ")
    lines = as_markdown({f"k{n}": n for n in range(100_000)}).splitlines()
    assert len(lines) == 201 and lines[-1].startswith("_… and more than ")


def test_a_list_in_one_line_shows_as_many_items_as_one_that_has_lines() -> None:
    assert as_markdown({"ids": list(range(200))}).endswith("198, 199")
    assert as_markdown({"ids": list(range(5_000))}).endswith("198, 199, … and 4800 more")


def test_what_is_cut_before_the_last_line_is_said_too() -> None:
    said = as_markdown({f"k{n}": list(range(200)) for n in range(150)}).splitlines()
    assert len(said) < 150 and said[-1] == "_… and more_"


def test_no_more_is_read_than_may_be_counted() -> None:
    few, many = ([{"x": [n, [n]]} for n in range(size)] for size in (20_000, 40_000))
    assert cost(lambda: as_markdown(many)) < 1.1 * cost(lambda: as_markdown(few))


def test_values_are_not_looked_for_in_a_long_text_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a" * 1000 + "fox"
    assert TextBeside(text).contains(["fox", "fox"])
    monkeypatch.setattr(data_markdown, "_MOST_SOUGHT", 1500)
    assert TextBeside(text).contains(["fox"] * 10), "it is sought once"
    assert not TextBeside(text).contains(["fo", "ox", "x"]), "what is not known is shown"
