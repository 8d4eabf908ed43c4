"""What a reader sees of an agent that fails: what it had written, our sentence, a reference."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from slack_bot.observe.facts import TurnEnded, reference_of
from slack_bot.observe.logs import LogLines, LogObserver
from slack_bot.testing.harness import BotHarness, run_bot
from slack_bot.testing.tape.builders import chunk, failure, status, task
from slack_bot.testing.tape.recording import Recording, read_recording
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.replay.scenario import make_scenario
from tests.fake_secrets import FAKES

FRAMEWORKS = Path(__file__).parents[1] / "captures" / "frameworks"
BOOMS = sorted(FRAMEWORKS.glob("*_boom.sse"))
SAYS_COMPLETED = {"voltagent_boom"}  # its server does, whatever its model does
SECRET = "secret stack detail 0xDEAD"
UNFINISHED = "What was written stays; the rest is missing."


def recorded(path: Path) -> tuple[Recording, str]:
    """A live server's stream, and what its model had written when it raised."""
    found = read_recording(path.read_bytes())
    assert found is not None
    truth = path.with_suffix("").with_suffix(".truth.txt").read_text("utf-8")
    return found, truth.partition("--- truth, exactly ---\n")[2].strip()


@pytest.mark.parametrize("source", ["auto", "status", "artifact"])
@pytest.mark.parametrize("path", BOOMS, ids=lambda path: path.stem)
def test_what_a_framework_had_written_stays_and_its_exception_is_not_shown(path: Path, source: str) -> None:
    recording, truth = recorded(path)
    scenario = make_scenario({"settings": {"answer_source": source}})
    result = replayed(recording, scenario).result()
    assert result["visible"].strip() == truth
    shown = json.dumps(result["thread"])
    assert "0xDEAD" not in shown and "execution failed" not in shown
    if path.stem in SAYS_COMPLETED:
        assert result["outcome"] == "answered"
    elif result["outcome"] == "failed":
        assert UNFINISHED in shown and "Reference: " in shown
    else:  # the server stores no end: the task is looked at for a day
        assert result["outcome"] == "watched"
        assert "I still check, and write here when it is done." in shown


def stream(*moments: Moment) -> Tape:
    return Tape({"wire": "0.3"}, (*moments, Moment(9.0, end="closed")))


def http(code: int, body: Any) -> Recording:
    return Recording(code, {"content-type": "application/json"}, ((0.1, json.dumps(body).encode()),), False)


ERROR = {"code": -32603, "message": f"{SECRET} at 10.0.0.1"}
BEGUN = (Moment(0.1, event=task()), Moment(0.5, event=chunk("Half of it.")))
FAILURES: dict[str, Tape | Recording] = {
    "failed state": failure(SECRET),
    "canceled state": stream(Moment(0.1, event=task()), Moment(0.5, event=status("canceled", SECRET))),
    "failed state with artifacts": stream(*BEGUN, Moment(1.0, event=status("failed", SECRET))),
    "failed task": stream(Moment(0.1, event=task("failed", text=SECRET))),
    "JSON-RPC error in the stream": stream(*BEGUN, Moment(1.0, error=ERROR)),
    "JSON-RPC error": http(200, {"jsonrpc": "2.0", "id": 1, "error": ERROR}),
    "JSON-RPC error, HTTP 400": http(400, {"error": ERROR}),
    "HTTP error body": http(400, {"error": SECRET}),
    "own heading": failure(f"## Boom\n\n{SECRET}"),
}


def reader_sees(bot: BotHarness, root: str) -> str:
    return str([(seen.text, seen.blocks) for seen in bot.thread(root) if seen.is_bot])


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("shows", [False, True])
@on_virtual_time
async def test_an_agents_own_words_are_shown_only_if_it_is_set_so(name: str, shows: bool) -> None:
    tape: Any = FAILURES[name]
    async with run_bot(tape, error_text="show" if shows else "hide") as bot:
        root = await bot.ask("hi")
        await bot.idle()
        seen = reader_sees(bot, root)
        assert (SECRET in seen) is shows
        (ended,) = [fact for fact in bot.facts if isinstance(fact, TurnEnded)]
        assert ended.outcome in ("failed", "refused")
        assert f"Reference: {reference_of(ended.turn)}." in seen
        assert "retry" in seen
        if tape in (FAILURES["failed state with artifacts"], FAILURES["JSON-RPC error in the stream"]):
            assert "Half of it." in bot.read(root)[0]
            assert UNFINISHED in seen


CLASSES = {
    "failed state": "failed (task failed)",
    "canceled state": "failed (task canceled)",
    "JSON-RPC error": "failed (the agent answered with error -32603)",
    "HTTP error body": "refused (the agent's server refused with HTTP 400)",
    "HTTP 500": "failed (the agent's server answered with HTTP 500)",
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_warning_says_what_kind_of_failure_it_was(name: str, caplog: pytest.LogCaptureFixture) -> None:
    @on_virtual_time
    async def story() -> None:
        tape: Any = {**FAILURES, "HTTP 500": http(500, {"error": SECRET})}[name]
        async with run_bot(tape, observer=LogObserver()) as bot:
            await bot.ask("hi")
            await bot.idle()

    caplog.set_level(logging.WARNING, "slack_bot.turns")
    story()
    (line,) = [record.getMessage() for record in caplog.records if record.name == "slack_bot.turns"]
    assert line.startswith(f"turn ends: {CLASSES[name]}; what the agent says of it: ")


@on_virtual_time
async def test_the_agents_own_words_are_kept_with_the_turn_and_without_secrets() -> None:
    token = FAKES[0].text
    async with run_bot(failure(f"{SECRET} {token}")) as bot:
        await bot.ask("hi")
        await bot.idle()
        (ended,) = [fact for fact in bot.facts if isinstance(fact, TurnEnded)]
        kept = await bot.store.turn(ended.turn)
        assert kept is not None and kept.reason == "task failed"
        assert kept.said.startswith(SECRET) and token not in kept.said


@on_virtual_time
async def test_why_a_task_was_rejected_is_for_the_reader() -> None:
    tape = stream(Moment(0.1, event=task()), Moment(0.5, event=status("rejected", "Only for admins.")))
    async with run_bot(tape) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert "The agent declined this. It says: Only for admins. Reference: " in reader_sees(bot, root)


@pytest.mark.parametrize("name", FAILURES)
def test_the_reference_finds_the_turn_in_the_log_and_only_a_debug_log_has_the_words(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    @on_virtual_time
    async def story() -> None:
        tape: Any = FAILURES[name]
        async with run_bot(tape, observer=LogObserver()) as bot:
            root = await bot.ask("hi")
            await bot.idle()
            sights.append(reader_sees(bot, root))

    sights: list[str] = []
    caplog.set_level(logging.DEBUG, "slack_bot")
    story()
    reference = sights[0].partition("Reference: ")[2][:8]
    lines = {level: "" for level in ("INFO", "DEBUG")}
    for record in caplog.records:
        level = "DEBUG" if record.levelno == logging.DEBUG else "INFO"
        lines[level] += LogLines("text").format(record) + "\n"
    found = [line for line in lines["INFO"].splitlines() if f" ref={reference}" in line]
    (end,) = [line for line in found if " WARNING slack_bot.turns: turn ends: " in line]
    assert f"; what the agent says of it: slack-bot store show {reference} [" in end
    assert SECRET not in lines["INFO"]
    assert SECRET in lines["DEBUG"]
