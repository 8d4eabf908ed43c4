"""Acceptance before the ack, with real Bolt and the emulated workspace."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import Any

import pytest
from slack_bolt.request.async_request import AsyncBoltRequest

from slack_bot.errors import StoreError
from slack_bot.observe.facts import MessageIgnored
from slack_bot.store.collection import Ages
from slack_bot.store.sqlite import open_sqlite
from slack_bot.testing.harness import CHANNEL, BotHarness, bot_on_network, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.workspace import Change, Envelope
from slack_bot.testing.tape.builders import answer, failure, question
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.progress import TurnRecord
from tests.log_watch import log_watch
from tests.store.small_disk import add_yesterday_keys, fill, small_disk
from tests.tapped_store import TappedStore

from .payloads import direct, event, mention


def envelope(body: dict[str, Any]) -> list[Envelope]:
    return [Envelope("e1", "events_api", body)]


class SlowToOpen(MemoryStore):
    """A store that cannot take the first `failures` questions."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self._failures = failures

    def break_down(self) -> None:
        self._failures = 1_000_000

    async def accept(self, turn: TurnRecord) -> bool:
        if self._failures:
            self._failures -= 1
            raise StoreError("The disk is full.")
        return await super().accept(turn)


@on_virtual_time
async def test_a_question_that_cannot_be_stored_is_not_acknowledged_and_is_taken_when_it_comes_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with run_bot(answer("At last."), store=SlowToOpen(2)) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        envelopes = bot.workspace.take()
        with caplog.at_level(logging.ERROR):
            assert await bot.deliver(envelopes) == [503, 503]
        assert "Slack will send it again: The disk is full." in caplog.text
        assert bot.outcomes == []
        assert await bot.deliver(envelopes) == [200, 200]
        await bot.idle()
        assert bot.read(root) == ["At last."]


@on_virtual_time
async def test_it_is_stored_before_it_is_acknowledged() -> None:
    store = MemoryStore()
    async with run_bot(store=store) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        (first, *_) = bot.workspace.take()
        assert await bot.deliver([first]) == [200]
        assert (turn := await store.turn(f"T1:{CHANNEL}:{root}")) is not None
        assert turn.question.text == "hi"
        await bot.idle()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@on_virtual_time
async def test_whichever_twin_comes_first_the_mention_is_answered_once(order: tuple[int, int]) -> None:
    async with run_bot(answer("Once.")) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        twins = bot.workspace.take()
        assert {twin.payload["event"]["type"] for twin in twins} == {"app_mention", "message"}
        await bot.deliver([twins[place] for place in order])
        await bot.idle()
        assert bot.read(root) == ["Once."]


@on_virtual_time
async def test_the_twin_of_a_mention_that_was_accepted_is_no_error_when_the_bot_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with run_bot(answer("Once.")) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        first, second = bot.workspace.take()
        assert await bot.deliver([first]) == [200]
        ending = asyncio.create_task(bot.app.threads.close(60.0))
        await asyncio.sleep(0.1)
        assert not ending.done()
        assert await bot.deliver([second]) == [200]
        await ending
        assert (bot.read(root), caplog.messages) == (["Once."], [])


@on_virtual_time
async def test_an_ignored_twin_does_not_take_the_key() -> None:
    async with run_bot(answer("Answered.")) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        twins = bot.workspace.take()
        (spoken,) = [twin for twin in twins if twin.payload["event"]["type"] == "message"]
        changed = {
            **spoken.payload,
            "event": {**spoken.payload["event"], "subtype": "message_changed", "hidden": True},
        }
        await bot.deliver(envelope(changed))
        await bot.deliver([twin for twin in twins if twin is not spoken])
        await bot.idle()
        assert bot.read(root) == ["Answered."]


@on_virtual_time
async def test_a_direct_message_needs_no_mention_and_its_thread_goes_on() -> None:
    async with run_bot(answer("Hello you."), answer("Again.")) as bot:
        channel = bot.workspace.direct("U1")
        root = await bot.say("hello", channel=channel)
        await bot.idle()
        assert bot.read(root, channel) == ["Hello you."]
        await bot.say("and again", channel=channel, thread_ts=root)
        await bot.idle()
        assert bot.read(root, channel) == ["Hello you.", "Again."]


@on_virtual_time
async def test_what_people_say_to_each_other_is_left_alone() -> None:
    async with run_bot() as bot:
        root = await bot.say("lunch?")
        await bot.say("yes", user="U2", thread_ts=root)
        await bot.idle()
        assert bot.agent.calls == []
        assert bot.read(root) == []
        ignored = [fact for fact in bot.facts if isinstance(fact, MessageIgnored)]
        assert [(fact.user, fact.channel, fact.thread_ts, fact.text, fact.reason) for fact in ignored] == [
            ("U1", CHANNEL, root, "lunch?", "a message that does not mention the bot"),
            (
                "U2",
                CHANNEL,
                root,
                "yes",
                "a reply that does not mention the bot, in a thread where it needs to",
            ),
        ]


@on_virtual_time
async def test_a_reply_without_mention_counts_only_while_the_agent_waits_for_its_author() -> None:
    async with run_bot(question("Which one?"), answer("Done.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        await bot.say("blue", user="U2", thread_ts=root)
        await bot.idle()
        assert len(bot.agent.questions) == 1
        await bot.say("green", thread_ts=root)
        await bot.idle()
        assert [call.text for call in bot.agent.questions] == ["deploy", "green"]
        await bot.say("thanks", thread_ts=root)
        await bot.idle()
        assert len(bot.agent.questions) == 2


@on_virtual_time
async def test_the_bot_never_answers_itself() -> None:
    async with run_bot(answer("I mention <@U0BOT>.")) as bot:
        await bot.ask("hi")
        await bot.idle()
        for _ in range(3):
            await bot.idle()
        assert len(bot.agent.questions) == 1
        assert set(bot.statuses) == {200}
        assert not [fact for fact in bot.facts if isinstance(fact, MessageIgnored)], (
            "nobody wonders why the bot does not answer itself"
        )


@pytest.mark.parametrize(
    "body",
    [
        event(subtype="message_changed", hidden=True),
        event(subtype="channel_join"),
        mention(edited={"user": "U1", "ts": "2.0"}),
        direct(subtype="message_deleted", hidden=True),
        event(text="hello all"),
        {"type": "event_callback", "team_id": "T1", "event": {"type": "message"}},
    ],
)
@on_virtual_time
async def test_what_is_ignored_is_acknowledged(body: dict[str, Any]) -> None:
    async with run_bot() as bot:
        assert await bot.deliver(envelope(body)) == [200]
        await bot.idle()
        assert bot.agent.calls == []


@on_virtual_time
async def test_a_bot_that_asks_gets_a_post() -> None:
    async with run_bot(answer("For a bot."), allowed_bots=["U9"]) as bot:
        bot.workspace.add_user("U9", is_bot=True)
        root = await bot.ask("hi", user="U9")
        await bot.idle()
        assert bot.read(root) == ["For a bot."]
        assert bot.calls("chat.startStream") == []


# -- a store in trouble


NOT_TAKEN = "I have a problem and could not take this question. Please ask again in a few minutes."


async def test_a_question_on_a_nearly_full_disk_is_answered(tmp_path: Path) -> None:
    """On the whole path: socket, Bolt, store, redeliveries."""
    with small_disk(tmp_path) as disk:
        file = disk / "bot.sqlite"
        await (await open_sqlite(file, Ages())).close()
        add_yesterday_keys(file, time.time())
        fill(disk, leave=1024 * 1024)
        store_url = f"sqlite:///{file}"
        async with bot_on_network(answer("Answered.", seconds=0.1), **{"store.url": store_url}) as parts:
            workspace, face, app = parts
            root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=time.time())
            await face.settle()
            await app.threads.idle()
            assert face.lost == []
            assert [m.text for m in workspace.thread(CHANNEL, root) if m.is_bot] == ["Answered."]


async def test_a_question_that_a_full_disk_refused_is_answered_when_slack_brings_it_again(
    tmp_path: Path,
) -> None:
    with small_disk(tmp_path) as disk, log_watch() as log:
        options = {"store.url": f"sqlite:///{disk}/bot.sqlite", "http": True, "retry_delays": (0.5, 0.5)}
        async with bot_on_network(answer("At last.", seconds=0.1), **options) as (workspace, face, app):
            filler = fill(disk, leave=0)
            root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=time.time())
            await log.wait_for("Slack will send it again", times=2)
            filler.unlink()
            await face.settle()
            await app.threads.idle()
            assert [m.text for m in workspace.thread(CHANNEL, root) if m.is_bot] == ["At last."]


@on_virtual_time
async def test_when_slack_comes_for_the_last_time_the_asker_is_told_once() -> None:
    async with run_bot(answer("Again."), store=SlowToOpen(8)) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        envelopes = bot.workspace.take()
        for retry in range(3):
            assert await bot.deliver(envelopes, retry=retry) == [503, 503]
            await bot.idle()
            assert bot.read(root) == []
        assert await bot.deliver(envelopes, retry=3) == [200, 200]
        await bot.idle()
        (notice,) = [seen.read for seen in bot.thread(root) if seen.is_bot]
        assert NOT_TAKEN in notice
        await bot.ask("hi", thread_ts=root)
        await bot.idle()
        assert bot.read(root)[1:] == ["Again."]


@on_virtual_time
async def test_the_twin_of_a_question_that_was_taken_needs_no_store() -> None:
    store = SlowToOpen(0)
    async with run_bot(answer("Answered."), store=store) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        one, other = bot.workspace.take()
        assert await bot.deliver([one]) == [200]
        store.break_down()
        assert await bot.deliver([other]) == [200]
        await bot.idle()
        assert await bot.deliver([one, other], retry=3) == [200, 200]
        await bot.idle()
        assert bot.read(root) == ["Answered."]


@on_virtual_time
async def test_a_mention_is_noted_in_its_thread_once_though_it_comes_as_two_events() -> None:
    class Counted(TappedStore):
        calls = 0

        async def tap(self, kind: str) -> None:
            self.calls += 1

    store = Counted()
    async with run_bot(answer("Answered."), store=store) as bot:
        bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        one, other = bot.workspace.take()
        assert await bot.deliver([one]) == [200]
        await bot.idle()
        before = store.calls
        assert await bot.deliver([other, one], retry=1) == [200, 200]
        assert store.calls == before > 0


@on_virtual_time
async def test_what_people_say_to_each_other_is_never_answered_with_a_problem_of_the_store() -> None:
    class Unreadable(TappedStore):
        async def tap(self, kind: str) -> None:
            if kind == "conversations":
                raise StoreError("The disk is gone.")

    async with run_bot(store=Unreadable()) as bot:
        root = bot.workspace.say("U1", CHANNEL, "lunch?", now=bot.now)
        bot.workspace.say("U2", CHANNEL, "yes", now=bot.now, thread_ts=root)
        envelopes = bot.workspace.take()
        assert await bot.deliver(envelopes, retry=2) == [200, 503]
        assert await bot.deliver(envelopes, retry=3) == [200, 200]
        await bot.idle()
        assert bot.read(root) == []


@pytest.mark.parametrize("number", ["", "x", "-1", "9" * 5_000, "³"])
@on_virtual_time
async def test_a_retry_number_that_is_none_counts_as_the_first_delivery(number: str) -> None:
    async with run_bot(store=SlowToOpen(99)) as bot:
        bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        body = dict(bot.workspace.take()[0].payload)
        headers = {"x-slack-retry-num": [number]}
        request = AsyncBoltRequest(body=body, mode="socket_mode", headers=headers)
        assert (await bot.app.bolt.async_dispatch(request)).status == 503


# -- which bots may ask -----------------------------------------------------------------------------------

OTHER = "U9"
ROUNDS = 20


class OtherBot:
    """A second bot in the channel, which answers each message of ours with a mention, `ROUNDS` times."""

    def __init__(self, bot: BotHarness) -> None:
        self._bot = bot
        self._answered: set[str] = set()
        self._talking: set[asyncio.Task[str]] = set()
        bot.workspace.add_user(OTHER, is_bot=True)
        bot.workspace.listen(self._changed)

    def _changed(self, change: Change) -> None:
        if change.kind != "thread":
            return
        for seen in self._bot.workspace.thread(change.channel, change.thread_ts):
            is_new = seen.ts not in self._answered and len(self._answered) < ROUNDS
            if seen.author == self._bot.workspace.bot.user_id and seen.state != "streaming" and is_new:
                self._answered.add(seen.ts)
                self._talking.add(asyncio.create_task(self._say(change.thread_ts)))

    async def _say(self, root: str) -> str:
        return await self._bot.ask("and what then?", user=OTHER, thread_ts=root)

    async def rest(self) -> None:
        """Wait until neither bot has anything more to say."""
        await self._bot.idle()
        while talking := {task for task in self._talking if not task.done()}:
            await asyncio.wait(talking)
            await self._bot.idle()


def answers(bot: BotHarness, root: str) -> int:
    return len(bot.read(root))


@on_virtual_time
async def test_two_bots_do_not_talk_for_ever() -> None:
    async with run_bot(answer("Yes.")) as bot:
        other = OtherBot(bot)
        root = await bot.ask("begin")
        await other.rest()
        assert answers(bot, root) == 1


async def talk(bot: BotHarness, other: OtherBot, text: str, root: str | None = None, **more: Any) -> str:
    ts = await (bot.say(text, thread_ts=root) if root else bot.ask(text, **more))
    await other.rest()
    return root or ts


@pytest.mark.parametrize("allowed", [OTHER, f"B{OTHER[1:]}", CHANNEL])
@on_virtual_time
async def test_a_bot_that_may_ask_gets_three_turns_until_a_person_writes_again(allowed: str) -> None:
    async with run_bot(answer("Yes."), allowed_bots=[allowed]) as bot:
        other = OtherBot(bot)
        root = await talk(bot, other, "begin")
        assert answers(bot, root) == 1 + 3
        await talk(bot, other, "Interesting, you two.", root)  # a person, who asks nothing
        assert answers(bot, root) == 4  # nobody mentioned the bot again
        await bot.ask("go on", user=OTHER, thread_ts=root)
        await other.rest()
        assert answers(bot, root) == 4 + 3


@on_virtual_time
async def test_the_number_of_turns_is_a_setting() -> None:
    async with run_bot(answer("Yes."), allowed_bots=[OTHER], max_bot_turns=5) as bot:
        other = OtherBot(bot)
        root = await talk(bot, other, "begin")
        assert answers(bot, root) == 1 + 5


@on_virtual_time
async def test_a_thread_has_its_own_count() -> None:
    async with run_bot(answer("Yes."), allowed_bots=[OTHER], max_bot_turns=1) as bot:
        bot.workspace.add_user(OTHER, is_bot=True)
        for _ in range(3):
            root = await bot.ask("an alert", user=OTHER)
            await bot.idle()
            await bot.ask("more", user=OTHER, thread_ts=root)
            await bot.idle()
            assert answers(bot, root) == 1


@on_virtual_time
async def test_why_a_bot_is_ignored_is_logged_once_with_the_remedy(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "slack_bot.inbound")
    async with run_bot(answer("Yes."), allowed_bots=["U7"], max_bot_turns=1) as bot:
        for user in (OTHER, "U7"):
            bot.workspace.add_user(user, is_bot=True)
        root = await bot.ask("the words", user=OTHER)
        await bot.idle()
        assert bot.read(root) == []
        assert bot.ephemeral(root) == []
        root = await bot.ask("the words", user="U7")
        await bot.ask("the words", user="U7", thread_ts=root)
        await bot.idle()
        assert bot.read(root) == ["Yes."]
    refused, limited = [each.getMessage() for each in caplog.records if "inbound" in each.name]
    assert "SLACK_BOT_SLACK__ALLOWED_BOTS" in refused
    assert OTHER in refused
    assert "SLACK_BOT_TURNS__MAX_BOT_TURNS" in limited
    assert "the words" not in refused + limited


# -- whatever comes is acknowledged -----------------------------------------------------------------------

PERSON = {"user": {"id": "U1", "team_id": "T1"}, "team": {"id": "T1"}, "trigger_id": "1.1"}


@pytest.mark.parametrize(
    "payload",
    [
        event("reaction_added", reaction="eyes"),
        event("team_join"),
        event("app_home_opened", tab="messages"),
        event("assistant_thread_started"),
        event("message", subtype="message_changed", hidden=True),
        event("something_new_of_2027"),
        {
            **PERSON,
            "type": "block_actions",
            "actions": [{"type": "button", "action_id": "other", "block_id": "b"}],
        },
        {**PERSON, "type": "view_submission", "view": {"id": "V1", "type": "modal", "callback_id": "other"}},
        {**PERSON, "type": "view_closed", "view": {"id": "V1", "type": "modal", "callback_id": "other"}},
        {**PERSON, "type": "shortcut", "callback_id": "other"},
        {**PERSON, "type": "message_action", "callback_id": "other", "message": {}, "channel": {"id": "C1"}},
        {**PERSON, "type": "block_suggestion", "action_id": "other", "block_id": "b", "value": "x"},
        {"command": "/other", "team_id": "T1", "user_id": "U1", "text": ""},
    ],
    ids=lambda payload: (
        str(payload.get("type", payload.get("command"))) + str(payload.get("event", {}).get("type", ""))
    ),
)
@on_virtual_time
async def test_it_is_acknowledged_and_nothing_happens(payload: dict[str, Any]) -> None:
    async with run_bot() as bot:
        assert await bot.deliver([Envelope("e1", "events_api", payload)]) == [200]
        await bot.idle()
        assert bot.agent.calls == []
        assert [call.method for call in bot.workspace.calls] in ([], ["auth.test"])


# -- buttons ----------------------------------------------------------------------------------------------

# -- retry


async def failed(bot: BotHarness) -> tuple[str, str]:
    """A turn that failed: its thread and the message with the button."""
    root = await bot.ask("hi")
    await bot.idle()
    (seen,) = [seen for seen in bot.thread(root) if seen.is_bot]
    return root, seen.ts


async def press_retry(bot: BotHarness, ts: str, user: str = "U1") -> None:
    bot.workspace.press(user, CHANNEL, ts, "retry", now=bot.now)
    assert await bot.deliver() == [200]
    await bot.idle()


@on_virtual_time
async def test_the_asker_s_press_asks_the_same_question_again_once() -> None:
    async with run_bot(failure("no luck"), answer("Luck.", seconds=5)) as bot:
        root, ts = await failed(bot)
        await press_retry(bot, ts)
        await press_retry(bot, ts)
        assert [call.text for call in bot.agent.questions] == ["hi", "hi"]
        assert bot.read(root)[-1] == "Luck."
        assert [text for _, text in bot.ephemeral(root)] == ["This question is already being asked again."]


@on_virtual_time
async def test_another_person_is_asked_to_write_a_question_of_their_own() -> None:
    async with run_bot(failure("no luck")) as bot:
        root, ts = await failed(bot)
        await press_retry(bot, ts, user="U2")
        assert len(bot.agent.questions) == 1
        assert bot.ephemeral(root)[0][0] == "U2"
        assert "Only the person who asked" in bot.ephemeral(root)[0][1]


@on_virtual_time
async def test_a_question_that_is_kept_no_longer_is_unknown() -> None:
    store = MemoryStore()
    async with run_bot(failure("no luck"), store=store) as bot:
        root, ts = await failed(bot)
        await store.remove_old(bot.now + 8 * 24 * 3600)
        await press_retry(bot, ts)
        assert "Please ask it again" in bot.ephemeral(root)[0][1]


@on_virtual_time
async def test_a_bot_that_ends_says_so() -> None:
    async with run_bot(failure("no luck")) as bot:
        root, ts = await failed(bot)
        await bot.app.threads.close(0.0)
        await press_retry(bot, ts)
        assert "cannot take questions right now" in bot.ephemeral(root)[0][1]


@on_virtual_time
async def test_a_retry_without_a_turn_is_acknowledged_and_dropped() -> None:
    async with run_bot() as bot:
        payload = {
            "type": "block_actions",
            "user": {"id": "U1"},
            "team": {"id": "T1"},
            "actions": [{"type": "button", "action_id": "retry", "block_id": "b", "value": ""}],
        }
        assert await bot.deliver([Envelope("e1", "interactive", payload)]) == [200]
        await bot.idle()
        assert bot.calls("chat.postEphemeral") == []


# -- stop


@pytest.mark.parametrize("user", ["U1", "U2"])
@on_virtual_time
async def test_anybody_s_stop_ends_the_turn_and_cancels_the_task(user: str) -> None:
    async with run_bot(answer("one two three four five six", seconds=60)) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(20)
        before = bot.read(root)
        bot.workspace.stop(user, CHANNEL, root, now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert bot.outcomes == ["stopped"]
        assert bot.read(root)[0].startswith(before[0].strip())
        assert "six" not in "".join(bot.read(root))
        shown = str([(seen.text, seen.blocks) for seen in bot.thread(root)])
        assert ("<@U2> pressed Stop." in shown) == (user == "U2")
        assert [call.method for call in bot.agent.calls][-1] == "tasks/cancel"


@on_virtual_time
async def test_a_stop_where_nothing_runs_does_nothing() -> None:
    async with run_bot() as bot:
        body = event("agent_session_stopped", thread_ts="9.9", user="U1", streaming_message_ts=[])
        assert await bot.deliver([Envelope("e1", "events_api", body)]) == [200]
        await bot.idle()
        assert bot.agent.calls == []


@on_virtual_time
async def test_a_stop_without_a_thread_is_acknowledged_and_dropped() -> None:
    async with run_bot() as bot:
        assert await bot.deliver([Envelope("e1", "events_api", event("agent_session_stopped"))]) == [200]
        await bot.idle()
