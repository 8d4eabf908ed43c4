"""The one way of a press: what is not known is acknowledged, who may not press is told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.slack.workspace import Envelope
from slack_bot.testing.tape.builders import answer, failure
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.text.words import SIGN_IN_LINK_OPENED
from slack_bot.turn.buttons import FEEDBACK_MODAL, TurnButton
from slack_bot.turn.open_form import FormAction
from tests.form_tapes import ONE, asking, form_in
from tests.inbound.test_press import body

NOT_FOR_OTHERS = "Only people of the organisation"


@pytest.mark.parametrize(
    "payload",
    [
        body(name="of_a_newer_version"),
        body(user={}),
        body(name="form_hack", value="h"),
        {
            "type": "view_submission",
            "user": {"id": "U1"},
            "view": {"id": "V1", "type": "modal", "callback_id": "of_a_newer_version"},
        },
        {
            "type": "view_submission",
            "user": {},
            "view": {"id": "V1", "type": "modal", "callback_id": FEEDBACK_MODAL},
        },
    ],
)
@on_virtual_time
async def test_what_is_not_known_is_acknowledged(payload: dict[str, Any]) -> None:
    async with run_bot() as bot:
        assert await bot.deliver([Envelope("e1", "interactive", payload)]) == [200]
        assert bot.workspace.calls == [] or all(call.ok for call in bot.workspace.calls)
        assert bot.agent.questions == []


@pytest.mark.parametrize("name", [*TurnButton, *FormAction])
@on_virtual_time
async def test_a_press_whose_value_says_nothing_does_nothing(name: str) -> None:
    async with run_bot() as bot:
        await bot.ask("hi")
        await bot.idle()
        asked = len(bot.agent.questions)
        for number, value in enumerate(("", "|", "T1:C9:1.0", "positive|", "gone|1")):
            pressed = Envelope(f"e{number}", "interactive", body(value, name))
            assert await bot.deliver([pressed]) == [200], value
            await bot.idle()
            assert len(bot.agent.questions) == asked, value
            assert bot.outcomes == ["answered"], value


async def pressed_by_an_outsider(
    bot: BotHarness, root: str, ts: str, name: str, value: str | None
) -> list[str]:
    """What they are told."""
    bot.workspace.state.channels[CHANNEL].members.add(bot.workspace.add_user("U9", team="T9").id)
    bot.workspace.press("U9", CHANNEL, ts, name, now=bot.now, value=value)
    await bot.deliver()
    await asyncio.sleep(1)
    return [text for whom, text in bot.ephemeral(root) if whom == "U9"]


@pytest.mark.parametrize(
    ("tape", "name", "value"),
    [
        (failure("no"), "retry", None),
        (answer("Yes."), "feedback", "negative"),
        (asking(ONE, "Where?"), "form_choose-0", None),
    ],
)
@on_virtual_time
async def test_who_may_not_press_is_told(tape: Any, name: str, value: str | None) -> None:
    async with run_bot(tape) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        message = form_in(bot, root) if name.startswith("form") else bot.thread(root)[-1]
        (told,) = await pressed_by_an_outsider(bot, root, message.ts, name, value)
        assert NOT_FOR_OTHERS in told
        assert len(bot.agent.questions) == 1
        assert bot.workspace.modal("U9") is None


@on_virtual_time
async def test_a_link_that_was_opened_is_a_button_no_longer() -> None:
    """The sign-in may be over soon. Until then the form's own button gives the link again."""
    asks = asking({}, "Sign in at https://login.example/start?x=1", state="auth-required")
    async with run_bot(asks, answer("Done.")) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        (link,) = [seen for seen in bot.thread(root) if seen.ephemeral_for == "U1"]
        bot.workspace.press("U1", CHANNEL, link.ts, "form_opened", now=bot.now)
        assert await bot.deliver() == [200]
        await asyncio.sleep(1)
        (private,) = [seen for seen in bot.thread(root) if seen.ephemeral_for == "U1"]
        assert private.read == SIGN_IN_LINK_OPENED
        assert "form_opened" not in str(private.blocks)
        assert "form_link" in str(form_in(bot, root).blocks)
