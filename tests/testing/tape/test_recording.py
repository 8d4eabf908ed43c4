"""Raw responses keep their bytes, their times and their end."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.testing.tape.recording import Recording, looks_raw, read_recording

CAPTURES = Path(__file__).parents[2] / "captures"
SHARED = Path(__file__).parents[4] / "shared" / "captures" / "a2a"

HEAD = b'# >>> POST http://x/\n# >>> {"q": 1}\n# <<< HTTP/1.1 200 OK\n# <<< content-type: text/event-stream\n'


def read(data: bytes) -> Recording:
    recording = read_recording(data)
    assert recording is not None
    return recording


def test_a_capture_gives_head_chunks_and_times() -> None:
    got = read((CAPTURES / "a2asdk130_chunks.txt").read_bytes())
    assert got.status == 200
    assert got.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert "transfer-encoding" not in got.headers
    assert [at for at, _ in got.chunks] == [0.133, 0.133, 0.133, 0.165, 0.216, 0.267, 0.318]
    assert all(
        data.startswith(b"data: {") and data.endswith((b"}\n\n", b"}\r\n\r\n")) for _, data in got.chunks
    )
    assert (got.cut, got.ended) == (False, 0.32)
    assert got.request.startswith('{"jsonrpc":"2.0"')
    assert not got.body.endswith(b"\n\n\n")


def test_a_broken_connection_is_a_cut() -> None:
    got = read((CAPTURES / "a2asdk0326_raise.txt").read_bytes())
    assert (got.cut, got.ended, len(got.chunks)) == (True, 0.593, 2)


def test_who_did_not_wait_says_so_in_the_last_line() -> None:
    tail = b"\n# ===== end of raw body =====\n# closed at 1.5s err=cut\n"
    body = HEAD + b"# ===== raw body below =====\ndata: {}\n\n" + tail
    assert (read(body).cut, read(body).interrupted) == (True, False)
    got = read(body + b"# closed at 1.5s err=interrupted\n")
    assert (got.cut, got.interrupted, got.ended, got.body) == (True, True, 1.5, b"data: {}\n\n")


def test_a_server_error_keeps_its_status_and_body() -> None:
    got = read((CAPTURES / "fasta2a061_stream.txt").read_bytes())
    assert (got.status, got.body) == (500, b"Internal Server Error")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared captures are not beside this repository")
def test_every_shared_capture_reads_and_accounts_for_every_byte() -> None:
    files = [path for path in sorted(SHARED.glob("*.txt")) if b"raw body below" in path.read_bytes()]
    assert len(files) > 100
    for path in files:
        got = read(path.read_bytes())
        timing = (
            path.read_text("utf-8", "replace").rpartition("# chunk timing (s, bytes): ")[2].split("\n")[0]
        )
        sizes = [int(item.partition(":")[2]) for item in timing.split()]
        assert [len(data) for _, data in got.chunks] == sizes, path.name


def test_bare_sse_text_is_split_by_event_20_ms_apart() -> None:
    got = read(b"data: 1\n\n\n: ping\r\n\r\ndata: 2\rdata: 3\r\revent: x\ndata: 4")
    assert got.chunks == (
        (0.0, b"data: 1\n\n\n"),
        (0.02, b": ping\r\n\r\n"),
        (0.04, b"data: 2\rdata: 3\r\r"),
        (0.06, b"event: x\ndata: 4"),
    )
    assert got.headers == {"content-type": "text/event-stream"}
    assert (got.status, got.cut, got.ended) == (200, False, 0.06)


def test_head_and_tail_work_without_marks_too() -> None:
    got = read(HEAD + b"\ndata: 1\n\ndata: 2\n\n# a remark\n# closed at 3.5s err=ReadTimeout: timed out\n")
    assert [data for _, data in got.chunks] == [b"data: 1\n\n", b"data: 2\n\n"]
    assert (got.cut, got.ended, got.request) == (True, 3.5, '{"q": 1}')


def test_an_unmarked_json_body_is_served_as_json() -> None:
    got = read(b'# note\n{"error": {"code": 1}}')
    assert got.headers == {"content-type": "application/json"}
    assert got.body == b'{"error": {"code": 1}}'


def test_a_body_without_an_end_mark_is_all_that_follows() -> None:
    got = read(HEAD + b"# ===== raw body below =====\ndata: 1\n\ndata: 2")
    assert got.body == b"data: 1\n\ndata: 2"


def test_timing_that_does_not_fit_loses_no_byte() -> None:
    body = b"# ===== raw body below =====\ndata: 12\n\n\n# ===== end of raw body =====\n"
    short = read(HEAD + body + b"# chunk timing (s, bytes): 0.5:4\n")
    assert short.chunks == ((0.5, b"data"), (0.5, b": 12\n\n"))
    long = read(HEAD + body + b"# chunk timing (s, bytes): 0.5:4 0.6:999 0.7:5 x:1 3:y\n# closed at ...s\n")
    assert long.chunks == ((0.5, b"data"), (0.6, b": 12\n\n"))
    assert long.ended == 0.6


def test_a_response_without_a_body_is_still_a_response() -> None:
    assert read(b"# <<< HTTP/1.1 401 Unauthorized\n").status == 401


@pytest.mark.parametrize("data", [b"# only words\n", b"# a report\n\nSome prose.\n"])
def test_text_with_headings_is_no_response(data: bytes) -> None:
    assert read_recording(data) is None


@pytest.mark.parametrize(
    "data,raw",
    [(b"data: x", True), (b"\xef\xbb\xbf: ping", True), (b"# x", True), (b"{}", False), (b"prose: x", False)],
)
def test_what_looks_raw(data: bytes, raw: bool) -> None:
    assert looks_raw(data) is raw


@given(st.binary())
def test_no_byte_of_bare_sse_is_lost(tail: bytes) -> None:
    data = b"data: " + tail.replace(b"#", b"-")
    assert read(data).body == data
