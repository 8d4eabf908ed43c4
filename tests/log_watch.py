"""Wait for a line of the log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager


class LogWatch(logging.Handler):
    """Keeps the messages of the bot's log."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.messages: list[str] = []
        self._changed = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(f"{record.levelname}: {record.getMessage()}")
        self._changed.set()

    async def wait_for(self, text: str, times: int = 1, within: float = 60.0) -> None:
        """Return when `text` was logged so many times."""
        async with asyncio.timeout(within):
            while sum(text in message for message in self.messages) < times:
                self._changed.clear()
                await self._changed.wait()


@contextmanager
def log_watch(level: int = logging.INFO) -> Iterator[LogWatch]:
    """What the bot logs, from `level` on, while the context is open."""
    logger, watch = logging.getLogger("slack_bot"), LogWatch()
    before = logger.level
    logger.setLevel(level)
    logger.addHandler(watch)
    try:
        yield watch
    finally:
        logger.removeHandler(watch)
        logger.setLevel(before)
