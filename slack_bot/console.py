"""Output that cannot be written: a pipe that was closed, a full disk, no stream at all.

None of these is an error of the verb, so none ends in a traceback.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

from .errors import BotError

EXIT_SIGPIPE = 141
"""Exit status after a closed pipe: what a shell shows for a program that SIGPIPE ended."""

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def run_guarded(verb: Callable[[], int]) -> int:
    """Run `verb` and flush its output. Returns its status, EXIT_SIGPIPE where the output was closed.

    Raises BotError where the output cannot be written.
    """
    _open_missing_streams()
    try:
        status = verb()
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return EXIT_SIGPIPE
    except OSError as error:
        if error.errno not in _NO_ROOM or error.filename is not None:
            raise
        _discard_output()
        raise BotError(f"the output cannot be written: {error.strerror}; send it somewhere else") from error
    return status


def _open_missing_streams() -> None:
    """Without stdout or stderr, what is written is discarded."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            null = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  as long as the process
            setattr(sys, name, null)


def _discard_output() -> None:
    """Discard what is still buffered, so that the interpreter's end does not complain."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
