"""Each capture format is recognised by its content, and what cannot be read says why; long tapes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.errors import UnreadableInput
from slack_bot.testing.agent.playback import Playback
from slack_bot.testing.tape import tape as tapes
from slack_bot.testing.tape.items import INTERRUPTED
from slack_bot.testing.tape.tape import (
    FORMAT,
    MappedLines,
    Moment,
    Recording,
    Tape,
    assumption,
    interrupted_at,
    read_tape,
    turns_of,
    write_tape,
)
from slack_bot.tools.files import open_capture
from slack_bot.tools.replay.replay import replayed

SHARED = Path(__file__).parents[4] / "shared" / "captures" / "caipe"

STATUS = {"kind": "status-update", "status": {"state": "working"}}
DONE = {"kind": "status-update", "status": {"state": "completed"}, "final": True}


def moments(document: Any, key: str | None = None) -> tuple[Moment, ...]:
    text = document if isinstance(document, str) else json.dumps(document)
    got = read_tape(text, "f", key)
    assert isinstance(got, Tape)
    return got.moments


def times(document: Any) -> list[float]:
    return [moment.t for moment in moments(document)]


def test_what_a_replay_takes_for_granted_behind_a_broken_connection_is_said() -> None:
    cut = Tape({}, (Moment(0.0, event=STATUS), Moment(3.0871, end="cut")))
    said = assumption(cut, "lost")
    assert said is not None and said.startswith("the capture breaks off at 3.087 s, ")
    assert assumption(cut, "answered") is None, "it was over before"
    assert assumption(Tape({}, (*cut.moments, Moment(4.0, event=DONE))), "lost") is None, "looked at since"
    assert assumption(Tape({}, ()), "lost") is None
    assert assumption(Recording(200, {}, (), True, 2.0), "lost") is not None
    assert assumption(Recording(200, {}, (), False, 2.0), "lost") is None


def test_a_tape_reads_back_as_it_was_written() -> None:
    tape = Tape(
        {"format": FORMAT, "version": 1, "agent": "http://a", "wire": "0.3", "question": "q"},
        (
            Moment(0.0, event=STATUS),
            Moment(1.5, comment="ping"),
            Moment(2.0, error={"code": -32603, "message": "x"}),
            Moment(3.0, end="cut"),
        ),
    )
    text = write_tape(tape)
    assert text.count("\n") == 5
    assert read_tape(text, "f") == tape


@given(
    st.lists(
        st.dictionaries(
            st.text(max_size=5), st.none() | st.integers() | st.text(max_size=20), max_size=3
        ).map(lambda extra: {**extra, "kind": "task"}),
        min_size=1,
        max_size=5,
    )
)
def test_any_event_survives_the_round_trip(events: list[dict[str, Any]]) -> None:
    events = [{name: value for name, value in event.items() if name != "_t"} for event in events]
    tape = Tape(
        {"format": FORMAT, "version": 1}, tuple(Moment(float(n), event=e) for n, e in enumerate(events))
    )
    assert read_tape(write_tape(tape), "f") == tape
    assert read_tape(write_tape(tape).encode("utf-8", "surrogatepass"), "f") == tape


def test_a_line_separator_in_a_text_does_not_end_the_line() -> None:
    line = json.dumps({"t": 0, "event": {**STATUS, "x": "a\u2028b"}}, ensure_ascii=False)
    assert moments(f'{{"format": "{FORMAT}"}}\n\n{line}\n')[0].event == {**STATUS, "x": "a\u2028b"}


def test_json_lines_without_a_head() -> None:
    assert moments(f"{json.dumps(STATUS)}\n{json.dumps(DONE)}\n") == (
        Moment(0.0, event=STATUS),
        Moment(0.02, event=DONE),
    )


def test_a_list_of_results_is_20_ms_apart_and_loses_its_times() -> None:
    assert moments([STATUS, DONE]) == (Moment(0.0, event=STATUS), Moment(0.02, event=DONE))
    assert moments([{**STATUS, "_t": 1.5}, {**DONE, "_t": 2}]) == (
        Moment(1.5, event=STATUS),
        Moment(2.0, event=DONE),
    )


def test_a_list_of_envelopes() -> None:
    error = {"code": -32603, "message": "boom"}
    got = moments(
        [
            {"jsonrpc": "2.0", "id": 1, "result": {**STATUS, "_t": 3}},
            {"result": {"task": {"id": "1"}}},
            {"jsonrpc": "2.0", "id": 1, "error": error},
        ]
    )
    assert got == (
        Moment(3.0, event=STATUS),
        Moment(3.02, event={"task": {"id": "1"}}),
        Moment(3.04, error=error),
    )


def test_a_list_of_t_and_result() -> None:
    assert moments([{"t": 0.5, "result": STATUS}, {"t": 7, "result": DONE}]) == (
        Moment(0.5, event=STATUS),
        Moment(7.0, event=DONE),
    )


def test_an_object_of_lists() -> None:
    document = {"one": [STATUS], "two": [{"jsonrpc": "2.0", "result": DONE}], "note": "x"}
    assert moments(document, "two") == (Moment(0.0, event=DONE),)
    assert moments({"only": [STATUS]}) == (Moment(0.0, event=STATUS),)
    with pytest.raises(UnreadableInput, match="f: several lists of events; choose one with --key: one, two"):
        moments(document)
    with pytest.raises(UnreadableInput, match="f: no list of events is called 'tow'; there are: one, two"):
        moments(document, "tow")
    with pytest.raises(UnreadableInput, match="there are: none"):
        moments({"a": 1}, "b")


def test_an_export_with_timestamps() -> None:
    document = {
        "exportedAt": "x",
        "events": [
            {"timestamp": "2026-02-17T20:10:37.426Z", "type": "task", "raw": STATUS},
            {"timestamp": "2026-02-17T20:10:39.376", "raw": DONE},
            {"timestamp": 1771359040426, "raw": DONE},
            {"timestamp": 1771359040.0, "raw": DONE},
        ],
    }
    assert times(document) == [0.0, 1.95, 3.0, 3.0]


def test_caipe_json_captures() -> None:
    row = {"t": 9.5, "seq": 4, "artifact_name": "final_result", "metadata": {"trace_id": "x"}}
    document = {
        "format": "jsonrpc",
        "artifacts": [
            {**row, "parts": [{"kind": "text", "text": "hi"}]},
            {"artifact_name": "other", "text": "old"},
        ],
        "raw_status": {"state": "failed"},
    }
    first, second, end = (moment.event or {} for moment in moments(document))
    assert first["artifact"] == {
        "artifactId": "artifact-4",
        "name": "final_result",
        "description": "",
        "metadata": {"trace_id": "x"},
        "parts": [{"kind": "text", "text": "hi"}],
    }
    assert second["artifact"]["parts"] == [{"kind": "text", "text": "old"}]
    assert end["status"] == {"state": "failed"}
    assert moments({**document, "raw_status": "canceled"})[-1].event["status"] == {"state": "canceled"}  # type: ignore[index]
    assert moments({**document, "raw_status": None})[-1].event["status"] == {"state": "completed"}  # type: ignore[index]
    assert times(document) == [9.5, 9.52, 9.52]


def test_dumps_of_two_versions_are_a_choice() -> None:
    document = {"query": "q", "artifacts": {"a": [{"artifact_name": "x", "text": "1"}], "b": [{"text": "2"}]}}
    assert len(moments(document, "a")) == 2


def test_caipe_sse_captures() -> None:
    rows = [
        {"t": 0.1, "event": "status-update", "data": {"jsonrpc": "2.0", "result": STATUS}},
        {"t": 0.2, "event": "message", "data": json.dumps(DONE)},
    ]
    wanted = (Moment(0.1, event=STATUS), Moment(0.2, event=DONE))
    assert moments({"format": "sse", "events": rows}) == wanted
    assert moments(rows) == wanted
    assert times([{"event": "x", "data": STATUS}, {"event": "x", "data": DONE}]) == [0.0, 0.02]


def test_a_single_answer() -> None:
    task = {"kind": "task", "id": "1", "artifacts": []}
    assert moments({"jsonrpc": "2.0", "id": 1, "result": task}) == (Moment(0.0, event=task),)
    assert moments(task) == (Moment(0.0, event=task),)


def test_raw_text_becomes_a_recording() -> None:
    got = read_tape("data: {}\n\n", "f")
    assert isinstance(got, Recording)
    assert got.body == b"data: {}\n\n"


def test_time_never_runs_back() -> None:
    assert times([{**STATUS, "_t": 5}, {**STATUS, "_t": 4}, STATUS]) == [5.0, 5.0, 5.02]


def test_a_byte_order_mark_is_no_reason_to_fail() -> None:
    assert read_tape(b"\xef\xbb\xbf" + json.dumps([STATUS]).encode(), "f") == read_tape(
        json.dumps([STATUS]), "f"
    )


def test_events_of_unknown_shape_are_kept_among_known_ones() -> None:
    assert moments([STATUS, {"novel": 1}, {"data": {"x": 1}}])[1:] == (
        Moment(0.02, event={"novel": 1}),
        Moment(0.04, event={"data": {"x": 1}}),
    )


HEAD_LINE = f'{{"format": "{FORMAT}"}}\n'


@pytest.mark.parametrize(
    "data,reason",
    [
        (b"", "f: the file is empty; a tape, A2A results"),
        (b" \n\t\n", "f: the file is empty; a tape, A2A results"),
        (b"\x89PNG\r\n\x00\x00", "f: the file is binary, not text; a tape, A2A results"),
        (b'[{"a": "\n\xff"}]', "f, line 2: not UTF-8 text"),
        (
            b"<!DOCTYPE html>",
            "f, line 1: neither JSON nor SSE text starts like this;"
            " a tape, A2A results in JSON or raw SSE can be read",
        ),
        (
            b"# Report\n\nprose\n",
            "f: this is no recording: no SSE text or HTTP response follows its first line;"
            " a tape, A2A results in JSON or raw SSE can be read",
        ),
        (b'[\n{"kind": "task"},\n{"ki', "f, line 3: the JSON ends in the middle; the file is truncated"),
        (b'[\n{"kind": "task"},', "f, line 2: the JSON ends in the middle; the file is truncated"),
        (b"[\n{,}]", "f, line 2: not valid JSON (Expecting property name"),
        (b"[" * 200_000, "f, line 1: the JSON is nested too deep"),
        (b'[{"kind": NaN}]', "f, line 1: the JSON holds a number that cannot be read"),
        (b"[{" + b'"a":' + b"9" * 5000 + b"}]", "f, line 1: the JSON holds a number that cannot be read"),
        (b"[]", "f: there are no events in it"),
        (b"{}", "f, line 1: a JSON object without a list of events; a tape, A2A results"),
        (b"[1]", "f, item 1: an event must be a JSON object, not a number"),
        (b"[[1]]", "f, item 1: an event must be a JSON object, not a list"),
        (b"[null]", "f, item 1: an event must be a JSON object, not null"),
        (b'[{"line": 1}, {"json": {}}]', "f: none of its 2 objects is an A2A event"),
        (b'[{"jsonrpc": "2.0"}]', "f, item 1: a JSON-RPC envelope without a result or an error"),
        (b'[{"kind": "task", "_t": "x"}]', "f, item 1: a time must be a number of seconds from the start"),
        (b'[{"kind": "task", "_t": -1}]', "f, item 1: a time must be a number of seconds from the start"),
        (b'[{"timestamp": "noon", "raw": {}}]', "f, item 1: its timestamp is not an ISO 8601 time"),
        (b'[{"timestamp": [], "raw": {}}]', "f, item 1: its timestamp is not an ISO 8601 time"),
        (b'[{"event": "x", "data": "{"}]', "f, line 1: the JSON ends in the middle"),
        (
            f'{HEAD_LINE}{{"t": 0, "ev'.encode(),
            "f, line 2: the JSON ends in the middle; the file is truncated",
        ),
        (f"{HEAD_LINE}7\n".encode(), "f, line 2: an event must be a JSON object, not a number"),
        (HEAD_LINE.encode(), "f: there are no events in it"),
        (f'{{"format": "{FORMAT}", "version": 9}}\n'.encode(), "f, line 1: tape version 9 is not known here"),
    ],
)
def test_what_cannot_be_read_says_why_in_one_sentence(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableInput) as caught:
        read_tape(data, "f")
    assert str(caught.value).startswith(reason)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["[]", '{"events": []}', HEAD_LINE])
def test_a_capture_may_be_empty_where_that_makes_sense(text: str) -> None:
    read = read_tape(text, "f", may_be_empty=True)
    assert isinstance(read, Tape)
    assert read.moments == ()
    with pytest.raises(UnreadableInput, match="none of its 1 objects is an A2A event"):
        read_tape('[{"line": 1}]', "f", may_be_empty=True)


def test_a_plain_list_has_no_keys() -> None:
    with pytest.raises(UnreadableInput, match="a plain list has no key 'x'; leave --key out"):
        moments([STATUS], "x")


def test_a_recording_has_no_keys() -> None:
    with pytest.raises(UnreadableInput, match="has no key 'x'; leave --key out"):
        read_tape("data: 1\n\n", "f", "x")


@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        read_tape(data, "f")
    except UnreadableInput as error:
        assert str(error).startswith("f")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared captures are not beside this repository")
def test_the_shared_captures_read() -> None:
    export = read_tape((SHARED / "export_heavy_search.json").read_bytes(), "export")
    real = read_tape((SHARED / "real_a2a_heavy_search.json").read_bytes(), "real")
    assert isinstance(export, Tape) and isinstance(real, Tape)
    assert [moment.event for moment in export.moments] == [moment.event for moment in real.moments]
    assert export.moments[-1].t == pytest.approx(real.moments[-1].t, abs=0.001)
    executor = (SHARED / "executor_cfe95d16b.json").read_bytes()
    for key in json.loads(executor):
        assert isinstance(read_tape(executor, "executor", key), Tape)
    assert isinstance(read_tape((SHARED / "fixture_a2a_task_sse_stream.json").read_bytes(), "fixture"), Tape)


def test_words_that_are_no_events_read_back() -> None:
    moments = (
        Moment(0.0, raw="data: {oops\n\n"),
        Moment(1.0, question="and then?"),
        Moment(2.0, event=STATUS),
    )
    tape = Tape({"format": FORMAT, "version": 1}, moments)
    assert read_tape(write_tape(tape), "f") == tape


def test_when_a_capture_was_interrupted() -> None:
    moments = (Moment(0.5, event=STATUS), Moment(2.0, end="cut"), Moment(2.0, comment=INTERRUPTED))
    assert interrupted_at(Tape({}, moments)) == 2.0
    assert interrupted_at(Tape({}, moments[:2])) is interrupted_at(Tape({}, ())) is None
    recording = Recording(chunks=((0.0, b": x"),), cut=True, ended=3.0)
    assert interrupted_at(recording) is None
    assert interrupted_at(replace(recording, interrupted=True)) == 3.0


def test_a_tape_of_several_questions_is_one_tape_a_question() -> None:
    moments = (
        Moment(0.5, event=STATUS),
        Moment(1.0, end="closed"),
        Moment(2.0, question="and then?"),
        Moment(2.5, event=DONE),
        Moment(3.0, end="cut"),
    )
    (first, one), (second, two) = turns_of(Tape({"question": "what?", "wire": "0.3"}, moments))
    assert (first, second) == ("what?", "and then?")
    assert one.moments == moments[:2]
    assert two.moments == (Moment(0.5, event=DONE), Moment(1.0, end="cut"))
    assert two.head == {"question": "and then?", "wire": "0.3"}
    assert turns_of(Tape({}, ())) == ((None, Tape({}, ())),)


FOLDER = Path(__file__).parents[3] / "docs" / "tapes"
MOMENTS = (
    Moment(0.0, event=STATUS),
    Moment(0.5, comment="ping"),
    Moment(0.5, question="and then?"),
    Moment(1.0, event={**STATUS, "x": "\u2028ü"}),
    Moment(2.0, end="cut"),
)


@pytest.fixture
def everything_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tapes, "LONG", 1)
    monkeypatch.setattr("slack_bot.tools.files.LONG", 1)


def lines(*rows: Any) -> bytes:
    head = json.dumps({"format": "slack-bot-tape", "version": 1})
    return "\n".join([head, *(row if isinstance(row, str) else json.dumps(row) for row in rows)]).encode()


@pytest.mark.usefixtures("everything_is_long")
def test_they_are_the_moments_that_were_written() -> None:
    tape = read_tape(write_tape(Tape({"question": "q"}, MOMENTS)), "f")
    assert isinstance(tape, Tape) and isinstance(tape.moments, MappedLines)
    found = tape.moments
    assert tuple(found) == MOMENTS
    assert found == MOMENTS and found != MOMENTS[1:] and found != 5
    assert (found[1], found[-1], found[1:3], len(found)) == (MOMENTS[1], MOMENTS[-1], MOMENTS[1:3], 5)
    assert (list(found.events), found.has_questions, found.time(3)) == ([0, 3], True, 1.0)
    assert hash(found) == hash(read_tape(write_tape(Tape({}, MOMENTS)), "f").moments)  # type: ignore[union-attr]
    assert tape.head["question"] == "q"
    with pytest.raises(IndexError):
        found[5]


def test_blank_lines_of_a_long_tape_and_times_that_step_back() -> None:
    found = MappedLines(lines({"t": 2, "event": STATUS}, "", " ", {"t": 1, "event": STATUS}), "f")
    assert [moment.t for moment in found] == [2.0, 2.0]


@pytest.mark.usefixtures("everything_is_long")
@pytest.mark.parametrize(
    "data,why",
    [
        (lines({"t": 1, "event": STATUS}, "{oops"), "f, line 3: not valid JSON"),
        (lines({"t": 1, "event": STATUS}, "[1]"), "f, line 3: an event must be a JSON object"),
        (lines({"t": 1, "event": STATUS}) + b"\n\xff\xff", "f, line 3: not UTF-8"),
        (lines(), "there are no events"),
        (b'{"format": "slack-bot-tape", "version": 9}\n{}', "version 9 is not known"),
    ],
)
def test_what_is_wrong_with_a_long_tape_is_said_at_the_beginning(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableInput, match=why):
        read_tape(data, "f")


@pytest.mark.usefixtures("everything_is_long")
def test_other_long_files_are_read_as_ever() -> None:
    for text in (json.dumps([STATUS]), json.dumps(STATUS) + "\n" + json.dumps(STATUS), "data: {}\n\n"):
        found = read_tape(text, "f")
        assert not isinstance(getattr(found, "moments", ()), MappedLines)


@pytest.mark.usefixtures("everything_is_long")
@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.stem)
def test_a_file_plays_as_it_does_from_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = open_capture(path)
    assert isinstance(long, Tape) and isinstance(long.moments, MappedLines)
    monkeypatch.undo()
    short = open_capture(path)
    assert isinstance(short, Tape) and isinstance(short.moments, tuple)
    assert turns_of(long) == turns_of(short)
    assert list(Playback(long, cut_after=50).later("1", 0.0)) == list(
        Playback(short, cut_after=50).later("1", 0.0)
    )
    assert Playback(long, cut_after=50, goes_on=False).task_at(99) == Playback(
        short, cut_after=50, goes_on=False
    ).task_at(99)
    assert replayed(long).result() == replayed(short).result()
