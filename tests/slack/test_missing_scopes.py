"""A scope that the app lacks: asked for once, and remembered."""

from __future__ import annotations

import logging

import pytest

from slack_bot.slack.missing_scopes import MissingScopes
from slack_bot.testing.harness import BotHarness, run_bot
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time

REPLIES = "conversations.replies"
IN_DOUBT = {"chat.appendStream": [None, "timeout", None], "chat.stopStream": ["timeout!", None]}
TEXT = "One two three four. " * 8


async def ask_in_doubt(bot: BotHarness) -> str:
    """Ask a question whose answer has a call without an answer, so that the thread is to be read back."""
    for method, entries in IN_DOUBT.items():
        bot.workspace.faults.set(method, entries)
    root = await bot.ask("hi")
    await bot.idle()
    return root


@on_virtual_time
async def test_a_thread_that_may_not_be_read_is_asked_for_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "slack_bot.slack.api")
    faults = {REPLIES: ["missing_scope"]}
    async with run_bot(*(answer(TEXT, seconds=6.0) for _ in range(2)), faults=faults) as bot:
        for _ in range(2):
            root = await ask_in_doubt(bot)
            assert "".join(bot.read(root)).split() == TEXT.split()
        assert len(bot.calls(REPLIES)) == 1
    (said,) = [each.getMessage() for each in caplog.records if "scope" in each.getMessage()]
    assert said.startswith("conversations.replies is refused because the Slack app lacks the scope")
    assert "install the app again" in said


@pytest.mark.parametrize("error", ["not_in_channel", "invalid_auth", "error:some_new_refusal"])
@on_virtual_time
async def test_any_refusal_to_show_the_thread_ends_the_looking(error: str) -> None:
    async with run_bot(answer(TEXT, seconds=6.0), faults={REPLIES: [error]}) as bot:
        root = await ask_in_doubt(bot)
        assert "".join(bot.read(root)).split() == TEXT.split()
        assert len(bot.calls(REPLIES)) == 1


@pytest.mark.parametrize("start", ["timeout", "timeout!"])
@on_virtual_time
async def test_a_start_without_an_answer_is_known_by_its_event_alone(start: str) -> None:
    faults = {REPLIES: ["missing_scope"], "chat.startStream": [start, None]}
    async with run_bot(answer(TEXT, seconds=6.0), faults=faults) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert "".join(bot.read(root)).split() == TEXT.split()
        assert len(bot.calls(REPLIES)) <= 1


@on_virtual_time
async def test_what_is_not_refused_for_good_is_asked_again() -> None:
    faults = {REPLIES: ["timeout", "internal_error", None]}
    async with run_bot(answer(TEXT, seconds=6.0), faults=faults) as bot:
        root = await ask_in_doubt(bot)
        assert "".join(bot.read(root)).split() == TEXT.split()
        assert len(bot.calls(REPLIES)) == 3


def test_a_conversation_is_remembered_by_itself_and_other_methods_altogether() -> None:
    scopes = MissingScopes()
    scopes.note(REPLIES, "C1")
    scopes.note("reactions.add", "C1")
    assert scopes.refuses(REPLIES, "C1")
    assert not scopes.refuses(REPLIES, "D1")
    assert scopes.refuses("reactions.add", "C2")
    assert not scopes.refuses("chat.postMessage", "C1")


def test_not_more_is_remembered_than_a_thousand() -> None:
    scopes = MissingScopes()
    for number in range(1_001):
        scopes.note(REPLIES, f"C{number}")
    assert not scopes.refuses(REPLIES, "C0")
    assert scopes.refuses(REPLIES, "C1000")
