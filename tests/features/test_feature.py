"""A feature is a folder and a row: without both, the bot answers all the same."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from slack_bot.app import FEATURES

PACKAGE = Path(__file__).parents[2] / "slack_bot"
STORY = """
import asyncio
from slack_bot.testing.harness import run_bot
from slack_bot.testing.virtual_clock import on_virtual_time

@on_virtual_time
async def story():
    async with run_bot() as bot:
        root = await bot.ask("hi")
        await bot.idle()
        print(bot.read(root), sorted(bot.app.features))

story()
"""


@pytest.mark.parametrize("name", [feature.name for feature in FEATURES])
def test_the_bot_answers_without_a_feature(name: str, tmp_path: Path) -> None:
    copy = tmp_path / "slack_bot"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(copy / "features" / name)
    app = copy / "app.py"
    source = re.sub(rf"from \.features\.{name}\..*\n", "", app.read_text("utf-8"))
    app.write_text(re.sub(rf"\b{name.upper()}\b(, )?", "", source), "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", STORY], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    others = sorted(feature.name for feature in FEATURES if feature.name != name)
    assert done.stdout == f"['Hello.'] {others}\n", done.stderr
