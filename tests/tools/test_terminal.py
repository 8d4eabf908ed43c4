"""Ctrl-C is answered with one line and exit 130, by the verbs that take their time."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from slack_bot.tools.terminal import LiveLine, told_if_interrupted
from tests.live_agent import live_agent
from tests.loaded_program import loaded_program
from tests.processes import child

ROOT = Path(__file__).parents[2]
SUITE = {
    "name": "mine",
    "cases": [
        {"name": "first", "query": "echo a", "checks": [{"check": "tools_used", "any": ["search"]}]},
        {"name": "held", "query": "held", "checks": ["live_streamed", "outcomes", "no_silence"]},
        {"name": "never", "query": "echo b", "checks": ["outcomes"]},
    ],
}


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def ended(words: list[str], folder: Path, *, terminal: bool = False) -> tuple[list[str], list[str]]:
    """The lines of both streams of a verb that gets Ctrl-C when its question has reached the agent, which
    never ends its answer. `terminal`: the first is one."""
    pipe, env = subprocess.PIPE, {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "COLUMNS": "150"}
    ours, theirs = os.openpty() if terminal else (None, None)
    async with live_agent() as live:
        command = *loaded_program(), *(word.format(live.url) for word in words)
        async with child(*command, cwd=folder, stdout=theirs or pipe, stderr=pipe, env=env) as process:
            try:
                async with asyncio.timeout(60):
                    while "held" not in json.dumps(live.messages):  # noqa: ASYNC110  a question tells nobody
                        await asyncio.sleep(0.05)
                    process.send_signal(signal.SIGINT)
                    out, told = await process.communicate()
            finally:
                live.release.set()
    if ours is not None and theirs is not None:
        os.close(theirs)
        out = read_all(ours)
    assert process.returncode == 130
    assert "Traceback" not in told.decode()
    return out.decode().splitlines(), told.decode().splitlines()


def read_all(terminal: int) -> bytes:
    """What was written to a terminal that nobody else holds."""
    found = b""
    with suppress(OSError), os.fdopen(terminal, "rb", buffering=0) as stream:
        while piece := stream.read(65536):
            found += piece
    return found


async def test_ctrl_c_is_one_line_and_leaves_no_empty_file(tmp_path: Path) -> None:
    _, told = await ended(["compare", "{}", "{}", "held", "-o", "x.md"], tmp_path)
    assert told[-1] == "interrupted; nothing was compared"
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("terminal", [False, True])
async def test_conform_shows_what_it_found_until_ctrl_c(terminal: bool, tmp_path: Path) -> None:
    (tmp_path / "suite.json").write_text(json.dumps(SUITE))
    words = ["conform", "--url", "{}", "--suite", "suite.json", "--report", "x.md"]
    out, told = await ended(words, tmp_path, terminal=terminal)
    shown = "\n".join(out)
    for line in (
        "tools_used: none; wanted: search",
        "ended with Ctrl-C, and judged as it stood",
        "outcomes: interrupted (ended with Ctrl-C)",
        "left out: 1 (such as never): interrupted before it was judged",
    ):
        assert line in shown
    assert "checks passed: FAIL" in out[-1]
    assert "interrupted; it was at 2 of 3, and these are the results until then" in told
    assert "It was ended with Ctrl-C, and judged as it stood." in (tmp_path / "x.md").read_text("utf-8")


async def test_trace_shows_its_figures_of_what_came_until_ctrl_c(tmp_path: Path) -> None:
    out, told = await ended(["trace", "{}", "held", "--svg", "x.svg"], tmp_path)
    assert told[-2:] == ["-> x.svg", "interrupted; this is what came until then"]
    assert any(line.split() == ["outcome", "interrupted", "(ended", "with", "Ctrl-C)"] for line in out)
    assert "<svg" in (tmp_path / "x.svg").read_text("utf-8")


def test_nothing_is_said_where_nothing_was_interrupted(capsys: pytest.CaptureFixture[str]) -> None:
    with told_if_interrupted(lambda: "never"):
        pass
    with pytest.raises(ValueError), told_if_interrupted(lambda: "never"):
        raise ValueError
    assert capsys.readouterr() == ("", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """What was shown, one after the other."""
        text = self.getvalue().replace("\x1b[?25l", "").replace("\x1b[?25h", "")
        return text.replace("\r", "").split("\x1b[2K")


def test_a_line_is_cut_where_the_terminal_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out = Terminal()
    line = LiveLine(out)
    line.show("x" * 100)
    line.show("\u4e09" * 100)
    line.wipe()
    line.wipe()
    assert out.lines()[:2] == ["x" * 39 + "…", "\u4e09" * 19 + " …"]
    assert out.lines()[-1] == "", "the line is gone"


def test_a_line_moves_no_cursor_of_its_own() -> None:
    out = Terminal()
    line = LiveLine(out)
    line.show("twelve chars")
    line.show("two\x1b[2J")
    assert out.lines() == ["twelve chars", "two [2J"]
    line.wipe()
    assert out.getvalue().count("\x1b[?25l") == out.getvalue().count("\x1b[?25h") == 1


def test_elsewhere_there_is_nothing() -> None:
    out = io.StringIO()
    line = LiveLine(out)
    line.show("x")
    line.wipe()
    assert (out.getvalue(), line.is_terminal) == ("", False)
