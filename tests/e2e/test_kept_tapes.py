"""What the playground keeps of a turn, replayed: the same thread, wherever the stream was cut."""

from __future__ import annotations

import httpx
import pytest

from slack_bot.observe.facts import TurnStarted
from slack_bot.playground.recorder import Recorder, ReplayRouter
from slack_bot.testing import virtual_clock
from slack_bot.testing.harness import run_bot
from slack_bot.testing.tape.builders import answer, failure, on_wire, question
from slack_bot.testing.tape.tape import Tape, read_tape, write_tape
from slack_bot.tools.replay.replay import replayed
from slack_bot.turn.record import message_id_of

ANSWER = answer("One line of it.\nAnother line, longer than the first.\nThe last one.", seconds=6.0)


async def kept(tape: Tape, cut: int | None) -> tuple[list[tuple[str, str]], Tape]:
    """What the bot wrote (text and state of each message), and the tape that was kept of it."""
    boards = list[ReplayRouter]()

    def through(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        boards.append(ReplayRouter(inner, Recorder(virtual_clock.new_clock().monotonic)))
        boards[0].cut_after = cut
        return boards[0]

    async with run_bot(tape, through=through) as bot:
        root = await bot.ask("why?")
        await bot.idle()
        turn = next(fact.turn for fact in bot.facts if isinstance(fact, TurnStarted))
        thread = [(seen.text, seen.state) for seen in bot.thread(root) if seen.is_bot]
    found = boards[0].recorder.tape(message_id_of(turn), {"question": "why?"})
    assert found is not None
    return thread, found


def again(tape: Tape) -> list[tuple[str, str]]:
    """The thread of a tape that went through a file."""
    read = read_tape(write_tape(tape), "kept")
    assert isinstance(read, Tape)
    return [(message.text, message.state) for message in replayed(read).thread]


@pytest.mark.parametrize("wire", ["0.3", "1.0"])
@pytest.mark.parametrize("cut", [None, 1, 2, 5, 9, 13])
def test_an_answer(wire: str, cut: int | None) -> None:
    thread, tape = virtual_clock.run(kept(on_wire(ANSWER, wire), cut))
    assert again(tape) == thread
    assert tape.head["wire"] == wire
    assert ("cut" in [moment.end for moment in tape.moments]) == (cut is not None)
    assert "".join(text for text, state in thread if state != "posted").split() == [
        word
        for line in ("One line of it.", "Another line, longer than the first.", "The last one.")
        for word in line.split()
    ]


@pytest.mark.parametrize("wire", ["0.3", "1.0"])
@pytest.mark.parametrize("tape", [failure("It broke."), question("Which one?")], ids=["failure", "question"])
@pytest.mark.parametrize("cut", [None, 1])
def test_other_ends(wire: str, tape: Tape, cut: int | None) -> None:
    thread, found = virtual_clock.run(kept(on_wire(tape, wire), cut))
    assert again(found) == thread
    assert thread
