"""Text that is the answer if nothing better comes."""

from __future__ import annotations

from slack_bot.agents.answer.held_text import HeldText


def test_a_run_ends_with_a_tool_and_its_text_is_kept() -> None:
    held = HeldText(1_000)
    assert held.take_status("The fox") == ("The fox", True)
    key = held.run_key
    held.end_run()
    assert held.run_key != key
    assert (held.text, held.text_before_tool) == ("", "The fox")
    held.end_run()
    assert held.text_before_tool == "The fox", "a run without text changes nothing"


def test_text_may_be_replaced_and_what_was_said_aside_is_noted() -> None:
    held = HeldText(1_000)
    held.keep("Hm.", append=True, aside=True)
    held.keep("The fox", append=False, aside=False)
    assert (held.text, held.steps, held.has_asides) == ("The fox", 2, True)


def test_the_end_that_waited_for_more_is_part_of_it() -> None:
    held = HeldText(1_000)
    for text in ("Look.", "In", "India"):
        held.take_status(text)
    assert held.close() == "InIndia"
    held.add(" [FIN")
    assert held.text == "Look.InIndia [FIN"
