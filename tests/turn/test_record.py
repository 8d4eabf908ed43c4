"""A question has one name for ever, and one message id."""

from __future__ import annotations

import uuid
from dataclasses import replace

from slack_bot.turn.record import Outcome, Question, ThreadKey, is_direct

ASKED = Question(ThreadKey("T1", "C1", "1.1"), "1.2", "U1", "T1", "hello")


def test_the_key_names_the_slack_message() -> None:
    assert ASKED.key == "T1:C1:1.2"


def test_the_message_id_depends_on_the_slack_message_and_on_nothing_else() -> None:
    assert uuid.UUID(ASKED.message_id).version == 5
    assert replace(ASKED, text="other", context_id="c").message_id == ASKED.message_id
    assert replace(ASKED, ts="1.3").message_id != ASKED.message_id


def test_a_direct_message_is_told_from_other_conversations() -> None:
    assert [is_direct(each) for each in ("D01ABC", "C01DEF", "G01DEF", "")] == [True, False, False, False]


def test_an_answer_is_whole_or_not_or_was_not_to_be_had() -> None:
    judged = {each: each.is_whole for each in Outcome}
    assert {each for each, is_whole in judged.items() if is_whole} == {Outcome.ANSWERED, Outcome.ASKED}
    assert {each for each, is_whole in judged.items() if is_whole is False} == {Outcome.LOST}
