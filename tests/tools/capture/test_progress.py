"""What a capture says while it runs."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import httpx
import pytest

from slack_bot.clock import Clock
from slack_bot.testing.tape.items import Moment
from slack_bot.tools.capture.http_tap import HttpTap
from slack_bot.tools.capture.progress import CaptureProgress, describe
from slack_bot.tools.capture.tape_writer import RpcCall


class Watched(io.StringIO):
    def __init__(self) -> None:
        super().__init__()
        self.written = asyncio.Event()

    def write(self, text: str) -> int:
        self.written.set()
        return super().write(text)


class Terminal(Watched):
    def isatty(self) -> bool:
        return True


def artifact(text: str) -> dict[str, Any]:
    return {
        "kind": "artifact-update",
        "artifact": {"name": "answer", "parts": [{"kind": "text", "text": text}]},
    }


@pytest.mark.parametrize(
    "event,expected",
    [
        (artifact("abc"), ("answer", 3)),
        ({"kind": "task", "id": "t", "status": {"state": "working"}}, ("task working", 0)),
        ({"kind": "status-update", "status": {"state": "completed"}}, ("status completed", 0)),
        ({"kind": "message", "role": "agent", "parts": [{"kind": "text", "text": "hi"}]}, ("message", 2)),
        ({"kind": "strange"}, ("unknown", 0)),
        ({"error": {"code": 1}}, ("unknown", 0)),
    ],
)
def test_what_an_event_brings(event: dict[str, Any], expected: tuple[str, int]) -> None:
    assert describe(event) == expected


def test_it_counts_and_names_what_is_wrong() -> None:
    out = io.StringIO()
    progress = CaptureProgress(out)
    progress.on_request(0.0, RpcCall("message/stream", "ask", "0.3", "1", "what\nnow " + "x" * 100), b"")
    progress.on_request(0.0, RpcCall("tasks/get", "get", "0.3", "2"), b"")
    progress.on_response(0.1, 503, {})
    progress.on_data(0.2, b"", None)
    progress.on_data(0.2, b"", Moment(0.2, event=artifact("abc")))
    progress.on_data(0.3, b"", Moment(0.3, error={"code": 1, "message": "boom"}))
    progress.on_data(0.4, b"", Moment(0.4, raw="data: {"))
    progress.on_data(0.4, b"", Moment(0.4, comment="ping"))
    progress.on_end(0.5, "closed")
    assert (progress.events, progress.chars, progress.errors, progress.last) == (1, 3, 2, "answer")
    lines = out.getvalue().splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("   0.00 s  asking (message/stream): what now xxx") and lines[0].endswith(
        "..."
    )
    assert "HTTP 503" in lines[1] and "boom" in lines[2] and "data: {" in lines[3]


async def test_a_terminal_has_one_line_that_is_redrawn_and_elsewhere_there_is_one_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out, times = Terminal(), iter([1.0] * 3 + [6.0] * 100)
    async with httpx.AsyncClient() as http:
        tap = HttpTap(http, (), Clock(lambda: next(times), lambda: 0.0), 100)
        tap._start = 0.0
        progress = CaptureProgress(out)
        async with progress.ticking(tap):
            out.written.clear()
            await out.written.wait()
            assert "nothing yet" in out.getvalue()
            progress.say("a\x1b[2J line that stays [bold]")
        assert "\x1b[2K" in out.getvalue().rpartition("\n")[0], "the line is erased before one that stays"
        assert "a [2J line that stays [bold]\n" in out.getvalue()
        plain = Watched()
        async with CaptureProgress(plain).ticking(tap):
            await plain.written.wait()
        assert plain.getvalue().count("\n") == 1
