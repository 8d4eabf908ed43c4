"""The heartbeat is measured in the bot's own process, and judged. How late is too late is the benchmark's."""

from __future__ import annotations

from dataclasses import replace

from .heartbeat import CASES, GROWN_MOST, LATE_MOST, Result, _result, measure
from .hostile_answers import Case, streamed


async def test_an_answer_is_written_while_the_heart_beats() -> None:
    result = await measure(Case("short", lambda: streamed("A line of text.\n" * 20, 16, 0.01)), 60.0)
    assert result.took is not None
    assert result.parsing > 0
    assert result.busy > 0
    assert 0 <= result.grown < GROWN_MOST
    assert result.wall >= result.late


def test_a_beat_is_late_by_what_the_bot_itself_did_and_parsing_stands_apart() -> None:
    beats = [
        {"at": 1.0, "late": 9.0, "busy": 9.0, "parsing": 0.0, "longest": 0.0},  # before the question
        {"at": 3.0, "late": 0.9, "busy": 0.1, "parsing": 0.0, "longest": 0.0},  # others kept the machine busy
        {"at": 4.0, "late": 0.8, "busy": 0.8, "parsing": 0.5, "longest": 0.4},
        {"closed": 5.0},
    ]
    found = _result("a", beats, 2.0, 6.0, over=True)
    assert (round(found.late, 3), found.wall, found.parsing, found.took) == (0.3, 0.9, 0.4, 3.0)
    hung = _result("a", beats[:-1], 2.0, 9.0, over=False)
    assert (hung.late, hung.took, hung.is_good) == (5.0, None, False)


def test_what_is_good() -> None:
    good = Result("a", late=LATE_MOST, wall=9.0, parsing=9.0, took=1.0, busy=1.0)
    assert good.is_good
    assert not replace(good, late=LATE_MOST + 0.01).is_good
    assert not replace(good, grown=GROWN_MOST + 1).is_good


def test_every_case_has_a_name_of_its_own() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names) > 50
