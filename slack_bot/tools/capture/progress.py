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
from ..replay.stream_text import name_of, text_of
from .http_tap import HttpTap
from .redaction import Redactor
from .tape_writer import Asked

_TICK = 0.1
_LINE_EVERY = 5.0  # seconds between lines where there is no terminal to redraw one


class Progress:
    """An ear that counts. On a terminal it redraws one line; elsewhere it writes one now and then.

    `masks` take secrets out of all that it says: an agent may send back what it was sent.
    """

    def __init__(self, out: TextIO | None = None, masks: Redactor | None = None) -> None:
        self.masks = masks or Redactor()
        self._out = out or sys.stderr
        self._line = LiveLine(self._out)
        self.events = self.chars = self.wrong = 0
        self.last: str = ""
        self._asked, self._wrong_before = "", 0
        self._said_at = 0.0

    def asked(self, t: float, asked: Asked, body: bytes) -> None:
        """A question is worth a line of its own."""
        if asked.verb == "ask":
            if asked.id == self._asked:
                self.wrong = self._wrong_before  # another attempt: the refusal of the first one was no error
            self._asked, self._wrong_before = asked.id, self.wrong
            self.say(f"{t:7.2f} s  asking ({asked.method}): {self._short(asked.text)}")

    def answered(self, t: float, status: int, headers: Mapping[str, str]) -> None:
        """So is a refusal."""
        if not 200 <= status < 300:
            self.say(f"{t:7.2f} s  the server answered HTTP {status}")

    def heard(self, t: float, data: bytes, moment: Moment | None) -> None:
        """Count."""
        if moment is None:
            return
        if moment.event is not None:
            self.events += 1
            kind, chars = told(moment.event)
            self.chars += chars
            self.last = kind
        elif moment.error is not None:
            self.wrong += 1
            self.say(f"{t:7.2f} s  {self._what_went_wrong(moment.error)}")
        elif moment.raw is not None:
            self.wrong += 1
            self.say(f"{t:7.2f} s  something that is no A2A event: {self._short(moment.raw)}")

    def ended(self, t: float, end: Literal["closed", "cut"]) -> None:
        """Nothing to say: the summary will."""

    def say(self, line: str) -> None:
        """A line that stays."""
        self._line.wipe()
        self._out.write(self.masks.text(line) + "\n")
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
            if not self._line.is_terminal and now - self._said_at >= _LINE_EVERY:
                self._said_at = now
                self.say(line)

    def _what_went_wrong(self, error: Json) -> str:
        said = self._short(str(error.get("message", "")))
        if http_status_of(error) is None or "code" in error:
            return f"the agent reported an error: {said}"
        return f"that is no answer of an agent{f': {said}' if said else ''}"

    def _short(self, text: str, most: int = 80) -> str:
        """The beginning of `text`. Secrets are taken out first: half of one is still half a secret."""
        text = " ".join(self.masks.text(text).split())
        return text if len(text) <= most else text[: most - 3] + "..."


def told(event: Json) -> tuple[str, int]:
    """What an event is called, and how many characters of text it brings."""
    try:
        frame = decode(event)
    except AgentError:
        return "unknown", 0
    return name_of(frame), len(text_of(frame))
