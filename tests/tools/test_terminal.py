"""Ctrl-C is answered with one line and exit 130, by the verbs that take their time."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from slack_bot.tools.terminal import LiveLine, told_if_interrupted
from tests.live_agent import live_agent
from tests.loaded_program import loaded_program
from tests.processes import child

ROOT = Path(__file__).parents[2]
SUITE = {"name": "mine", "cases": [{"name": "held", "query": "held", "checks": ["live_streamed"]}]}


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["trace", "{}", "held", "--svg", "x.svg"], "the trace ends here, nothing was drawn"),
        (["compare", "{}", "{}", "held", "-o", "x.md"], "nothing was compared"),
        (
            ["conform", "--url", "{}", "--suite", "suite.json", "--report"],
            "it was at 1 of 1, no report was written",
        ),
    ],
)
async def test_ctrl_c_is_one_line_and_leaves_no_empty_file(
    words: list[str], said: str, tmp_path: Path
) -> None:
    (tmp_path / "suite.json").write_text(json.dumps(SUITE))
    pipe, env = subprocess.PIPE, {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    async with live_agent() as live:
        command = *loaded_program(), *(word.format(live.url) for word in words)
        async with child(*command, cwd=tmp_path, stdout=pipe, stderr=pipe, env=env) as process:
            try:
                async with asyncio.timeout(60):
                    while not live.messages:  # noqa: ASYNC110  a question tells nobody
                        await asyncio.sleep(0.05)
                    process.send_signal(signal.SIGINT)
                    _, told = await process.communicate()
            finally:
                live.release.set()
    assert process.returncode == 130
    assert told.decode().splitlines()[-1] == f"interrupted; {said}"
    assert "Traceback" not in told.decode()
    assert names_in(tmp_path) == ["suite.json"]


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
