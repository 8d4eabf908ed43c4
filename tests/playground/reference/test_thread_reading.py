"""What a short question is read as behind the ones before it."""

from __future__ import annotations

from slack_bot.playground.reference.agent import bundled_library
from slack_bot.playground.reference.pages import PageSection
from slack_bot.playground.reference.thread_reading import (
    ThreadReading,
    found_alone,
    leads_elsewhere,
    read_in_thread,
    searched,
)

LIBRARY = bundled_library()


def told_for(question: str) -> list[PageSection]:
    return [LIBRARY.search(question)[0].section]


def read(before: str, question: str) -> ThreadReading | None:
    return read_in_thread(LIBRARY, question, [before], told_for(before))


def test_a_section_that_is_certain_is_the_answer() -> None:
    reading = read("can I give feedback?", "who sees it?")
    assert reading is not None and reading.section is not None
    assert reading.section.heading == "Who sees my feedback, and where is it kept?"


def test_else_it_is_the_sentence_that_was_shown() -> None:
    reading = read("can I upload a file?", "and how big?")
    assert reading is not None and reading.sentence is not None
    assert "10 MiB" in reading.sentence.text


def test_else_it_is_what_comes_near_which_may_be_likely() -> None:
    likely = read("which permissions does the bot need?", "what are they for?")
    assert likely is not None and likely.is_likely
    assert likely.near[0].heading == "What is each scope for, such as files:read?"
    vague = read("what does it cost?", "and then on Tuesdays?")
    assert vague is not None and not vague.is_likely
    assert vague.section is vague.sentence is None


def test_what_is_certain_without_the_thread_leads_elsewhere() -> None:
    alone = found_alone(LIBRARY, "how do I stop an answer?")
    assert leads_elsewhere(alone, told_for("what does it cost?"))
    assert not leads_elsewhere(alone, [alone[0].section])


def test_what_the_thread_began_with_counts_where_the_last_subject_leads_nowhere() -> None:
    first, last = "can I give feedback?", "which python do I need?"
    told = [*told_for(first), *told_for(last)]
    assert searched(LIBRARY, "is my rating anonymous?", [last, first], told).answer is not None
