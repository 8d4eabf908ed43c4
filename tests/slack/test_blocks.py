"""Blocks: what they say, that Slack takes them, and that no text is lost in pieces."""

from typing import Any

import pytest

from slack_bot.slack import blocks
from slack_bot.slack.blocks import TextForm, sources_block, sources_text
from slack_bot.testing.slack import blocks as blockkit
from slack_bot.testing.slack.state import Bot, WorkspaceRules, WorkspaceState
from slack_bot.turn.actions import CardState, TaskCard
from slack_bot.turn.extras import Source
from slack_bot.turn.sanitize import sanitize_sources

TURN = "T1:C1:1.2"
STATE = WorkspaceState("T1", "domain", Bot(), WorkspaceRules())


def taken(made: list[dict[str, Any]]) -> list[str]:
    """The types of blocks that Slack would take."""
    blockkit.check(STATE, made)
    return [block["type"] for block in made]


def words(made: list[dict[str, Any]]) -> str:
    return " / ".join(blockkit.plain(block) for block in made)


def test_cards_as_blocks() -> None:
    done = TaskCard("a", "Search", CardState.DONE, details="found")
    failed = TaskCard("b", "", CardState.ERROR)
    (plan,) = blocks.cards([done, failed], "Plan", "plan", 256)
    assert taken([plan]) == ["plan"]
    assert plan["title"] == "Plan"
    assert [task["status"] for task in plan["tasks"]] == ["complete", "error"]
    assert blockkit.plain(plan["tasks"][0]["details"]) == "found"
    assert plan["tasks"][1]["title"] == "b"
    assert taken(blocks.cards([done, failed], "Plan", "timeline", 256)) == ["task_card", "task_card"]
    assert blocks.cards([done], "", "plan", 256)[0]["title"] == "Search"
    assert blocks.cards([failed], "", "plan", 256)[0]["title"] == "Steps"
    assert blocks.cards([], "Plan", "plan", 256) == []


@pytest.mark.parametrize(("text", "says"), [("a\n\nb  c", "a b c"), ("", ""), ("x" * 400, "x" * 299 + "…")])
def test_a_notification_says_the_beginning_in_one_line(text: str, says: str) -> None:
    assert blocks.fallback(text) == says


def test_our_own_messages_are_recognised_by_their_metadata() -> None:
    wanted = blocks.metadata(TURN, "answer", 2)
    assert blocks.is_ours(blocks.metadata(TURN, "answer", 2), wanted)
    assert not blocks.is_ours(blocks.metadata(TURN, "answer", 1), wanted)
    assert not blocks.is_ours(blocks.metadata(TURN, "answer"), wanted)
    assert not blocks.is_ours(blocks.metadata(TURN, "note", 2), wanted)
    assert not blocks.is_ours({"event_type": "other", "event_payload": wanted["event_payload"]}, wanted)
    assert not blocks.is_ours({"event_type": blocks.EVENT_TYPE, "event_payload": "?"}, wanted)
    assert not blocks.is_ours(None, wanted)


def test_a_batch_is_title_then_cards_then_text() -> None:
    card = TaskCard("t1", "Search", CardState.RUNNING, details="for streams")
    assert blocks.all_chunks("Hello", (card,), "Plan", 256) == [
        {"type": "plan_update", "title": "Plan"},
        {
            "type": "task_update",
            "id": "t1",
            "title": "Search",
            "status": "in_progress",
            "details": "for streams",
        },
        {"type": "markdown_text", "text": "Hello"},
    ]
    assert blocks.all_chunks("Hello", (), "", 256) == [{"type": "markdown_text", "text": "Hello"}]
    assert blocks.all_chunks("", (), "Plan", 256) == [{"type": "plan_update", "title": "Plan"}]


def test_a_text_has_three_forms_and_a_fourth_with_blocks_around_it() -> None:
    long, under = "A **long** text. " * 40, [blocks.context("x")]
    alone = [TextForm.MARKDOWN_TEXT, TextForm.MARKDOWN_BLOCK, TextForm.TEXT]
    assert [form for form, _ in blocks.forms(long, (), ())] == alone
    assert [form for form, _ in blocks.forms(long, (), under)] == [TextForm.WHOLE, *alone]
    assert blocks.forms("", (), under) == [(TextForm.WHOLE, {"blocks": under})]
    (_, first), (_, second), (_, third) = blocks.forms(long, (), ())
    assert (first, third) == ({"markdown_text": long}, {"text": long})
    assert second["blocks"] == [{"type": "markdown", "text": long}]
    assert len(second["text"]) <= 300


def test_a_card_whose_title_has_nothing_to_be_seen_is_called_by_its_id_made_harmless() -> None:
    assert (
        blocks.card_title(TaskCard("<!channel> call-1", " ", CardState.RUNNING), 256)
        == "&lt;!channel> call-1"
    )
    assert blocks.card_title(TaskCard("x" * 300, "\x07", CardState.RUNNING), 256) == "x" * 255 + "…"
    assert blocks.card_title(TaskCard(" ", "\u202e", CardState.RUNNING), 256) == "Step"


def test_card_values_are_cut_and_guarded() -> None:
    assert blocks.card_text("x" * 300, 256) == "x" * 255 + "…"
    assert blocks.card_text("\n  indented", 256) == "indented"
    assert blocks.card_text("## Title", 256) == "\u200b## Title"
    assert blocks.card_text("# Title", 256) == "# Title"
    assert blocks.card_text("ask <!channel>", 256) == "ask &lt;!channel>"
    assert len(blocks.card_text("#" * 300, 256)) == 256


def test_a_card_without_a_title_is_named_by_its_id() -> None:
    assert blocks.task_chunk(TaskCard("t1", " ", CardState.DONE, details="found"), 256) == {
        "type": "task_update",
        "id": "t1",
        "title": "t1",
        "status": "complete",
        "details": "found",
    }


def test_details_weigh_twice() -> None:
    card = TaskCard("t1", "Search", CardState.RUNNING, details="éabc")
    assert blocks.weighted_bytes(blocks.all_chunks("Hällo", (card,), "Plan", 256)) == 6 + 6 + 4 + 2 * (2 + 3)


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("AT&T <news>", "AT&amp;T &lt;news&gt;"),
        ("AT&amp;T", "AT&amp;T"),
        ("Ask <!channel> & <@U123>", "Ask &lt;!channel&gt; &amp; &lt;@U123&gt;"),
    ],
)
def test_the_title_of_a_source_is_escaped_once(title: str, shown: str) -> None:
    (source,) = sanitize_sources((Source("https://a.example/?x=1&y=2", title),), ())
    text = sources_block([source])["elements"][0]["text"]
    assert text == f"1. <https://a.example/?x=1&amp;y=2|{shown}>"


def test_where_an_odd_source_leads_is_said_before_its_title() -> None:
    odd = Source("http://2130706433/admin", "Release notes")
    text = sources_block([odd])["elements"][0]["text"]
    assert text == "1. <http://2130706433/admin|⚠ 127.0.0.1: Release notes>"
    assert sources_text([odd]) == "1. [⚠ 127.0.0.1: Release notes](<http://2130706433/admin>)"
