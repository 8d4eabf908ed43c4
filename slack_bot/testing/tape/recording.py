"""PURE. Raw SSE text, as a capture tool keeps it, becomes a `Recording`: bytes, when they came, how it ended.

It is served byte for byte, as broken as it was. Capture tools write the head of request and response in `#`
lines before the body: `>>>` (or `>`) what was sent, `<<<` (or `<`) what came, and after the body when each
chunk came and how the connection ended. All of these are optional; without times, events are 20 ms apart.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate

SPACING = 0.02
"""Seconds between two events of a file that says nothing of time."""

BY_HAND = "interrupted"
"""The error in the last line of a recording whose maker did not wait for its end."""

_BODY = b"# ===== raw body below ====="
_END = b"# ===== end of raw body ====="
_STATUS_LINE = re.compile(r"HTTP/[\d.]+ (\d{3})\b")
_HEADER = re.compile(r"([A-Za-z0-9-]+): *(.*)")
_TIMING = re.compile(r"# chunk timing[^:]*: *(.*)")
_CHUNK = re.compile(r"(?<!\S)(\d+(?:\.\d*)?):(\d+)(?!\S)")
_CLOSED = re.compile(r"# closed at (?:(\d+(?:\.\d*)?)|[\d.]+)s(?: err=(.*))?")
_SSE_LINE = re.compile(rb"(?:(?:data|event|id|retry)\s*:|:)")
_EVENT_END = re.compile(rb"(?:\r\n|\n|\r)(?:\r\n|\n|\r)+")
# they would be lies about a body that is served whole
_HOP_BY_HOP = frozenset(
    {"transfer-encoding", "connection", "content-length", "content-encoding", "keep-alive"}
)


@dataclass(frozen=True, slots=True)
class Recording:
    """One HTTP response as it came: `chunks` are (seconds from the request, bytes).

    `cut`: the connection broke instead of ending, at `ended` seconds; `interrupted`: whoever listened broke
    it. `request`: the body that was sent, if known. `is_timed`: the times are the file's own. `first_line`:
    in which line of its file the body begins.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    chunks: tuple[tuple[float, bytes], ...] = ()
    cut: bool = False
    ended: float = 0.0
    request: str = ""
    interrupted: bool = False
    is_timed: bool = True
    first_line: int = field(default=1, compare=False)

    @property
    def body(self) -> bytes:
        return b"".join(data for _, data in self.chunks)


def looks_raw(data: bytes) -> bool:
    """Whether `data` is raw SSE, or a response with a head in `#` lines."""
    start = data.lstrip(b"\xef\xbb\xbf\r\n\t ")
    return start.startswith(b"#") or _SSE_LINE.match(start) is not None


def read_recording(data: bytes) -> Recording | None:
    """The response in `data`, or None where there is none."""
    head, body, tail = _divide(data)
    status, headers, request = _read_head(head)
    is_json = body.lstrip()[:1] in (b"{", b"[")
    if not status and _SSE_LINE.match(body.lstrip()) is None and not is_json:
        return None
    headers.setdefault("content-type", "application/json" if is_json else "text/event-stream")
    ends, ended, how = _read_tail(tail)
    is_timed = bool(ends)
    if not is_timed:
        ends = [(round(n * SPACING, 6), end.end()) for n, end in enumerate(_EVENT_END.finditer(body))]
        ends.append((round(len(ends) * SPACING, 6), len(body)))
    chunks = tuple(_chunks(body, ends))
    last = chunks[-1][0] if chunks else 0.0
    return Recording(
        status=status or 200,
        headers=headers,
        chunks=chunks,
        cut=how not in ("", "None"),
        ended=max(last, ended if ended is not None else last),
        request=request,
        interrupted=how == BY_HAND,
        is_timed=is_timed,
        first_line=1 + data.count(b"\n", 0, max(0, data.find(body))),
    )


def _divide(data: bytes) -> tuple[list[str], bytes, list[str]]:
    if _BODY not in data:
        return _divide_unmarked(data.split(b"\n"))
    head, _, rest = data.partition(_BODY)
    rest = rest.partition(b"\n")[2]
    if _END not in rest:
        return _comment_lines(head), rest, []
    body, _, tail = rest.rpartition(_END)
    # the newline before the end mark is the mark's own
    return _comment_lines(head), body.removesuffix(b"\n"), _comment_lines(tail)


def _divide_unmarked(lines: list[bytes]) -> tuple[list[str], bytes, list[str]]:
    """Leading and trailing `#` lines are about the response; all between is the response."""
    first = next(
        (n for n, line in enumerate(lines) if line.strip() and not line.startswith(b"#")), len(lines)
    )
    last = len(lines)
    while last > first and (not lines[last - 1].strip() or lines[last - 1].startswith(b"#")):
        last -= 1
    while last < len(lines) and not lines[last].startswith(b"#"):
        last += 1
    head, body, tail = (b"\n".join(part) for part in (lines[:first], lines[first:last], lines[last:]))
    return _comment_lines(head), body + (b"\n" if tail else b""), _comment_lines(tail)


def _comment_lines(data: bytes) -> list[str]:
    return [line.strip() for line in data.decode("utf-8", "replace").split("\n") if line.startswith("#")]


def _read_head(lines: list[str]) -> tuple[int, dict[str, str], str]:
    status, headers, request = 0, dict[str, str](), ""
    for line in lines:
        text = line.lstrip("# ")
        if text.startswith(">"):
            sent = text.lstrip("> ")
            request = sent if sent.startswith("{") else request
            continue
        text = text.lstrip("< ")
        if found := _STATUS_LINE.match(text):
            status = int(found[1])
        elif status and (pair := _HEADER.fullmatch(text)) and pair[1].lower() not in _HOP_BY_HOP:
            headers[pair[1].lower()] = pair[2]
    return status, headers, request


def _read_tail(lines: list[str]) -> tuple[list[tuple[float, int]], float | None, str]:
    ends: list[tuple[float, int]] = []
    ended, how = None, ""
    for line in lines:
        if found := _TIMING.match(line):
            pairs = _CHUNK.findall(found[1])
            sizes = accumulate(int(size) for _, size in pairs)
            ends = [(float(at), end) for (at, _), end in zip(pairs, sizes, strict=True)]
        elif found := _CLOSED.match(line):
            ended, how = (float(found[1]) if found[1] else None), found[2] or ""
    return ends, ended, how


def _chunks(body: bytes, ends: list[tuple[float, int]]) -> Iterator[tuple[float, bytes]]:
    """The body by when each part came and where it ends; what is left came with the last."""
    start, at = 0, 0.0
    for at, end in [*ends, (ends[-1][0], len(body))]:
        if start < len(body):
            yield at, body[start:end]
        start = end
