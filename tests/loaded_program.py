"""A process of Python that need not load its modules: it is forked from one that has them.

To load them takes most processes of the tests longer than what they are started for. `loaded_program()` is
the beginning of a command line in place of `python -m slack_bot`, `loaded_python()` in place of `python`: its
process hands its streams, environment and folder to a fork, passes signals on to it, and ends as it ends; if
it is killed, so is the fork. What a verb forgets to import is not seen here: one test of each verb that runs
as a process starts a real one.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "slack_bot"
_CLIENT = Path(__file__).with_name("loaded_client.py")
_STATUS = struct.Struct("!h")


def loaded_program() -> tuple[str, ...]:
    """The words that stand for `python -m slack_bot`."""
    return *loaded_python(), "-m", "slack_bot"


@cache
def loaded_python(*rooms: str) -> tuple[str, ...]:
    """The words that stand for `python`, before `-c` or `-m slack_bot`. Of the package these `rooms` are
    loaded, with what they import; none: all.
    """
    folder = tempfile.TemporaryDirectory(prefix="loaded-")
    address = f"{folder.name}/s"
    words = (sys.executable, "-m", "tests.loaded_program", address, *rooms)
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    origin = subprocess.Popen(words, cwd=ROOT, env=buffered, stdin=pipe, stdout=pipe)
    assert origin.stdin is not None and origin.stdout is not None
    assert origin.stdout.readline() == b"loaded\n"

    @atexit.register
    def end() -> None:
        origin.communicate()
        folder.cleanup()

    return sys.executable, "-IS", str(_CLIENT), address


def load(*rooms: str) -> None:
    gc.disable()
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[-1] != "__main__" and (not rooms or parts[0] in rooms):
            with suppress(ImportError):  # of an extra that is not installed
                importlib.import_module(".".join(("slack_bot", *parts)).removesuffix(".__init__"))
    if not rooms:
        from slack_bot.playground.reference.agent import bundled_library

        bundled_library()  # it takes as long as all modules
    gc.freeze()
    gc.enable()


def serve(address: str) -> dict[str, Any]:
    """Forks a program for each caller until nobody needs it any longer. Returns in each that was forked, with
    what it is to be.
    """
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("loaded", flush=True)
        while True:
            ready, _, _ = select.select([listener, 0], [], [])
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if 0 in ready:
                sys.exit()
            link, _ = listener.accept()
            with link:
                if os.fork() == 0:
                    listener.close()
                    return begin(link)


def begin(link: socket.socket) -> dict[str, Any]:
    """Forks the program, and stays beside it as long as it runs. Returns in the program."""
    head, streams, _, _ = socket.recv_fds(link, 4, 3)
    told = b""
    while len(told) < int.from_bytes(head, "big"):
        told += link.recv(1 << 16)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    program = os.fork()
    if program:
        for stream in streams:
            os.close(stream)
        stay(link, program, woken)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for each in (*streams, woken, wake):
        os.close(each)
    return dict(json.loads(told))


def stay(link: socket.socket, program: int, woken: int) -> None:
    """Passes signals on to the program, and its status to who started it."""
    while True:
        done, status = os.waitpid(program, os.WNOHANG)
        if done:
            with suppress(BrokenPipeError):
                link.send(_STATUS.pack(os.waitstatus_to_exitcode(status)))
            os._exit(0)
        ready, _, _ = select.select([link, woken], [], [])
        if woken in ready:
            os.read(woken, 64)
        if link in ready:
            for number in link.recv(64) or (signal.SIGKILL,):
                os.kill(program, number)


def become(words: list[str], environment: dict[str, str], folder: str) -> None:
    """Run the program in this process."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=os.isatty(1))
    match words:
        case ["-m", module, *rest]:
            sys.argv[1:] = rest
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-c", code, *rest]:
            sys.argv[:] = ["-c", *rest]
            exec(code, {"__name__": "__main__"})


if __name__ == "__main__":
    load(*sys.argv[2:])
    become(**serve(sys.argv[1]))
