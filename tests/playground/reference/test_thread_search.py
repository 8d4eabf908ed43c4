"""What answers a short question, read with the question before it."""

from __future__ import annotations

from slack_bot.playground.reference.agent import bundled_library
from slack_bot.playground.reference.pages import PageSection
from slack_bot.playground.reference.thread_search import (
    ThreadHits,
    example_for,
    next_sections,
    parts_left,
    search_thread,
)

LIBRARY = bundled_library()


def told_for(question: str) -> list[PageSection]:
    return [LIBRARY.search(question)[0].section]


def searched(before: str, question: str) -> ThreadHits:
    return search_thread(LIBRARY, question, before, told_for(before))


def test_the_thread_decides_what_it_is() -> None:
    feedback = searched("can I give feedback?", "is it anonymous?").answer
    assert feedback is not None and feedback.heading == "Is my rating anonymous?"


def test_what_was_told_is_not_told_again() -> None:
    before = "why is it slow?"
    told = told_for(before)
    found = search_thread(LIBRARY, "can it be faster?", before, told)
    assert told[0] not in [found.answer, *found.near]


def test_what_is_not_certain_is_only_near() -> None:
    found = searched("what does it cost?", "for a big company?")
    assert found.answer is None and found.near


def test_the_parts_of_a_topic_come_first_and_then_its_page() -> None:
    told = told_for("what does it cost?")
    parts = parts_left(LIBRARY, "what does it cost?", told)
    following = next_sections(LIBRARY, "what does it cost?", told)
    assert following[: len(parts)] == parts and {each.topic for each in parts} == {told[0].topic}
    assert {each.page for each in following[len(parts) :]} == {told[0].page}


def test_an_example_has_something_to_write_or_run() -> None:
    before = "how do I connect my own agent?"
    found = example_for(LIBRARY, before, told_for(before))
    assert found is not None and found.heading == "How do I write an agent?"
    assert example_for(LIBRARY, "what does it cost?", told_for("what does it cost?")) is None
