"""Presses and modals on their way in. What they do: `test_form_handler`."""

from __future__ import annotations

import json

from slack_bot.errors import StoreError
from slack_bot.testing.harness import CHANNEL, deliver, run_bot
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.form_tapes import ONE, SIX, asking, form_in, press, submit, told
from tests.tapped_store import TappedStore


class Away(TappedStore):
    """`is_away`: it cannot be read."""

    is_away = False

    async def tap(self, kind: str) -> None:
        if self.is_away and kind == "forms":
            raise StoreError("away")


@on_virtual_time
async def test_what_cannot_be_stored_is_told_and_can_be_sent_again() -> None:
    store = Away()
    async with run_bot(asking(ONE), store=store) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        store.is_away = True
        await press(bot, root, "form_choose-0")
        assert told(bot, root, "U1")[0].startswith("Your answer could not be stored right now.")
        store.is_away = False
        await press(bot, root, "form_choose-0")
        await bot.idle()
        assert len(bot.agent.questions) == 2


@on_virtual_time
async def test_a_modal_that_cannot_be_stored_says_so() -> None:
    store = Away()
    async with run_bot(asking(SIX), store=store) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await press(bot, root, "form_fill")
        store.is_away = True
        await submit(bot, Your_name="Ann", Where="dev")
        assert "could not be stored" in str(bot.workspace.modal("U1"))


@on_virtual_time
async def test_people_of_other_organisations_may_not_press() -> None:
    async with run_bot(asking(ONE)) as bot:
        bot.workspace.add_user("U9", team="T9")
        bot.workspace.state.channels[CHANNEL].members.add("U9")
        root = await bot.ask("hi")
        await bot.idle()
        await press(bot, root, "form_choose-0", user="U9")
        assert told(bot, root, "U9") == ["Only people of the organisation that runs me can use this."]
        assert len(bot.agent.questions) == 1


@on_virtual_time
async def test_what_has_no_handle_is_acknowledged_and_ignored() -> None:
    async with run_bot(asking(ONE)) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        bot.workspace.press("U1", CHANNEL, form_in(bot, root).ts, "form_choose-0", now=bot.now)
        (envelope,) = bot.workspace.take()
        action = {**envelope.payload["actions"][0], "value": ""}
        for payload in (
            {**envelope.payload, "actions": [action]},
            {
                **envelope.payload,
                "type": "view_submission",
                "view": {"type": "modal", "callback_id": "form_fill"},
            },
        ):
            answer = await deliver(bot.app, payload)
            assert (answer.status, json.loads(answer.body or "{}")) == (200, {})
        assert len(bot.agent.questions) == 1
