"""Where a workspace does not draw Markdown tables in streams, each comes whole, as a block at its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from slack_bot.store.knowledge import workspace_name
from slack_bot.testing.harness import BotHarness, run_bot
from slack_bot.testing.slack.rules import WorkspaceRules
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.store import subjects

TABLE = "| city | n |\n| --- | --- |\n| Oslo | 1 |\n| Rome | **2** |\n"
TEXT = f"Two cities:\n\n{TABLE}\nThat is all."
READS = TEXT.replace("**", "")
NOT_DRAWN = WorkspaceRules(draws_tables=False)


def chunks(bot: BotHarness) -> list[Mapping[str, Any]]:
    calls = [*bot.calls("chat.startStream"), *bot.calls("chat.appendStream")]
    return [chunk for call in calls for chunk in call.get("chunks", ())]


async def read(bot: BotHarness) -> str:
    """What the bot wrote of its next answer."""
    root = await bot.ask("hi")
    await bot.idle()
    return "\n".join(bot.read(root)).rstrip()


async def drawn(bot: BotHarness) -> str:
    """What is known of the workspace."""
    known = await subjects.profile(bot.store, workspace_name("T1"))
    return known["tables"].split()[0]


@on_virtual_time
async def test_a_finding_that_is_too_old_is_found_out_again() -> None:
    for days, reads, then in ((31, TEXT, "yes"), (29, READS, "no")):
        async with run_bot(answer(TEXT, seconds=5.0)) as bot:
            then_found = f"no {bot.now - days * 86_400:.0f}"
            await subjects.save_fact(bot.store, workspace_name("T1"), "tables", then_found, 0.0)
            assert (await read(bot), await drawn(bot)) == (reads, then)


@on_virtual_time
async def test_the_first_table_shows_whether_they_are_drawn_and_the_bot_remembers_it() -> None:
    async with run_bot(answer(TEXT, seconds=5.0), rules=NOT_DRAWN) as bot:
        assert await read(bot) == TEXT
        assert {chunk["type"] for chunk in chunks(bot)} == {"markdown_text"}
        assert await drawn(bot) == "no"
    async with run_bot(answer(TEXT, seconds=5.0), rules=NOT_DRAWN, store=bot.store) as bot:
        assert await read(bot) == READS
        (block,) = [chunk["blocks"] for chunk in chunks(bot) if chunk["type"] == "blocks"]
        assert [each["type"] for each in block] == ["table"]
        assert await drawn(bot) == "no", "its own block tells nothing"
    async with run_bot(answer(TEXT, seconds=5.0)) as bot:
        assert await read(bot) == TEXT
        assert await drawn(bot) == "yes"


@pytest.mark.parametrize("chosen", ["yes", "no"])
@on_virtual_time
async def test_what_the_settings_say_counts_more(chosen: str) -> None:
    async with run_bot(answer(TEXT, seconds=5.0), tables=chosen) as bot:
        await subjects.save_fact(
            bot.store,
            workspace_name("T1"),
            "tables",
            {"no": "yes", "yes": "no"}[chosen] + f" {bot.now:.0f}",
            0.0,
        )
        assert await read(bot) == (TEXT if chosen == "yes" else READS)


@pytest.mark.parametrize("text", [TEXT, TABLE.rstrip(), f"{TABLE}\nThen\n\n{TABLE}\nEnd."])
@pytest.mark.parametrize(
    "entry", ["invalid_blocks", "timeout", "timeout!", "http:502!", "cut", "ratelimited:5", "msg_too_long"]
)
@pytest.mark.parametrize("method", ["chat.startStream", "chat.appendStream"])
@on_virtual_time
async def test_nothing_is_lost_or_doubled_whatever_becomes_of_a_call(
    method: str, entry: str, text: str
) -> None:
    faults = {method: [entry, None]}
    async with run_bot(answer(text, seconds=5.0), tables="no", faults=faults) as bot:
        told = await read(bot)
    words = [word for word in told.replace("**", "").split() if word not in ("|", "---")]
    assert words == [word for word in text.replace("**", "").split() if word not in ("|", "---")]


@on_virtual_time
async def test_a_refused_block_leaves_the_text_and_no_further_one_is_tried() -> None:
    text = f"First:\n\n{TABLE}\nSecond:\n\n{TABLE}\nEnd."
    faults = {"chat.appendStream": ["invalid_blocks", None]}
    async with run_bot(answer(text, seconds=9.0), tables="no", faults=faults) as bot:
        assert await read(bot) == text
        assert sum(chunk["type"] == "blocks" for chunk in chunks(bot)) == 1


@on_virtual_time
async def test_tables_that_are_too_much_for_one_message_all_stand_there() -> None:
    """Slack takes 10,000 characters in the cells of all tables of a message."""
    row = f"| {'word ' * 50}| {{}} |\n"
    tables = [
        "| a | n |\n| --- | --- |\n" + "".join(row.format(f"t{t}r{n}") for n in range(12)) for t in range(5)
    ]
    said = "\n\nThen:\n\n".join(tables)
    async with run_bot(answer(said, seconds=20.0), tables="no") as bot:
        shown = await read(bot)
        for t in range(5):
            for n in range(12):
                assert shown.count(f"t{t}r{n} ") == 1, f"t{t}r{n}"
        assert bot.workspace.open_streams() == []
        assert [call.error for call in bot.workspace.calls if call.error] == []


@on_virtual_time
async def test_more_tables_than_a_message_has_room_for_blocks_all_stand_there() -> None:
    """Slack drops what is beyond 50 blocks in the chunks of a message, and says nothing of it."""
    said = "\n".join(f"| a | n |\n| - | - |\n| t{t} | {t} |\n" for t in range(60))
    async with run_bot(answer(said, seconds=20.0), tables="no") as bot:
        shown = await read(bot)
        assert [t for t in range(60) if shown.count(f"| t{t} |") != 1] == []
        assert sum(chunk["type"] == "blocks" for chunk in chunks(bot)) == 50
