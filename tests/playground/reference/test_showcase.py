"""The playground's agent shows a table, a chart, a file and its sources; the bot brings each into Slack."""

from __future__ import annotations

import pytest

from slack_bot.playground.reference.showcase import EXAMPLES, asked_for
from slack_bot.playground.server import open_playground
from slack_bot.playground.visitor import CHANNEL
from slack_bot.settings.models import ReferenceSettings
from tests.e2e.test_slack_models import over


def test_what_is_asked_for() -> None:
    assert [asked_for(each) for each in EXAMPLES] == ["table", "chart", "file", "sources"]
    assert asked_for("Chart, please") == "chart"
    assert [asked_for(each) for each in ("what is a table", "tables", "deploy the bot", "")] == [""] * 4


SLOW = [pytest.param(mode, marks=pytest.mark.slow) for mode in ("marker", "structured")]


@pytest.mark.parametrize("mode", ["hybrid", *SLOW])
async def test_what_is_shown(mode: str) -> None:
    async with open_playground(chosen=ReferenceSettings(pace=0, response_mode=mode)) as playground:
        for question in EXAMPLES:
            await over(playground, question)
        messages = [
            message
            for root in playground.workspace.history(CHANNEL)
            for message in playground.workspace.thread(CHANNEL, root.ts)
            if message.is_bot
        ]
    blocks = {block["type"]: block for message in messages for block in message.blocks}
    assert {"data_table", "data_visualization"} <= blocks.keys()
    assert [file.name for message in messages for file in message.files] == ["greet.py"]
    assert [file.content[:9] for message in messages for file in message.files] == [b"def greet"]
    said = [message.text for message in messages if "[1]" in message.text]
    assert said == ["Agents speak A2A with each other [1], and AGNTCY lets them find each other [2].\n"]
    listed = [
        str(block) for message in messages for block in message.blocks if "docs.agntcy.org" in str(block)
    ]
    assert len(listed) == 1
    assert sum("Helpful" in str(message.extras) for message in messages) == len(EXAMPLES)
