from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.a2a.wire.sse import SseEvent, events
from slack_bot.errors import BadAgentData, StreamIdle
from slack_bot.testing import virtual_clock
from tests.a2a.memory_server import Body

LIMIT = 1000


async def read(
    chunks: Sequence[tuple[float, bytes]],
    *,
    error: Exception | None = None,
    ended: float = 0.0,
    headers: dict[str, str] | None = None,
    idle: float = 20.0,
) -> list[SseEvent]:
    response = httpx.Response(200, headers=headers or {}, stream=Body(chunks, error, ended))
    return [event async for event in events(response, idle=idle, max_event_bytes=LIMIT)]


def at_once(*chunks: bytes) -> list[SseEvent]:
    return virtual_clock.run(read([(0.0, chunk) for chunk in chunks]))


def whole(*data: str) -> list[SseEvent]:
    return [SseEvent("message", each, whole=True) for each in data]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end(end: bytes) -> None:
    assert at_once(b"data: a" + end + end + b"event: e" + end + b"data:b" + end + b"data: c" + end + end) == [
        SseEvent("message", "a", whole=True),
        # a lone CR at the very end may be half of a CRLF until the stream is over
        SseEvent("e", "b\nc", whole=end != b"\r"),
    ]


def test_a_byte_order_mark() -> None:
    assert at_once(b"\xef\xbb\xbfdata: a\n\n") == whole("a")
    assert at_once(b"\xef", b"\xbb\xbfdata: a\n\n") == whole("a")


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
    assert at_once(b"data: a\n\n", b"data: b") == [*whole("a"), SseEvent("message", "b", whole=False)]
    assert at_once(b"data: a\n\n", b"data: b\n") == [*whole("a"), SseEvent("message", "b", whole=False)]


def test_after_a_cut_a_half_event_is_not_told() -> None:
    async def cut() -> list[str]:
        response = httpx.Response(200, stream=Body([(0, b"data: a\n\ndata: b")], httpx.ReadError("cut")))
        seen: list[str] = []
        with pytest.raises(httpx.ReadError):
            async for event in events(response, idle=20, max_event_bytes=LIMIT):
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


def test_many_events_are_not_too_large() -> None:
    one = b"data: " + b"x" * 90 + b"\n\n"
    assert len(at_once(*[one[:50], one[50:]] * 100)) == 100
    assert len(at_once(one * 100)) == 100
    assert len(at_once(*[b": " + b"ping" * 20 + b"\n\n"] * 100, b"data: a\n\n")) == 1


def test_pings_do_not_keep_a_stream_alive() -> None:
    pings = [(0.0, b"data: a\n\n")] + [(15.0 * n, b": ping\n\n") for n in range(1, 5)]

    async def idle_at() -> float:
        start = asyncio.get_running_loop().time()
        with pytest.raises(StreamIdle, match="no event for 20 s"):
            await read(pings, ended=100.0)
        return asyncio.get_running_loop().time() - start

    assert virtual_clock.run(idle_at()) == 20.0


def test_the_idle_time_counts_from_event_to_event() -> None:
    slow = [(19.0 * n, b"data: a\n\n") for n in range(5)]
    assert virtual_clock.run(read(slow)) == whole(*"aaaaa")


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
        async for _ in events(response, idle=20.0, max_event_bytes=LIMIT):
            pass
        is_over = True
        return found

    assert virtual_clock.run(turns()) >= max(sum(map(len, body)) / 8192, len(body) / 100)
