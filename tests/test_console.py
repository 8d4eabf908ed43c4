"""Where a verb's words go is no reason for a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from slack_bot.console import EXIT_SIGPIPE, run_guarded

ROOT = Path(__file__).parent.parent
TAPE = str(ROOT / "docs" / "tapes" / "caipe-0.3.0-simple.jsonl")
VERBS = [
    ["replay", TAPE],
    ["replay", TAPE, "--json"],
    ["trace", TAPE, "--all"],
    ["conform", "--only", "simple-chat"],
]


def started(words: list[str], **streams: object) -> subprocess.CompletedProcess[bytes]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "slack_bot", *words]
    return subprocess.run(command, env=environment, check=False, timeout=60, **streams)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("words", VERBS[1:4], ids=lambda words: words[0])
def test_a_reader_who_leaves_is_no_error(words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = started(words, stdout=write, stderr=subprocess.PIPE)
    finally:
        os.close(write)
    assert b"Error" not in done.stderr and b"Traceback" not in done.stderr
    assert done.returncode == EXIT_SIGPIPE


def test_a_picture_is_drawn_though_nobody_reads_the_table(tmp_path: Path) -> None:
    picture = tmp_path / "x.svg"
    with Path("/dev/full").open("wb") as full:
        done = started(["trace", TAPE, "--svg", str(picture)], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert picture.read_text().endswith("</svg>\n")


@pytest.mark.parametrize("words", [VERBS[0], VERBS[2]], ids=lambda words: words[0])
def test_a_full_disk_is_one_sentence(words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = started(words, stdout=full, stderr=subprocess.PIPE)
    said = "the output cannot be written: No space left on device; send it somewhere else"
    assert done.stderr.decode() == f"slack-bot {words[0]}: {said}\n"
    assert done.returncode == 1


def test_nowhere_to_write_is_no_reason_to_break() -> None:
    command = f"exec {sys.executable} -m slack_bot replay {TAPE} >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], cwd=ROOT, check=False, timeout=60).returncode == 0


def test_what_a_verb_returns_and_raises_is_passed_on() -> None:
    assert run_guarded(lambda: 3) == 3

    def broken() -> int:
        raise FileNotFoundError(2, "No such file", "x")

    with pytest.raises(FileNotFoundError):
        run_guarded(broken)
