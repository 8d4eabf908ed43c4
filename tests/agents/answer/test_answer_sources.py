"""The first source that speaks is live, and gives way where artifacts say something else."""

from __future__ import annotations

from slack_bot.agents.answer.answer_sources import ARTIFACT, MESSAGE, STATUS, AnswerSources
from slack_bot.turn.events import AnswerText


def put(sources: AnswerSources, source: str, text: str) -> bool:
    """Whether the text is shown."""
    update = sources.by_name[source].put("a", text, append=True)
    return isinstance(sources.show(source, update, "why", unproven=False)[0], AnswerText)


def test_the_first_source_is_live_and_others_wait() -> None:
    sources = AnswerSources(1_000)
    assert sources.live == sources.shown_end == ""
    assert put(sources, MESSAGE, "The fox")
    assert not put(sources, ARTIFACT, "A cat")
    assert sources.live == MESSAGE
    assert sources.shown_end == "The fox"
    assert sources.have_artifact("A cat")
    assert not sources.have_artifact("")


def test_artifacts_that_say_something_else_are_live_in_place_of_status_text() -> None:
    sources = AnswerSources(1_000)
    put(sources, STATUS, "Let me look.")
    put(sources, ARTIFACT, "The fox")
    assert sources.prefer_artifacts()
    assert (sources.live, sources.has_narrated) == (ARTIFACT, True)


def test_artifacts_that_repeat_the_status_change_nothing() -> None:
    sources = AnswerSources(1_000)
    put(sources, STATUS, "The fox ran.")
    put(sources, ARTIFACT, "The fox")
    assert not sources.prefer_artifacts()
    assert sources.live == STATUS


def test_what_is_over_the_bound_is_noted() -> None:
    sources = AnswerSources(5)
    assert not put(sources, ARTIFACT, "too long")
    assert sources.overflow
