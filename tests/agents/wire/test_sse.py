from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slack_bot.agents.wire.sse import SseBlock, SseReader, events
from slack_bot.errors import BadAgentData
from slack_bot.testing import virtual_clock
from slack_bot.tools.capture.tape_writer import moments_of
from tests.agents.memory_server import Body

LIMIT = 1000
LINES = 100
Event = tuple[str, str, bool]
"""An event's name, its data, and whether a blank line ended it."""


async def read(
    chunks: Sequence[tuple[float, bytes]],
    *,
    error: Exception | None = None,
    ended: float = 0.0,
    headers: dict[str, str] | None = None,
) -> list[Event]:
    response = httpx.Response(200, headers=headers or {}, stream=Body(chunks, error, ended))
    found = [block async for block in events(response, LIMIT, LINES)]
    return [(block.name, str(block.data), block.whole) for block in found]


def at_once(*chunks: bytes) -> list[Event]:
    return virtual_clock.run(read([(0.0, chunk) for chunk in chunks]))


def whole(*data: str) -> list[Event]:
    return [("message", each, True) for each in data]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end(end: bytes) -> None:
    assert at_once(b"data: a" + end + end + b"event: e" + end + b"data:b" + end + b"data: c" + end + end) == [
        ("message", "a", True),
        # a lone CR at the very end may be half of a CRLF until the stream is over
        ("e", "b\nc", end != b"\r"),
    ]


def test_a_byte_order_mark() -> None:
    assert at_once(b"\xef\xbb\xbfdata: a\n\n") == whole("a")
    assert at_once(b"\xef", b"\xbb\xbfdata: a\n\n") == whole("a")


@pytest.mark.parametrize("line", [b"data: ", b"data:", b"id: 1\ndata: "])
def test_a_json_text_sequence(line: bytes) -> None:
    """RFC 7464: each text begins with a record separator, which is no JSON."""
    assert at_once(line + b'\x1e{"a": "\\u001e"}\n\n') == whole('{"a": "\\u001e"}')


def test_utf_8_whatever_the_header_says() -> None:
    text = "data: Grüße \U0001f600\n\n".encode()
    response = virtual_clock.run(
        read(
            [(0, text[:9]), (0, text[9:])], headers={"content-type": "text/event-stream; charset=iso-8859-1"}
        )
    )
    assert response == whole("Grüße \U0001f600")
    assert at_once(b"data: a\xffb\n\n") == whole("a\ufffdb")


def test_only_line_ends_end_lines() -> None:
    text = "a\u2028b\u2029c\u0085d\x0be"
    assert at_once(f"data: {text}\n\n".encode()) == whole(text)


def test_ghosts_and_pings_are_no_events() -> None:
    assert at_once(b"id: 7\ndata: a\n\n: ping\n\n: ping\n\nretry: 5\n\nevent: x\n\ndata: b\n\n") == whole(
        "a", "b"
    )


def test_an_unterminated_last_event_is_told_from_a_whole_one() -> None:
    assert at_once(b"data: a\n\n", b"data: b") == [*whole("a"), ("message", "b", False)]
    assert at_once(b"data: a\n\n", b"data: b\n") == [*whole("a"), ("message", "b", False)]


def test_after_a_cut_a_half_event_is_not_told() -> None:
    async def cut() -> list[str]:
        response = httpx.Response(200, stream=Body([(0, b"data: a\n\ndata: b")], httpx.ReadError("cut")))
        seen: list[str] = []
        with pytest.raises(httpx.ReadError):
            async for event in events(response, LIMIT, LINES):
                seen.append(event.data)
        return seen

    assert virtual_clock.run(cut()) == ["a"]


def test_an_event_that_never_ends_is_too_large() -> None:
    chunks = [(0.0, b"x" * 100)] * 20
    with pytest.raises(BadAgentData, match="max_event_bytes"):
        virtual_clock.run(read([(0.0, b"data: "), *chunks]))
    with pytest.raises(BadAgentData):
        virtual_clock.run(read([(0.0, b"data: xxxxxxxxxxxxxxxxxxx\n")] * 60))
    with pytest.raises(BadAgentData):
        at_once(b"data: " + b"x" * 1001 + b"\n\n")


def test_an_event_of_too_many_lines() -> None:
    assert at_once(b"data:\n" * LINES + b"\n") == whole("\n" * (LINES - 1))
    for line in (b"data:\n", b"x\n", b"d\n: in\n"):
        with pytest.raises(BadAgentData, match=r"agent.max_event_lines \(100\)"):
            at_once(line * (LINES + 1))


def test_many_events_are_not_too_large() -> None:
    one = b"data: " + b"x" * 90 + b"\n\n"
    assert len(at_once(*[one[:50], one[50:]] * 100)) == 100
    assert len(at_once(one * 100)) == 100
    assert len(at_once(*[b": " + b"ping" * 20 + b"\n\n"] * 100, b"data: a\n\n")) == 1


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), min_size=1, max_size=5), st.data())
def test_any_chunking_gives_the_same_events(texts: list[str], data: st.DataObject) -> None:
    sent = [json.dumps(text, ensure_ascii=False) for text in texts]
    raw = "".join(f"data: {text}\n\n" for text in sent).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    chunks = [raw[start:end] for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert at_once(*chunks) == whole(*sent)


class Hurried(httpx.AsyncByteStream):
    """Chunks that are all there already."""

    def __init__(self, chunks: Sequence[bytes]) -> None:
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk


@pytest.mark.parametrize(
    "body",
    [
        [b"data: x\n\n" * 20_000],
        [b"id: 1\n\n" * 20_000],
        [b": ping\n\n" * 20_000],
        [b"\n" * 160_000],
        [b":", b"\n\n"] * 5_000,
    ],
    ids=["events", "events without data", "comments", "empty lines", "tiny chunks"],
)
def test_the_loop_runs_between_the_events_that_come_at_once(body: list[bytes]) -> None:
    """Whoever sends them all at once does not keep the loop from everybody else."""

    async def turns() -> int:
        found, is_over = 0, False

        def turn() -> None:
            nonlocal found
            found += 1
            if not is_over:
                asyncio.get_running_loop().call_soon(turn)

        turn()
        response = httpx.Response(200, stream=Hurried(body))
        async for _ in events(response, LIMIT, LINES):
            pass
        is_over = True
        return found

    assert virtual_clock.run(turns()) >= max(sum(map(len, body)) / 8192, len(body) / 100)


# -- the blocks of a stream, as a capture keeps them

STREAM = (
    b'\xef\xbb\xbfdata: {"a": 1}\n\n: ping\n\nevent: error\r\ndata: x\r\ndata: y\r\n\r\n'
    b"id: 7\n\n:a\r\rdata:z\xff\n: inside\n\nretry: 5\n\ndata: half"
)


def split(stream: bytes, sizes: list[int], limit: int = 1000) -> list[SseBlock]:
    reader, found, at = SseReader(limit), list[SseBlock](), 0
    for size in sizes:
        found += reader.feed(stream[at : at + size])
        at += size
    return [*found, *reader.feed(stream[at:]), *reader.end()]


def test_events_comments_and_the_broken_end() -> None:
    said = [piece for piece in split(STREAM, []) if piece.raw.strip()]
    assert [(piece.name, piece.data, piece.whole) for piece in said] == [
        ("message", '{"a": 1}', True),
        ("message", None, True),
        ("error", "x\ny", True),
        ("message", None, True),
        ("message", None, True),
        ("message", "z\ufffd", True),
        ("message", None, True),
        ("message", "half", False),
    ]
    comments = [moment.comment for piece in said for moment in moments_of(0.0, piece) if moment.comment]
    assert comments == ["ping", "a", "inside"]


@given(st.lists(st.integers(1, 9)))
@settings(max_examples=60, deadline=None)
def test_chunks_change_nothing(sizes: list[int]) -> None:
    pieces = split(STREAM, sizes)
    assert b"".join(piece.raw for piece in pieces) == STREAM
    assert [piece for piece in pieces if piece.raw.strip()] == [
        piece for piece in split(STREAM, []) if piece.raw.strip()
    ]


def test_a_comment_does_not_wait_for_its_blank_line() -> None:
    assert SseReader(100).feed(b": ping\n") == [SseBlock(b": ping\n")]


def test_what_grows_without_end_is_cut() -> None:
    pieces = split(b"data: " + b"x" * 50, [10] * 6, limit=20)
    assert b"".join(piece.raw for piece in pieces) == b"data: " + b"x" * 50
    assert max(len(piece.raw) for piece in pieces) <= 30
    assert not pieces[0].whole


def test_nothing_gives_nothing() -> None:
    assert SseReader(9).end() == []
