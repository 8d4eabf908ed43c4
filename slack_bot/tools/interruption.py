"""Ctrl-C is answered with one line: what became of the work until then."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def told_if_interrupted(what: Callable[[], str]) -> Iterator[None]:
    """Inside, Ctrl-C says `what` on stderr, asked at that time, and goes on its way."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write(f"interrupted; {what()}\n")
        raise
