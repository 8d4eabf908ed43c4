"""Bytes become pieces, whatever the chunks; no byte is lost."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from slack_bot.tools.capture.sse_split import SseBlock, SseSplitter

STREAM = (
    b'\xef\xbb\xbfdata: {"a": 1}\n\n: ping\n\nevent: error\r\ndata: x\r\ndata: y\r\n\r\n'
    b"id: 7\n\n:a\r\rdata:z\xff\n: inside\n\nretry: 5\n\ndata: half"
)


def split(stream: bytes, sizes: list[int], limit: int = 1000) -> list[SseBlock]:
    splitter, found, at = SseSplitter(limit), list[SseBlock](), 0
    for size in sizes:
        found += splitter.feed(stream[at : at + size])
        at += size
    return [*found, *splitter.feed(stream[at:]), *splitter.end()]


def test_events_comments_and_the_broken_end() -> None:
    said = [piece for piece in split(STREAM, []) if piece.raw.strip()]
    assert [(piece.name, piece.data, piece.comments, piece.whole) for piece in said] == [
        ("", '{"a": 1}', (), True),
        ("", None, ("ping",), True),
        ("error", "x\ny", (), True),
        ("", None, (), True),
        ("", None, ("a",), True),
        ("", "z\ufffd", ("inside",), True),
        ("", None, (), True),
        ("", "half", (), False),
    ]


@given(st.lists(st.integers(1, 9)))
@settings(max_examples=60, deadline=None)
def test_chunks_change_nothing(sizes: list[int]) -> None:
    pieces = split(STREAM, sizes)
    assert b"".join(piece.raw for piece in pieces) == STREAM
    assert [piece for piece in pieces if piece.raw.strip()] == [
        piece for piece in split(STREAM, []) if piece.raw.strip()
    ]


def test_a_comment_does_not_wait_for_its_blank_line() -> None:
    assert SseSplitter(100).feed(b": ping\n") == [SseBlock(b": ping\n", comments=("ping",))]


def test_what_grows_without_end_is_cut() -> None:
    pieces = split(b"data: " + b"x" * 50, [10] * 6, limit=20)
    assert b"".join(piece.raw for piece in pieces) == b"data: " + b"x" * 50
    assert max(len(piece.raw) for piece in pieces) <= 30
    assert not pieces[0].whole


def test_nothing_gives_nothing() -> None:
    assert SseSplitter(9).end() == []
