"""`replay --play`: the real command, and a page that is opened."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from slack_bot.cli import main
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import write_tape


def facts_of(updates: list[Any]) -> list[dict[str, Any]]:
    return [update["fact"] for update in updates if update["type"] == "fact"]


async def test_the_replay_begins_when_the_page_is_opened(tmp_path: Path) -> None:
    file, around = tmp_path / "kept.jsonl", tmp_path / "around.json"
    file.write_text(write_tape(answer("One planned answer.", seconds=0.5)), "utf-8")
    around.write_text(json.dumps({"cut_after": 2, "user": "U7", "channel": "C9"}), "utf-8")
    updates, errors, status = await played(str(file), "--scenario", str(around))
    calls = [fact for fact in facts_of(updates) if fact["kind"] == "call"]
    chunks = [chunk for call in calls for chunk in call["args"].get("chunks", ())]
    assert "".join(chunk.get("text", "") for chunk in chunks) == "One planned answer."
    assert updates[0]["faults"] == {"slack_faults": {}, "cut_after": 2}
    assert "the scenario's channel, thread_ts and team are not used" in errors
    assert status == 0


async def test_the_tape_is_read_as_its_head_says() -> None:
    """The README's own example: its stream is its answer, as its head says."""
    updates, errors, status = await played("docs/tapes/caipe-0.2.41-simple.jsonl", "--speed", "10")
    names = [fact["event"]["name"] for fact in facts_of(updates) if fact["kind"] == "decision"]
    assert names.count("AnswerText") > 100
    assert (errors, status) == ("", 0)


def test_a_setting_that_does_not_exist_is_told_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    around = tmp_path / "around.json"
    around.write_text('{"settings": {"flush_intervall": 1}}', "utf-8")
    assert main(["replay", "docs/tapes/caipe-0.3.0-simple.jsonl", "--play", "--scenario", str(around)]) == 2
    assert "flush_intervall" in capsys.readouterr().err


async def played(*args: str) -> tuple[list[Any], str, int | None]:
    """What the page is told until the turn is over, what the command writes to stderr, and its status."""
    command = ["replay", *args, "--play", "--port", "0"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "slack_bot", *command,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            said = (await process.stdout.readline()).decode()
            assert said.startswith("The replay begins when you open http://127.0.0.1:")
            url = said.split()[-1]
            async with aiohttp.ClientSession() as http:
                link = await http.ws_connect(f"{url}ws", headers={"Origin": url.rstrip("/")})
                updates = list[Any]()
                while not any(fact["kind"] == "closed" for fact in facts_of(updates)):
                    updates += await link.receive_json()
                await link.close()
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = await process.communicate()
    return updates, errors.decode(), process.returncode


def test_a_file_that_cannot_be_read_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "nowhere.jsonl", "--play"]) == 2
    assert "slack-bot replay: nowhere.jsonl" in capsys.readouterr().err


@pytest.mark.parametrize("port", [-1, 70_000])
def test_a_number_that_no_port_has_is_refused_first(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "docs/tapes/caipe-0.3.0-simple.jsonl", "--play", "--port", str(port)]) == 2
    assert capsys.readouterr().err.startswith(f"slack-bot replay: There is no port {port}: ")
