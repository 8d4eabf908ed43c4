"""Feedback, from the buttons to the store: the modal that asks why, and the other answer."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from slack_bot.errors import StoreError
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.workspace import Envelope
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.feedback import FeedbackRecord
from tests.store import subjects

THANKS = "Thanks for your feedback."
WHY = {"type": "modal", "id": "V9", "callback_id": "feedback_why"}


async def ask(bot: BotHarness) -> str:
    root = await bot.ask("what is this?")
    await bot.idle()
    return root


async def press(bot: BotHarness, root: str, side: str, user: str = "U1") -> None:
    seen = next(seen for seen in bot.thread(root) if seen.is_bot and not seen.ephemeral_for)
    bot.workspace.press(user, CHANNEL, seen.ts, "feedback", now=bot.now, value=side)
    assert await bot.deliver() == [200]
    await bot.idle()


async def submit(bot: BotHarness, user: str = "U1", **given: Any) -> None:
    for label, value in given.items():
        bot.workspace.fill_modal(user, label, value, now=bot.now)
    bot.workspace.submit(user, now=bot.now)
    await bot.deliver()
    await bot.idle()


async def said(bot: BotHarness, root: str, user: str = "U1") -> FeedbackRecord | None:
    return await subjects.change_feedback(bot.store, f"T1:{CHANNEL}:{root}", user, lambda _: None)


@on_virtual_time
async def test_who_finds_it_helpful_is_thanked() -> None:
    async with run_bot() as bot:
        root = await ask(bot)
        for _ in range(2):
            await press(bot, root, "positive", "U2")
        kept = await said(bot, root, "U2")
        assert kept is not None
        assert (kept.value, kept.task_id, kept.context_id) == ("positive", "task-1", "ctx-1")
        assert (kept.due, kept.unsent) == (None, ())
        assert bot.ephemeral(root) == [("U2", THANKS)]
        assert bot.workspace.modal("U2") is None


@on_virtual_time
async def test_a_posted_answer_has_the_buttons_too() -> None:
    refused = {"chat.startStream": ["method_not_supported_for_channel_type"]}
    async with run_bot(faults=refused) as bot:
        root = await ask(bot)
        await press(bot, root, "positive")
        assert await said(bot, root) is not None


@on_virtual_time
async def test_who_does_not_is_asked_why() -> None:
    async with run_bot() as bot:
        root = await ask(bot)
        await press(bot, root, "negative", "U2")
        kept = await said(bot, root, "U2")
        assert kept is not None
        assert (kept.value, kept.reasons, kept.words) == ("negative", (), "")
        view = bot.workspace.modal("U2")
        assert view is not None
        assert [block["block_id"] for block in view["blocks"]] == ["reasons", "words"]  # not the asker
        await submit(bot, "U2", reasons=["Wrong", "Too long"], words=" no\n")
        kept = await said(bot, root, "U2")
        assert kept is not None
        assert (kept.reasons, kept.words, kept.task_id) == (("Wrong", "Too long"), "no", "task-1")
        assert bot.ephemeral(root) == [("U2", THANKS)]
        assert len(bot.agent.questions) == 1


@on_virtual_time
async def test_the_asker_gets_another_answer_in_the_same_context_once() -> None:
    async with run_bot(answer("A long answer."), answer("Short.")) as bot:
        root = await ask(bot)
        for _ in range(2):
            await press(bot, root, "negative")
            await submit(bot, again="Shorter")
        assert bot.read(root) == ["A long answer.", "Short."]
        first, second = (call.params["message"] for call in bot.agent.questions)
        assert second["contextId"] == "ctx-1"
        assert second["messageId"] != first["messageId"]
        assert bot.agent.questions[1].text == (
            "what is this?\n\nPlease answer this again, shorter: only what matters most."
        )
        assert [words for _, words in bot.ephemeral(root)] == [
            f"{THANKS} The other answer comes in this thread.",
            f"{THANKS} Another answer was asked for already.",
        ]
        assert await said(bot, root) is not None


@on_virtual_time
async def test_another_answer_counts_as_a_question_of_the_hour() -> None:
    async with run_bot(hourly_person=1) as bot:
        root = await ask(bot)
        await press(bot, root, "negative")
        await submit(bot, again="With more detail", words="thin")
        kept = await said(bot, root)
        assert kept is not None
        assert (kept.words, len(bot.agent.questions)) == ("thin", 1)
        ((_, words),) = bot.ephemeral(root)
        assert not words.startswith(THANKS)


@on_virtual_time
async def test_only_the_asker_gets_another_answer_however_it_is_asked_for() -> None:
    async with run_bot() as bot:
        root = await ask(bot)
        await press(bot, root, "negative", "U2")
        view = bot.workspace.modal("U2")
        assert view is not None
        forged = {"again": {"again": {"selected_option": {"value": "shorter"}}}}
        bot.workspace.submit_view("U2", view["id"], forged, now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert len(bot.agent.questions) == 1
        assert "Only the person who asked" in bot.ephemeral(root)[0][1]


@on_virtual_time
async def test_where_no_modal_opens_the_press_counts_all_the_same() -> None:
    async with run_bot(faults={"views.open": ["expired_trigger_id"]}) as bot:
        root = await ask(bot)
        await press(bot, root, "negative")
        assert await said(bot, root) is not None
        assert bot.ephemeral(root) == [("U1", THANKS)]


@on_virtual_time
async def test_another_value_replaces_the_first_with_its_words() -> None:
    async with run_bot() as bot:
        root = await ask(bot)
        await press(bot, root, "negative")
        await submit(bot, words="no")
        await press(bot, root, "positive")
        kept = await said(bot, root)
        assert kept is not None
        assert (kept.value, kept.words) == ("positive", "")


@pytest.mark.parametrize("when", ["press", "submit"])
@on_virtual_time
async def test_feedback_that_cannot_be_stored_gets_a_notice(when: str) -> None:
    store = MemoryStore()

    async def full(*_: object) -> None:
        raise StoreError("The disk is full.")

    async with run_bot(store=store) as bot:
        root = await ask(bot)
        if when == "submit":
            await press(bot, root, "negative")
        store.change = full  # type: ignore[method-assign,assignment]
        if when == "submit":
            await submit(bot, words="no")
        else:
            await press(bot, root, "negative")
        notices = [text for _, text in bot.ephemeral(root)]
        assert "could not be stored" in str(bot.workspace.modal("U1") if when == "submit" else notices)


@on_virtual_time
async def test_who_explains_while_the_store_is_away_reads_that_in_the_modal() -> None:
    store = MemoryStore()

    async def away(*_: object) -> None:
        raise StoreError("It does not answer.")

    async with run_bot(store=store) as bot:
        root = await ask(bot)
        await press(bot, root, "negative")
        store.turn = away  # type: ignore[method-assign]
        await submit(bot, words="no")
        assert "could not be stored" in str(bot.workspace.modal("U1"))


@on_virtual_time
async def test_who_cannot_be_asked_why_is_thanked(caplog: pytest.LogCaptureFixture) -> None:
    store, looks = MemoryStore(), count()

    async def away(key: str) -> object:
        if next(looks) >= 2:  # the press itself looks the turn up twice
            raise StoreError("It does not answer.")
        return await MemoryStore.turn(store, key)

    async with run_bot(store=store) as bot:
        root = await ask(bot)
        store.turn = away  # type: ignore[assignment,method-assign]
        await press(bot, root, "negative")
        assert bot.ephemeral(root) == [("U1", THANKS)]
    assert "nobody was asked why: It does not answer." in caplog.text


@pytest.mark.parametrize(
    "payload",
    [
        {
            "type": "block_actions",
            "actions": [{"action_id": "feedback", "block_id": "b", "value": "sideways|t"}],
        },
        {"type": "view_submission", "view": {**WHY, "private_metadata": "T1:C1:9.9"}},
        {
            "type": "view_submission",
            "view": {
                "type": "modal",
                "id": "V9",
                "callback_id": "feedback_why",
                "private_metadata": "T1:C1:9.9",
            },
        },
    ],
)
@on_virtual_time
async def test_what_has_an_unknown_shape_is_acknowledged_and_dropped(payload: dict[str, Any]) -> None:
    async with run_bot() as bot:
        payload |= {"user": {"id": "U1"}, "team": {"id": "T1"}}
        assert await bot.deliver([Envelope("e1", "interactive", payload)]) == [200]
        await bot.idle()
        assert bot.calls("chat.postEphemeral") == []


@pytest.mark.parametrize(
    ("turn", "channel"),
    [
        ("T1:{channel}:{now}", CHANNEL),  # it never was
        ("T9:{channel}:{root}", CHANNEL),  # of another team
        ("T1:C9:{root}", CHANNEL),  # in another channel
        ("T1:{channel}:{root}", "C9"),
        ("x", CHANNEL),
    ],
)
@on_virtual_time
async def test_feedback_for_a_turn_that_never_was_is_not_kept(turn: str, channel: str) -> None:
    async with run_bot() as bot:
        root = await ask(bot)
        key = turn.format(channel=CHANNEL, now=f"{bot.now:.6f}", root=root)
        action = {"action_id": "feedback", "value": f"negative|{key}"}
        pressed = {
            "type": "block_actions",
            "user": {"id": "U1"},
            "team": {"id": "T1"},
            "channel": {"id": channel},
            "message": {"ts": root},
            "trigger_id": "1.1",
            "actions": [action],
        }
        assert await bot.deliver([Envelope("e1", "interactive", pressed)]) == [200]
        await bot.idle()
        assert await subjects.change_feedback(bot.store, key, "U1", lambda _: None) is None
        assert bot.calls("views.open") == []
