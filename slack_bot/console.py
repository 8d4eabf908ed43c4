"""Output that cannot be written ends in no traceback: a closed pipe, a full disk, no stream at all."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

from .errors import BotError

EXIT_SIGPIPE = 141
"""Exit status after a closed pipe, as a shell shows it."""

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def run_guarded(verb: Callable[[], int]) -> int:
    """The status of `verb`, whose output is flushed. Raises BotError if it cannot be written."""
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
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            null = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  as long as the process
            setattr(sys, name, null)


def _discard_output() -> None:
    """Else the interpreter's end would complain."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
