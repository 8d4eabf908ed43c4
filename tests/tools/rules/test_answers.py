"""Answers played into a channel over HTTP, by a process of its own, and compared with the emulated ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slack_bot.cli import main
from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.tools.rules.answers import AnswerResult, answers_as_json, answers_as_text

from .test_real import WHERE, left, served, tried

ONLY = ("--only", "tables", "--only", "form", "--only", "file")


async def test_a_thread_that_looks_otherwise_is_drawn_and_all_is_taken_away(tmp_path: Path) -> None:
    async with served(WorkspaceRules.real().as_measured({"read.table": False})) as server:
        words = ("--real", "--answers", "--yes", *ONLY, *WHERE)
        status, out, err = await tried(server, tmp_path, *words)
        lines = out.splitlines()
        assert (status, lines[0]) == (1, "differs  tables"), (out, err)
        assert "    +|---|---:|---|" in lines, "here it is the text of a message"
        assert {"equal    form", "equal    file"} <= set(lines)
        assert lines[-1] == "3 answers: 2 look as in the emulated workspace"
        assert left(server.workspace) == []


async def test_answers_that_look_the_same_are_equal(tmp_path: Path) -> None:
    async with served() as server:
        words = ("--url", server.api_url, "--answers", "--only", "short", "--json", *WHERE)
        status, out, err = await tried(server, tmp_path, *words)
        assert status == 0, err
        row = {"answer": "short", "equal": True, "difference": []}
        assert json.loads(out) == {"ok": True, "answers": [row]}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--answers",), "--answers belongs to --real or --url"),
        (("--real", "--answers", "--quick", "--yes", *WHERE), "plays answers and tries no rules"),
        (("--url", "http://a/", "--answers", "--only", "shrt", *WHERE), "there is no such answer"),
        (("--real", "--yes"), "give --channel C... and --user U..."),
        (("--real", *WHERE), "say --yes"),
        (("--url", "here", *WHERE), "give an address"),
        (("--sandbox",), "--sandbox belongs to --real or --url"),
    ],
)
def test_wrong_usage_is_one_sentence(
    words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rules", *words]) == 2
    assert told in capsys.readouterr().err


def test_what_is_printed_and_what_a_program_reads() -> None:
    results = [AnswerResult("short", ("a",), ()), AnswerResult("long", ("b",), ("-a", "+b"))]
    assert answers_as_text(results) == [
        "equal    short", "differs  long", "    -a", "    +b", "",
        "2 answers: 1 look as in the emulated workspace",
    ]  # fmt: skip
    assert not answers_as_json(results)["ok"]
