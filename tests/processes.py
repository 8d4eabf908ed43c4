"""Processes that a test starts and always ends."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

Word = str | Path


@asynccontextmanager
async def child(*words: Word, **options: Any) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process with these `options` of asyncio. If it runs in the end, it is killed.

    What it wrote is read to its end: on Python 3.14 `wait` does not wait for its pipes, which stay open.
    """
    process = await asyncio.create_subprocess_exec(*words, **options)
    try:
        yield process
    finally:
        end_by(process, signal.SIGKILL)
        if process.stdin is not None:
            process.stdin.close()
        await process.communicate()


def end_by(process: asyncio.subprocess.Process, number: int) -> None:
    """Send it this signal. Where it has just ended, `send_signal` may take its status away from the loop that
    waits for it, which then reports 255."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)
