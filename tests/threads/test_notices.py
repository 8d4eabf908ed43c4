"""What the reader is told where a turn broke."""

from __future__ import annotations

import pytest

from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.slack.workspace import Change
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.record import ThreadKey

from .test_turn_run import BrokenStore


@on_virtual_time
async def test_after_a_turn_that_broke_the_reader_gets_a_notice_and_a_retry_button(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = BrokenStore("conversations")
    async with run_bot(answer("Better."), store=store) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        (seen,) = [seen for seen in bot.thread(root) if seen.is_bot]
        assert "Something went wrong on my side" in seen.read
        assert bot.outcomes == ["failed"]
        assert [
            record.exc_info is not None for record in caplog.records if "turn broke" in record.message
        ] == [True]

        store.broken = ()
        bot.workspace.press("U1", CHANNEL, seen.ts, "retry", now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert bot.read(root)[-1] == "Better."


@on_virtual_time
async def test_a_broken_turn_without_a_notice_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    faults = {method: ["invalid_auth"] for method in ("chat.startStream", "chat.postMessage")}
    async with run_bot(store=BrokenStore("conversations"), faults=faults) as bot:
        await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["failed"]
        assert "the reader got no notice" in caplog.text


@on_virtual_time
async def test_an_ephemeral_message_reaches_one_person() -> None:
    async with run_bot() as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await bot.app.threads.notices.reply(ThreadKey("T1", CHANNEL, root), "U2", "psst")
        assert bot.ephemeral(root) == [("U2", "psst")]


@pytest.mark.parametrize(("audience", "others_see"), [("asker", False), ("everyone", True)])
@on_virtual_time
async def test_an_answer_grows_for_those_whom_the_channel_lets_see_it(
    audience: str, *, others_see: bool
) -> None:
    text = "\n".join(f"Line {number} of the answer." for number in range(40))
    async with run_bot(answer(text, seconds=40), audience=audience) as bot:
        seen: dict[str, None] = {}

        def look(change: Change) -> None:
            if change.kind == "thread":
                shown = bot.workspace.thread(change.channel, change.thread_ts, viewer="U2")
                seen.update((each.text, None) for each in shown if each.is_bot and each.text)

        bot.workspace.listen(look)
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root) == [text]
        assert list(seen)[-1] == text
        assert (len(seen) > 4) == others_see
        assert bool(bot.calls("chat.startStream")) != others_see


@on_virtual_time
async def test_in_a_direct_message_an_answer_is_streamed_whoever_may_see_it() -> None:
    async with run_bot(audience="everyone") as bot:
        await bot.say("hi", channel=bot.workspace.direct("U1"))
        await bot.idle()
        assert bot.calls("chat.startStream")
