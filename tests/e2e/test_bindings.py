"""One live server, asked over JSON-RPC and over HTTP+JSON, on both wires: the thread is the same."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

from slack_bot.clock import system_clock
from slack_bot.testing.harness import bot_settings
from slack_bot.tools.replay.replay import ReplayQuestions, observe
from slack_bot.tools.replay.scenario import make_scenario
from tests.live_agent import FILE, WORK, live_agent, replay_live

FACES = [("1.0", "JSONRPC"), ("1.0", "HTTP+JSON"), ("0.3", "JSONRPC"), ("0.3", "HTTP+JSON")]
_SETTINGS = {"input_required_grace": 0.05}
_OWN = re.compile(r"Reference: \w+|\d{10}\.\d{6}")  # of each turn


async def thread(
    url: str, wire: str, binding: str, text: str, **scenario: Any
) -> tuple[str, str, set[str], list[str]]:
    """The outcome, and what stands in the thread: its text, the states of its messages, what is under them.

    Where a long answer goes on in the next message depends on the time.
    """
    settings = {**_SETTINGS, "protocol_version": wire, "binding": binding}
    result = await replay_live(make_scenario({"text": text, "settings": settings, **scenario}), url)
    states = {message["state"] for message in result["thread"]}
    under = [each["blocks"] for each in result["thread"]][-1:]
    said = [_OWN.sub("", str(each)) for each in under]
    return result["outcome"], result["visible"], states, said


@pytest.mark.parametrize(
    ("text", "outcome", "scenario"),
    [
        ("hello", "answered", {}),
        ("unicode", "answered", {}),
        ("long", "answered", {}),
        ("ask", "asked", {}),
        ("fail", "failed", {}),
        ("slow", "stopped", {"stop_at": 0.5}),
        ("held", "stopped", {"stop_at": 3.0}),
    ],
)
async def test_both_bindings_on_both_wires_give_the_same_thread(
    text: str, outcome: str, scenario: dict[str, Any]
) -> None:
    async with live_agent(bindings=("JSONRPC", "HTTP+JSON")) as live:
        live.hold = 3
        seen = [await thread(live.url, *face, text, **scenario) for face in FACES]
    assert [each[0] for each in seen] == [outcome] * len(FACES)
    assert seen == [seen[0]] * len(FACES)
    assert seen[0][1] or seen[0][3]
    asked = {headers.get("a2a-version") for headers in live.headers}
    assert {"1.0", "0.3"} <= asked


@pytest.mark.parametrize("face", FACES)
async def test_an_agent_that_begins_with_the_task_as_it_waited_is_heard_to_the_end(
    face: tuple[str, str],
) -> None:
    """It works for longer than the end of the stream of a question is waited for."""
    assert 5 * _SETTINGS["input_required_grace"] < WORK
    async with live_agent(bindings=("JSONRPC", "HTTP+JSON")) as live:
        settings = {**_SETTINGS, "protocol_version": face[0], "binding": face[1]}
        asking = ReplayQuestions(follow_ups=("reply: the first",))
        scenario = make_scenario({"text": "ask", "settings": settings})
        seen = await observe(
            scenario, bot_settings(scenario.settings, live.url), system_clock(), asking=asking
        )
    assert [turn.ended and turn.ended.outcome for turn in seen.log.turns] == ["asked", "answered"]
    assert seen.result()["visible"] == "Which one?reply: the first"
    assert len(live.messages) == 2


@pytest.mark.parametrize("face", FACES)
async def test_an_agent_that_breaks_has_failed_on_each(face: tuple[str, str]) -> None:
    """a2a-sdk ends the connection there on HTTP+JSON of 0.3, and reports an error everywhere else."""
    async with live_agent(bindings=("JSONRPC", "HTTP+JSON")) as live:
        outcome, visible, _, under = await thread(live.url, *face, "raise")
    assert (outcome, visible) == ("failed", "")
    assert "Try again" in str(under)


@pytest.mark.parametrize("face", FACES)
async def test_files_go_both_ways_on_each(face: tuple[str, str]) -> None:
    name, _, content = FILE
    async with live_agent(bindings=("JSONRPC", "HTTP+JSON")) as live:
        settings = {"protocol_version": face[0], "binding": face[1]}
        scenario = make_scenario({"text": "file", "settings": settings, "files": {name: content.decode()}})
        seen = await observe(scenario, bot_settings(scenario.settings, live.url), system_clock())
    parts = live.messages[0]["parts"][1:]
    assert [(part["filename"], base64.b64decode(part["raw"])) for part in parts] == [(name, content)]
    shown = [file for message in seen.thread for file in message.files]
    assert [(file.name, file.content) for file in shown] == [(name, content)]
