"""The guide for those who write agents: the agent in it runs, and its reader has a live answer of it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from slack_bot.cli import main
from slack_bot.testing.harness import free_port
from slack_bot.testing.tape.tape import Tape
from slack_bot.tools.conform.checks import CHECKS
from slack_bot.tools.replay.replay import replayed
from slack_bot.turn.record import Outcome

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs" / "agents.md").read_text("utf-8")


@contextmanager
def served(code: str, folder: Path) -> Iterator[str]:
    """The agent of `code` in a process of its own."""
    file, port = folder / "agent.py", free_port()
    file.write_text(code, "utf-8")
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen([sys.executable, str(file), str(port)], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        assert any("running on" in line for line in process.stderr), "the agent did not start"
        yield url
    finally:
        process.kill()
        process.communicate()


def test_the_smallest_agent_passes_what_applies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    assert found is not None
    only = ["--only", "first-look", "--only", "chat-reads-right", "--only", "rag-simple"]
    with served(found[1], tmp_path) as url:
        status = main(["conform", "--url", url, "--suite", "extended", *only])
    assert status == 0, capsys.readouterr().out


def test_the_checks_it_speaks_of_exist() -> None:
    table = GUIDE.partition("## What goes wrong")[2].partition("\n## ")[0]
    rows = "\n".join(line for line in table.splitlines() if line.startswith("|"))
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", rows))
    other = {*Outcome, *replayed(Tape({}, ())).result()}
    assert named & set(CHECKS) and named <= {*CHECKS, *other}


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)]+)\)", GUIDE):
        assert (ROOT / "docs" / target.partition("#")[0]).exists(), target
