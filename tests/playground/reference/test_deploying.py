"""The demonstration that deploys: where to is asked, and for production somebody's approval."""

from __future__ import annotations

import pytest

from slack_bot.playground.reference.agent import bundled_library
from slack_bot.playground.reference.deploying import think_of_deploying
from slack_bot.playground.reference.scenarios import AskBack, Move, WriteMove
from slack_bot.playground.reference.toolbox import Prompt
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.form_tapes import press, submit
from tests.playground.reference.test_requests import bot_of_the_playground

LIBRARY = bundled_library()


def run(question: str, reply: str | None = None, asked: str = "", decision: str = "") -> list[Move]:
    thought = think_of_deploying(Prompt(question, reply=reply, asked=asked, decision=decision), LIBRARY)
    assert thought is not None
    return list(thought)


def answer(moves: list[Move]) -> str:
    return "".join(move.text for move in moves if isinstance(move, WriteMove))


def test_it_asks_which_environment_and_answers_the_reply() -> None:
    assert run("deploy the bot")[-1] == AskBack("Which environment: staging or production?")
    for moves in (run("deploy the bot", "Staging, please"), run("deploy the bot to staging")):
        assert answer(moves).startswith("The bot is deployed to staging, ")
        assert "This was a demonstration: nothing was changed anywhere." in answer(moves)


def test_an_unclear_reply_is_asked_again() -> None:
    assert isinstance(run("deploy the bot", "dunno")[-1], AskBack)
    again = run("fill in a form", "dunno")[-1]
    assert isinstance(again, AskBack)
    assert again.fields


def test_a_form_asks_with_fields() -> None:
    asked = run("fill in a form")[-1]
    assert isinstance(asked, AskBack)
    assert [field.field_name for field in asked.fields] == ["environment", "version", "reason"]
    assert answer(run("fill in a form", "environment: staging\nversion: 2")).startswith("The bot is deployed")


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("deploy the bot", "prod"),
        ("deploy the bot to production", None),
        ("fill in a form", "environment: production\nversion: 2"),
    ],
)
def test_production_waits_for_an_approval(question: str, reply: str | None) -> None:
    asked = run(question, reply)[-1]
    assert asked == AskBack("May I deploy to production?", request="deploy")
    assert isinstance(asked, AskBack)
    moves = run(question, "approve", asked=asked.prompt, decision="approve")
    assert answer(moves).startswith("The bot is deployed to production, ")
    refused = run(question, "reject: not on a Friday", asked=asked.prompt, decision="reject")
    assert answer(refused) == "Then nothing is deployed. I noted why: not on a Friday\n"
    assert run(question, "production", asked=asked.prompt)[-1] == asked


@on_virtual_time
async def test_in_slack_production_is_deployed_after_a_press_of_approve() -> None:
    async with bot_of_the_playground() as bot:
        root = await bot.ask("deploy the bot please")
        await bot.idle()
        await bot.ask("to production", thread_ts=root)
        await bot.idle()
        assert bot.outcomes == ["asked", "asked"]
        assert "The agent waits for the decision of <@U1>." in str([seen.blocks for seen in bot.thread(root)])
        await press(bot, root, "form_approve")
        await bot.idle()
        assert "The bot is deployed to production" in bot.read(root)[-1]


@on_virtual_time
async def test_in_slack_a_rejection_deploys_nothing() -> None:
    async with bot_of_the_playground() as bot:
        root = await bot.ask("deploy to production")
        await bot.idle()
        await press(bot, root, "form_reject")
        await submit(bot, reason="not on a Friday")
        await bot.idle()
        assert "Then nothing is deployed. I noted why: not on a Friday" in bot.read(root)[-1]


def test_other_questions_deploy_nothing() -> None:
    assert think_of_deploying(Prompt("how do I deploy to production?"), LIBRARY) is None
