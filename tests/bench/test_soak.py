"""Two hours of the soak, and what it says when something is left."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from .soak import Left, faults_of, soak


@pytest.mark.slow
def test_nothing_is_left_after_hours_of_questions() -> None:
    found, outcomes, broken = soak(hours=2, turns=8)
    assert found[-2].questions == outcomes.total() - outcomes["watched"] == 16  # what is watched ends twice
    # of so few questions memory proves nothing: what is learned once is a large part of it
    assert [each for each in faults_of(found) if "KiB" not in each] == []
    assert broken == []


@pytest.mark.parametrize(
    "change,said",
    [
        ({"streams": 1}, "hour 3: 1 streams are open"),
        ({"tasks": 9}, "hour 3: 9 tasks, 7 files and sockets"),
        ({"files": 8}, "hour 3: 5 tasks, 8 files and sockets"),
        ({"memory": 1_200_000}, "195 KiB more since hour 1; of the bot's own: [('app.App', 3)]"),
    ],
)
def test_what_is_left_is_named(change: dict[str, int], said: str) -> None:
    found = [Left(hour, 10 * hour, 1_000_000, 5, 7, 0) for hour in range(5)]
    assert faults_of([*found[:-1], replace(found[-1], tasks=0)]) == []
    found[3] = replace(found[3], **change, objects=Counter({"app.App": 3}))
    assert faults_of([*found[:-1], replace(found[-1], tasks=0)]) == [said]


def test_a_task_that_outlives_the_bot_is_named() -> None:
    found = [Left(hour, 10 * hour, 1_000_000, 5, 7, 0) for hour in range(5)]
    assert faults_of(found) == ["5 tasks are left"]
