"""Threads as files: what is kept of them, what counts as a difference."""

from __future__ import annotations

import pytest

from slack_bot.testing.tape.builders import answer
from slack_bot.tools.replay.golden import Compared, difference, first_change, golden, report
from slack_bot.tools.replay.replay import replay

TAPE = answer("One line.\nAnother line.", seconds=4.0)


def kept(**changes: object) -> str:
    return golden({**replay(TAPE), **changes}, asker="U1", question="what?")


def test_a_thread_is_what_a_person_reads_and_how_it_ended() -> None:
    text = kept()
    assert text.startswith("U1: what?\n\nbot (streamed):\nOne line.\nAnother line.\n")
    assert text.endswith("\n-- answered, shown while it was written\n")


def test_times_and_ids_are_no_part_of_it() -> None:
    assert kept(first_visible=9.9, longest_gap=3.0, calls=[], task_id="other") == kept()


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (1.0, "shown while it was written"),
        (0.9, "shown while it was written"),
        (0.6, "more than half of it shown while it was written"),
        (0.1, "less than half of it shown while it was written"),
        (0.0, "shown at the end only"),
        (None, "no answer text"),
    ],
)
def test_an_answer_that_is_not_live_any_more_is_a_difference(share: float | None, said: str) -> None:
    assert kept(live_share=share).endswith(f", {said}\n")


def test_a_reason_stands_behind_the_outcome() -> None:
    assert "-- failed (task failed), " in kept(outcome="failed", reason="task failed")
    assert "-- not taken, " in kept(outcome=None, reason=None)


def test_verdicts_and_report() -> None:
    same, new = Compared("a", "x\n", "x\n"), Compared("b", None, "x\n")
    other = Compared("c", "one\ntwo\n", "one\nthree\n")
    assert [each.verdict for each in (same, new, other)] == ["same", "new", "differs"]
    assert list(difference(same)) == []
    lines = list(report([same, new, other]))
    assert lines[0] == "same    a"
    assert "--update keeps it" in lines[1]
    assert "    -two" in lines
    assert "    +three" in lines
    assert lines[-1] == "1 same, 1 differs, 1 new"


def test_the_first_change_is_what_is_too_much_and_else_what_is_missing() -> None:
    assert first_change("a\nb\n", "a\nc\n") == ("c", "more")
    assert first_change("a\nb\n", "a\n") == ("b", "less")
    assert first_change("a\nb\n-- lost\n", "a\n-- answered\n") == ("b", "less")
    assert first_change("a\n-- lost\n", "a\n-- answered\n") == ("-- answered", "more")
    assert first_change("a\nb\n", "b\na\n") is None
    assert first_change("a\n\n", "a\n") is None
