"""Markdown as rich text, and every word of it still there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.testing.slack.blocks import plain
from slack_bot.testing.slack.richtext import inline, rich_text


def words(text: str, **style: bool) -> dict[str, Any]:
    return {"type": "text", "text": text, **({"style": style} if style else {})}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("plain", [words("plain")]),
        ("a **b** c", [words("a "), words("b", bold=True), words(" c")]),
        ("*i* and _i_", [words("i", italic=True), words(" and "), words("i", italic=True)]),
        ("`**x**`", [words("**x**", code=True)]),
        ("~~gone~~", [words("gone", strike=True)]),
        ("snake_case_name 2*3*4", [words("snake_case_name 2*3*4")]),
        ("[a](https://e.x)", [{"type": "link", "url": "https://e.x", "text": "a"}]),
        ("![](https://e.x/i.png)", [{"type": "link", "url": "https://e.x/i.png", "text": "https://e.x/i.png"}]),
        ("<@U1> hi", [{"type": "user", "user_id": "U1"}, words(" hi")]),
        ("<@U2|bob>", [{"type": "user", "user_id": "U2"}]),
    ],
)  # fmt: skip
def test_inline(text: str, parts: list[dict[str, Any]]) -> None:
    assert inline(text) == parts


def test_blocks() -> None:
    text = "# Title\ntext\n- a\n* b\n1. c\n2) d\n> said\n```python\n- x\n```\nend"
    elements = rich_text("b1", text)["elements"]
    assert [(e["type"], e.get("style")) for e in elements] == [
        ("rich_text_section", None),
        ("rich_text_section", None),
        ("rich_text_list", "bullet"),
        ("rich_text_list", "ordered"),
        ("rich_text_quote", None),
        ("rich_text_preformatted", None),
        ("rich_text_section", None),
    ]
    assert [len(e["elements"]) for e in elements[2:4]] == [2, 2]
    assert elements[5]["elements"][0]["text"] == "- x"
    assert plain(rich_text("b1", text)) == "Title\ntext\na\nb\nc\nd\nsaid\n- x\nend"


def test_an_open_fence_runs_to_the_end() -> None:
    assert plain(rich_text("b1", "```\na\nb")) == "a\nb"


@given(st.text(alphabet=st.sampled_from("ab *_`~#[]()<>@U1-.\n"), max_size=60))
def test_no_letter_is_lost(text: str) -> None:
    shown = plain(rich_text("b1", text))
    assert shown.count("b") >= text.replace("](b", "").count("b") - text.count("](") - text.count(
        "```"
    ) - text.count("~~~")
