"""What is known of an agent decides what is live."""

from __future__ import annotations

import pytest

from slack_bot.agents.answer.answer_sources import ARTIFACT, STATUS, AnswerSources
from slack_bot.agents.answer.filters import TextFilters
from slack_bot.agents.answer.habits import AgentHabits, Lesson
from slack_bot.agents.answer.held_text import HeldText
from slack_bot.agents.answer.token_pace import TokenPace


def habits(source: str = "auto", default: str = "", **profile: str) -> AgentHabits:
    return AgentHabits(source, "auto", profile, default)


def pace(*pieces: str) -> TokenPace:
    found = TokenPace()
    for piece in pieces:
        found.feed(piece)
    return found


def test_settings_count_more_than_the_profile_and_that_more_than_the_dialect() -> None:
    assert habits(STATUS, ARTIFACT, answer_source=ARTIFACT).trusted == STATUS
    assert habits("auto", STATUS, answer_source=ARTIFACT).trusted == ARTIFACT
    assert habits("auto", STATUS).trusted == STATUS
    assert habits("auto", STATUS, answer_source="hold 2").trusted == ""


@pytest.mark.parametrize(
    ("known", "is_in_statuses"),
    [(habits(), None), (habits(answer_source=ARTIFACT), False), (habits(answer_source=STATUS), True)],
)
def test_whether_it_answers_in_its_status(known: AgentHabits, is_in_statuses: bool | None) -> None:
    assert known.in_statuses is is_in_statuses


def test_status_text_of_an_unknown_agent_is_live_where_it_comes_token_by_token() -> None:
    assert habits().show_status(pace("The ", "quick ", "fox"))
    assert not habits().show_status(pace("Searching the docs."))
    assert not habits(answer_source=ARTIFACT).show_status(pace("The ", "quick ", "fox"))
    assert habits(STATUS).show_status(pace("Searching the docs."))
    assert habits().doubts_status and not habits(answer_source=STATUS).doubts_status


def test_an_agent_that_was_shown_wrong_is_not_trusted_for_some_turns() -> None:
    sources, held, filters = AnswerSources(1_000), HeldText(1_000), TextFilters(is_on=True)
    update = sources.artifacts.put("a", "Hm.", append=True)
    sources.show(ARTIFACT, update, "why", unproven=False)
    profile = {"answer_source": ARTIFACT}
    for turns in ("hold", "hold 1", "hold 2", "hold 3", "hold 4", ""):
        lesson = Lesson("The fox", habits(**profile), sources=sources, held=held, held_source=STATUS)
        profile = lesson.updates(filters)
        assert profile == {"answer_source": turns}
