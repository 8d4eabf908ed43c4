"""What is under the last message of a turn, and that Slack takes it."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.slack.ending import footer_blocks, footer_text
from slack_bot.slack.model import Ending
from slack_bot.testing.slack import blocks as blockkit
from slack_bot.testing.slack.state import Bot, WorkspaceState
from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.turn.extras import Source
from slack_bot.turn.form import Choice, Field, Form
from slack_bot.turn.record import Outcome
from slack_bot.turn.thread_state import ListensTo
from tests.slack.scene import TURN


def taken(made: list[dict[str, Any]]) -> list[str]:
    """The types of blocks that Slack would take."""
    blockkit.check(WorkspaceState("T1", "domain", Bot(), WorkspaceRules()), made)
    return [block["type"] for block in made]


def words(made: list[dict[str, Any]]) -> str:
    return " / ".join(blockkit.plain(block) for block in made)


def test_under_an_answer_stand_feedback_and_footer() -> None:
    under = footer_blocks(Ending(Outcome.ANSWERED), TURN)
    assert taken(under) == ["context_actions", "context"]
    assert words(under) == "Helpful Not helpful / Mention me in this thread to go on."
    (buttons,) = under[0]["elements"]
    assert buttons["action_id"] == "feedback"
    assert buttons["positive_button"]["value"] == f"positive|{TURN}"
    assert buttons["negative_button"]["value"] == f"negative|{TURN}"


@pytest.mark.parametrize(
    ("listens_to", "said"),
    [
        (ListensTo.NOBODY, "Mention me in this thread to go on."),
        (ListensTo.ASKER, "Write in this thread to go on. If you did not ask, mention me."),
        (ListensTo.EVERYBODY, "Write in this thread to go on."),
    ],
)
def test_the_footer_says_who_need_not_mention_the_bot(listens_to: ListensTo, said: str) -> None:
    assert words(footer_blocks(Ending(Outcome.ANSWERED, listens_to=listens_to), TURN)[1:]) == said


def test_under_a_failure_stands_the_reason_with_a_way_to_try_again() -> None:
    under = footer_blocks(Ending(Outcome.FAILED, note="It broke.", offer_retry=True), TURN)
    assert taken(under) == ["context", "actions"]
    assert words(under) == "It broke. / Try again"
    assert under[1]["elements"][0]["action_id"] == "retry"
    assert under[1]["elements"][0]["value"] == TURN


def test_under_a_question_stands_where_to_answer() -> None:
    under = footer_blocks(Ending(Outcome.ASKED, form=Form("Which?")), TURN)
    assert taken(under) == ["context"]
    assert words(under) == "Reply in this thread to answer."


def test_a_note_may_be_a_button_only_or_nothing() -> None:
    assert taken(footer_blocks(Ending(Outcome.FAILED, offer_retry=True), TURN)) == ["actions"]
    assert footer_blocks(Ending(Outcome.FAILED), TURN) == []


def test_a_long_note_is_cut_where_slack_would_refuse_it() -> None:
    ending = Ending(Outcome.FAILED, note="x" * 5_000, offer_retry=True)
    assert taken(footer_blocks(ending, "t" * 3_000)) == ["context", "actions"]


def test_a_form_has_its_controls_where_it_has_a_handle() -> None:
    form = Form("Which?", (Field("which", "Which", choices=(Choice("a", "A"), Choice("b", "B"))),))
    ending = Ending(Outcome.ASKED, form=form)
    assert taken(footer_blocks(ending, TURN)) == ["context"]
    under = taken(footer_blocks(Ending(Outcome.ASKED, form=form, handle="h1"), TURN))
    assert under[-1] == "context"
    assert len(under) > 1
    assert footer_text(ending), "the question, where no block is taken"


def test_sources_are_above_the_note() -> None:
    ending = Ending(Outcome.FAILED, note="It broke.", sources=(Source("https://example.com/a", "A"),))
    assert taken(footer_blocks(ending, TURN)) == ["context", "context"]
    assert footer_text(ending) == "It broke.\n\n1. [A](<https://example.com/a>)"


def test_a_task_that_is_watched_can_be_stopped() -> None:
    under = footer_blocks(Ending(Outcome.WATCHED, offer_retry=True), TURN)
    assert [each["action_id"] for each in under[0]["elements"]] == ["retry", "stop"]
