"""Processes that a test starts and always ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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
