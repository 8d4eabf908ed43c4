"""The playground's agent asks with a form, for an approval and for a sign-in; a person answers in Slack."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from a2a.types import Message

from slack_bot.playground.reference.agent import AgentApp, agent_card
from slack_bot.playground.reference.requests import APPROVAL, decision_in, think_of_request
from slack_bot.playground.reference.toolbox import Prompt
from slack_bot.settings.models import ReferenceSettings
from slack_bot.testing.agent.asgi_transport import AsgiTransport
from slack_bot.testing.harness import AGENT_URL, BotHarness, run_bot
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.form_tapes import press, submit, told


@asynccontextmanager
async def bot_of_the_playground(**settings: Any) -> AsyncIterator[BotHarness]:
    served = AgentApp(AGENT_URL, ReferenceSettings(**settings))
    try:
        async with run_bot(through=lambda _: AsgiTransport(served.asgi)) as bot:
            yield bot
    finally:
        await served.aclose()


RELEASE = {
    "Version": "1.4.0",
    "Where_to": "staging",
    "Day": "2026-12-01",
    "Share_of_the_users,_in_percent": "20",
    "Who_is_told": ["sales", "everybody"],
    "Watched_by_somebody": "No",
}


@pytest.mark.parametrize("mode", ["hybrid", "structured"])
@on_virtual_time
async def test_a_form_of_six_fields(mode: str) -> None:
    async with bot_of_the_playground(response_mode=mode) as bot:
        root = await bot.ask("plan a release")
        await bot.idle()
        await press(bot, root, "form_fill")
        await submit(bot, **{**RELEASE, "Version": "soon"})
        assert bot.workspace.modal_errors("U1") == {
            "field-0": "This is not written as it was asked for. Such as 1.4.0"
        }
        await submit(bot, Version="1.4.0")
        await bot.idle()
        assert bot.outcomes == ["asked", "answered"]
        text = bot.read(root)[-1]
        assert "| Share of the users | 20 % |" in text
        assert "| Who is told | sales, everybody |" in text
        assert "| Watched by somebody | no |" in text


@on_virtual_time
async def test_a_form_that_is_answered_in_words_is_asked_again_for_what_they_lack() -> None:
    async with bot_of_the_playground() as bot:
        root = await bot.ask("plan a release")
        await bot.idle()
        await bot.say("version 1.5 to staging please", thread_ts=root)
        await bot.idle()
        assert "I need the version, such as 1.4.0" in bot.read(root)[-1]
        await bot.say("1.5.0 to Staging, please", thread_ts=root)
        await bot.idle()
        assert "| Version | 1.5.0 |\n| Where to | staging |" in bot.read(root)[-1]
        assert bot.outcomes == ["asked", "asked", "answered"]


@on_virtual_time
async def test_an_approval_is_taken_from_the_buttons_alone() -> None:
    async with bot_of_the_playground() as bot:
        root = await bot.ask("restart the search service")
        await bot.idle()
        assert "restart_service" in bot.read(root)[-1]
        await bot.ask("yes, do it", thread_ts=root)
        await bot.idle()
        assert "use the buttons" in told(bot, root, "U1")[0]
        await press(bot, root, "form_approve")
        await bot.idle()
        assert "It answers again." in bot.read(root)[-1]
        assert bot.outcomes[-1] == "answered"


@on_virtual_time
async def test_a_rejection_says_why() -> None:
    async with bot_of_the_playground() as bot:
        root = await bot.ask("restart the search service")
        await bot.idle()
        await press(bot, root, "form_reject")
        await submit(bot, reason="not on a Friday")
        await bot.idle()
        assert "I noted why: not on a Friday" in bot.read(root)[-1]


@on_virtual_time
async def test_a_sign_in_whose_address_is_not_for_everybody() -> None:
    async with bot_of_the_playground() as bot:
        root = await bot.ask("connect my calendar")
        await bot.idle()
        assert bot.outcomes == ["answered"]
        assert "here I would read your calendar. This was a demonstration" in bot.read(root)[-1]
        assert "The agent has gone on." in str([seen.blocks for seen in bot.thread(root)])
        public = [seen for seen in bot.thread(root) if not seen.ephemeral_for]
        assert "PLAY-GROUND" not in str(public)
        assert "login.example.com" in str([seen for seen in bot.thread(root) if seen.ephemeral_for])


def test_a_decision_is_read_from_metadata_and_nothing_else() -> None:
    given = ({"action": "approve"}, "approve"), ({"action": "x"}, ""), ({}, ""), ("a", ""), (1, "")
    for value, decision in given:
        message = Message()
        message.metadata.update({APPROVAL: value})
        assert decision_in(message) == decision
    assert decision_in(Message()) == decision_in(None) == ""


def test_other_questions_are_not_requests() -> None:
    assert think_of_request(Prompt("what happens at a restart?")) is None
    assert think_of_request(Prompt("Restart it")) is not None


def test_the_card_offers_the_approval() -> None:
    assert [each.uri for each in agent_card("http://a").capabilities.extensions] == [APPROVAL]
