"""What cannot be read in a capture is named: by `replay` and `explain`, with an exit status of its own."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slack_bot.cli import main
from slack_bot.testing.tape.builders import answer, chunk, status, task
from slack_bot.testing.tape.tape import Moment, Tape, read_tape, write_tape
from slack_bot.tools.files import open_capture
from slack_bot.tools.not_understood import tell_unread, unread_events

MISSPELT = {**chunk("The other half."), "kind": "artifact-udpate"}
WRONG_LINE = 4


def half_read(path: Path) -> str:
    moments = (
        Moment(0.1, event=task()),
        Moment(0.5, event=chunk("One half. ")),
        Moment(1.0, event=MISSPELT),
        Moment(1.5, event=status("completed")),
        Moment(1.6, end="closed"),
    )
    path.write_text(write_tape(Tape({}, moments)), encoding="utf-8")
    return str(path)


def test_replay_names_the_line_the_kind_and_what_was_meant(tmp_path: Path, capsys: Any) -> None:
    file = half_read(tmp_path / "half.jsonl")
    said = f"line {WRONG_LINE} (artifact-udpate): there is no such kind of event"
    said += "; did you mean 'artifact-update'?"
    assert main(["replay", file]) == 0
    out, err = capsys.readouterr()
    assert err == f"not understood: {file}, {said}\n"
    assert "-- answered" in out

    assert main(["replay", "--strict", file]) == 3
    assert main(["replay", "--json", "--strict", file]) == 3
    found = json.loads(capsys.readouterr().out.splitlines()[-1])["not_understood"]
    assert found == [
        {
            "place": f"line {WRONG_LINE}",
            "kind": "artifact-udpate",
            "what": "there is no such kind of event",
            "meant": "artifact-update",
        }
    ]


def test_explain_says_it_in_its_first_lines_and_in_full(tmp_path: Path, capsys: Any) -> None:
    file = half_read(tmp_path / "half.jsonl")
    assert main(["explain", "--strict", file]) == 3
    out = capsys.readouterr().out
    whole, live, left_out = out.splitlines()[:3]
    assert whole == "Whole:    yes, 10 characters (answered), as far as it was understood"
    assert live.startswith("Live:     from ")
    assert left_out == "Left out: 1 event not understood"
    assert f"Not understood\nline {WRONG_LINE} (artifact-udpate): there is no such kind" in out


def test_a_capture_that_is_understood_is_strictly_right(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "whole.jsonl"
    file.write_text(write_tape(answer("All of it.")), encoding="utf-8")
    assert main(["replay", "--strict", "--json", str(file)]) == 0
    assert main(["explain", "--strict", str(file)]) == 0
    out, err = capsys.readouterr()
    assert err == "" and "not_understood" not in out and "Left out: nothing\n" in out


def test_an_answer_without_text_is_an_outcome_of_its_own(tmp_path: Path, capsys: Any) -> None:
    """Where all of an answer is misspelt, too."""
    file, moments = tmp_path / "none.jsonl", [Moment(0.1, event=task()), Moment(0.5, event=MISSPELT)]
    moments += [Moment(1.0, event=status("completed")), Moment(1.1, end="closed")]
    file.write_text(write_tape(Tape({}, tuple(moments))), encoding="utf-8")
    assert main(["replay", "--json", str(file)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["outcome"], result["reason"]) == ("no_text", "the agent wrote nothing")
    assert (result["visible"], result["first_visible"]) == ("", None)
    assert result["thread"][0]["text"] == "_The agent finished without writing an answer._"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('data: {"kind": "artifact-udpate"}\n\n', "line 1 (artifact-udpate)"),
        ('# >>> POST\n# <<< HTTP/1.1 200\n: hello\n\ndata: {"kind": "tsk", "id": "t"}\n\n', "line 5 (tsk)"),
        ("data: not json\n\n", "line 1: this is not JSON: 'data: not json'"),
        (
            'data: {"kind": "task"}\n\ndta: {"kind": "task"}\n\n',
            "line 3: there is no field 'dta' in an event stream; did you mean 'data'?",
        ),
    ],
)
def test_raw_streams_are_named_by_their_lines(text: str, said: str) -> None:
    (found,) = unread_events(read_tape(text, "x"))
    assert str(found).startswith(said)


@pytest.mark.parametrize("text", ["event: ping\ndata: x\n\n", ": ping\n\n", "id: 5\n\n", "retry: 3\n\n"])
def test_what_keeps_a_stream_open_is_not_named(text: str) -> None:
    assert unread_events(read_tape(f'data: {{"kind": "task", "id": "t"}}\n\n{text}', "x")) == []


def test_an_unknown_setting_in_a_tapes_head_is_named(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "set.jsonl"
    settings = {"dialekt": "caipe-0.2", "answer_source": "artifact"}
    file.write_text(write_tape(replace(answer("All of it."), head={"settings": settings})), encoding="utf-8")
    assert main(["replay", "--strict", str(file)]) == 3
    assert capsys.readouterr().err == (
        f"not understood: {file}, line 1 (head): there is no setting 'dialekt' that a tape may name;"
        " they are dialect, answer_source; did you mean 'dialect'?\n"
    )


def test_items_of_a_list_are_named_by_their_number() -> None:
    (found,) = unread_events(read_tape(json.dumps([task(), MISSPELT]), "x"))
    assert found.place == "item 2"


def test_a_long_tape_is_named_by_its_lines_too(tmp_path: Path) -> None:
    rows = [json.dumps({"t": n / 100, "event": chunk("x" * 1000)}) for n in range(5_000)]
    rows[4_000] = json.dumps({"t": 40.0, "event": MISSPELT})
    path, parts = tmp_path / "long.jsonl", list[float]()
    path.write_text('{"format": "slack-bot-tape", "version": 1}\n' + "\n".join(rows) + "\n", encoding="utf-8")
    assert [each.place for each in unread_events(open_capture(path))] == ["line 4002"]
    read_tape(path.read_bytes(), "long", progress=parts.append)
    assert len(parts) == 5 and parts == sorted(parts) and 0 < parts[0] < 0.3


def test_those_like_each_other_are_one_line(capsys: Any) -> None:
    events = [task(), *[MISSPELT] * 20, status("completed"), MISSPELT]
    tell_unread("x", unread_events(read_tape(json.dumps(events), "x")))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("not understood: x, item 2 (artifact-udpate): there is no such kind of event")
    assert lines[0].endswith(" (and 20 more like it, the last: item 23)")


def test_many_are_counted(capsys: Any) -> None:
    others = [{**MISSPELT, "kind": f"artifact-{letter}"} for letter in "xy"] * 510
    tell_unread("x", unread_events(read_tape(json.dumps([task(), *others]), "x")))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "not understood: x, 1,000 more events"
