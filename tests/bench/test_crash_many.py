"""Kills under many answers: the case on a small scale, and what it prints."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.redis_server import NO_REDIS, REDIS_SERVER

from .crash_cases import Asked
from .crash_judge import Fact
from .crash_many import PLAN, ManyResult, Reader, line, medians, run_many
from .rolling import Result


@pytest.mark.slow
@pytest.mark.skipif(REDIS_SERVER is None, reason=NO_REDIS)
def test_kills_under_several_answers_lose_nothing_and_double_nothing() -> None:
    many = asyncio.run(run_many(replace(PLAN, answers=6, lease=4.0)))
    assert many.result.wrong == [], line(many)
    assert sum(many.shares) >= 6


def result(seed: int, *readers: Reader) -> ManyResult:
    facts = [Fact(Asked(f"q{number}x0", "plain", 8, 1.0), "whole") for number in range(len(readers))]
    return ManyResult(seed, Result(facts, [], [], 6, 2, 60.0), [*readers], 12, [0, 1, 1])


def test_the_figures_are_those_of_the_readers() -> None:
    one = result(1, Reader(2.0, 11.0, 30.0), Reader(20.0, 3.0, 41.0), Reader(None, None, None))
    assert (one.slowest_first, one.median_still, one.all_whole) == (20.0, 3.0, 41.0)
    assert line(one) == (
        "seed 1: whole 3 of 3; first text p50 2.0 s, most 20.0 s; stood still p50 3.0 s, most 11.0 s; all"
        " whole after 41.0 s; 12 reads; taken over by each process: 0, 1, 1"
    )
    others = [result(seed, Reader(10.0 * seed, 1.0 * seed, 50.0 + seed)) for seed in (2, 3)]
    assert medians([one, *others]) == (
        "median of 3: slowest first text 20.0 s, the median reader's longest stand-still 3.0 s, all whole"
        " after 52.0 s"
    )
