"""One turn of the fault run: the same for the same numbers, bounded in time, and judged."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from slack_bot.slack.answer import SlackAnswer
from slack_bot.slack.writer import Writer
from slack_bot.testing.slack.faults import DOWNLOAD, UPLOAD
from slack_bot.testing.tape.builders import answer
from slack_bot.threads.line import ThreadLine

from . import faults
from .agent_behaviours import Said, with_files
from .fault_run import Plan, plan, run
from .verdict import Truth

HELLO = Plan(0, "calm", "", answer("Hello you there."), Truth("Hello you there."))


def test_the_same_turn_has_the_same_calls() -> None:
    first, second = run(plan(1, 4)), run(plan(1, 4))
    assert [(call.now, call.method, call.error) for call in first.made] == [
        (call.now, call.method, call.error) for call in second.made
    ]
    assert first.verdict == second.verdict


def test_an_answer_is_right_and_another_is_not() -> None:
    assert run(HELLO).verdict.is_right
    assert run(replace(HELLO, truth=Truth("Hello me there."))).verdict.kind == "wrong"


def test_files_of_a_question_and_of_its_answer_come_once_byte_for_byte() -> None:
    said, given = with_files(Random(1)), (b"one", b"two")
    files = replace(HELLO, source=said.source, truth=said.truth, given=given, made=said.files)
    assert run(files).verdict.is_right
    assert "made-0.bin" in run(replace(files, made=(b"another",))).verdict.why
    twice = replace(files, scripts={UPLOAD: ["http:500"] * 9, DOWNLOAD: ["cut", None]})
    assert run(twice).verdict.is_right, "who cannot be given a file is told"


def test_a_question_is_judged_by_what_came_after_it() -> None:
    second = Said("", answer("And this one.", ids="2"), Truth("And this one."), asks="more")
    both = replace(HELLO, kind="queued", then=(second,), at=1.0)
    report = run(both)
    assert report.verdict.is_right, report.verdict
    assert report.outcomes == ["answered", "answered"]
    other = replace(second, truth=Truth("Hello you there."))
    assert run(replace(both, then=(other,))).verdict.kind == "wrong"


def test_a_stop_waits_for_the_page_and_is_told_to_the_agent() -> None:
    text = "\n\n".join(f"Paragraph {number} of a long answer, which goes on." for number in range(250))
    truth = Truth(text, frozenset({"stopped"}), frozenset({"stopped"}))
    late = Plan(0, "stopped late", "", answer(text, seconds=60.0), truth, page=1, at=0.2)
    for by_word in (False, True):
        report = run(replace(late, by_word=by_word))
        assert report.verdict.is_right, report.verdict
        assert len(report.thread) == 2


def test_a_stop_that_is_ignored_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ThreadLine, "_stop_running", lambda *_: None)
    text = " ".join(f"word{number}" for number in range(400))
    truth = Truth(text, frozenset({"answered", "stopped"}), frozenset({"stopped"}))
    ignored = Plan(0, "stopped", "", answer(text, seconds=60.0), truth, at=10.0, by_word=True)
    verdict = run(ignored).verdict
    assert (verdict.kind, verdict.why) == ("wrong", "the stop was ignored")


def test_a_turn_that_never_ends_has_hung(monkeypatch: pytest.MonkeyPatch) -> None:
    async def spin(*_: Any) -> None:
        for _ in itertools.count():
            await asyncio.sleep(0)

    monkeypatch.setattr(Writer, "carry_out", spin)
    assert run(HELLO, most_seconds=0.3).verdict.kind == "hung"


def test_a_turn_that_waits_for_ever_has_hung(monkeypatch: pytest.MonkeyPatch) -> None:
    async def wait(*_: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Writer, "carry_out", wait)
    assert run(HELLO).verdict.kind == "hung"


def test_a_turn_that_breaks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(SlackAnswer, "show", fail)
    verdict = run(HELLO).verdict
    assert verdict.kind == "broke"
    assert "ZeroDivisionError: on purpose" in verdict.why


def test_the_command_prints_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert faults.main(["--seed", "1", "--only", "4..5", "--verbose"]) == 0
    printed = capsys.readouterr().out
    for name in (
        "turns            2",
        "verdicts         right 2 lost 0 doubled 0",
        "streams open     0",
        "429",
    ):
        assert name in printed
    assert "chat.startStream" in printed


def test_the_command_fails_where_a_turn_went_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(faults, "plan", lambda seed, number: replace(HELLO, truth=Truth("Something else.")))
    assert faults.main(["--turns", "1"]) == 1
    assert "turn 0 of seed 1: wrong" in capsys.readouterr().out
