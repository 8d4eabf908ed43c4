"""Tapes of simple answers: what a reader sees of them, on both wires."""

from __future__ import annotations

import pytest

from slack_bot.testing.harness import run_bot
from slack_bot.testing.tape.builders import answer, chunk, failure, on_wire, question, status, task
from slack_bot.testing.tape.tape import Tape
from slack_bot.testing.virtual_clock import on_virtual_time


@pytest.mark.parametrize("wire", ["0.3", "1.0"])
@pytest.mark.parametrize(
    ("tape", "outcome", "said"),
    [
        (answer("Two words."), "answered", "Two words."),
        (question("Which one?"), "asked", "Which one?"),
        (failure("No disk."), "failed", "No disk."),
    ],
)
@on_virtual_time
async def test_a_tape_is_understood_on_both_wires(wire: str, tape: Tape, outcome: str, said: str) -> None:
    async with run_bot(on_wire(tape, wire), error_text="show") as bot:
        assert bot.agent.wire == wire
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == [outcome]
        assert said in "".join(message.read for message in bot.thread(root))


def test_an_answer_takes_as_long_as_it_is_told_to() -> None:
    times = [moment.t for moment in answer("one two three four", seconds=8.0).moments]
    assert times == [0.1, 0.2, 2.2, 4.2, 6.2, 8.3, 8.4]


def test_the_events_of_one_answer_have_the_same_ids() -> None:
    events = [task(ids="7"), status("working", ids="7"), chunk("x", ids="7")]
    assert {event.get("taskId", event.get("id")) for event in events} == {"task-7"}
    assert {event["contextId"] for event in events} == {"ctx-7"}
    assert [status(state)["final"] for state in ("submitted", "working", "completed")] == [False, False, True]
