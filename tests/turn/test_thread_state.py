"""Who is heard in a thread without a mention."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from slack_bot.turn.record import Question, ThreadKey
from slack_bot.turn.thread_state import ListensTo, ThreadState, heard, mentioned, read_alone, stopped, went_on

THREAD = ThreadKey("T1", "C1", "100.0")
DAY = 86_400.0


def said(at: float, user: str = "U1") -> Question:
    return Question(THREAD, f"{at}", user, "T1", "hi")


def is_question(state: ThreadState | None, at: float, user: str = "U1", respond: str = "auto") -> bool:
    assert state is not None
    assert respond in ("mention", "auto", "thread")
    policy: Literal["mention", "auto", "thread"] = respond  # type: ignore[assignment]
    return state.is_question(said(at, user), policy, DAY)


def test_the_asker_of_a_thread_s_root_goes_on_for_a_day_after_the_last_question_or_answer() -> None:
    state = mentioned(None, said(100.0))
    assert is_question(state, 101.0)
    assert is_question(state, 100.0 + DAY)
    assert not is_question(state, 100.1 + DAY)
    assert is_question(went_on(state, 200.0), 200.0 + DAY)
    assert went_on(went_on(state, 200.0), 150.0) == went_on(state, 200.0)
    assert not is_question(state, 99.0), "written before the mention"


def test_somebody_else_is_no_asker_and_ends_it() -> None:
    state = mentioned(None, said(100.0))
    assert not is_question(state, 101.0, "U2")
    assert heard(state, "U1") == state
    joined = heard(state, "U2")
    assert not is_question(joined, 102.0)
    assert not is_question(mentioned(joined, said(103.0)), 104.0), "a mention is needed from there on"
    assert not is_question(mentioned(state, said(103.0, "U2")), 104.0)
    assert is_question(joined, 102.0, "U3", "thread")


def test_in_the_middle_of_a_thread_others_may_have_written() -> None:
    state = mentioned(None, said(105.0))
    assert not is_question(state, 106.0)
    assert is_question(state, 106.0, "U2", "thread")


def test_who_has_read_that_nobody_else_wrote_there_goes_on() -> None:
    state = read_alone(mentioned(None, said(105.0)), said(105.0))
    assert is_question(state, 106.0)
    assert state == read_alone(None, said(105.0)), "the thread may be read before the mention is noted"
    assert not is_question(read_alone(heard(mentioned(None, said(105.0)), "U2"), said(105.0)), 107.0)
    assert not is_question(read_alone(mentioned(None, said(105.0)), said(106.0, "U2")), 107.0)


def test_who_need_not_mention_the_bot() -> None:
    state = mentioned(None, said(100.0))
    assert state.listens_to("mention") is ListensTo.NOBODY
    assert state.listens_to("auto") is ListensTo.ASKER
    assert state.listens_to("thread") is ListensTo.EVERYBODY
    assert mentioned(None, said(105.0)).listens_to("auto") is ListensTo.NOBODY
    ended = stopped(state, 101.0)
    assert ended is not None and ended.listens_to("thread") is ListensTo.NOBODY


@pytest.mark.parametrize("respond", ["auto", "thread"])
def test_who_wants_wants_to_be_heard_no_longer_is_heard_after_another_mention(respond: str) -> None:
    state = stopped(mentioned(None, said(100.0)), 110.0)
    assert not is_question(state, 111.0, respond=respond)
    assert mentioned(state, said(100.0)) == state, "the mention was brought again"
    again = mentioned(state, said(120.0))
    assert is_question(again, 121.0, respond=respond)
    assert not is_question(again, 119.0, respond=respond)


def test_where_a_mention_is_needed_nothing_else_is_a_question() -> None:
    assert not is_question(mentioned(None, said(100.0)), 101.0, respond="mention")


def test_a_thread_that_is_not_known_stays_so() -> None:
    assert heard(None, "U1") is went_on(None, 1.0) is stopped(None, 1.0) is None


def test_what_was_shown_stays_shown() -> None:
    state = went_on(mentioned(None, said(100.0)), 101.0, is_shown=True)
    assert state is not None and state.is_shown
    assert went_on(state, 102.0) == replace(state, active_at=102.0)
