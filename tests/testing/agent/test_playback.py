"""What is sent of a capture, and the task meanwhile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.testing.agent.playback import (
    Json,
    Playback,
    framed,
    is_over,
    json_bytes,
    opened,
    sse,
    state_of,
    status_event,
    task_of,
    wire_of,
    with_state,
)
from slack_bot.testing.tape.items import INTERRUPTED
from slack_bot.testing.tape.tape import Moment, Recording, Tape, read_tape

CAPTURES = Path(__file__).parents[4] / "shared" / "captures" / "a2a"


def update(text: str) -> Json:
    artifact = {"artifactId": "a", "name": "answer", "parts": [{"kind": "text", "text": text}]}
    return {"kind": "artifact-update", "taskId": "t", "contextId": "c", "append": True, "artifact": artifact}


DONE: Json = {
    "kind": "status-update",
    "taskId": "t",
    "contextId": "c",
    "status": {"state": "completed"},
    "final": True,
}
TAPE = Tape(
    {},
    (
        Moment(0.5, event=update("one ")),
        Moment(0.7, comment="ping"),
        Moment(1.0, event=update("two")),
        Moment(2.0, event=DONE),
        Moment(2.5, end="closed"),
    ),
)
BODY = b"".join(
    sse({"jsonrpc": "2.0", "id": "1", "result": each}) for each in (update("one "), update("two"), DONE)
)
CHUNKS = tuple((n / 10, BODY[n * 50 : n * 50 + 50]) for n in range(len(BODY) // 50 + 1))
RECORDING = Recording(200, {"content-type": "text/event-stream"}, CHUNKS, False, 9.0)


def sent(playback: Playback) -> bytes:
    return b"".join(beat.data for beat in playback.beats("q"))


def end(playback: Playback) -> tuple[float, str | None]:
    last = list(playback.beats("q"))[-1]
    return last.t, last.end


def test_whoever_did_not_wait_knows_nothing_of_an_end() -> None:
    stopped = Tape({}, (*TAPE.moments[:3], Moment(1.5, end="cut"), Moment(1.5, comment=INTERRUPTED)))
    for source in (stopped, Recording(chunks=CHUNKS, cut=True, ended=1.5, interrupted=True)):
        at, how = end(Playback(source))
        assert (at > 86_400, how) == (True, "cut")
    looked = (Moment(1.5, end="cut"), Moment(2.0, event=DONE), Moment(2.5, comment=INTERRUPTED))
    assert end(Playback(Tape({}, (*TAPE.moments[:3], *looked)))) == (1.5, "cut")


def test_an_answer_of_http_is_served_as_it_came() -> None:
    error = {"http_status": 429, "message": "slow down", "retry_after": 5}
    playback = Playback(Tape({}, (Moment(0.0, comment="x"), Moment(0.2, error=error))))
    assert (playback.status, playback.headers["retry-after"], sent(playback)) == (429, "5", b"slow down")
    coded = Playback(Tape({}, (Moment(0.2, error={"code": 7, "message": "no", "http_status": 400}),)))
    assert (coded.status, json.loads(sent(coded))["error"]) == (400, {"code": 7, "message": "no"})
    page = Playback(Tape({}, (Moment(0.2, error={"http_status": 200, "content_type": "text/html"}),)))
    assert (page.status, page.headers["content-type"], sent(page)) == (200, "text/html", b"")
    assert Playback(Tape({}, (Moment(0.2, error=error),)), cut_after=0).status == 200


def test_a_tape_is_framed_with_the_askers_id_and_its_times() -> None:
    playback = Playback(TAPE)
    beats = list(playback.beats("q-7"))
    assert [beat.t for beat in beats] == [0.5, 0.7, 1.0, 2.0, 2.5]
    assert beats[1].data == b": ping\n\n"
    envelopes = [json.loads(data) for _, data in framed(b"".join(beat.data for beat in beats))]
    assert {each["id"] for each in envelopes} == {"q-7"}
    assert [each["result"] for each in envelopes] == [update("one "), update("two"), DONE]
    assert end(playback) == (2.5, "closed")
    assert playback.length == 2.5
    assert playback.headers["content-type"].startswith("text/event-stream")
    assert playback.status == 200


def test_a_tape_without_end_is_closed_and_its_own_cut_is_kept() -> None:
    assert end(Playback(Tape({}, TAPE.moments[:1]))) == (0.5, "closed")
    assert end(Playback(Tape({}, (*TAPE.moments[:1], Moment(3.0, end="cut"))))) == (3.0, "cut")
    assert end(Playback(Tape({}, ()))) == (0.0, "closed")


@pytest.mark.parametrize("source", [TAPE, RECORDING])
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_cut_comes_after_so_many_events(source: Tape | Recording, count: int) -> None:
    playback = Playback(source, cut_after=count)
    assert len(framed(sent(playback))) == count
    assert end(playback)[1] == "cut"


@pytest.mark.parametrize("source", [TAPE, RECORDING])
def test_a_cut_beyond_the_end_never_comes(source: Tape | Recording) -> None:
    assert end(Playback(source, cut_after=9))[1] == "closed"


def test_the_work_goes_on_after_a_cut_unless_it_should_not() -> None:
    task = Playback(TAPE, cut_after=1).task_at(5.0)
    assert task is not None
    assert state_of(task) == "completed"
    stopped = Playback(TAPE, cut_after=1, goes_on=False).task_at(5.0)
    assert stopped is not None
    assert state_of(stopped) == "submitted"
    assert len(stopped["artifacts"][0]["parts"]) == 1


def test_the_task_grows_with_time() -> None:
    playback = Playback(TAPE)
    assert playback.task_at(0.4) is None
    early, later = playback.task_at(0.5), playback.task_at(1.0)
    assert early is not None
    assert later is not None
    assert [len(task["artifacts"][0]["parts"]) for task in (early, later)] == [1, 2]


@pytest.mark.parametrize("source", [TAPE, RECORDING])
def test_a_breakdown_in_the_middle_is_an_error_event(source: Tape | Recording) -> None:
    playback = Playback(source, agent_error={"after": 1, "message": "boom"})
    events = [json.loads(data) for _, data in framed(sent(playback))]
    assert len(events) == 2
    assert events[1]["error"] == {"code": -32603, "message": "boom"}
    assert end(playback)[1] == "closed"
    task = playback.task_at(5.0)
    assert task is not None
    assert state_of(task) == "failed"
    assert playback.length < 1.0


def test_a_breakdown_is_not_known_before_it_happens() -> None:
    task = Playback(TAPE, agent_error={"after": 2, "message": "boom"}).task_at(0.5)
    assert task is not None
    assert state_of(task) == "submitted"


def test_a_breakdown_after_the_end_changes_nothing() -> None:
    playback = Playback(TAPE, agent_error={"after": 9, "message": "boom"})
    task = playback.task_at(5.0)
    assert task is not None
    assert state_of(task) == "completed"
    assert b"boom" not in sent(playback)
    running = Playback(Tape({}, TAPE.moments[:3]), agent_error={"after": 9, "message": "boom"}).task_at(5.0)
    assert running is not None
    assert state_of(running) == "submitted"


@pytest.mark.parametrize("source", [TAPE, RECORDING])
def test_a_breakdown_at_once_is_json(source: Tape | Recording) -> None:
    playback = Playback(source, agent_error={"after": 0, "message": "boom"})
    assert playback.is_json
    assert playback.headers["content-type"] == "application/json"
    assert json.loads(sent(playback))["error"]["message"] == "boom"
    assert playback.task_at(9.0) is None


def test_an_error_in_the_tape_comes_as_it_came() -> None:
    error = {"code": -32602, "message": "no"}
    at_once = Playback(Tape({}, (Moment(0.0, comment="ping"), Moment(0.1, error=error))))
    assert at_once.is_json
    assert json.loads(sent(at_once)) == {"jsonrpc": "2.0", "id": "q", "error": error}
    later = Playback(
        Tape({"wire": "1.0"}, (Moment(0.1, event={"task": {"id": "t"}}), Moment(0.2, error=error)))
    )
    assert b"event: error\ndata: " in sent(later)


def test_a_recording_is_served_byte_for_byte() -> None:
    playback = Playback(RECORDING)
    assert sent(playback) == BODY
    assert [beat.t for beat in playback.beats("q")][:-1] == [t for t, _ in CHUNKS]
    assert end(playback) == (9.0, "closed")
    assert playback.headers == {"content-type": "text/event-stream"}
    assert playback.length == 9.0


def test_the_events_of_a_recording_have_the_time_of_their_last_byte() -> None:
    playback = Playback(RECORDING)
    first_end = framed(BODY)[0][0]
    t = next(t for n, (t, _) in enumerate(CHUNKS) if (n + 1) * 50 >= first_end)
    assert playback.task_at(t - 0.01) is None
    assert playback.task_at(t) is not None


def test_a_json_recording_is_one_object() -> None:
    body = b'{"jsonrpc":"2.0","id":"1","result":{"kind":"task","id":"t","status":{"state":"completed"}}}'
    playback = Playback(Recording(200, {"content-type": "application/json"}, ((0.1, body),), False, 0.1))
    assert playback.is_json
    assert sent(playback) == body
    task = playback.task_at(1.0)
    assert task is not None
    assert state_of(task) == "completed"


@pytest.mark.parametrize("body", [b"<html>", b'{"error":{"code":1}}', b"[1]", b'{"result":3}'])
def test_what_is_no_result_makes_no_task(body: bytes) -> None:
    playback = Playback(Recording(500, {"content-type": "application/json"}, ((0.0, body),), True, 0.0))
    assert playback.status == 500
    assert playback.task_at(1.0) is None
    assert end(playback) == (0.0, "cut")


def test_the_head_says_the_wire() -> None:
    assert Playback(Tape({"wire": "1.0"}, ())).wire == "1.0"
    assert Playback(Tape({"wire": "0.3"}, (Moment(0, event={"task": {}}),))).wire == "0.3"
    assert Playback(Tape({"wire": "?"}, (Moment(0, event={"task": {}}),))).wire == "1.0"


def test_who_joins_later_gets_the_rest() -> None:
    playback = Playback(TAPE, cut_after=1)
    beats = list(playback.later("q", 0.5))
    assert [beat.t for beat in beats] == [1.0, 2.0, 2.5]
    assert beats[-1].end == "closed"


def test_an_agent_without_a_task_has_a_message() -> None:
    message = {"kind": "message", "messageId": "m", "parts": []}
    assert Playback(Tape({}, (Moment(0.1, event=message),))).message_at(1.0) == message
    assert Playback(TAPE).message_at(1.0) is None


def test_framing_takes_every_line_end_a_bom_and_an_open_end() -> None:
    body = b"\xef\xbb\xbfdata: a\r\n\r\ndata:b\rdata: c\r\r: ping\n\n\nid: 1\n\ndata: d"
    assert [data for _, data in framed(body)] == [b"a", b"b\nc", b"d"]
    assert framed(body)[-1][0] == len(body)
    assert framed(b"") == []


def test_json_is_utf8_and_lone_surrogates_are_escaped() -> None:
    assert json_bytes("a\u2028ü") == '"a\u2028ü"'.encode()
    assert json_bytes("\ud800") == b'"\\ud800"'


@given(st.lists(st.text(max_size=30), max_size=8), st.integers(0, 9))
def test_a_cut_sends_a_prefix_of_the_whole(texts: list[str], count: int) -> None:
    tape = Tape({}, tuple(Moment(n * 0.1, event=update(text)) for n, text in enumerate(texts)))
    assert sent(Playback(tape)).startswith(sent(Playback(tape, cut_after=count)))


@pytest.mark.skipif(not CAPTURES.is_dir(), reason="the recordings are not beside the repository")
def test_every_recording_plays_to_its_end() -> None:
    played = 0
    for path in sorted(CAPTURES.glob("*.txt")):
        if not path.read_bytes().startswith(b"#"):
            continue  # lists and notes about the recordings
        source = read_tape(path.read_bytes(), path.name)
        if not isinstance(source, Recording):
            continue
        playback = Playback(source)
        assert sent(playback) == source.body, path.name
        assert end(playback)[1] == ("cut" if source.cut else "closed")
        playback.task_at(999.0)
        played += 1
    assert played > 50


def test_what_was_no_event_goes_out_as_it_came() -> None:
    tape = Tape({}, (Moment(0.1, raw='event: x\ndata: {"half'), Moment(0.2, end="cut")))
    assert next(iter(Playback(tape).beats("q"))).data == b'event: x\ndata: {"half'


def chunk(text: str, *, append: bool | None = None, artifact_id: str = "a", **more: object) -> Json:
    artifact = {"artifactId": artifact_id, "name": "n", "parts": [{"kind": "text", "text": text}], **more}
    event: Json = {"kind": "artifact-update", "taskId": "t", "contextId": "c", "artifact": artifact}
    return event if append is None else {**event, "append": append}


def status(state: str, **more: object) -> Json:
    return {"kind": "status-update", "taskId": "t", "contextId": "c", "status": {"state": state, **more}}


def texts(task: Json | None) -> list[str]:
    assert task is not None
    return ["".join(part["text"] for part in each["parts"]) for each in task["artifacts"]]


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"task": {"id": "t"}}, "task"),
        ({"statusUpdate": {"taskId": "t"}}, "statusUpdate"),
        ({"artifactUpdate": {"taskId": "t"}}, "artifactUpdate"),
        ({"message": {"parts": []}}, "message"),
        ({"kind": "task", "id": "t"}, "task"),
        ({"kind": "status-update"}, "statusUpdate"),
        ({"kind": "artifact-update"}, "artifactUpdate"),
        ({"kind": "message"}, "message"),
        ({"artifact": {}}, "artifactUpdate"),
        ({"id": "t", "status": {}}, "task"),
        ({"taskId": "t", "status": {}}, "statusUpdate"),
        ({"parts": []}, "message"),
        ({"kind": "news"}, ""),
        ({}, ""),
    ],
)
def test_events_of_both_dialects_are_opened(event: Json, kind: str) -> None:
    assert opened(event)[0] == kind


def test_the_first_event_that_shows_a_dialect_decides() -> None:
    assert wire_of([]) == "0.3"
    assert wire_of([{}, {"task": {}}, {"kind": "status-update"}]) == "1.0"
    assert wire_of([{"kind": "task"}, {"task": {}}]) == "0.3"


def test_chunks_append_replace_and_begin_artifacts() -> None:
    events = [chunk("a"), chunk("b", append=True), chunk("x", append=True, artifact_id="other")]
    assert texts(task_of(events, "0.3")) == ["ab", "x"]
    assert texts(task_of([*events, chunk("new")], "0.3")) == ["new", "x"]


def test_metadata_of_chunks_and_statuses_is_joined() -> None:
    events = [
        chunk("a"),
        chunk("b", append=True, metadata={"x": 1}),
        chunk("c", append=True, metadata={"y": 2}),
    ]
    task = task_of([*events, {**status("working"), "metadata": {"trace_id": "1"}}], "0.3")
    assert task is not None
    assert task["artifacts"][0]["metadata"] == {"x": 1, "y": 2}
    assert task["metadata"] == {"trace_id": "1"}


def test_a_status_message_goes_into_the_history_when_the_next_comes() -> None:
    message = {"kind": "message", "messageId": "m", "parts": []}
    events = [status("working", message=message), status("working", message=message), status("completed")]
    task = task_of(events, "0.3")
    assert task is not None
    assert task["history"] == [message]
    assert state_of(task) == "completed"
    assert is_over(task)


def test_a_task_event_brings_what_it_has() -> None:
    first = {
        "kind": "task",
        "id": "t",
        "contextId": "c",
        "status": {"state": "submitted"},
        "history": [{"role": "user"}],
    }
    task = task_of([first, chunk("a"), {"kind": "task", "id": "t", "artifacts": []}], "0.3")
    assert task is not None
    assert (task["kind"], task["id"], task["contextId"]) == ("task", "t", "c")
    assert texts(task) == ["a"]
    assert task["history"] == [{"role": "user"}]
    assert not is_over(task)


def test_a_message_beside_a_task_is_history_and_without_one_there_is_no_task() -> None:
    message = {"kind": "message", "messageId": "m", "parts": [{"kind": "text", "text": "hi"}]}
    task = task_of([status("working"), message], "0.3")
    assert task is not None
    assert task["history"] == [message]
    assert task_of([message], "0.3") is None


def test_broken_events_do_no_harm() -> None:
    assert task_of(
        [{"kind": "artifact-update", "taskId": "t", "artifact": None}, {"kind": "status-update"}], "1.0"
    ) == {
        "id": "t",
        "contextId": "",
        "status": {"state": "TASK_STATE_SUBMITTED"},
    }
    assert state_of({}) == ""


def test_states_are_spelled_as_the_wire_does() -> None:
    old, new = task_of([status("working")], "0.3"), task_of([{"statusUpdate": {"taskId": "t"}}], "1.0")
    assert old is not None
    assert new is not None
    canceled = with_state(old, "canceled", "0.3")
    assert canceled["status"] == {"state": "canceled"}
    assert status_event(canceled, "0.3")["final"] is True
    failed = with_state(new, "failed", "1.0")
    assert failed["status"]["state"] == "TASK_STATE_FAILED"
    assert status_event(failed, "1.0") == {
        "statusUpdate": {"taskId": "t", "contextId": "", "status": failed["status"]}
    }
