"""Questions that were asked while the bot was away: whole bots, one after the other, in one workspace."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from slack_bot.app import build
from slack_bot.clock import system_clock
from slack_bot.inbound.backfill import places
from slack_bot.observe.facts import Fact
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedTransport, serve_scripted
from slack_bot.testing.harness import (
    CHANNEL,
    BotHarness,
    bot_settings,
    build_in_memory,
    connected,
    emulated,
    run_bot,
    wait_until,
)
from slack_bot.testing.kill import Life
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.rules import SHIPPED, AppManifest
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import BOT_TOKEN, Envelope, Workspace, WorkspaceRules
from slack_bot.testing.tape.builders import answer, question
from slack_bot.testing.tape.tape import Tape
from slack_bot.testing.virtual_clock import new_clock, on_virtual_time
from slack_bot.turn.progress import Stage, TurnRecord
from slack_bot.turn.record import Question, ThreadKey

MINUTE, HOUR = 60.0, 3600.0


class Town:
    """A workspace, and the store that one bot leaves to the next."""

    def __init__(self, rules: WorkspaceRules | None = None, manifest: AppManifest = SHIPPED) -> None:
        self.clock, self.store = new_clock(), MemoryStore(is_durable=True)
        self.workspace = Workspace(rules=rules or WorkspaceRules.real(), manifest=manifest)
        self.workspace.add_channel(CHANNEL)
        self.me = f"<@{self.workspace.bot.user_id}>"

    @asynccontextmanager
    async def bot(self, *tapes: Tape, **overrides: Any) -> AsyncIterator[BotHarness]:
        facts: list[Fact] = []
        agent = ScriptedAgent(*(tapes or (answer("Hello."),)))
        # every read is one of the backfill's
        settings = bot_settings({"channel.context": "none", **overrides})
        transport = ScriptedTransport(agent)
        app = await build_in_memory(
            self.workspace, settings, self.clock, transport, observer=facts.append, store=self.store
        )
        async with app:
            yield BotHarness(app, self.workspace, agent, facts, self.store, Life())

    async def say(
        self, user: str, text: str, thread_ts: str | None = None, channel: str = CHANNEL
    ) -> tuple[str, list[Envelope]]:
        """Somebody writes while no bot is there, and a minute passes. The message, and its events."""
        ts = self.workspace.say(user, channel, text, now=self.clock.wall(), thread_ts=thread_ts)
        await asyncio.sleep(MINUTE)
        return ts, self.workspace.take()

    async def accepted(self, root: str, ts: str, channel: str = CHANNEL) -> None:
        """An earlier bot has taken this message of U1, and came no further."""
        question = Question(ThreadKey("T1", channel, root), ts, "U1", "T1", "?")
        await self.store.accept(TurnRecord(question, float(ts), Stage.ENDED))

    def direct(self, user: str) -> str:
        return self.workspace.direct(user)


async def fill(bot: BotHarness) -> None:
    """Look back, and answer what is found."""
    assert bot.app.backfill is not None
    await bot.app.backfill.run()
    await bot.idle()


def asked(bot: BotHarness) -> list[str]:
    return [each.text for each in bot.agent.questions]


@on_virtual_time
async def test_what_was_asked_in_half_an_hour_without_a_bot_is_asked_once_and_in_order() -> None:
    town = Town()
    me, one, two = town.me, town.direct("U1"), town.direct("U2")
    async with town.bot(answer("A."), answer("B."), question("Which?"), answer("C.")) as bot:
        first = await bot.ask("the first thread")
        second = await bot.ask("the second thread")
        await bot.idle()
        await bot.say("a reply from before the agent asked", user="U2", thread_ts=second)
        await bot.ask("ask me back", user="U2", thread_ts=second)
        await bot.idle()
        old = await bot.say("an old direct message", channel=one)
        await bot.say("another one", user="U2", channel=two)
        await bot.idle()
    await asyncio.sleep(10 * MINUTE)

    await town.say("U1", "direct 1", channel=one)
    await town.say("U2", "direct 2", channel=two)
    await town.say("U1", "direct 3", old, one)
    await town.say("U1", f"{me} mention 1", first)
    _, envelopes = await town.say("U2", f"{me} redelivered", first)
    await town.say("U2", f"{me} mention 2", first)
    await town.say("U1", "said to each other", first)
    await town.say("U2", "the reply", second)
    deleted, _ = await town.say("U1", "deleted", channel=one)
    town.workspace.delete_root(one, deleted, now=town.clock.wall())
    edited, _ = await town.say("U2", "a misteak", channel=two)
    town.workspace.edit(two, edited, "a mistake", now=town.clock.wall())
    digest = {"channel": two, "text": "The bot is away."}
    town.workspace.call("chat.postMessage", digest, now=town.clock.wall(), token=BOT_TOKEN)
    taken_back, _ = await town.say("U1", f"{me} never mind", first)
    town.workspace.edit(CHANNEL, taken_back, "never mind", now=town.clock.wall())
    await town.say("U1", f"{me} in no thread")
    await town.say("U3", "from somebody new", channel=town.direct("U3"))
    town.workspace.take()
    await asyncio.sleep(10 * MINUTE)

    async with town.bot() as bot:
        assert set(await bot.deliver(envelopes[:1], retry=2)) == {200}
        await asyncio.gather(fill(bot), bot.deliver(envelopes, retry=3))
        await bot.deliver(envelopes, retry=3)
        await bot.idle()
        in_first = ["redelivered", "mention 1", "mention 2"]
        in_direct = ["direct 1", "direct 2", "a mistake", "direct 3"]
        assert sorted(asked(bot)) == sorted([*in_first, *in_direct, "the reply"])
        for these in (in_first, ["direct 2", "a mistake"], ["direct 1", "direct 3"]):
            assert [text for text in asked(bot) if text in these] == these
        assert bot.outcomes == ["answered"] * 8

    async with town.bot() as bot:
        await fill(bot)
        assert asked(bot) == []


READS = ("conversations.history", "conversations.replies")


def reads(town: Town) -> list[tuple[str, str, str | None]]:
    """The channel, the thread and the error of each read since the last look."""
    calls = [call for call in town.workspace.calls if call.method in READS]
    town.workspace.calls.clear()
    return [(str(call.args["channel"]), str(call.args.get("ts", "")), call.error) for call in calls]


async def know(town: Town, threads: int) -> list[str]:
    """So many threads of U1 in the channel, the newest last."""
    async with town.bot(answer("Well.", seconds=0.1)) as bot:
        roots = []
        for number in range(threads):
            roots.append(await bot.ask(f"question {number}"))
            await bot.idle()
            await asyncio.sleep(5)
    reads(town)
    await asyncio.sleep(10 * MINUTE)
    return roots


@on_virtual_time
async def test_of_a_direct_message_only_threads_with_replies_of_people_are_read() -> None:
    town = Town()
    one = town.direct("U1")
    async with town.bot() as bot:
        answered = await bot.say("a question", channel=one)
        await bot.idle()
    await asyncio.sleep(10 * MINUTE)
    unknown, _ = await town.say("U1", "a new one", channel=one)
    await town.say("U1", "is anybody there?", unknown, one)
    reads(town)
    async with town.bot() as bot:
        await fill(bot)
        assert asked(bot) == ["a new one", "is anybody there?"]
        assert reads(town) == [(one, "", None), (one, unknown, None)]
        await town.say("U1", "and?", answered, one)
        await fill(bot)
        assert {thread for _, thread, _ in reads(town)} == {"", unknown, answered}
        assert asked(bot)[2:] == ["and?"]


@on_virtual_time
async def test_the_newest_threads_are_read_first_and_slacks_limit_is_kept() -> None:
    town = Town()
    roots = await know(town, 70)
    for root in roots:
        town.workspace.say("U2", CHANNEL, f"{town.me} and {root}?", now=town.clock.wall(), thread_ts=root)
    async with town.bot(answer("Late.", seconds=0.1)) as bot:
        await fill(bot)
        assert [thread for _, thread, _ in reads(town)] == roots[::-1]
        assert len(asked(bot)) == len(roots)


@on_virtual_time
async def test_an_app_that_may_read_once_a_minute_does(caplog: pytest.LogCaptureFixture) -> None:
    town = Town(WorkspaceRules.real(distributed=True))
    roots = await know(town, 5)
    for number in range(20):  # more than a page
        await town.say("U2", f"{town.me} number {number}", roots[-1])
    async with town.bot(reads_per_minute=1.0, backfill_timeout=4 * MINUTE, max_waiting=20) as bot:
        began = town.clock.monotonic()
        with caplog.at_level(logging.INFO, "slack_bot.inbound.backfill"):
            await fill(bot)
        assert reads(town) == [(CHANNEL, root, None) for root in (roots[4], *roots[4:1:-1])]
        assert town.clock.monotonic() - began == pytest.approx(4 * MINUTE, abs=30)
        assert asked(bot) == [f"number {number}" for number in range(20)]
    assert caplog.messages[-1] == (
        "questions asked while the bot was away: 20; threads and direct messages read: 3, not looked at: 2:"
        " the time of SLACK_BOT_SLACK__BACKFILL_TIMEOUT was over"
    )


@on_virtual_time
async def test_a_refusal_to_read_more_ends_it_with_one_line(caplog: pytest.LogCaptureFixture) -> None:
    town = Town(WorkspaceRules.real(distributed=True))
    roots = await know(town, 4)
    await town.say("U2", f"{town.me} again", roots[3])
    async with town.bot() as bot:
        with caplog.at_level(logging.INFO):
            await fill(bot)
        assert reads(town) == [(CHANNEL, roots[3], None), (CHANNEL, roots[2], "ratelimited")]
        assert asked(bot) == ["again"]
    (line,) = [record.getMessage() for record in caplog.records if "away:" in record.getMessage()]
    assert line.startswith(
        "questions asked while the bot was away: 1; threads and direct messages read: 1, not"
    )
    assert "looked at: 3: Slack lets the app read no more now" in line
    assert "SLACK_BOT_GOVERNOR__READS_PER_MINUTE=1" in line
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@on_virtual_time
async def test_without_a_scope_one_sentence_says_so_and_the_rest_is_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    town = Town()
    roots = await know(town, 3)
    town.workspace.state.manifest = AppManifest(SHIPPED.scopes - {"im:history"}, SHIPPED.events)
    await town.say("U2", f"{town.me} in a channel", roots[0])
    for user in ("U1", "U2", "U3"):
        await town.accepted("1699999999.000100", f"{town.clock.wall():.6f}", town.direct(user))
    async with town.bot() as bot:
        with caplog.at_level(logging.WARNING):
            await fill(bot)
        assert asked(bot) == ["in a channel"]
        assert [error for _, _, error in reads(town) if error] == ["missing_scope"] * 2
    (sentence,) = caplog.messages
    assert "where the Slack app needs the scope im:history: add it" in sentence


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("thread_not_found", "read: 1, not looked at: 2"),
        ("not_in_channel", "read: 1, not looked at: 2"),
        ("connect", "read: 0, not looked at: 3: conversations.replies failed: connect_failed"),
        ("http:503", "read: 0, not looked at: 3: conversations.replies failed: http_503"),
    ],
)
@on_virtual_time
async def test_what_cannot_be_read_is_counted(fault: str, why: str, caplog: pytest.LogCaptureFixture) -> None:
    town = Town()
    await know(town, 3)
    is_here = fault in ("thread_not_found", "not_in_channel")
    town.workspace.faults.set("conversations.replies", [fault, fault, None] if is_here else [fault])
    async with town.bot() as bot:
        with caplog.at_level(logging.INFO, "slack_bot.inbound.backfill"):
            await fill(bot)
    assert caplog.messages[-1].endswith(why)


@on_virtual_time
async def test_an_error_without_an_answer_is_tried_again() -> None:
    town = Town()
    (root,) = await know(town, 1)
    await town.say("U2", f"{town.me} again", root)
    town.workspace.faults.set("conversations.replies", ["internal_error", "http:502", None])
    async with town.bot() as bot:
        await fill(bot)
        assert asked(bot) == ["again"]


@on_virtual_time
async def test_what_the_next_process_takes_over_is_not_asked_again() -> None:
    async with run_bot(answer("Slowly.", seconds=20.0), store=MemoryStore(is_durable=True)) as gone:
        root = await gone.ask("running when it was killed")
        await gone.ask("waiting when it was killed", thread_ts=root)
        await asyncio.sleep(10)
        gone.life.end_now()
        await asyncio.sleep(10 * MINUTE)
        me = f"<@{gone.workspace.bot.user_id}>"
        gone.workspace.say("U2", CHANNEL, f"{me} asked later", now=gone.now, thread_ts=root)
        gone.workspace.take()
        await asyncio.sleep(10 * MINUTE)
        async with run_bot(after=gone) as bot:
            await fill(bot)
            assert asked(bot) == [
                "running when it was killed",
                "waiting when it was killed",
                "asked later",
            ]


@on_virtual_time
async def test_it_can_be_switched_off(caplog: pytest.LogCaptureFixture) -> None:
    town = Town()
    (root,) = await know(town, 1)
    await town.say("U2", f"{town.me} again", root)
    async with town.bot(backfill_hours=0.0) as bot:
        with caplog.at_level(logging.INFO, "slack_bot.inbound.backfill"):
            await fill(bot)
        assert caplog.messages == []
        assert (reads(town), asked(bot)) == ([], [])


@on_virtual_time
async def test_it_looks_back_so_far_and_no_further() -> None:
    town = Town()
    roots = await know(town, 2)
    await town.say("U2", f"{town.me} too long ago", roots[0])
    await asyncio.sleep(HOUR / 2)
    await town.say("U2", f"{town.me} lately", roots[0])
    async with town.bot(backfill_hours=0.5) as bot:
        await town.accepted(roots[0], f"{town.clock.wall() - 29 * MINUTE:.6f}")
        await fill(bot)
        assert reads(town) == [(CHANNEL, roots[0], None)]
        assert asked(bot) == ["lately"]


@on_virtual_time
async def test_what_was_written_before_the_thread_was_known_is_not_asked() -> None:
    town = Town()
    root = town.workspace.say("U1", CHANNEL, "people talk", now=town.clock.wall())
    await town.say("U1", f"{town.me} nobody heard this", root)
    async with town.bot() as bot:
        await bot.ask("now you do", thread_ts=root)
        await bot.idle()
    async with town.bot() as bot:
        await fill(bot)
        assert (asked(bot), len(reads(town))) == ([], 1)


@on_virtual_time
async def test_nor_where_the_bot_ended_before_it_wrote_a_word() -> None:
    town = Town()
    root = town.workspace.say("U1", CHANNEL, "people talk", now=town.clock.wall())
    await town.say("U1", f"{town.me} nobody heard this", root)
    taken, _ = await town.say("U1", f"{town.me} this was accepted", root)
    await town.accepted(root, taken)
    await town.say("U1", f"{town.me} are you there?", root)
    async with town.bot() as bot:
        await fill(bot)
        assert asked(bot) == ["are you there?"]


@on_virtual_time
async def test_a_mention_that_was_lost_while_the_bot_answered_others_is_asked() -> None:
    town = Town()
    async with town.bot() as bot:
        root = await bot.ask("a question")
        await bot.idle()
        await town.say("U1", f"{town.me} lost", root)
        await bot.ask("one that came", thread_ts=root)
        await bot.idle()
    async with town.bot() as bot:
        await fill(bot)
        assert asked(bot) == ["lost"]


@on_virtual_time
async def test_an_edit_of_what_the_bot_has_left_alone_makes_no_question() -> None:
    town = Town()
    async with town.bot() as bot:
        root = await bot.ask("a question")
        await bot.idle()
        left_alone = await bot.say("what do you think?", user="U2", thread_ts=root)
        await bot.ask("another one", thread_ts=root)
        await bot.idle()
    town.workspace.edit(CHANNEL, left_alone, f"{town.me} what do you think?", now=town.clock.wall())
    async with town.bot() as bot:
        await fill(bot)
        assert (asked(bot), len(reads(town))) == ([], 1)


@on_virtual_time
async def test_what_goes_on_without_a_mention_is_judged_as_if_it_came_now() -> None:
    town = Town()
    async with town.bot() as bot:
        root = await bot.ask("a question")
        await bot.idle()
    await town.say("U1", "and then?", root)
    await town.say("U1", "<@U2> do you know?", root)
    await town.say("U2", "no", root)
    await town.say("U1", "thanks", root)
    async with town.bot() as bot:
        await fill(bot)
        assert asked(bot) == ["and then?"]


@on_virtual_time
async def test_an_open_stream_of_another_process_is_none_of_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    town = Town()
    (root,) = await know(town, 1)
    place = {"channel": CHANNEL, "thread_ts": root, "recipient_user_id": "U1", "recipient_team_id": "T1"}
    town.workspace.call("chat.startStream", place, now=town.clock.wall(), token=BOT_TOKEN)
    assert town.workspace.open_streams()
    town.workspace.take()
    await asyncio.sleep(MINUTE)
    async with town.bot() as bot:
        began: list[str] = []
        monkeypatch.setattr(bot.app.threads.registry, "on_stream_started", lambda _, ts: began.append(ts))
        await fill(bot)
        assert (began, len(reads(town))) == ([], 1)


@on_virtual_time
async def test_a_bot_that_was_refused_is_refused_again() -> None:
    town = Town()
    town.workspace.add_user("U7", "robot", is_bot=True)
    async with town.bot(allowed_bots=["U7"], max_bot_turns=2) as bot:
        root = await bot.ask("a person")
        await bot.idle()
        for number in range(3):
            await bot.ask(f"robot {number}", user="U7", thread_ts=root)
            await bot.idle()
        assert asked(bot) == ["a person", "robot 0", "robot 1"]
    async with town.bot(allowed_bots=["U7"], max_bot_turns=2) as bot:
        await fill(bot)
        assert asked(bot) == []
        await town.say("U1", "a person again", root)
        await town.say("U7", f"{town.me} robot 3", root)
        await fill(bot)
        assert asked(bot) == ["robot 3"]


@on_virtual_time
async def test_a_store_that_fails_ends_it(caplog: pytest.LogCaptureFixture) -> None:
    town = Town()
    (root,) = await know(town, 1)
    await town.say("U2", f"{town.me} again", root)
    async with town.bot() as bot:
        await bot.app.threads.close(0)
        with caplog.at_level(logging.INFO, "slack_bot.inbound.backfill"):
            await fill(bot)
    assert caplog.messages[-1].endswith("not looked at: 1: The bot is ending and takes no more questions.")


@on_virtual_time
async def test_a_slack_that_cannot_be_reached_ends_it(caplog: pytest.LogCaptureFixture) -> None:
    town = Town()
    town.workspace.faults.set("auth.test", ["connect"])
    async with town.bot() as bot:
        with caplog.at_level(logging.INFO, "slack_bot.inbound.backfill"):
            await fill(bot)
    (line,) = caplog.messages
    assert line.startswith(
        "questions asked while the bot was away were not looked for: Slack cannot be reached"
    )


async def test_it_looks_once_slack_is_connected() -> None:
    town = Town()
    clock, workspace = system_clock(), town.workspace
    async with (
        serve_scripted(ScriptedAgent(answer("Hello.", seconds=0.1))) as agent_url,
        SlackServer(workspace, clock) as server,
    ):
        settings = emulated(bot_settings(agent_url=agent_url), server.api_url)

        @asynccontextmanager
        async def bot() -> AsyncIterator[None]:
            async with await build(settings, store=town.store) as app, connected(app):
                yield

        def answers() -> int:
            return sum(seen.is_bot and seen.state == "sealed" for seen in workspace.thread(CHANNEL, root))

        async with bot():
            root = workspace.say("U1", CHANNEL, f"{town.me} hi", now=clock.wall())
            await wait_until(lambda: answers() == 1, workspace)
        workspace.say("U1", CHANNEL, f"{town.me} hello?", now=clock.wall(), thread_ts=root, is_told=False)
        async with bot():
            await wait_until(lambda: answers() == 2, workspace)
        assert [seen.text for seen in workspace.thread(CHANNEL, root) if seen.is_bot] == ["Hello."] * 2


def test_a_direct_message_is_read_before_its_threads_and_known_since_its_first_one() -> None:
    def thread(channel: str, ts: str) -> ThreadKey:
        return ThreadKey("T1", channel, ts)

    known = [
        (thread("D1", "30.0"), "95.0"),
        (thread("C1", "20.0"), "90.0"),
        (thread("D1", "10.0"), "50.0"),
        (thread("C2", "9.0"), "40.0"),
        (thread("D1", "20.0"), "35.0"),
        (thread("D2", "5.0"), "5.5"),
    ]
    assert list(places(known, 45.0).items()) == [
        (thread("D1", ""), 10.0),
        (thread("D1", "30.0"), 95.0),
        (thread("C1", "20.0"), 90.0),
        (thread("D1", "10.0"), 50.0),
        (thread("D2", ""), 5.0),
    ]
