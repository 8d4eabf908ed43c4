"""How much work a piece of code is, without a clock. Regular expressions run no lines: they have one.

`HOSTILE` are pieces of text: repeated, each has been dear to read for some program.
"""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

_PACKAGE = f"{os.sep}slack_bot{os.sep}"

HOSTILE = (
    *(" ", "\t", "\n", " \n", "x", "x ", "<", "<!", "<@", "<a|", "[", "[x](", "](", "(", "`", "``` ", "` "),
    *("~", "~~~\n", "*", "_", "*_", "**_", "`*", "*a ", "_a ", "*a`", "|", "a|", "a|b\n", "|-", ">", "> "),
    *("> a\n", "-", "- ", "- a\n", "1.", "1. a\n", "#", "# a\n", ":", ":a", "&", "&amp;", "&amp;gt;", "\\"),
    *("-eyJ", "-----BEGIN ", "Bearer ", "部署", "\U0001f469\u200d", "a\u0301\u0327", "\u0301"),
    *("\U0001f1e9", "\ud800", "\u2060", "*\u2060"),
)


def work(job: Callable[[], object]) -> int:
    """How many lines of code `job` runs: the same on every machine."""
    lines = 0

    def trace(frame: FrameType, event: str, arg: object) -> object:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        job()
    finally:
        sys.settrace(before)
    return lines


def steps(jobs: Iterator[object]) -> list[int]:
    """How many lines each of the steps of `jobs` runs."""
    done = False

    def one() -> None:
        nonlocal done
        for _ in jobs:
            return
        done = True

    lines = []
    while not done:
        lines.append(work(one))
    return lines


@contextmanager
def longest_step(but: Sequence[str] = ()) -> Iterator[Callable[[], int]]:
    """Inside, counts the lines of this project that run in one step of the event loop; gives the most so far.

    `but`: folders that do not count.
    """
    lines = most = 0
    run = asyncio.Handle._run

    def trace(frame: FrameType, event: str, arg: object) -> object:
        nonlocal lines
        place = frame.f_code.co_filename
        if _PACKAGE not in place or any(each in place for each in but):
            return None
        lines += event == "line"
        return trace

    def counted(handle: asyncio.Handle) -> None:
        nonlocal lines, most
        lines = 0
        run(handle)
        most = max(most, lines)

    before = sys.gettrace()
    asyncio.Handle._run = counted  # type: ignore[method-assign]
    sys.settrace(trace)
    try:
        yield lambda: most
    finally:
        sys.settrace(before)
        asyncio.Handle._run = run  # type: ignore[method-assign]


def grows_like_its_text(job: Callable[[str], object], piece: str, size: int = 20_000) -> bool:
    """The processor time of `job` on four times the text is not near sixteen times as long.

    For regular expressions, which nothing else can count. Measured up to three times; a few milliseconds are
    for free.
    """
    texts = [(piece * (many // len(piece) + 1))[:many] for many in (size, 4 * size)]
    for _ in range(3):
        short, long = (_seconds(job, text) for text in texts)
        if long < 9 * short + 0.01:
            return True
    return False


def _seconds(job: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    job(text)
    return time.process_time() - began
