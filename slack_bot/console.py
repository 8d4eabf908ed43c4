"""Where a verb's words go: a pipe that somebody closes, a full disk, no stream at all.

None of these is a fault of the verb, so none ends in a traceback.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

from .errors import BotError

EXIT_SIGPIPE = 141
"""Exit status where whoever read the output has gone: what a shell shows for a program that SIGPIPE ended."""

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def run_guarded(verb: Callable[[], int]) -> int:
    """What `verb` returns, and all that it wrote is out; READER_LEFT where nobody reads it any more.

    Raises BotError where the output cannot be written.
    """
    _give_streams()
    try:
        status = verb()
        sys.stdout.flush()
    except BrokenPipeError:
        _let_go()
        return EXIT_SIGPIPE
    except OSError as error:
        if error.errno not in _NO_ROOM or error.filename is not None:
            raise
        _let_go()
        raise BotError(f"the output cannot be written: {error.strerror}; send it somewhere else") from error
    return status


def _give_streams() -> None:
    """A program that was started without stdout or stderr has nobody to tell anything."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  as long as the process
            setattr(sys, name, nowhere)


def _let_go() -> None:
    """What is still waiting to be written goes nowhere, and the interpreter's end does not complain of it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
