"""Ctrl-C is answered with one line and exit 130, by the verbs that take their time."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from slack_bot.tools.interruption import told_if_interrupted
from tests.live_agent import live_agent

ROOT = Path(__file__).parents[2]
SUITE = {"name": "mine", "cases": [{"name": "held", "query": "held", "checks": ["live_streamed"]}]}


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["trace", "{}", "held", "--svg", "x.svg"], "the trace ends here, nothing was drawn"),
        (["trace", "{}", "held"], "the trace ends here"),
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
    async with live_agent() as live:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "slack_bot", *(word.format(live.url) for word in words)),
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        )
        async with asyncio.timeout(30):
            while len(live.headers) < 2:  # noqa: ASYNC110  the card, then the question: a request tells nobody
                await asyncio.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, told = await process.communicate()
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
