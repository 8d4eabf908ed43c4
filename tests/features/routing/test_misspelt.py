"""A word before a colon that is nearly an agent's name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.features.routing.misspelt import near_name
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.features.routing.town import town

NAMES = ["tickets", "research", "ops", "travel", "notes"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tikets: mine", ("tikets", "tickets")),
        (" Ticket : mine", ("Ticket", "tickets")),
        ("ticktes: mine", ("ticktes", "tickets")),
        ("reserch: papers", ("reserch", "research")),
        ("tickets: mine", None),
        ("tikets:", None),
        ("tikets mine", None),
        ("tikets://mine", None),
        ("my tikets: mine", None),
        ("search: papers", None),
        ("note: this", None),
        ("trip: to Lisbon", None),
        ("oops: that", None),
        ("op: that", None),
        ("TypeError: no", None),
        ("<@U1>: no", None),
        ("", None),
    ],
)
def test_which_word_is_near(text: str, found: tuple[str, str] | None) -> None:
    assert near_name(text, NAMES) == found


@given(st.text(), st.lists(st.text(max_size=12), max_size=4))
def test_no_text_breaks_it_and_a_name_is_never_hinted_at(text: str, names: list[str]) -> None:
    found = near_name(text, names)
    assert found is None or (found[1] in names and found[0] not in names and found[0] in text)


@on_virtual_time
async def test_the_asker_alone_reads_it_once_and_the_question_is_answered_as_before(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        bot = there.bot
        root = await bot.ask("reserch: papers")
        await bot.idle()
        assert there.asked("default") == ["reserch: papers"] and bot.read(root) == ["D."]
        (call,) = bot.calls("chat.postEphemeral")
        assert (call["user"], call["text"]) == (
            "U1",
            "There is no agent named reserch, so default answers. Did you mean research?"
            " Then write to me in a new message: `research: your question`.",
        )


@pytest.mark.parametrize("text", ["note: papers", "research: papers", "papers", "question: what is it?"])
@on_virtual_time
async def test_ordinary_words_get_no_hint(tmp_path: Path, text: str) -> None:
    async with town(tmp_path) as there:
        await there.bot.ask(text)
        await there.bot.idle()
        assert there.bot.calls("chat.postEphemeral") == []
