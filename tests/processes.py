"""Processes that a test starts and always ends."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

Word = str | Path


@asynccontextmanager
async def child(*words: Word, **options: Any) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process with these `options` of asyncio. If it runs in the end, it is killed."""
    process = await asyncio.create_subprocess_exec(*words, **options)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def end_by(process: asyncio.subprocess.Process, number: int) -> None:
    """Send it this signal. Where it has just ended, `send_signal` may take its status away from the loop that
    waits for it, which then reports 255."""
    with suppress(ProcessLookupError):
        os.kill(process.pid, number)
