"""Buttons below forms, and modals: who may press, what the agent gets, once, and what stands there then."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from slack_bot.errors import StoreError
from slack_bot.store.knowledge import FORMS
from slack_bot.testing.harness import CHANNEL, deliver, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.examples import at_each_fifth
from tests.form_tapes import (
    DONE,
    ENVS,
    ONE,
    SIGN_IN,
    SIX,
    approval,
    asking,
    form_in,
    press,
    sent,
    submit,
    told,
)
from tests.tapped_store import TappedStore

NOT_YOURS = "Only the person who asked can answer this."


@on_virtual_time
async def test_a_choice_is_one_press_and_the_agent_goes_on() -> None:
    async with run_bot(asking(ONE, "Which environment?"), DONE) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        shown = form_in(bot, root)
        assert shown.text.startswith("Which environment?")
        assert "Where (dev" not in shown.read  # the buttons say it
        assert bot.workspace.session(CHANNEL, root) == "suspended"
        await press(bot, root, "form_choose-1")
        await bot.idle()
        assert (sent(bot)["taskId"], sent(bot)["contextId"]) == ("task-1", "ctx-1")
        assert {"kind": "data", "data": {"env": "prod"}} in sent(bot)["parts"]
        assert bot.outcomes == ["asked", "answered"]
        assert bot.read(root) == ["Which environment?", "Deployed."]
        record = bot.thread(root)[1].read
        assert "<@U1> answered" in record
        assert "Where: prod" in record
        assert bot.workspace.session(CHANNEL, root) == "active"


@on_virtual_time
async def test_only_the_asker_answers_and_only_once() -> None:
    async with run_bot(asking(ONE), DONE) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await press(bot, root, "form_choose-0", user="U2")
        assert told(bot, root, "U2") == [NOT_YOURS]
        shown = form_in(bot, root)
        await press(bot, root, "form_choose-0")
        late = bot.workspace.state.find(CHANNEL, shown.ts)
        assert late is not None
        late.blocks = [dict(block) for block in shown.blocks]  # a client that has not seen the record
        await press(bot, root, "form_choose-1")
        await bot.idle()
        assert told(bot, root, "U1") == ["This was answered already by <@U1>."]
        assert len(bot.agent.questions) == 2


class _FailingOnce(TappedStore):
    """A form is ended for the question that answers it, and then for the press: the second one fails."""

    ends = 0

    async def change(self, *given: Any) -> Any:
        if given[0] is FORMS and (known := await self.get(given[0], given[1])) is not None:
            self.ends += given[2](known).ended_at is not None
            if self.ends == 2:
                self.ends += 1
                raise StoreError("the disk is full")
        return await super().change(*given)


@on_virtual_time
async def test_an_answer_that_was_accepted_is_not_asked_for_again_though_the_store_failed_then() -> None:
    async with run_bot(asking(ONE), DONE, store=_FailingOnce()) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await press(bot, root, "form_choose-1")
        await bot.idle()
        assert told(bot, root, "U1") == []
        assert {"kind": "data", "data": {"env": "prod"}} in sent(bot)["parts"]
        assert "<@U1> answered" in bot.thread(root)[1].read


@on_virtual_time
async def test_six_fields_in_a_modal_that_says_what_is_wrong() -> None:
    async with run_bot(asking(SIX, "Tell me more."), DONE) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await press(bot, root, "form_fill", user="U2")
        assert bot.workspace.modal("U2") is None
        await press(bot, root, "form_fill")
        await submit(bot, Your_name="ann", Where="prod", When="2026-12-24", Sure="No")
        assert bot.workspace.modal_errors("U1") == {"field-0": "This is not written as it was asked for."}
        await submit(bot, Your_name="Ann")
        assert bot.workspace.modal("U1") is None
        await bot.idle()
        values = next(part["data"] for part in sent(bot)["parts"] if part["kind"] == "data")
        assert values == {"name": "Ann", "count": 2, "sure": False, "day": "2026-12-24", "env": "prod"}
        assert bot.outcomes == ["asked", "answered"]
        assert "Your name: Ann" in bot.thread(root)[1].read


@on_virtual_time
async def test_inputs_in_the_message_are_sent_together() -> None:
    two = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"title": "Name", "type": "string"}, "env": {"title": "Where", "enum": ENVS}},
    }
    async with run_bot(asking(two), DONE) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        ts = form_in(bot, root).ts
        await press(bot, root, "form_send")
        assert told(bot, root, "U1") == ["Name: This is needed. Write a text."]
        for label, value in (("Name", "Ann"), ("Where", "dev")):
            bot.workspace.fill("U1", CHANNEL, ts, label, value, now=bot.now)
        await press(bot, root, "form_send")
        await bot.idle()
        assert {"kind": "data", "data": {"name": "Ann", "env": "dev"}} in sent(bot)["parts"]


@on_virtual_time
async def test_a_rejection_has_a_reason_and_an_edit_its_arguments() -> None:
    for action, given, expected in (
        ("form_reject", {"Why?_The_agent_is_told.": "Too late"}, {"type": "reject", "message": "Too late"}),
        (
            "form_edit",
            {"Arguments,_as_JSON": '{"env": "dev"}'},
            {"type": "edit", "edited_action": {"name": "deploy", "args": {"env": "dev"}}},
        ),
    ):
        async with run_bot(approval("approve", "edit", "reject", note="soon"), DONE) as bot:
            root = await bot.ask("hi")
            await bot.idle()
            await press(bot, root, action)
            if action == "form_edit":
                await submit(bot, **{"Arguments,_as_JSON": "no JSON"})
                assert bot.workspace.modal_errors("U1") == {"arguments": "This is not a JSON object."}
            await submit(bot, **given)
            await bot.idle()
            assert sent(bot)["parts"][-1]["data"]["resume"]["decisions"] == [expected]


@pytest.mark.parametrize("approvers", [["U2", "U3"], ["S1"]])
@on_virtual_time
async def test_of_two_approvers_at_once_one_wins_and_the_other_is_told(approvers: list[str]) -> None:
    async with run_bot(approval(), DONE, approvers=approvers) as bot:
        bot.workspace.add_group("S1", "U2", "U3")
        for user in ("U2", "U3"):
            bot.workspace.add_user(user)
            bot.workspace.state.channels[CHANNEL].members.add(user)
        root = await bot.ask("hi")
        await bot.idle()
        await press(bot, root, "form_approve")
        assert told(bot, root, "U1") == ["Only those who may approve in this channel can decide this."]
        ts = form_in(bot, root).ts
        for user in ("U2", "U3"):
            bot.workspace.press(user, CHANNEL, ts, "form_approve", now=bot.now)
        await asyncio.gather(*(bot.deliver([each]) for each in bot.workspace.take()))
        await bot.idle()
        (words,) = told(bot, root, "U2") + told(bot, root, "U3")
        (place,) = {sent(bot)["metadata"]["slack"]["answered_by"]}
        assert (place in ("U2", "U3"), sent(bot)["metadata"]["slack"]["user"]) == (True, "U1")
        assert words.startswith("This was answered already")
        assert len(bot.agent.questions) == 2
        assert bot.outcomes == ["asked", "answered"]


# -- what is refused


def forged(bot: Any, root: str, **changes: Any) -> dict[str, Any]:
    """A press of the form's second button, with another payload."""
    bot.workspace.press("U1", CHANNEL, form_in(bot, root).ts, "form_choose-1", now=bot.now)
    (envelope,) = bot.workspace.take()
    payload = {**envelope.payload, **changes}
    if isinstance(value := changes.get("value"), str):
        payload["actions"] = [{**payload["actions"][0], "value": value}]
    return payload


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"value": "guess|1"}, "I no longer know this form."),
        ({"value": "|1"}, ""),
        ({"channel": {"id": "C9"}}, "I no longer know this form."),
        ({"container": {"message_ts": "1.000000", "channel_id": CHANNEL}}, "I no longer know this form."),
        ({"user": {"id": "U2", "team_id": "T1"}}, NOT_YOURS),
        ({"user": {"id": "U2"}, "user_team": "T9"}, NOT_YOURS),
    ],
)
@on_virtual_time
async def test_forged_and_foreign_presses_are_refused(changes: Mapping[str, Any], words: str) -> None:
    async with run_bot(asking(ONE), DONE) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await deliver(bot.app, forged(bot, root, **changes))
        await bot.idle()
        assert len(bot.agent.questions) == 1
        assert bot.outcomes == ["asked"]
        if words and "channel" not in changes:
            assert any(text.startswith(words) for _, text in bot.ephemeral(root))


@on_virtual_time
async def test_a_form_of_long_ago_is_refused() -> None:
    async with run_bot(asking(ONE), DONE, form_days=1.0) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await asyncio.sleep(86_401)
        await press(bot, root, "form_choose-0")
        assert told(bot, root, "U1")[0].startswith("This form is too old")
        await bot.store.remove_old(bot.now)
        await press(bot, root, "form_choose-0")
        assert len(bot.agent.questions) == 1


@on_virtual_time
async def test_a_modal_is_refused_to_whom_it_does_not_belong_and_after_the_answer() -> None:
    async with run_bot(asking(SIX), DONE) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await press(bot, root, "form_fill")
        for label, value in (("Your name", "Ann"), ("Where", "prod")):
            bot.workspace.fill_modal("U1", label, value, now=bot.now)
        replay = bot.workspace.submit("U1", now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert len(bot.agent.questions) == 2
        await bot.deliver([replay])
        await bot.idle()
        assert len(bot.agent.questions) == 2


@on_virtual_time
async def test_a_modal_that_is_sent_too_late_says_why() -> None:
    async with run_bot(asking(SIX), DONE) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await press(bot, root, "form_fill")
        await bot.say("Ann, prod", thread_ts=root)
        await bot.idle()
        await submit(bot, Your_name="Ann", Where="prod")
        view = bot.workspace.modal("U1")
        assert view is not None
        assert "answered already" in str(view["blocks"])
        assert len(bot.agent.questions) == 2


# -- when something fails


@on_virtual_time
async def test_a_modal_that_slack_does_not_open_is_told_and_opens_at_the_next_press() -> None:
    async with run_bot(asking(SIX), DONE, faults={"views.open": ["fatal_error", None]}) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await press(bot, root, "form_fill")
        assert told(bot, root, "U1") == ["Slack did not open the form. Please press again."]
        await press(bot, root, "form_fill")
        assert bot.workspace.modal("U1") is not None


@at_each_fifth
@on_virtual_time
async def test_killed_at_any_point_of_a_press_it_is_answered_once(step: int) -> None:
    points, is_over = 0, False
    while not is_over:
        async with run_bot(asking(ONE, "Where?"), DONE, store=MemoryStore(is_durable=True)) as bot:
            root = await bot.ask("hi")
            await bot.idle()
            bot.workspace.press("U1", CHANNEL, form_in(bot, root).ts, "form_choose-1", now=bot.now)
            events = bot.workspace.take()
            bot.life.end_after(points)
            working = asyncio.create_task(bot.deliver(events))
            over = asyncio.create_task(bot.life.over.wait())
            await asyncio.wait({working, over}, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                idle = asyncio.create_task(bot.idle())
                await asyncio.wait({idle, over}, return_when=asyncio.FIRST_COMPLETED)
                is_over = not bot.life.over.is_set()
                idle.cancel()
            working.cancel()
            over.cancel()
            async with run_bot(after=bot) as later:
                await later.idle()
                asked = [call.id for call in bot.agent.questions]
                if "form_" in str(later.thread(root)):  # nothing was stored, or the task asks again
                    await press(later, root, "form_choose-1")
                    await later.idle()
                assert len(set(asked)) == len(asked) <= 2, points
                assert "<@U1> answered" in later.thread(root)[1].read, points
                assert "Deployed." in "".join(later.read(root)), points
                assert "form_" not in str(later.thread(root)), points
        points += step
    assert points > 5


# -- a sign-in


@on_virtual_time
async def test_the_link_of_a_sign_in_is_its_person_s_alone_and_names_its_host() -> None:
    async with run_bot(asking({}, f"Sign in at {SIGN_IN}", state="auth-required"), DONE) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        public = [seen.read + str(seen.blocks) for seen in bot.thread(root) if not seen.ephemeral_for]
        assert SIGN_IN not in "".join(public)
        (private,) = [seen for seen in bot.thread(root) if seen.ephemeral_for]
        assert private.ephemeral_for == "U1"
        assert "login.example" in private.read
        assert SIGN_IN in str(private.blocks)
        await press(bot, root, "form_link", user="U2")
        assert told(bot, root, "U2") == [NOT_YOURS]
        await press(bot, root, "form_link")
        assert len([seen for seen in bot.thread(root) if SIGN_IN in str(seen.blocks)]) == 2


@on_virtual_time
async def test_a_host_that_is_not_allowed_is_named_and_not_linked() -> None:
    tape = asking({}, f"Sign in at {SIGN_IN}", state="auth-required")
    async with run_bot(tape, auth_hosts=["login.acme.com"]) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert SIGN_IN not in str([seen.blocks for seen in bot.thread(root)])
        assert "not allowed" in told(bot, root, "U1")[0]


@on_virtual_time
async def test_where_nothing_private_can_be_shown_the_link_comes_in_a_direct_message() -> None:
    tape = asking({}, f"Sign in at {SIGN_IN}", state="auth-required")
    async with run_bot(tape, faults={"chat.postEphemeral": ["user_not_in_channel", None]}) as bot:
        await bot.ask("hi")
        await bot.idle()
        (direct,) = bot.workspace.history(bot.workspace.direct("U1"))
        assert SIGN_IN in str(direct.blocks)


# -- on their way in


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
