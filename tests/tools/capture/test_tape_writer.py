"""What goes over the wire becomes a tape, or a record of its bytes, line by line."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from slack_bot.agents.wire.sse import SseBlock
from slack_bot.testing.tape.items import Moment
from slack_bot.testing.tape.recording import read_recording
from slack_bot.testing.tape.tape import Tape, read_tape
from slack_bot.text.redaction import Redactor
from slack_bot.tools.capture.tape_writer import RawWriter, TapeWriter, TappedCall, moment_of_body, moments_of

TASK = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "working"}}
FIRST = TappedCall("SendStreamingMessage", "ask", "1.0", "q1", "hello")
AGAIN = TappedCall("message/stream", "ask", "0.3", "q1", "hello")
SECOND = TappedCall("message/stream", "ask", "0.3", "q2", "and then?")
GET = TappedCall("tasks/get", "get", "0.3", "g")
REFUSED = {"code": -32601, "message": "Method not found"}


def tape_of(*steps: Any) -> Tape:
    """A tape of calls, moments and ends, each a tenth of a second after the other."""
    text: list[str] = []
    lines = TapeWriter(text.append, {"question": "hello"}, Redactor(["hunter2"]))
    for number, step in enumerate(steps):
        t = number / 10
        if isinstance(step, TappedCall):
            lines.on_request(t, step, b"")
            lines.on_response(t, 200, {"authorization": "hunter2"})
        elif isinstance(step, str):
            lines.on_end(t, "cut" if step == "cut" else "closed")
        else:
            lines.on_data(t, b"", None if step is None else Moment(t, **step))
    lines.flush()
    found = read_tape("".join(text), "tape")
    assert isinstance(found, Tape)
    return found


@pytest.mark.parametrize(
    "piece,expected",
    [
        (SseBlock(b"", json.dumps(TASK)), [Moment(1.0, event=TASK)]),
        (SseBlock(b"", json.dumps({"jsonrpc": "2.0", "result": TASK})), [Moment(1.0, event=TASK)]),
        (SseBlock(b"", json.dumps({"error": REFUSED}), "error"), [Moment(1.0, error=REFUSED)]),
        (
            SseBlock(b"", json.dumps({**TASK, "score": math.nan})),
            [Moment(1.0, event={**TASK, "score": "NaN"})],
        ),
        (SseBlock(b": a\n\n", None), [Moment(1.0, comment="a")]),
        (SseBlock(b"data: {\n\n", "{"), [Moment(1.0, raw="data: {\n\n")]),
        (SseBlock(b"data: 5\n\n", "5"), [Moment(1.0, raw="data: 5\n\n")]),
        (SseBlock(b"data: {}\n\n", '{"result": 5}'), [Moment(1.0, raw="data: {}\n\n")]),
        (SseBlock(b"\xef\xbb\xbf:a\r\n: b\n\n", None), [Moment(1.0, comment="a"), Moment(1.0, comment="b")]),
        (SseBlock(b"dat", None, whole=False), [Moment(1.0, raw="dat")]),
        (SseBlock(b": half", None, whole=False), [Moment(1.0, raw=": half")]),
        (SseBlock(b"\n", None), []),
    ],
)
def test_what_a_piece_says(piece: SseBlock, expected: list[Moment]) -> None:
    assert moments_of(1.0, piece) == expected


def test_what_a_body_says() -> None:
    assert moment_of_body(2.0, 200, json.dumps({"result": TASK}).encode()) == Moment(2.0, event=TASK)
    assert moment_of_body(2.0, 200, json.dumps({"error": REFUSED}).encode()) == Moment(2.0, error=REFUSED)


@pytest.mark.parametrize(
    "status,body,more,error",
    [
        (400, json.dumps({"error": REFUSED}), {}, {**REFUSED, "http_status": 400}),
        (503, "<h1>\n down</h1>", {"retry_after": 5}, {"message": "<h1>\n down</h1>", "retry_after": 5}),
        (404, json.dumps({"error": "no"}), {}, {"message": '{"error": "no"}'}),
        (500, json.dumps({"error": {"http_status": 7}}), {}, {"message": '{"error": {"http_status": 7}}'}),
        (200, "", {"content_type": ""}, {"message": "", "content_type": ""}),
        (200, json.dumps({"result": TASK}), {"content_type": "text/plain"}, {"content_type": "text/plain"}),
        (200, "x" * 1000, {}, {"message": "x" * 300, "content_type": "application/json"}),
    ],
)
def test_what_http_said_in_place_of_an_agent(
    status: int, body: str, more: dict[str, Any], error: dict[str, Any]
) -> None:
    found = moment_of_body(2.0, status, body.encode(), **more)
    assert found == Moment(2.0, error={"message": body, **error, "http_status": status})


def test_a_tape_of_two_questions() -> None:
    tape = tape_of(FIRST, {"event": TASK}, None, "closed", SECOND, {"event": TASK}, "cut")
    assert tape.head["wire"] == "1.0"
    assert [moment.question for moment in tape.moments] == [None, None, "and then?", None, None]
    assert [moment.end for moment in tape.moments] == [None, "closed", None, None, "cut"]
    assert [moment.t for moment in tape.moments] == [0.1, 0.3, 0.4, 0.5, 0.6]


def test_an_attempt_on_the_wrong_wire_is_only_a_comment() -> None:
    tape = tape_of(FIRST, {"error": REFUSED}, "closed", AGAIN, {"event": TASK}, "closed")
    assert tape.head["wire"] == "0.3"
    assert [moment.comment for moment in tape.moments] == [
        "refused (Method not found); asked again as message/stream",
        None,
        None,
    ]
    assert tape.moments[1].event == TASK


def test_an_error_that_stands_is_in_the_tape() -> None:
    tape = tape_of(FIRST, {"error": REFUSED}, {"comment": "x"}, "closed")
    assert [moment.error for moment in tape.moments] == [REFUSED, None, None]
    assert tape.moments[-1].end == "closed"


def test_the_task_from_the_side_has_a_line_where_it_changed() -> None:
    done = {**TASK, "status": {"state": "completed"}}
    tape = tape_of(
        FIRST, {"event": TASK}, "cut", GET, {"event": TASK}, "closed", GET, {"event": TASK}, {"event": done}
    )
    assert [moment.end for moment in tape.moments] == [None, "cut", None, None]
    assert tape.moments[-1].event == done


def test_a_row_that_waits_for_the_rest_of_a_secret_is_written_in_the_end() -> None:
    tape = tape_of(FIRST, {"event": {**TASK, "history": [{"parts": [{"text": "he hunt"}]}]}})
    assert "he hunt" in repr(tape.moments[0].event)


def test_secrets_are_not_in_it() -> None:
    tape = tape_of(FIRST, {"event": {**TASK, "metadata": {"x": "the hunter2 token"}}}, {"comment": "hunter2"})
    assert "hunter2" not in repr(tape)
    assert "secret removed" in repr(tape)


def raw_of(*steps: Any) -> bytes:
    found: list[bytes] = []
    lines = RawWriter(found.append, Redactor(["hunter2"]))
    for step in steps:
        if isinstance(step, TappedCall):
            lines.on_request(0.0, step, b'{"id": "hunter2"}')
        elif isinstance(step, dict):
            lines.on_response(0.1, step["status"], step)
        elif isinstance(step, bytes):
            lines.on_data(0.25, step, None)
        else:
            lines.on_end(0.5, step)
    lines.flush()
    return b"".join(found)


SSE = {"status": 200, "content-type": "text/event-stream", "set-cookie": "hunter2"}
JSON = {"status": 200, "content-type": "application/json"}


def test_raw_bytes_and_when_they_came() -> None:
    record = raw_of(
        FIRST, SSE, b"data: {}\n\n", b"data: hunter2\n\n", b"", "cut", "closed", GET, JSON, b"{}", "closed"
    )
    assert b"hunter2" not in record
    found = read_recording(record)
    assert found is not None
    assert found.chunks == ((0.25, b"data: {}\n\n"), (0.25, b"data: *******\n\n"))
    assert (found.status, found.cut, found.ended) == (200, True, 0.5)


def test_of_two_attempts_the_second_is_kept() -> None:
    record = raw_of(
        FIRST, JSON, b'{"error": 1}', "closed", AGAIN, SSE, b"data: {}\n\n", "closed", SECOND, SSE, b"x"
    )
    assert b"error" not in record
    assert record.count(b"raw body below") == 1
    assert b"POST message/stream" in record


def test_an_answer_in_one_piece_is_kept_when_nobody_asks_again() -> None:
    found = read_recording(raw_of(FIRST, JSON, b'{"error": 1}', "closed"))
    assert found is not None
    assert (found.body, found.headers["content-type"]) == (b'{"error": 1}', "application/json")
