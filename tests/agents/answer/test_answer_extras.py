"""What an answer holds besides text."""

from __future__ import annotations

from slack_bot.agents.answer.answer_extras import AnswerExtras
from slack_bot.turn.events import Attached
from slack_bot.turn.extras import DataTable

TABLE, OTHER = DataTable(("a",), ((1,),)), DataTable(("b",), ((2,),))


def tables(extras: AnswerExtras) -> list[object]:
    return [each.extra for each in extras.attached() if isinstance(each, Attached)]


def test_a_place_may_have_two_that_are_equal_and_another_place_repeats_them() -> None:
    extras = AnswerExtras()
    extras.keep("a", (TABLE, TABLE))
    extras.keep("b", (TABLE, OTHER))
    assert tables(extras) == [TABLE, TABLE, OTHER]


def test_those_of_a_place_are_replaced_unless_more_is_appended() -> None:
    extras = AnswerExtras()
    extras.keep("a", (TABLE,))
    extras.keep("a", (OTHER,), append=True)
    assert tables(extras) == [TABLE, OTHER]
    extras.keep("a", ())
    assert tables(extras) == []


def test_those_beside_the_answer_are_none_of_it() -> None:
    extras = AnswerExtras()
    extras.keep("a", (TABLE,), beside=True)
    assert not extras.are_answer
    assert tables(extras) == [TABLE]
    extras.keep("b", (OTHER,))
    assert extras.are_answer
