"""What the second edition posted works after the update: its buttons, its forms, its threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from slack_bot.testing.harness import CHANNEL, BotHarness
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.form_tapes import form_in, press, sent, submit
from tests.house import second_edition
from tests.house.scenes import Stage

DONE = answer("Done.", ids="2")


@asynccontextmanager
async def updated(name: str, folder: Path) -> AsyncIterator[tuple[BotHarness, str]]:
    """This edition with what the second one left of a case, and the thread's root."""
    left, stage = second_edition.left(name), Stage(folder)
    left.restore(stage.path)
    async with stage.bot(DONE) as bot:
        last = max(float(message.ts) for message in left.messages)
        await asyncio.sleep(last + 1 - bot.now)
        for message in left.messages:
            bot.workspace.state.add(message)
        await bot.app.threads.replicas.start()
        yield bot, left.root


def asked(bot: BotHarness) -> list[str]:
    return [call.text for call in bot.agent.questions]


@on_virtual_time
async def test_try_again(tmp_path: Path) -> None:
    async with updated("a failure", tmp_path) as (bot, root):
        bot.workspace.press("U1", CHANNEL, bot.thread(root)[-1].ts, "retry", now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert asked(bot) == ["hi"]
        assert bot.read(root)[-1] == "Done."


@on_virtual_time
async def test_feedback(tmp_path: Path) -> None:
    async with updated("an answer", tmp_path) as (bot, root):
        ts = bot.thread(root)[-1].ts
        bot.workspace.press("U1", CHANNEL, ts, "feedback", now=bot.now, value="negative")
        await bot.deliver()
        bot.workspace.submit("U1", now=bot.now)
        await bot.deliver()
        await bot.idle()
        (row,) = [row for row in Stage(tmp_path).rows() if row.startswith('records ["feedback"')]
        assert "negative" in row


@on_virtual_time
async def test_stop_listening(tmp_path: Path) -> None:
    async with updated("a followed thread", tmp_path) as (bot, root):
        (offer,) = [seen for seen in bot.thread(root) if seen.ephemeral_for]
        bot.workspace.press("U1", CHANNEL, offer.ts, "stop_listening", now=bot.now)
        await bot.deliver()
        await bot.say("and now?", thread_ts=root)
        await bot.idle()
        assert asked(bot) == []


@on_virtual_time
async def test_a_thread_is_followed_with_its_context(tmp_path: Path) -> None:
    async with updated("an answer", tmp_path) as (bot, root):
        await bot.say("and now?", thread_ts=root)
        await bot.idle()
        assert asked(bot) == ["and now?"]
        assert sent(bot)["contextId"] == "ctx-1"


@on_virtual_time
async def test_a_choice(tmp_path: Path) -> None:
    async with updated("a choice", tmp_path) as (bot, root):
        await press(bot, root, "form_choose-1")
        await bot.idle()
        assert {"kind": "data", "data": {"env": "prod"}} in sent(bot)["parts"]
        assert sent(bot)["taskId"] == "task-1"


@on_virtual_time
async def test_inputs_in_a_message(tmp_path: Path) -> None:
    async with updated("inputs", tmp_path) as (bot, root):
        ts = form_in(bot, root).ts
        for label, value in (("Name", "Ann"), ("Where", "dev")):
            bot.workspace.fill("U1", CHANNEL, ts, label, value, now=bot.now)
        await press(bot, root, "form_send")
        await bot.idle()
        assert {"kind": "data", "data": {"name": "Ann", "env": "dev"}} in sent(bot)["parts"]


@pytest.mark.parametrize(
    ("name", "given"), [("a form", {"Your_name": "Ann", "Where": "prod"}), ("a secret", {"Token": "a-word"})]
)
@on_virtual_time
async def test_a_form_in_a_modal(tmp_path: Path, name: str, given: dict[str, str]) -> None:
    async with updated(name, tmp_path) as (bot, root):
        await press(bot, root, "form_fill")
        await submit(bot, **given)
        await bot.idle()
        assert bot.outcomes == ["answered"]
        assert set(given.values()) <= set(sent(bot)["parts"][-1]["data"].values())


@on_virtual_time
async def test_an_approval(tmp_path: Path) -> None:
    async with updated("an approval", tmp_path) as (bot, root):
        await press(bot, root, "form_approve")
        await bot.idle()
        assert sent(bot)["parts"][-1]["data"] == {"resume": {"decisions": [{"type": "approve"}]}}


@on_virtual_time
async def test_a_watched_task_can_be_stopped(tmp_path: Path) -> None:
    async with updated("a watched task", tmp_path) as (bot, root):
        ts = next(seen.ts for seen in bot.thread(root) if "stop" in str(seen.blocks))
        bot.workspace.press("U1", CHANNEL, ts, "stop", now=bot.now)
        await bot.deliver()
        await asyncio.sleep(5)
        await bot.idle()
        assert bot.outcomes == ["stopped"]
