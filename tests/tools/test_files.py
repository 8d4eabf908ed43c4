"""A file that a verb writes: tried first, touched only when there is something to write."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from slack_bot.cli import main
from slack_bot.errors import UnreadableInput
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.recording import Recording
from slack_bot.testing.tape.tape import Tape, write_tape
from slack_bot.tools.files import (
    Output,
    OutputFile,
    check_distinct,
    keep_what_is_there,
    open_capture,
    read_bytes,
    taped,
)
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.replay.scenario import make_scenario
from tests.closed_folder import closed_folder

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


CAPTURES = Path(__file__).parents[1] / "captures"
SSE = {"content-type": "text/event-stream"}


@pytest.mark.parametrize("name", ["a2asdk130_chunks", "a2asdk0326_raise"])
def test_a_recording_as_a_tape_gives_the_same_thread(name: str) -> None:
    capture = open_capture(CAPTURES / f"{name}.txt")
    assert isinstance(capture, Recording)
    assert replayed(taped(capture)).result()["thread"] == replayed(capture).result()["thread"]


def test_a_capture_without_events_is_one_where_the_agent_fails(tmp_path: Path) -> None:
    file = tmp_path / "empty.json"
    file.write_text("[]", "utf-8")
    around = make_scenario({"agent_error": {"after": 0, "message": "boom"}})
    assert isinstance(open_capture(file, around=around), Tape)
    for other in (None, make_scenario({"cut_after": 0})):
        with pytest.raises(UnreadableInput, match="there are no events in it"):
            open_capture(file, around=other)


def test_times_follow_the_chunks_and_the_end_is_kept() -> None:
    chunks = ((0.5, b'data: {"kind": "task"'), (1.0, b', "id": "t"}\n\n: ping\n'), (2.0, b"data: half"))
    tape = taped(Recording(headers=SSE, chunks=chunks, cut=True, ended=2.5))
    assert [(moment.t, moment.comment, moment.raw, moment.end) for moment in tape.moments] == [
        (1.0, None, None, None),
        (1.0, "ping", None, None),
        (2.5, None, "data: half", None),
        (2.5, None, None, "cut"),
    ]


def test_a_refusal_becomes_an_error_that_says_so() -> None:
    tape = taped(Recording(status=503, headers={"content-type": "text/html"}, chunks=((0.0, b"down"),)))
    assert [moment.error for moment in tape.moments] == [{"message": "down", "http_status": 503}, None]
    assert taped(tape) is tape
    assert isinstance(tape, Tape)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="nothing: no such file; check the path"):
        read_bytes(tmp_path / "nothing", "nothing")
    assert read_bytes(CAPTURES / "a2asdk130_chunks.txt", "chunks")
    with pytest.raises(UnreadableInput, match="nothing: no such file; check the path"):
        open_capture(tmp_path / "nothing")


def test_what_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "answer.jsonl").write_text("{}")
    with pytest.raises(UnreadableInput, match=r"no such file; did you mean .*/answer\.jsonl\?$"):
        open_capture(tmp_path / "anwser.jsonl")
    with pytest.raises(UnreadableInput, match=r"is a directory; name a file in it$"):
        open_capture(tmp_path)
    with pytest.raises(UnreadableInput, match=r"no such file; check the path$"):
        open_capture(tmp_path / "nowhere" / "answer.jsonl")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_file_that_is_there_is_written_over_only_after_a_yes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there, empty = tmp_path / "tape.jsonl", tmp_path / "empty"
    there.write_text("kept")
    empty.touch()
    for path in (tmp_path / "new", empty):
        keep_what_is_there(path)
    assert capsys.readouterr().err == ""
    for said in (io.StringIO("y\n"), Terminal("\n"), Terminal("no\n"), Terminal("")):
        monkeypatch.setattr("sys.stdin", said)
        with pytest.raises(UnreadableInput, match=r"tape\.jsonl is there already: .* --force"):
            keep_what_is_there(there)
    monkeypatch.setattr("sys.stdin", Terminal("Y\n"))
    keep_what_is_there(there)
    assert capsys.readouterr().err.endswith("Write over it? [y/N] ")


@pytest.mark.parametrize(
    "words",
    [
        ["replay"],
        ["replay", TAPE, "--golden"],
        ["explain"],
        ["conform", "--suite"],
        ["conform", "--from-tape"],
        ["conform", "--from-tape", TAPE, "--truth"],
        ["trace"],
        ["compare", TAPE],
        ["scrub", TAPE, "-o"],
        ["capture", "http://127.0.0.1:1", "hello", "-o"],
    ],
    ids=" ".join,
)
def test_a_file_in_a_folder_that_is_closed_to_this_user_is_named(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Python 3.14's own `exists` says that nothing is there; up to 3.13 it raises an error."""
    main(["replay", TAPE])  # what the verbs import is found
    capsys.readouterr()
    with closed_folder() as closed:
        assert main([*words, f"{closed}/file"]) == 2
        told = capsys.readouterr().err
    assert f"{closed}/file: " in told
    assert re.search(
        r"this user may not read it; check its owner and mode|Permission denied; give another", told
    )


@pytest.mark.parametrize(
    "words",
    [
        ["scrub", "{tape}", "-o", "{out}"],
        ["compare", "{tape}", "{tape}", "-o", "{out}"],
        ["trace", "{tape}", "--svg", "{out}"],
        ["trace", "{tape}", "--html", "{out}"],
    ],
)
def test_a_file_that_is_there_is_not_written_over(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tape, out = tmp_path / "answer.jsonl", tmp_path / "out"
    tape.write_text(write_tape(answer("Hello.")), encoding="utf-8")
    out.write_text("mine", encoding="utf-8")
    given = [word.format(tape=tape, out=out) for word in words]
    assert main(given) == 2
    assert f"{out} is there already" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "mine"
    assert main([*given, "--force"]) == 0
    assert out.read_text(encoding="utf-8") != "mine"

    nowhere = [word.format(tape=tape, out=tmp_path / "nowhere" / "out") for word in words]
    assert main(nowhere) == 2
    assert f"there is no folder {tmp_path / 'nowhere'}; create it" in capsys.readouterr().err


@pytest.mark.parametrize("verb", [["replay"], ["explain"], ["trace"], ["config", "check"]])
def test_a_device_without_an_end_is_refused(verb: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*verb, "/dev/zero"]) == 2
    err = capsys.readouterr().err
    assert "/dev/zero" in err and err.count("\n") == 1
