"""A forked process of the program does what a started one does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.loaded_program import ROOT, loaded_program
from tests.processes import child

TAPE = ROOT / "docs/tapes/caipe-0.3.0-simple.jsonl"
REAL = (sys.executable, "-m", "slack_bot")
SETTINGS = {"SLACK_BOT_TOKEN": "xoxb-1", "A2A_AGENT_URL": "http://agent.invalid/", "TZ": "Asia/Tokyo"}


def ran(program: tuple[str, ...], folder: Path, *words: str) -> tuple[int, bytes, bytes]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **SETTINGS}
    done = subprocess.run(
        [*program, *words], cwd=folder, env=environment, capture_output=True, check=False, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("replay", "here.jsonl"),
        ("scrub", "here.jsonl", "-o", "scrubbed.jsonl"),
        ("run",),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_status_and_output_are_those_of_a_process_that_was_started(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    found = []
    for name, program in (("real", REAL), ("loaded", loaded_program())):
        (folder := tmp_path / name).mkdir()
        (folder / "here.jsonl").write_bytes(TAPE.read_bytes())
        found.append((*ran(program, folder, *words), {path.name for path in folder.iterdir()}))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)]
)
async def test_a_signal_reaches_it_and_who_is_killed_takes_it_along(number: int, status: int) -> None:
    pipe = subprocess.PIPE
    words = (*loaded_program(), "workspace", "--port", "0", "--api-port", "0")
    async with child(*words, stdout=pipe) as process:
        assert process.stdout is not None
        await process.stdout.readuntil(b"Ctrl-C ends it.")
        process.send_signal(number)
        assert await process.wait() == status
        await process.stdout.read()  # which ends with the last process that holds the pipe
