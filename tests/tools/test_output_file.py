"""A file that a verb writes: tried first, touched only when there is something to write."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from slack_bot.cli import main
from slack_bot.errors import UnreadableInput
from slack_bot.tools.output_file import Output, OutputFile, check_distinct

TAPE = str(Path(__file__).parents[2] / "docs" / "tapes" / "caipe-0.3.0-simple.jsonl")


def test_nothing_written_leaves_things_as_they_were(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.write_text("kept")
    for path in (new, old):
        with OutputFile(str(path)) as file:
            assert not file.has_content
    assert not new.exists()
    assert old.read_text() == "kept"


def test_each_write_is_there_at_once_and_replaces_what_was(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("older and longer than what comes")
    with OutputFile(str(path)) as file:
        file.text("a\ud800")
        assert path.read_bytes() == b"a\xed\xa0\x80"
        file.write(b"b")
        assert path.read_bytes() == b"a\xed\xa0\x80b"
        assert file.has_content


def test_a_new_file_is_not_there_while_there_is_nothing_to_write(tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    with OutputFile(str(path)):
        assert not path.exists()


def test_what_is_read_is_not_written(tmp_path: Path) -> None:
    tape, link = tmp_path / "tape", tmp_path / "link"
    tape.write_text("kept")
    link.symlink_to(tape)
    for path in (tape, link, tmp_path / "." / "tape"):
        with pytest.raises(UnreadableInput, match="this file is read"):
            OutputFile(str(path), [None, "http://a/", str(tape)])
    OutputFile(str(tmp_path / "other"), [str(tape)])
    OutputFile("/dev/null", ["/dev/null"])
    assert tape.read_text() == "kept"


def test_two_outputs_are_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    old, link = tmp_path / "old", tmp_path / "link"
    old.write_text("kept")
    link.symlink_to(old)
    for one, other in (("new", "new"), ("new", str(tmp_path / "new")), ("old", "./old"), ("link", "old")):
        with pytest.raises(UnreadableInput, match=f"^{Path(other)}: two outputs"):
            check_distinct(one, None, other)
    check_distinct(None, None)
    check_distinct("new", "old", None)
    check_distinct("/dev/null", "/dev/null")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "old"]


@pytest.mark.parametrize(
    "words",
    [
        ["trace", TAPE, "--svg", "x", "--html", "x"],
        ["conform", "--report", "x", "--junit", "./x"],
        ["trace", "tape", "--svg", "tape"],
        ["trace", TAPE, "--scenario", "tape", "--html", "tape"],
        ["scrub", "tape", "-o", "./tape"],
        ["compare", TAPE, "tape", "-o", "tape"],
        ["replay", "tape", "--shrink", "-o", "tape"],
        ["conform", "--suite", "suite/suite.json", "--report", "suite/suite.json"],
        ["conform", "--suite", "suite/suite.json", "--junit", "suite/a.jsonl"],
    ],
)
def test_no_verb_writes_over_what_it_reads_or_writes(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    suite = {
        "name": "mine",
        "cases": [{"name": "a", "query": "q", "tape": "a.jsonl", "checks": ["live_streamed"]}],
    }
    kept = {"tape": Path(TAPE).read_text(), "suite/suite.json": json.dumps(suite)}
    kept["suite/a.jsonl"] = kept["tape"]
    Path("suite").mkdir()
    for name, text in kept.items():
        Path(name).write_text(text)
    if "--scenario" in words:
        Path("tape").write_text("{}")
        kept["tape"] = "{}"
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1 and re.search("this file is read|written to this file", said.err)
    assert {path: Path(path).read_text() for path in kept} == kept
    assert not Path("x").exists()


@pytest.mark.parametrize("name", ["", "missing/f"])
def test_what_cannot_be_written_is_found_out_first(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="give another file"):
        OutputFile(str(tmp_path / name))


def test_a_full_disk_is_one_sentence() -> None:
    with OutputFile("/dev/full") as file, pytest.raises(UnreadableInput, match="No space left"):
        file.write(b"x")


def test_memory_does_as_a_file_would() -> None:
    memory = Output("http://a/")
    assert (memory.path, memory.has_content) == ("http://a/", False)
    memory.text("a\ud800")
    memory.write(b"b")
    assert memory.data == b"a\xed\xa0\x80b"
    assert memory.has_content
