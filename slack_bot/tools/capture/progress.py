"""What a live capture shows while it runs, on stderr: seconds, events, characters."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Literal, TextIO

from ...a2a.wire.decode import decode
from ...errors import AgentError
from ...testing.tape.items import Moment, http_status_of
from ...testing.tape.json_file import Json
from ..live_line import LiveLine
from ..trace.table import printable
from ..turn_log import name_of, text_of
from .http_tap import HttpTap
from .redaction import Redactor
from .tape_writer import RpcCall

_TICK = 0.1  # seconds
_LINE_EVERY = 5.0  # seconds between lines where there is no terminal


class CaptureProgress:
    """Counts. On a terminal it redraws one line; elsewhere it writes one now and then.

    `masks` take secrets out of every line: an agent may send back what it was sent.
    """

    def __init__(self, out: TextIO | None = None, masks: Redactor | None = None) -> None:
        self.masks = masks or Redactor()
        self._out = out or sys.stderr
        self._line = LiveLine(self._out)
        self.events = self.chars = self.errors = 0
        self.last = ""
        """What the last event is called."""
        self._question, self._errors_before = "", 0
        self._line_at = 0.0

    def on_request(self, t: float, call: RpcCall, body: bytes) -> None:
        """A question is worth a line."""
        if call.verb == "ask":
            if call.id == self._question:
                self.errors = self._errors_before  # another attempt: its refusal was no error
            self._question, self._errors_before = call.id, self.errors
            self.say(f"{t:7.2f} s  asking ({call.method}): {self._short(call.text)}")

    def on_response(self, t: float, status: int, headers: Mapping[str, str]) -> None:
        """So is a refusal."""
        if not 200 <= status < 300:
            self.say(f"{t:7.2f} s  the server answered HTTP {status}")

    def on_data(self, t: float, data: bytes, moment: Moment | None) -> None:
        """Count."""
        if moment is None:
            return
        if moment.event is not None:
            self.events += 1
            self.last, chars = describe(moment.event)
            self.chars += chars
        elif moment.error is not None:
            self.errors += 1
            self.say(f"{t:7.2f} s  {self._describe_error(moment.error)}")
        elif moment.raw is not None:
            self.errors += 1
            self.say(f"{t:7.2f} s  something that is no A2A event: {self._short(moment.raw)}")

    def on_end(self, t: float, end: Literal["closed", "cut"]) -> None:
        """The summary says it."""

    def say(self, line: str) -> None:
        """A line that stays."""
        line = self.masks.text(line)
        self._line.wipe()
        self._out.write((printable(line) if self._line.is_terminal else line) + "\n")
        self._out.flush()

    @asynccontextmanager
    async def ticking(self, tap: HttpTap) -> AsyncIterator[None]:
        """Inside, the line is kept up to date, also while nothing comes."""
        task = asyncio.create_task(self._tick(tap))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            self._line.wipe()

    async def _tick(self, tap: HttpTap) -> None:
        while True:
            await asyncio.sleep(_TICK)
            now = tap.now()
            last = self.last or "nothing yet"
            line = f"{now:7.2f} s  {self.events:,} events, {self.chars:,} characters, last: {last}"
            self._line.show(self.masks.text(line))
            if not self._line.is_terminal and now - self._line_at >= _LINE_EVERY:
                self._line_at = now
                self.say(line)

    def _describe_error(self, error: Json) -> str:
        message = self._short(str(error.get("message", "")))
        if http_status_of(error) is None or "code" in error:
            return f"the agent reported an error: {message}"
        return f"that is no answer of an agent{f': {message}' if message else ''}"

    def _short(self, text: str, most: int = 80) -> str:
        """The beginning of `text`. Secrets are taken out first: half of one is still half a secret."""
        text = " ".join(self.masks.text(text).split())
        return text if len(text) <= most else text[: most - 3] + "..."


def describe(event: Json) -> tuple[str, int]:
    """What an event is called, and how many characters of text it brings."""
    try:
        frame = decode(event)
    except AgentError:
        return "unknown", 0
    return name_of(frame), len(text_of(frame))
