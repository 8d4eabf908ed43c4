"""Which face of `replay` is wanted, and which options make no sense together."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.cli import main
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import write_tape


@pytest.fixture
def tape(tmp_path: Path) -> str:
    file = tmp_path / "one.jsonl"
    file.write_text(write_tape(answer("First answer.")), "utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--update"], "--update belongs to --golden"),
        (["--golden", "x", "--update", "--shrink", "-o", "y"], "--update belongs to --golden"),
        (["--golden", "x", "--json"], "--golden prints its own report"),
        (["--golden", "x", "--play"], "--golden prints its own report"),
        (["--golden", "x", "--speed", "1"], "--speed is for looking on"),
        (["--shrink", "-o", "y", "--speed", "1"], "--speed is for looking on"),
        (["--speed", "0"], "--speed must be above 0"),
        (["--play", "--speed", "inf"], "--speed must be above 0"),
        (["--shrink"], "--shrink wants -o FILE"),
        (["other.jsonl", "--shrink", "-o", "y"], "--shrink takes one FILE"),
        (["-o", "x.jsonl"], "--output is where --shrink writes"),
    ],
)
def test_wrong_usage_is_told_with_the_remedy(
    tape: str, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert main(["replay", tape, *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith("slack-bot replay: ")
    assert said in error


def test_each_face_is_its_own(tape: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", tape]) == 0
    assert "First answer." in capsys.readouterr().out
    assert main(["replay", tape, "--golden", str(tmp_path / "kept"), "--update"]) == 0
    assert capsys.readouterr().out == "kept    one.jsonl.txt\n"
    assert main(["replay", tape, "--shrink", "-o", str(tmp_path / "small.jsonl")]) == 0
    assert "nothing is wrong" in capsys.readouterr().out
