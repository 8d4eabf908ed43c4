"""Threads as files: what is kept of them, what counts as a difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.cli import main
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.json_file import Json
from slack_bot.testing.tape.tape import write_tape
from slack_bot.tools.replay.golden import GoldenThread, first_change, golden, name_of, report
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.replay.result import Observation
from slack_bot.tools.replay.scenario import Scenario

TAPE = answer("One line.\nAnother line.", seconds=4.0)


def kept(**changes: object) -> str:
    seen = replayed(TAPE, Scenario(user="U1", text="what?"))

    class Changed(Observation):
        def result(self) -> Json:
            return {**seen.result(), **changes}

    return golden(Changed(seen.log, seen.thread, seen.asked_at, seen.asker, seen.questions))


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
    same, new = GoldenThread("a", "x\n", "x\n"), GoldenThread("b", None, "x\n")
    other = GoldenThread("c", "one\ntwo\n", "one\nthree\n")
    assert [each.verdict for each in (same, new, other)] == ["same", "new", "differs"]
    assert list(report([same])) == ["same    a", "1 same"]
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


@pytest.fixture
def tapes(tmp_path: Path) -> list[str]:
    files = {"one.jsonl": "First answer.", "two.jsonl": "Second answer."}
    for name, text in files.items():
        (tmp_path / name).write_text(write_tape(answer(text)), "utf-8")
    return [str(tmp_path / name) for name in files]


def test_threads_are_kept_and_are_the_same_the_next_time(
    tapes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "a" / "threads"
    assert main(["replay", *tapes, "--golden", str(folder), "--update"]) == 0
    assert capsys.readouterr().out == "kept    one.jsonl.txt\nkept    two.jsonl.txt\n"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(["replay", *tapes, "--golden", str(folder)]) == 0
    assert capsys.readouterr().out.endswith("2 same\n")
    assert main(["replay", *tapes, "--golden", str(folder), "--update"]) == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert b"First answer." in before["one.jsonl.txt"]


def test_another_answer_is_a_difference_and_can_be_kept_instead(
    tapes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "threads"
    main(["replay", *tapes, "--golden", str(folder), "--update"])
    Path(tapes[1]).write_text(write_tape(answer("Another answer.")), "utf-8")
    capsys.readouterr()
    assert main(["replay", *tapes, "--golden", str(folder)]) == 1
    said = capsys.readouterr().out
    assert "same    one.jsonl.txt\ndiffers two.jsonl.txt\n" in said
    assert "\n    -Second answer.\n    +Another answer.\n" in said
    assert main(["replay", *tapes, "--golden", str(folder), "--update"]) == 0
    assert "changed two.jsonl.txt" in capsys.readouterr().out
    assert main(["replay", *tapes, "--golden", str(folder)]) == 0


def test_a_thread_that_was_never_kept_has_not_passed(
    tapes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "threads"
    main(["replay", tapes[0], "--golden", str(folder), "--update"])
    capsys.readouterr()
    assert main(["replay", *tapes, "--golden", str(folder)]) == 1
    assert "new     two.jsonl.txt: nothing to compare with" in capsys.readouterr().out
    assert not (folder / "two.jsonl.txt").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--golden", "{}/nowhere"], "no such folder; --update makes it"),
        (["--golden", "{}/one.jsonl"], "one.jsonl: this is a file; --golden wants a folder"),
        (["--golden", "{}/one.jsonl", "--update"], "one.jsonl: this is a file; --golden wants a folder"),
        (["--golden", "{}/one.jsonl", "--shrink", "-o", "{}/o"], "--golden wants a folder"),
        (["--golden", "{}/one.jsonl/x", "--update"], "choose another folder"),
    ],
)
def test_wrong_usage_is_told_with_the_remedy(
    tapes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert main(["replay", tapes[0], *(each.format(tmp_path) for each in options)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("slack-bot replay: ")
    assert said in error


def test_two_files_of_one_name_are_refused(
    tapes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "sub"
    other.mkdir()
    (other / "one.jsonl").write_bytes(Path(tapes[0]).read_bytes())
    files = [tapes[0], str(other / "one.jsonl")]
    assert main(["replay", *files, "--golden", str(tmp_path / "t"), "--update"]) == 2
    assert "have one name" in capsys.readouterr().err


def test_a_file_that_is_no_thread_is_told(
    tapes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.jsonl.txt").write_bytes(b"\xff\xfe")
    assert main(["replay", tapes[0], "--golden", str(tmp_path)]) == 2
    assert "not a thread that was kept here" in capsys.readouterr().err


def test_names_say_file_and_stream() -> None:
    assert name_of(Path("x/export.json"), None) == "export.json.txt"
    assert name_of(Path("export.json"), "a b/c") == "export.json.a_b_c.txt"
