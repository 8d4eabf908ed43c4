"""Paragraphs that agents leave out."""

from __future__ import annotations

from slack_bot.agents.answer.keyed_text import StringBuilder
from slack_bot.agents.answer.paragraphs import Paragraphs, unglued


def test_text_behind_a_tool_is_a_paragraph_and_a_whole_text_is_mended_likewise() -> None:
    paragraphs = Paragraphs()
    paragraphs.expect(is_due=True)
    assert paragraphs.append("It ran.", StringBuilder("The fox.")) == "\n\nIt ran."
    assert paragraphs.append(" Far.", StringBuilder("The fox.\n\nIt ran.")) == " Far."
    assert paragraphs.mend("The fox.It ran. Far.") == "The fox.\n\nIt ran. Far."


def test_a_text_that_begins_needs_no_paragraph_of_its_own() -> None:
    paragraphs = Paragraphs()
    paragraphs.expect(is_due=True)
    assert paragraphs.begin("The fox") == "The fox"
    assert paragraphs.append(" ran.", StringBuilder("The fox")) == " ran."


def test_a_heading_right_behind_a_sentence_is_a_paragraph_but_in_code() -> None:
    assert unglued("See.## The fox") == "See.\n\n## The fox"
    assert unglued("```\nSee.## The fox\n```") == "```\nSee.## The fox\n```"
    assert Paragraphs().append("## The fox", StringBuilder("See.")) == "\n\n## The fox"
