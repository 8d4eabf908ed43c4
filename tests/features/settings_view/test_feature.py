"""Operators see on their Home tab which settings count in a channel; other people do not."""

from __future__ import annotations

from pathlib import Path

from slack_bot.testing.harness import BotHarness, run_bot
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.features.home.test_listeners import open_home

FILE = """
[channel]
context = "asker"
[channels.C1]
respond = "thread"
people = ["U1", "U2"]
"""
TITLE = "Settings of channels"


def operators(folder: Path, *ids: str) -> dict[str, object]:
    (file := folder / "slack_bot.toml").write_text(FILE, encoding="utf-8")
    return {"config": str(file), "slack.operators": ids}


async def choose(bot: BotHarness, label: str, user: str = "U1") -> str:
    """The words of the modal that opens."""
    bot.workspace.fill_in_home(user, "settings_of", label, now=bot.now)
    await bot.deliver()
    view = bot.workspace.modal(user)
    if view is None:
        return ""
    (block,) = view["blocks"]
    lines = ["".join(part["text"] for part in line["elements"]) for line in block["elements"][0]["elements"]]
    return "\n".join([view["title"]["text"], *lines])


@on_virtual_time
async def test_an_operator_looks_at_a_channel(tmp_path: Path) -> None:
    async with run_bot(**operators(tmp_path, "U1")) as bot:
        await open_home(bot)
        words = bot.workspace.home("U1")
        assert TITLE in words
        read = await choose(bot, "#c1 (C1)")
        assert read.splitlines()[0] == "C1"
        assert "respond = thread ([channels.C1])" in read
        assert "context = asker ([channel])" in read
        assert "people = U1, U2 ([channels.C1])" in read
        assert "busy = queue (default)" in read
        assert "personal = no (default)" in read


@on_virtual_time
async def test_direct_messages_and_all_other_channels_have_a_row(tmp_path: Path) -> None:
    async with run_bot(**operators(tmp_path, "U1")) as bot:
        await open_home(bot)
        assert "respond = auto (default)" in await choose(bot, "Every other channel")
        bot.workspace.close_modal("U1")
        assert (await choose(bot, "Direct messages")).splitlines()[0] == "Direct messages"


@on_virtual_time
async def test_a_group_of_operators_is_asked_of_slack(tmp_path: Path) -> None:
    async with run_bot(**operators(tmp_path, "S1")) as bot:
        bot.workspace.add_group("S1", "U2")
        await open_home(bot, "U2")
        assert TITLE in bot.workspace.home("U2")
        await open_home(bot)
        assert TITLE not in bot.workspace.home("U1")


@on_virtual_time
async def test_who_is_no_operator_any_more_gets_nothing(tmp_path: Path) -> None:
    async with run_bot(**operators(tmp_path, "U1")) as bot:
        await open_home(bot)
        view = bot.workspace.state.views["home-U1"]
        bot.workspace.state.views["home-U2"] = {**view, "id": "home-U2"}
        assert await choose(bot, "Every other channel", "U2") == ""


@on_virtual_time
async def test_without_operators_nothing_of_it_is_there() -> None:
    async with run_bot() as bot:
        await open_home(bot)
        assert TITLE not in bot.workspace.home("U1")
        assert bot.app.features["settings_view"].buttons == ()
