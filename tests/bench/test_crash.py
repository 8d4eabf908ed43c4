"""The crash run: twenty kills, and nothing is lost, doubled or left behind."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import get_args

import pytest

from .crash import main, run, summary
from .crash_bot import Fuse
from .crash_cases import MOMENT, POINTS, WAITING, Asked, KilledKind, Play, plan
from .crash_judge import Fact, Report

KILLS = 20


@pytest.mark.slow
def test_twenty_kills_lose_nothing_and_double_nothing() -> None:
    reports = asyncio.run(run(1, KILLS, jobs=2))
    assert sum(report.kills for report in reports) >= KILLS
    assert [why for report in reports for why in report.wrong] == [], summary(reports)


def test_a_case_follows_from_its_seed_and_number() -> None:
    assert plan(3, 7) == plan(3, 7)
    assert plan(3, 7) != plan(3, 8)
    assert plan(3, 7).questions != plan(4, 7).questions


def test_all_points_and_all_kinds_are_among_the_cases() -> None:
    cases = [plan(1, number) for number in range(200)]
    assert {case.kill.point for case in cases} == {*POINTS, MOMENT, WAITING}
    assert {case.play for case in cases} == {*get_args(Play)}
    kinds = {asked.kind for case in cases for asked in case.questions}
    assert kinds == {*get_args(KilledKind)}
    assert any(asked.is_direct for case in cases for asked in case.questions)
    assert any(case.stops is not None for case in cases)
    behind = [(case, asked) for case in cases for asked in case.questions if asked.behind is not None]
    for case, asked in islice(behind, 100):
        first = case.questions[asked.behind or 0]
        assert first.after < asked.after
        assert first.is_direct == asked.is_direct


def test_the_summary_counts_and_names_what_is_wrong() -> None:
    case, asked = plan(1, 3), Asked("q3x0", "plain", 8, 1.0)
    good = Report(plan(1, 0), [Fact(asked, "whole")], kills=1, took=[0.25], took_unmarked=[4.5])
    bad = Report(case, [Fact(asked, "silent", "2 of 8 lines")], asked_twice=["q3x0: 2 messages"], kills=1)
    printed = summary([good, bad])
    assert "new words: p50 0.25 s, p99 0.25 s (1)" in printed
    assert "do not mark their answer: p50 4.50 s, p99 4.50 s (1)" in printed
    assert "python -m tests.bench.crash --only 1:3" in printed
    assert "asked twice: q3x0: 2 messages" in printed
    assert printed.index("before the question is stored") < printed.index("--only")


def test_a_fuse_ends_the_process_at_its_point_only(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = list[int]()
    monkeypatch.setattr("os.kill", lambda _, sign: ended.append(sign))
    fuse = Fuse("before ask", 2)
    for name in ("before ask", "after ask", "before task"):
        fuse.pass_point(name)
    assert not ended
    fuse.pass_point("before ask")
    fuse.pass_point("before ask")
    assert len(ended) == 1


def test_a_case_needs_a_seed_and_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "three"])
    assert "SEED:N" in capsys.readouterr().err
