"""What people, operators, agents and tools see is what it was. A wanted difference is made by
`python -m tests.house.goldens` and named in the changelog.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

import pytest

from slack_bot.cli import main
from tests.e2e import test_captures
from tests.house import goldens


def check(name: str, lines: Iterable[str]) -> None:
    kept = (goldens.FOLDER / f"{name}.txt").read_text("utf-8").splitlines()
    changes = difflib.unified_diff(kept, list(lines), "as it was", "as it is", lineterm="", n=1)
    assert not (said := list(changes)), "\n".join([name, *said[:60]])


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, marks=pytest.mark.slow) if each == "conversations" else each
        for each in goldens.GOLDENS
    ],
)
def test_names_and_threads_are_what_they_were(name: str) -> None:
    check(name, goldens.GOLDENS[name]())


def test_some_conversations_call_slack_as_before() -> None:
    """Each third one; all of them among the slow tests."""
    kept = (goldens.FOLDER / "conversations.txt").read_text("utf-8").splitlines()
    assert [line for line in goldens.conversations(3) if line not in kept] == []


def test_each_stream_that_must_end_well_told_is_among_the_recordings() -> None:
    """Each is judged as it is played."""
    played = {path for folder in goldens.RECORDINGS for path in goldens.captures_in(goldens.ROOT / folder)}
    assert {*test_captures.FILES} <= played


@pytest.mark.slow
@pytest.mark.skipif(
    not goldens.SHARED.is_dir(), reason="the shared recordings are not beside this repository"
)
def test_recordings_that_are_not_kept_here_give_the_same_threads() -> None:
    check("shared_replays", goldens.shared_replays())


def test_each_scene_calls_slack_and_fills_the_store_as_before() -> None:
    played = goldens.played()
    there = {path.relative_to(goldens.FOLDER).with_suffix("") for path in goldens.FOLDER.glob("scenes/*")}
    assert there == {Path(name) for name in played if name.startswith("scenes/")}
    for name, text in played.items():
        check(name, text.splitlines())


STATUSES = {
    "": 2,
    "nonsense": 2,
    "--version": 0,
    "-h": 0,
    "replay": 2,
    "replay missing.jsonl": 2,
    "replay TAPE": 0,
    "replay TAPE --json": 0,
    "replay TAPE --speed 0": 2,
    "replay broken.jsonl": 2,
    "explain TAPE": 0,
    "explain missing.jsonl": 2,
    "trace TAPE": 0,
    "compare TAPE TAPE": 0,
    "scrub TAPE": 2,
    "scrub TAPE -o scrubbed.jsonl": 0,
    "manifest": 0,
    "completion bash": 0,
    "completion fish": 2,
    "config check missing.toml": 2,
    "conform --suite missing.json": 2,
    "conform --from-tape TAPE": 2,
    "doctor": 1,
    "run": 2,
    "say": 2,
    "store show": 1,
}
"""Command lines, in a folder of their own and without settings, with their exit status."""


@pytest.mark.parametrize("words", STATUSES)
def test_a_verb_ends_with_the_status_of_before(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tape = goldens.ROOT / "docs/tapes/caipe-0.3.0-simple.jsonl"
    (tmp_path / "broken.jsonl").write_text("{no json\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    try:
        status: object = main([str(tape) if word == "TAPE" else word for word in words.split()])
    except SystemExit as error:
        status = error.code
    assert status == STATUSES[words], capsys.readouterr().err
