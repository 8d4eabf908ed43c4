"""Block Kit: what Slack takes, what it refuses, and the words a person reads in it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.testing.slack import blocks as blockkit
from slack_bot.testing.slack.state import Refused, StoredMessage

from .scene import Scene, button, context, feedback, plain
from .test_call_pipeline import ANYTHING

STATE = Scene().workspace.state


def mrkdwn(words: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": words}


def actions(*elements: Any) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)}


def icon(**more: Any) -> dict[str, Any]:
    return {"type": "icon_button", "icon": "trash", "text": plain("Delete"), "action_id": "delete", **more}


def rated(**more: Any) -> dict[str, Any]:
    block = feedback()
    block["elements"][0] |= more
    return block


def rich(*elements: Any) -> dict[str, Any]:
    return {"type": "rich_text", "elements": list(elements)}


LINE = {
    "type": "rich_text_section",
    "elements": [{"type": "text", "text": "Hi "}, {"type": "user", "user_id": "U1"}],
}
CARD = {"type": "task_card", "task_id": "1", "title": "Search", "status": "complete"}
GOOD: list[list[dict[str, Any]]] = [
    [],
    [{"type": "divider"}],
    [{"type": "markdown", "text": "# Hi"}],
    [{"type": "section", "text": mrkdwn("*Hi*")}],
    [{"type": "section", "fields": [mrkdwn("a"), plain("b")], "block_id": "b1"}],
    [{"type": "section", "text": plain("x" * 3_000), "accessory": button()}],
    [context(), context()],
    [{"type": "context", "elements": [{"type": "image", "image_url": "https://e.x/i", "alt_text": "i"}]}],
    [actions(button(), button("other", style="danger"))],
    [actions(*[button(str(n)) for n in range(25)])],
    [feedback()],
    [{"type": "context_actions", "elements": [*feedback()["elements"], icon()]}],
    [{"type": "header", "text": plain("Title")}],
    [rich(LINE)],
    [CARD],
    [{"type": "plan", "title": "Plan", "tasks": [CARD]}],
    [{"type": "plan", "title": ""}],
    [{"type": "table", "rows": [[{"type": "raw_text", "text": "a"}]]}],
]
BAD: list[tuple[str, Any]] = [
    ("no object", "text"),
    ("no type", {"text": "t"}),
    ("unknown type", {"type": "carpet"}),
    ("an element is no block", button()),
    ("unknown field", {"type": "divider", "color": "red"}),
    ("long block_id", {"type": "divider", "block_id": "b" * 256}),
    ("block_id no text", {"type": "divider", "block_id": 7}),
    ("markdown without text", {"type": "markdown"}),
    ("markdown empty", {"type": "markdown", "text": ""}),
    ("section empty", {"type": "section"}),
    ("section of 3,001", {"type": "section", "text": mrkdwn("x" * 3_001)}),
    ("section with a bare string", {"type": "section", "text": "Hi"}),
    ("eleven fields", {"type": "section", "fields": [mrkdwn("a")] * 11}),
    ("field of 2,001", {"type": "section", "fields": [mrkdwn("a" * 2_001)]}),
    ("fields no list", {"type": "section", "fields": "a"}),
    ("accessory", {"type": "section", "text": mrkdwn("a"), "accessory": icon()}),
    ("context empty", {"type": "context", "elements": []}),
    ("context of eleven", {"type": "context", "elements": [mrkdwn("a")] * 11}),
    ("context with a button", {"type": "context", "elements": [button()]}),
    ("context no list", {"type": "context", "elements": "a"}),
    ("actions of 26", actions(*[button(str(n)) for n in range(26)])),
    ("actions empty", actions()),
    ("feedback in actions", actions(feedback()["elements"][0])),
    ("button in context_actions", {"type": "context_actions", "elements": [button()]}),
    (
        "six context_actions",
        {"type": "context_actions", "elements": [icon(action_id=str(n)) for n in range(6)]},
    ),
    ("action_id missing", actions({"type": "button", "text": plain("t")})),
    ("action_id empty", actions(button(""))),
    ("action_id long", actions(button("a" * 256))),
    ("action_id twice", actions(button("a"), button("a"))),
    ("value long", actions(button(value="v" * 2_001))),
    ("label long", actions(button(text=plain("t" * 76)))),
    ("label in mrkdwn", actions(button(text=mrkdwn("t")))),
    ("style", actions(button(style="green"))),
    ("icon", {"type": "context_actions", "elements": [icon(icon="star")]}),
    ("feedback without negative", rated(negative_button=None)),
    ("feedback with a style", rated(positive_button={"text": plain("a"), "value": "v", "style": "primary"})),
    ("feedback without value", rated(positive_button={"text": plain("a")})),
    ("feedback no object", rated(positive_button="good")),
    ("header of 151", {"type": "header", "text": plain("t" * 151)}),
    ("header in mrkdwn", {"type": "header", "text": mrkdwn("t")}),
    ("card's status", {**CARD, "status": "done"}),
    ("card's title", {**CARD, "title": 7}),
    ("card's sources", {**CARD, "sources": "x"}),
    ("plan of others", {"type": "plan", "title": "t", "tasks": [context()]}),
    ("plan of 51", {"type": "plan", "title": "t", "tasks": [CARD] * 51}),
    ("rich text of strings", rich("a")),
]


@pytest.mark.parametrize("blocks", GOOD, ids=lambda blocks: blocks[0]["type"] if blocks else "none")
def test_taken(blocks: list[dict[str, Any]]) -> None:
    scene = Scene()
    args = {"channel": "C1", "thread_ts": scene.root, "text": "Hi", "blocks": blocks}
    assert scene.error("chat.postMessage", **args) is None


@pytest.mark.parametrize("block", [block for _, block in BAD], ids=[name for name, _ in BAD])
def test_refused(block: Any) -> None:
    with pytest.raises(Refused) as caught:
        blockkit.check(STATE, [block])
    assert caught.value.error == "invalid_blocks"
    assert "[json-pointer:/blocks" in caught.value.detail


def test_two_blocks_cannot_share_an_id() -> None:
    with pytest.raises(Refused, match="must be unique"):
        blockkit.check(STATE, [{"type": "divider", "block_id": "a"}] * 2)


def test_markdown_blocks_share_one_limit() -> None:
    blockkit.check(STATE, [{"type": "markdown", "text": "x" * 6_000}] * 2)
    with pytest.raises(Refused) as caught:
        blockkit.check(STATE, [{"type": "markdown", "text": "x" * 6_001}] * 2)
    assert caught.value.error == "msg_blocks_too_long"


def test_a_view_holds_a_hundred_blocks_and_no_markdown() -> None:
    blockkit.check(STATE, [{"type": "divider"}] * 100, surface="view")
    for blocks in ([{"type": "divider"}] * 101, [{"type": "markdown", "text": "t"}]):
        with pytest.raises(Refused):
            blockkit.check(STATE, blocks, surface="view")


TYPES = sorted({block["type"] for blocks in GOOD for block in blocks})
FIELDS = ["text", "elements", "fields", "tasks", "title", "status", "task_id"]
BLOCK = st.fixed_dictionaries({"type": st.sampled_from(TYPES)}, optional=dict.fromkeys(FIELDS, ANYTHING))


@given(st.lists(ANYTHING | BLOCK, max_size=3))
def test_whatever_comes_is_taken_or_refused(blocks: list[Any]) -> None:
    try:
        blockkit.check(STATE, blocks)
    except Refused as refused:
        assert refused.error in ("invalid_blocks", "msg_blocks_too_long")
    else:
        blockkit.words(blocks), list(blockkit.controls(blocks))
        blockkit.take_cards(StoredMessage("C1", "1.2", "U1", "T1", blocks=blocks))


def test_every_block_gets_an_id_and_keeps_its_own() -> None:
    first, second = blockkit.with_ids(STATE, [{"type": "divider"}, {"type": "divider", "block_id": "mine"}])
    assert first["block_id"] and second["block_id"] == "mine"


@pytest.mark.parametrize(
    ("blocks", "body", "furniture"),
    [
        ([{"type": "markdown", "text": "**Hi**"}, feedback()], "**Hi**", ("Good Bad",)),
        ([{"type": "section", "text": mrkdwn("a")}, {"type": "header", "text": plain("b")}], "a\n\nb", ()),
        ([{"type": "section", "fields": [mrkdwn("a"), mrkdwn("b")]}], "ab", ()),
        ([rich(LINE, LINE)], "Hi U1\nHi U1", ()),
        (
            [rich({"type": "rich_text_section", "elements": [{"type": "link", "url": "https://e.x"}]})],
            "https://e.x",
            (),
        ),
        ([context("one"), actions(button())], "", ("one", "Press")),
        ([{"type": "divider"}], "", ()),
    ],
)
def test_what_a_person_reads(blocks: list[dict[str, Any]], body: str, furniture: tuple[str, ...]) -> None:
    assert blockkit.words(blocks) == (body, furniture)


def test_controls_are_found_wherever_they_stand() -> None:
    blocks = [{"type": "section", "text": mrkdwn("a"), "accessory": button("x")}, feedback(), context()]
    assert [control["action_id"] for _, control in blockkit.controls(blocks)] == ["x", "feedback"]


def test_an_edit_brings_the_cards_of_its_blocks() -> None:
    details = rich({"type": "rich_text_section", "elements": [{"type": "text", "text": "found 3"}]})
    blocks = [
        {"type": "plan", "title": "Plan", "tasks": [CARD]},
        {**CARD, "task_id": "2", "details": details},
        context(),
    ]
    message = StoredMessage("C1", "1.2", "U1", "T1", blocks=blocks)
    blockkit.take_cards(message)
    assert (message.plan_title, set(message.tasks), message.tasks["2"].details) == (
        "Plan",
        {"1", "2"},
        "found 3",
    )
    assert [block["type"] for block in message.blocks] == ["context"]
