"""`slack-bot explain`: why each part of an answer went where it went."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slack_bot.cli import main
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import write_tape
from slack_bot.tools.replay.explain import explain_capture
from slack_bot.tools.replay.replay import replay
from slack_bot.tools.replay.scenario import Scenario

TEXT = "First line.\nSecond line.\nThird line, the last one."


def test_all_text_that_stands_there_is_accounted_for() -> None:
    text = explain_capture(answer(TEXT, seconds=6.0), Scenario())
    sizes = [int(line.split(" shows ")[1].split(" ")[0]) for line in text.splitlines() if " shows " in line]
    assert len(sizes) > 2
    assert sum(sizes) == len(replay(answer(TEXT, seconds=6.0))["visible"])
    assert "answer latched: is_final_answer on streaming_result" in text
    assert "Sent again" not in text, "the bot's own word for the end is nothing that was sent"
    assert "Not part of the answer's text" not in text, "all that was sent stands there"
    assert "markup that the bot" not in text


@pytest.mark.parametrize(
    "faults",
    [
        {"chat.appendStream": ["internal_error!", None]},
        {"chat.startStream": ["channel_type_not_supported"]},
        {"chat.appendStream": [None, "message_not_in_streaming_state", None]},
    ],
)
def test_with_faults_too(faults: dict[str, tuple[str | None, ...]]) -> None:
    around = Scenario(slack_faults=faults)
    text = explain_capture(answer(TEXT, seconds=6.0), around)
    sizes = [int(line.split(" shows ")[1].split(" ")[0]) for line in text.splitlines() if " shows " in line]
    assert sum(sizes) == len(replay(answer(TEXT, seconds=6.0), around)["visible"])
    assert "Calls that failed" in text


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tape, scenario = tmp_path / "answer.jsonl", tmp_path / "around.json"
    tape.write_text(write_tape(answer(TEXT)), "utf-8")
    scenario.write_text(json.dumps({"text": "why?", "user": "U7"}), "utf-8")
    assert main(["explain", str(tape), "--scenario", str(scenario)]) == 0
    assert capsys.readouterr().out.startswith("U7: why?\n")
    assert main(["explain", str(tmp_path / "nothing.jsonl")]) == 2
    assert "nothing.jsonl" in capsys.readouterr().err
