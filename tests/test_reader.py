"""The reading side: cut and ended are told apart, the question is sent once, a stop is truthful."""

from __future__ import annotations

import asyncio

import pytest

from slack_bot.reader import Control
from slack_bot.tools.tape import Moment, Recording, Tape

from .whole_bot import Bot, answer, chunk, failure, on_virtual_time, question, status, task, whole_bot


def asked(bot: Bot) -> list[str]:
    return [call.method for call in bot.agent.calls]


def cut(tape: Tape, after: int) -> Tape:
    """The same, with the connection cut behind so many events and the work going on."""
    kept = tape.moments[:after]
    return Tape(tape.head, (*kept, Moment(kept[-1].t + 0.01, end="cut"), *()))


async def test_the_first_to_stop_a_turn_counts() -> None:
    control = Control()
    assert control.stopped_by is None
    control.stop("U1")
    control.stop("U2")
    await control.wait()
    assert control.stopped_by == "U1"


@on_virtual_time
async def test_a_cut_stream_is_asked_about_and_the_question_is_sent_once() -> None:
    tape = answer("one two three four five", seconds=5)
    async with whole_bot(tape, cut_after=3) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root) == ["one two three four five"]
        assert bot.ends == ["answered"]
        assert asked(bot).count("message/stream") == 1
        assert "tasks/get" in asked(bot)


@on_virtual_time
async def test_a_task_nobody_knows_any_more_is_told_and_what_was_written_stays() -> None:
    tape = answer("one two three four five six seven eight", seconds=8)
    async with whole_bot(cut(tape, 6), poll_for=20) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.ends == ["lost"]
        text = bot.read(root)[0]
        assert text.strip()
        assert "one two three four five six seven eight".startswith(text.strip())
        assert "What was written stays" in str(bot.thread(root)[-1].blocks)


@on_virtual_time
async def test_a_stream_that_closes_without_an_end_is_not_a_success() -> None:
    tape = Tape(
        {"wire": "0.3"},
        (Moment(0.1, event=task()), Moment(0.2, event=chunk("half ")), Moment(0.3, end="closed")),
    )
    async with whole_bot(tape, poll_for=10) as bot:
        await bot.ask("hi")
        await bot.idle()
        assert bot.ends == ["lost"]
        assert asked(bot).count("tasks/get") > 1


@on_virtual_time
async def test_an_agent_that_sends_nothing_at_all_is_told() -> None:
    async with whole_bot(Tape({"wire": "0.3"}, (Moment(0.1, end="closed"),))) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.ends == ["lost"]
        assert "closed the connection" in str(bot.thread(root)[-1].blocks)


@on_virtual_time
async def test_pings_do_not_keep_a_dead_stream_alive() -> None:
    pings = tuple(Moment(float(n), comment="ping") for n in range(1, 400))
    tape = Tape({"wire": "0.3"}, (Moment(0.1, event=task()), *pings))
    async with whole_bot(tape, idle_timeout=30, poll_for=10) as bot:
        began = bot.now
        await bot.ask("hi")
        await bot.idle()
        assert bot.ends == ["lost"]
        assert bot.now - began < 60


@on_virtual_time
async def test_the_time_of_a_turn_is_up_one_day() -> None:
    ticks = [Moment(10.0 * n, event=chunk(f"tick{n} ")) for n in range(1, 100)]
    tape = Tape({"wire": "0.3"}, (Moment(0.1, event=task()), *ticks))
    async with whole_bot(tape, turn_timeout=200) as bot:
        began = bot.now
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.ends == ["lost"]
        assert bot.now - began < 230
        assert "took too long" in str(bot.thread(root)[-1].blocks)


@on_virtual_time
async def test_a_trailing_snapshot_is_waited_for_but_not_for_ever() -> None:
    never_closes = Tape(
        {"wire": "0.3"},
        (
            Moment(0.1, event=task()),
            Moment(0.2, event=chunk("All.")),
            Moment(0.3, event=status("completed")),
            Moment(900.0, end="closed"),
        ),
    )
    async with whole_bot(never_closes) as bot:
        began = bot.now
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root) == ["All."]
        assert bot.now - began < 5


@on_virtual_time
async def test_an_agent_that_asks_and_never_closes_is_left_after_the_grace() -> None:
    asks = Tape({"wire": "0.3"}, (*question("Which one?").moments[:-1], Moment(900.0, end="closed")))
    async with whole_bot(asks) as bot:
        began = bot.now
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.ends == ["asked"]
        assert "Which one?" in bot.read(root)[0]
        assert bot.now - began < 5


@on_virtual_time
async def test_a_failed_task_is_told_with_a_way_to_try_again() -> None:
    async with whole_bot(failure("the model is out")) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.ends == ["failed"]
        blocks = str(bot.thread(root)[-1].blocks)
        assert "the model is out" in blocks
        assert "retry" in blocks


@on_virtual_time
@pytest.mark.parametrize(
    ("status_code", "body", "outcome"),
    [
        (503, b"<html>busy</html>", "refused"),
        (200, b"<html>sign in</html>", "failed"),
        (
            200,
            b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "boom at 10.0.0.1"}}',
            "failed",
        ),
    ],
)
async def test_what_a_server_writes_into_its_errors_is_not_shown(
    status_code: int, body: bytes, outcome: str
) -> None:
    kind = "application/json" if body[:1] == b"{" else "text/html"
    recording = Recording(status_code, {"content-type": kind}, ((0.1, body),), False)
    async with whole_bot(recording) as bot:  # type: ignore[arg-type]  # the agent plays recordings too
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.ends == [outcome]
        shown = str([(seen.text, seen.blocks) for seen in bot.thread(root)])
        assert "10.0.0.1" not in shown
        assert "html" not in shown
        assert "retry" in shown


@on_virtual_time
async def test_a_stop_before_there_is_a_task_is_carried_out_when_there_is_one() -> None:
    late = Tape(
        {"wire": "0.3"},
        (Moment(5.0, event=task()), Moment(30.0, event=chunk("never shown")), Moment(31.0, end="closed")),
    )
    async with whole_bot(late) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(1)
        stop(bot)
        await bot.idle()
        assert bot.ends == ["stopped"]
        assert asked(bot) == ["message/stream", "tasks/cancel"]
        assert "never shown" not in str(bot.thread(root))


@on_virtual_time
async def test_a_stop_that_comes_too_late_says_so() -> None:
    tape = answer("quick", seconds=1)
    slow_to_close = Tape(tape.head, (*tape.moments[:-1], Moment(60.0, end="closed")))
    async with whole_bot(slow_to_close, terminal_grace=30) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(5)
        stop(bot)
        await bot.idle()
        assert bot.ends == ["stopped"]
        assert "already finished" in str(bot.thread(root)[-1].blocks)


def stop(bot: Bot) -> None:
    for running in bot.app.desk._running.values():
        running.control.stop("U1")
