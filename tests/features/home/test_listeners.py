"""Somebody comes to the Home tab or to the messages with the bot, and what they find there."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from slack_bot.errors import StoreError
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.rules import SHIPPED, AppManifest, WorkspaceRules
from slack_bot.testing.slack.workspace import BOT_TOKEN, Envelope
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.features.routing.town import FILE, town
from tests.form_tapes import ONE, asking, form_in, press
from tests.inbound.payloads import event


async def open_home(bot: BotHarness, user: str = "U1", tab: str = "home") -> None:
    bot.workspace.open_home(user, now=bot.now, tab=tab)
    await bot.deliver()
    await asyncio.sleep(1)


@on_virtual_time
async def test_the_tab_names_the_agent_and_one_s_questions_which_can_be_stopped_there() -> None:
    long = answer("A very long answer indeed.", seconds=60)
    async with run_bot(long, answer("Two.", seconds=60, ids="2")) as bot:
        turn = f"T1:{CHANNEL}:{await bot.ask('how are you?')}"
        await bot.ask("and I?", user="U2")
        await asyncio.sleep(20)
        await open_home(bot)
        words = bot.workspace.home("U1")
        assert words[:2] == ["Scripted agent", "Plays a capture."]
        assert "how are you?" in words
        assert "and I?" not in words
        bot.workspace.press_in_home("U1", "stop_in_home", turn, now=bot.now)
        await bot.deliver()
        await asyncio.sleep(20)
        assert bot.outcomes[0] == "stopped"
        await open_home(bot)
        assert bot.workspace.home("U1")[-1] == "You have no question under way."
        await bot.idle()


@on_virtual_time
async def test_a_long_question_is_listed_by_its_first_paragraph() -> None:
    """A question for another agent has what was answered before below it."""
    async with run_bot(answer("An answer.", seconds=60)) as bot:
        await bot.ask("how are you?\n\nThis was asked of Travel before, and answered so:\n\n> how are you?")
        await asyncio.sleep(20)
        await open_home(bot)
        words = bot.workspace.home("U1")
        assert "how are you?" in words
        assert "Travel" not in str(words)
        await bot.idle()


@on_virtual_time
async def test_the_tab_lists_what_the_agent_asks_until_it_is_answered() -> None:
    async with run_bot(asking(ONE, "Which environment?"), answer("Deployed.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        await open_home(bot)
        words = bot.workspace.home("U1")
        place = words.index("deploy")
        assert words[place - 1] == "Your questions"
        assert "Waits for your answer: Which environment?" in words[place + 1]
        assert "Stop" not in words, "it is answered, or stopped, in its thread"
        assert form_in(bot, root).ts.replace(".", "") in str(bot.calls("views.publish")[-1]), "the link"
        await open_home(bot, "U2")
        assert bot.workspace.home("U2")[-1] == "You have no question under way."
        await press(bot, root, "form_choose-1")
        await bot.idle()
        await open_home(bot)
        assert bot.workspace.home("U1")[-1] == "You have no question under way."


@on_virtual_time
async def test_only_the_asker_can_stop_a_question_there() -> None:
    async with run_bot(answer("An answer.", seconds=20)) as bot:
        turn = f"T1:{CHANNEL}:{await bot.ask('hi')}"
        await asyncio.sleep(5)
        await bot.app.threads.registry.stop_turn(turn, "U2")
        await bot.app.threads.registry.stop_turn("T1:C1:9.9", "U2")
        await bot.idle()
        assert bot.outcomes == ["answered"]


@on_virtual_time
async def test_a_stop_there_that_the_store_does_not_take_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    store = MemoryStore()

    async def away(_: str) -> None:
        raise StoreError("It does not answer.")

    async with run_bot(answer("An answer.", seconds=20), store=store) as bot:
        turn = f"T1:{CHANNEL}:{await bot.ask('hi')}"
        await asyncio.sleep(5)
        await open_home(bot)
        kept, store.turn = store.turn, away  # type: ignore[method-assign]
        bot.workspace.press_in_home("U1", "stop_in_home", turn, now=bot.now)
        assert await bot.deliver() == [200]
        await asyncio.sleep(1)
        store.turn = kept  # type: ignore[method-assign]
        await bot.idle()
        assert bot.outcomes == ["answered"]
    (record,) = [each for each in caplog.records if "was not stopped" in each.getMessage()]
    assert vars(record)["turn"] == turn


@on_virtual_time
async def test_questions_are_suggested_above_the_messages() -> None:
    async with run_bot(suggested_prompts=("What is new?", "Who are you?")) as bot:
        await open_home(bot, tab="messages")
        assert bot.workspace.prompts(bot.workspace.direct("U1")) == ["What is new?", "Who are you?"]
        assert bot.calls("views.publish") == []


@on_virtual_time
async def test_a_thread_of_an_assistant_is_answered_as_an_ordinary_direct_message_is() -> None:
    """Slack begins it with a message of the app, below which people write."""
    async with run_bot(answer("One."), answer("Two."), suggested_prompts=("What is new?",)) as bot:
        direct = bot.workspace.direct("U1")
        begun = {"channel": direct, "text": "New thread"}
        root = str(bot.workspace.call("chat.postMessage", begun, now=bot.now, token=BOT_TOKEN).body["ts"])
        bot.workspace.take()
        thread = {"user_id": "U1", "channel_id": direct, "thread_ts": root, "context": {}}
        await bot.deliver(
            [Envelope("e1", "events_api", event("assistant_thread_started", assistant_thread=thread))]
        )
        await bot.say("hello", channel=direct, thread_ts=root)
        await bot.idle()
        assert bot.workspace.prompts(direct, root) == ["What is new?"]
        other = await bot.say("hello", channel=direct)
        await bot.idle()
        assert bot.read(root, direct) == ["New thread", "One."]
        assert bot.read(other, direct) == ["Two."]


@on_virtual_time
async def test_an_app_without_the_scope_has_no_prompts_and_is_told_once() -> None:
    lacking = AppManifest(SHIPPED.scopes - {"assistant:write"}, SHIPPED.events)
    async with run_bot(suggested_prompts=("What is new?",)) as bot:
        bot.workspace.state.manifest = lacking
        for _ in range(3):
            await open_home(bot, tab="messages")
        assert len(bot.calls("assistant.threads.setSuggestedPrompts")) == 1
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root) != []
        assert bot.thread(root, CHANNEL)


@on_virtual_time
async def test_a_thread_of_a_direct_message_is_listed_by_its_question() -> None:
    async with run_bot(answer("An answer."), answer("Another.", ids="2")) as bot:
        direct = bot.workspace.direct("U1")
        first = await bot.say("What is\nnew here?", channel=direct)
        await bot.idle()
        assert bot.workspace.session_title(direct, first) == "What is new here?"
        await bot.say("And elsewhere?", channel=direct, thread_ts=first)
        root = await bot.ask("in a channel?")
        await bot.idle()
        assert bot.workspace.session_title(direct, first) == "What is new here?"
        assert bot.workspace.session_title(CHANNEL, root) == ""


@on_virtual_time
async def test_an_app_without_agent_sessions_answers_as_well() -> None:
    async with run_bot(answer("An answer."), rules=WorkspaceRules(agent_sessions=False)) as bot:
        direct = bot.workspace.direct("U1")
        root = await bot.say("x" * 500, channel=direct)
        await bot.idle()
        assert bot.read(root, direct) == ["An answer."]


class _WithIcon(httpx.AsyncBaseTransport):
    """An agent whose card names its picture."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        if request.method != "GET" or response.status_code != 200:
            return response
        card = json.loads(await response.aread())
        return httpx.Response(200, json={**card, "iconUrl": "https://agent.example/icon.png"})


@pytest.mark.parametrize("refusals", [0, 1])
@on_virtual_time
async def test_the_tab_is_there_also_where_slack_cannot_fetch_the_agents_picture(refusals: int) -> None:
    faults = {"views.publish": [*["invalid_arguments"] * refusals, None]}
    async with run_bot(through=_WithIcon, faults=faults) as bot:
        await open_home(bot)
        await open_home(bot)
        assert bot.workspace.home("U1")[:2] == ["Scripted agent", "Plays a capture."]
        shown = ["icon.png" in str(call) for call in bot.calls("views.publish")]
        assert shown == ([True, False, False] if refusals else [True, True]), "it is tried once"


@on_virtual_time
async def test_of_several_agents_the_tab_says_who_may_ask_and_whether_each_is_reached(tmp_path: Path) -> None:
    async with town(tmp_path, f'{FILE}people = ["U2"]\nname = "Operations"\n') as there:
        await open_home(there.bot)
        words = there.bot.workspace.home("U1")
        assert words[0] == "Agents" and "Operations: Plays a capture." in words
        place = words.index("Operations: Plays a capture.")
        assert "you are not one of them · Reachable" in words[place + 1]
        await open_home(there.bot, "U2")
        assert "you are one of them · Reachable" in "".join(there.bot.workspace.home("U2"))
        there.bot.app.health.agent_failed("ops", "It is away.")
        await open_home(there.bot)
        assert "Cannot be reached now" in there.bot.workspace.home("U1")[place + 1]


@on_virtual_time
async def test_who_chooses_an_agent_in_the_tab_is_answered_by_it_in_direct_messages(tmp_path: Path) -> None:
    async with town(tmp_path, FILE) as there:
        bot, direct = there.bot, there.bot.workspace.direct("U1")
        await open_home(bot)
        for label in ("Scripted agent (ops)", "Scripted agent (research)"):
            bot.workspace.fill_in_home("U1", "direct_agent", label, now=bot.now)
            await bot.deliver()
            await asyncio.sleep(1)
        view = bot.workspace.state.views["home-U1"]
        (select,) = [
            b["accessory"] for b in view["blocks"] if b.get("accessory", {}).get("type") == "static_select"
        ]
        assert select["initial_option"]["value"] == "research"
        root = await bot.say("what is it?", channel=direct)
        await bot.idle()
        assert bot.read(root, direct) == ["R."]
        await bot.ask("and here?")  # a channel is not a direct message
        await bot.idle()
        assert there.asked("default") == ["and here?"]


@on_virtual_time
async def test_an_agent_that_a_person_may_not_ask_is_not_chosen_by_a_forged_press(tmp_path: Path) -> None:
    async with town(tmp_path, f'{FILE}people = ["U2"]\n') as there:
        routing = there.bot.app.threads.routing
        await routing.choose_direct("U1", "T1", "ops")
        await routing.choose_direct("U1", "T1", "nobody")
        assert [each.name for each in await routing.listed("U1", "T1") if each.is_chosen] == ["default"]
