"""What an agent is sent beside a question, from Slack's events to the wire: each word once, and no wait."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.store.quoted import QUOTED, QuotedMessages
from slack_bot.testing import virtual_clock
from slack_bot.testing.harness import CHANNEL, BotHarness, deliver, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.files import PersonFile
from slack_bot.testing.slack.rules import WorkspaceRules
from slack_bot.testing.tape.builders import answer, question
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.people import PersonKind
from slack_bot.turn.quotes import ThreadMessage
from slack_bot.turn.record import Question, ThreadKey
from tests.examples import examples
from tests.store import subjects

REPLIES = "conversations.replies"
DATA = {"context.format": "data"}


class Door(httpx.AsyncBaseTransport):
    """To the agent; closed, no question gets there."""

    def __init__(self) -> None:
        self.inner: httpx.AsyncBaseTransport | None = None
        self.is_closed = False

    def through(self, inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        self.inner = inner
        return self

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self.is_closed and request.method == "POST":
            raise httpx.ConnectError("closed")
        assert self.inner is not None
        return await self.inner.handle_async_request(request)


def told(bot: BotHarness, number: int = -1) -> list[tuple[str, str]]:
    """Who said what, as the agent was told with a question."""
    quoted = bot.agent.questions[number].quoted
    return [] if quoted is None else [(each["author"], each["text"]) for each in quoted["messages"]]


def place(bot: BotHarness, number: int = -1) -> dict[str, Any]:
    found: dict[str, Any] = bot.agent.questions[number].params["message"]["metadata"]["slack"]
    return found


def grant(bot: BotHarness, scopes: frozenset[str]) -> None:
    """The app is installed with these scopes."""
    state = bot.workspace.state
    state.manifest = dataclasses.replace(state.manifest, scopes=scopes)


async def talk(bot: BotHarness, *words: str, user: str = "U2", root: str | None = None) -> str:
    """A thread of people in which nobody mentions the bot. Returns its root."""
    for word in words:
        ts = await bot.say(word, user=user, thread_ts=root)
        root = root or ts
    assert root is not None
    return root


async def ask(bot: BotHarness, text: str, root: str | None = None, user: str = "U1") -> str:
    ts = await bot.ask(text, user=user, thread_ts=root)
    await bot.idle()
    return ts


# -- each word once


@on_virtual_time
async def test_in_the_middle_of_a_thread_the_agent_gets_what_was_said() -> None:
    async with run_bot() as bot:
        root = await talk(bot, "the disk of db1 is full", "<@U1> what now?")
        await ask(bot, "what do you think?", root)
        (asked,) = bot.agent.questions
        parts = asked.params["message"]["parts"]
        assert parts[0] == {"kind": "text", "text": "what do you think?"}
        assert parts[1]["metadata"] == {"role": "context"}
        _, line, *quoted, end = asked.quoted.split("\n")
        assert line == end
        assert [each for each in quoted if each.startswith(">")] == [
            "> the disk of db1 is full",
            "> @U1 what now?",
        ]


@on_virtual_time
async def test_what_another_bot_says_in_attachments_alone_is_quoted() -> None:
    async with run_bot(**DATA) as bot:
        bot.workspace.add_user("UPAGER", "Pager", is_bot=True)
        attachment = {"title": "Disk full", "fields": [{"title": "Host", "value": "db1"}]}
        root = bot.workspace.alert("UPAGER", CHANNEL, [attachment], now=bot.now)
        await ask(bot, "what is this?", root)
        (alert,) = bot.agent.questions[0].quoted["messages"]
        assert (alert["kind"], alert["text"]) == ("bot", "Disk full\nHost: db1")


@on_virtual_time
async def test_later_it_gets_what_was_said_since_once() -> None:
    async with run_bot(**DATA) as bot:
        root = await talk(bot, "one", "two")
        await ask(bot, "first?", root)
        await talk(bot, "three", root=root)
        await ask(bot, "second?", root, user="U2")
        await ask(bot, "third?", root)
        assert [told(bot, number) for number in range(3)] == [
            [("U2", "one"), ("U2", "two")],
            [("U2", "three")],
            [],
        ]
        assert [call.text for call in bot.agent.questions] == ["first?", "second?", "third?"]


@on_virtual_time
async def test_what_is_said_while_an_answer_runs_comes_with_the_next_question() -> None:
    async with run_bot(answer("Slow.", seconds=30), answer("Next."), **DATA) as bot:
        root = await talk(bot, "one")
        await bot.ask("first?", thread_ts=root)
        await asyncio.sleep(5)
        await talk(bot, "two", root=root)
        await ask(bot, "second?", root)
        assert told(bot) == [("U2", "two")]


@on_virtual_time
async def test_messages_that_became_one_question_are_not_quoted() -> None:
    async with run_bot(answer("Slow.", seconds=30), answer("Next."), busy="collect", **DATA) as bot:
        root = await ask(bot, "first?")
        await bot.ask("now", thread_ts=root)
        await asyncio.sleep(1)
        await bot.ask("second", thread_ts=root)
        await talk(bot, "between", root=root)
        await bot.ask("third", thread_ts=root)
        await bot.idle()
        assert [call.text for call in bot.agent.questions] == ["first?", "now\nsecond\nthird"]
        await ask(bot, "last?", root)
        assert [each for number in range(len(bot.agent.questions)) for each in told(bot, number)] == [
            ("U2", "between")
        ]


@on_virtual_time
async def test_a_question_that_was_refused_skips_no_words_and_is_one_itself() -> None:
    door = Door()
    async with run_bot(through=door.through, connect_retries=0, **DATA) as bot:
        root = await talk(bot, "one")
        door.is_closed = True
        await ask(bot, "refused?", root)
        assert bot.outcomes == ["refused"]
        door.is_closed = False
        await ask(bot, "taken?", root)
        words = [text for author, text in told(bot) if author != "this bot"]
        assert words == ["one", "@U0BOT refused?"]


@on_virtual_time
async def test_a_question_that_was_lost_before_the_agent_said_anything_skips_no_words() -> None:
    async with run_bot(cut_after=0, **DATA) as bot:
        root = await talk(bot, "one")
        await ask(bot, "lost?", root)
        assert bot.outcomes == ["lost"]
        await ask(bot, "again?", root)
        assert told(bot)[0] == ("U2", "one")


@on_virtual_time
async def test_the_next_process_goes_on_where_the_last_one_was() -> None:
    store = MemoryStore(is_durable=True)
    async with run_bot(store=store, **DATA) as bot:
        root = await talk(bot, "one")
        await ask(bot, "first?", root)
        before = bot
    async with run_bot(after=before, **DATA) as bot:
        await talk(bot, "two", root=root)
        await ask(bot, "second?", root)
        assert told(bot) == [("U2", "two")]


@on_virtual_time
async def test_a_question_under_way_in_a_process_that_was_killed_has_taken_the_words() -> None:
    """Its task is known, so it is not asked again; nor are its words told again."""
    store = MemoryStore(is_durable=True)
    async with run_bot(answer("Slow.", seconds=60), answer("Next."), store=store, **DATA) as bot:
        root = await talk(bot, "one")
        await bot.ask("first?", thread_ts=root)
        await asyncio.sleep(5)
        before = bot
        bot.life.end_now()
    async with run_bot(after=before, **DATA) as bot:
        await bot.idle()
        await ask(bot, "second?", root)
        assert [call.text for call in bot.agent.questions] == ["first?", "second?"]
        assert told(bot) == []


@on_virtual_time
async def test_an_agent_that_begins_anew_gets_the_thread_again_with_the_bot_s_answers() -> None:
    tapes = answer("One.", ids="1"), answer("Two.", ids="2"), answer("Three.", ids="2")
    async with run_bot(*tapes, **DATA) as bot:
        root = await talk(bot, "one")
        await ask(bot, "first?", root)
        await ask(bot, "second?", root)
        assert told(bot) == []  # the bot learns from the answer that the agent has forgotten
        await ask(bot, "third?", root)
        assert [text for _, text in told(bot)] == [
            "one",
            "@U0BOT first?",
            "One.",
            "@U0BOT second?",
            "Two.",
        ]


@on_virtual_time
async def test_what_answers_the_agent_s_own_question_goes_alone() -> None:
    async with run_bot(question("Which one?"), answer("Done."), answer("More."), **DATA) as bot:
        root = await ask(bot, "deploy")
        await talk(bot, "I would take staging", root=root)
        await bot.say("production", thread_ts=root)
        await bot.idle()
        assert bot.agent.questions[1].params["message"]["taskId"] == "task-1"
        assert told(bot, 1) == []
        await ask(bot, "and?", root)
        assert told(bot) == [("U2", "I would take staging")]


# -- no call


@on_virtual_time
async def test_nothing_is_read_for_a_root_or_where_only_the_asker_and_the_bot_have_written() -> None:
    async with run_bot(**DATA) as bot:
        root = await ask(bot, "first?")
        await ask(bot, "second?", root)
        assert bot.calls(REPLIES) == []
        await talk(bot, "a word", root=root)
        await ask(bot, "third?", root)
        assert told(bot) == [("U2", "a word")]
        assert len(bot.calls(REPLIES)) == 1


@on_virtual_time
async def test_it_is_read_where_events_may_have_been_missed() -> None:
    async with run_bot(**DATA) as bot:
        root = await ask(bot, "first?")
        bot.workspace.say("U2", CHANNEL, "not told", now=bot.now, thread_ts=root, is_told=False)
        bot.app.threads.context.forget()
        await ask(bot, "second?", root)
        assert told(bot) == [("U2", "not told")]


@on_virtual_time
async def test_words_whose_event_comes_late_are_told_later() -> None:
    """Slack keeps no order between events."""
    async with run_bot(**DATA) as bot:
        root = await ask(bot, "first?")
        bot.workspace.say("U2", CHANNEL, "late", now=bot.now, thread_ts=root)
        late = bot.workspace.take()
        await ask(bot, "second?", root)
        assert told(bot) == []
        await bot.deliver(late)
        await ask(bot, "third?", root)
        assert told(bot) == [("U2", "late")]


@on_virtual_time
async def test_an_app_without_events_of_messages_reads() -> None:
    """A mention is all that it hears of: nobody knows who else has written."""
    async with run_bot(**DATA) as bot:
        root = await bot.ask("first?")

        async def only_mentions() -> None:
            for each in bot.workspace.take():
                if each.payload["event"]["type"] == "app_mention":
                    await deliver(bot.app, each.payload)
            await asyncio.sleep(10)

        bot.app.threads.context.forget()
        await only_mentions()
        bot.workspace.say("U2", CHANNEL, "unheard", now=bot.now, thread_ts=root)
        bot.workspace.say("U1", CHANNEL, "<@U0BOT> second?", now=bot.now, thread_ts=root)
        await only_mentions()
        assert told(bot) == [("U2", "unheard")]


@on_virtual_time
@pytest.mark.parametrize("overrides", [{"channel.context": "none"}, {"context.format": "none"}])
async def test_where_nothing_is_quoted_nothing_is_read(overrides: dict[str, str]) -> None:
    async with run_bot(**overrides) as bot:
        root = await talk(bot, "one")
        await ask(bot, "first?", root)
        assert (bot.agent.questions[0].quoted, bot.calls(REPLIES)) == (None, [])


# -- never in the way


@on_virtual_time
@pytest.mark.parametrize("fault", ["ratelimited:5", "slow:60", "http:503", "timeout", "internal_error"])
async def test_what_cannot_be_read_does_not_stop_the_question(fault: str) -> None:
    async with run_bot(faults={REPLIES: [fault, None]}, **DATA) as bot:
        root = await talk(bot, "one")
        await bot.ask("first?", thread_ts=root)
        await asyncio.sleep(3.2)
        assert bot.agent.questions[0].quoted["available"] is False
        await bot.idle()
        assert bot.outcomes == ["answered"]
        await asyncio.sleep(60)
        await ask(bot, "second?", root)
        assert [each for each in told(bot) if each[0] != "this bot"] == [("U2", "one")]


@on_virtual_time
async def test_who_stops_the_turn_does_not_wait_for_what_was_said() -> None:
    async with run_bot(faults={REPLIES: ["slow:60"]}, read_timeout=30) as bot:
        root = await talk(bot, "one")
        await bot.ask("first?", thread_ts=root)
        await asyncio.sleep(1)
        await bot.ask("stop", thread_ts=root)
        await asyncio.sleep(5)
        assert bot.outcomes == ["stopped"]


@on_virtual_time
async def test_without_the_scope_it_is_said_once_what_is_missing(caplog: pytest.LogCaptureFixture) -> None:
    async with run_bot(**DATA) as bot:
        state = bot.workspace.state
        state.manifest = dataclasses.replace(
            state.manifest, scopes=state.manifest.scopes - {"channels:history"}
        )
        root = bot.workspace.say("U2", CHANNEL, "one", now=bot.now)
        for number in range(3):
            await ask(bot, f"{number}?", root)
            assert bot.agent.questions[-1].quoted["available"] is False
        assert bot.outcomes == ["answered"] * 3
    problems = [each.getMessage() for each in caplog.records if "channels:history" in each.getMessage()]
    assert len(problems) == 1
    assert "OAuth & Permissions" in problems[0]


# -- an app that may read once a minute


@on_virtual_time
async def test_an_app_that_is_limited_remembers_what_it_hears(caplog: pytest.LogCaptureFixture) -> None:
    async with run_bot(rules=WorkspaceRules.real(distributed=True), **DATA) as bot:
        root = await talk(bot, *map(str, range(20)))
        await ask(bot, "first?", root)
        assert [text for _, text in told(bot)] == [str(number) for number in range(15)]
        quoted = bot.agent.questions[0].quoted  # a second page would be a minute later
        assert quoted["truncated"] and quoted["end_missing"]
        await talk(bot, "heard", root=root)
        await talk(bot, "of another thread")
        await asyncio.sleep(200)
        await ask(bot, "second?", root)
        assert told(bot) == [("U2", "heard")]
        quoted = bot.agent.questions[1].quoted
        assert quoted["truncated"] and "end_missing" not in quoted  # what was said between is not read
        await ask(bot, "third?", root)
        assert told(bot) == []
        assert len(bot.calls(REPLIES)) == 2
        assert len(await subjects.overheard(bot.store, ThreadKey("T1", CHANNEL, root))) == 3
    assert len([each for each in caplog.records if "too seldom" in each.getMessage()]) == 1


@on_virtual_time
async def test_one_whose_operator_says_so_reads_nothing() -> None:
    rules = WorkspaceRules.real(distributed=True)
    async with run_bot(rules=rules, reads_per_minute=1, **DATA) as bot:
        root = await talk(bot, "a", "b")
        await ask(bot, "first?", root)
        assert bot.agent.questions[0].quoted["available"] is False
        await talk(bot, "heard", root=root)
        await ask(bot, "second?", root)
        assert told(bot) == [("U2", "heard")] and bot.agent.questions[1].quoted["truncated"]
        own = await ask(bot, "third?")
        await talk(bot, "c", root=own)
        await ask(bot, "fourth?", own)
        assert told(bot) == [("U2", "c")] and not bot.agent.questions[3].quoted["truncated"]
        bot.app.threads.context.forget()  # the connection was lost
        await talk(bot, "d", root=own)
        await ask(bot, "fifth?", own)
        assert told(bot) == [("U2", "d")] and bot.agent.questions[4].quoted["truncated"]
        assert bot.calls(REPLIES) == []


@on_virtual_time
async def test_it_remembers_no_more_than_the_setting_says_and_nothing_of_other_threads() -> None:
    async with run_bot(reads_per_minute=1, overheard=3, **DATA) as bot:
        other = await talk(bot, "x", "y")
        root = await talk(bot, "before")
        await ask(bot, "first?", root)
        assert bot.agent.questions[0].quoted["available"] is False
        await talk(bot, *"abcde", root=root)
        await ask(bot, "second?", root)
        assert [text for _, text in told(bot)] == ["d", "e"]  # and the question itself
        assert bot.agent.questions[1].quoted["truncated"]
        assert await subjects.overheard(bot.store, ThreadKey("T1", CHANNEL, other)) == []
        assert bot.calls(REPLIES) == []


@on_virtual_time
async def test_what_is_remembered_is_what_stands_there_now() -> None:
    async with run_bot(reads_per_minute=1, **DATA) as bot:
        root = await ask(bot, "first?")
        for word in ("kept", "slip", "secret"):
            ts = await bot.say(word, user="U2", thread_ts=root)
            if word == "slip":
                bot.workspace.edit(CHANNEL, ts, "meant", now=bot.now)
        bot.workspace.delete(CHANNEL, ts, now=bot.now)
        await bot.idle()
        await ask(bot, "second?", root)
        assert told(bot) == [("U2", "kept"), ("U2", "meant")]
        assert "secret" not in str(await subjects.overheard(bot.store, ThreadKey("T1", CHANNEL, root)))
        assert bot.calls(REPLIES) == []


@on_virtual_time
async def test_with_none_it_remembers_nothing() -> None:
    async with run_bot(reads_per_minute=1, overheard=0, **DATA) as bot:
        root = await ask(bot, "first?")
        await talk(bot, "a", root=root)
        await ask(bot, "second?", root)
        assert bot.agent.questions[1].quoted["available"] is False
        assert await subjects.overheard(bot.store, ThreadKey("T1", CHANNEL, root)) == []


# -- who and where


@on_virtual_time
async def test_the_agent_is_told_where_and_by_whose_id_it_was_asked() -> None:
    async with run_bot() as bot:
        root = await talk(bot, "one")
        ts = await ask(bot, "first?", root)
        assert place(bot) == {
            "team": "T1",
            "channel": CHANNEL,
            "thread_ts": root,
            "ts": ts,
            "permalink": f"https://playground.slack.com/archives/{CHANNEL}/p{ts.replace('.', '')}"
            f"?thread_ts={root}&cid={CHANNEL}",
            "is_dm": False,
            "is_ext_shared": False,
            "user": "U1",
            "user_team": "T1",
        }
        assert bot.calls("users.info") == []


@on_virtual_time
async def test_in_a_direct_message_that_is_said() -> None:
    async with run_bot() as bot:
        await bot.say("hello", channel=bot.workspace.direct("U1"))
        await bot.idle()
        assert place(bot)["is_dm"]


@pytest.mark.parametrize("is_folded", [True, False])
@on_virtual_time
async def test_in_a_direct_message_the_channel_that_the_asker_looks_at_is_named(is_folded: bool) -> None:
    """Slack puts it beside the message; before that it has told of it in an event of its own."""
    async with run_bot() as bot:
        channel = bot.workspace.direct("U1")
        bot.workspace.look_at("U1", CHANNEL, now=bot.now)
        await bot.deliver()
        if not is_folded:
            bot.workspace.state.viewing.clear()
        await bot.say("what is this about?", channel=channel)
        await bot.idle()
        assert place(bot)["viewing"] == [CHANNEL]
        await ask(bot, "and here?")
        assert "viewing" not in place(bot)
        await bot.say("mine", channel=bot.workspace.direct("U2"), user="U2")
        await bot.idle()
        assert "viewing" not in place(bot)
        bot.workspace.look_at("U1", now=bot.now)
        await bot.deliver()
        await bot.say("and now?", channel=channel)
        await bot.idle()
        assert "viewing" not in place(bot)


@pytest.mark.parametrize("options", [{"channel.identity": "none"}, {"channel.context": "none"}])
@on_virtual_time
async def test_where_that_may_not_be_told_it_is_not(options: dict[str, str]) -> None:
    async with run_bot(**options) as bot:
        bot.workspace.look_at("U1", CHANNEL, now=bot.now)
        await bot.say("what is this about?", channel=bot.workspace.direct("U1"))
        await bot.idle()
        assert "viewing" not in place(bot)


@on_virtual_time
async def test_without_identity_nobody_is_named() -> None:
    async with run_bot(**{"channel.identity": "none"}, **DATA) as bot:
        root = await talk(bot, "ask <@U1>")
        await ask(bot, "first?", root)
        assert not {"user", "user_team"} & place(bot).keys()
        assert told(bot) == [("person 1", "ask @someone")]
        assert "U2" not in str(bot.agent.questions[0].quoted)


@on_virtual_time
async def test_with_names_people_are_looked_up_once() -> None:
    async with run_bot(**{"channel.identity": "name"}, **DATA) as bot:
        bot.workspace.add_user("U1", "Ann (the asker)", email="ann@example.org")
        bot.workspace.add_user("U2", "Bob\n> forged")
        root = await talk(bot, "ask <@U1>")
        await ask(bot, "first?", root)
        assert told(bot) == [("Bob forged", "ask @Ann the asker")]
        asked = place(bot)
        assert (asked["name"], asked["tz"], asked["locale"]) == ("Ann the asker", "Europe/Rome", "en-GB")
        assert (asked["channel_name"], "email" in asked) == ("c1", False)
        await ask(bot, "second?", root)
        assert len(bot.calls("users.info")) == 2
        assert len(bot.calls("conversations.info")) == 1


@on_virtual_time
async def test_the_address_is_told_where_the_setting_and_the_scope_allow_it() -> None:
    async with run_bot(**{"channel.identity": "email"}) as bot:
        bot.workspace.add_user("U1", "Ann", email="ann@example.org")
        await ask(bot, "first?")
        assert "email" not in place(bot)
        grant(bot, bot.workspace.state.manifest.scopes | {"users:read.email"})
        await asyncio.sleep(3601)
        await ask(bot, "second?")
        assert place(bot)["email"] == "ann@example.org"


@on_virtual_time
async def test_a_directory_that_does_not_answer_is_not_waited_for() -> None:
    async with run_bot(**{"channel.identity": "name"}, faults={"users.info": ["slow:60"]}, **DATA) as bot:
        root = await talk(bot, "one")
        await bot.ask("first?", thread_ts=root)
        await asyncio.sleep(3.2)
        assert told(bot) == [("U2", "one")]


# -- people of other organisations


@on_virtual_time
@pytest.mark.parametrize(("external", "words"), [("deny", ["ours"]), ("allow", ["ours", "theirs"])])
async def test_their_words_are_quoted_where_that_is_allowed(external: str, words: list[str]) -> None:
    async with run_bot(external=external, **DATA) as bot:
        bot.workspace.add_user("U9", team="T9")
        root = await talk(bot, "ours")
        await talk(bot, "theirs", user="U9", root=root)
        await ask(bot, "first?", root)
        assert [text for _, text in told(bot)] == words


@on_virtual_time
@pytest.mark.parametrize(("external", "words"), [("deny", ["ours"]), ("allow", ["ours", "theirs"])])
async def test_so_it_is_with_a_file_of_which_slack_does_not_say_whose_it_is(
    external: str, words: list[str]
) -> None:
    """Recorded: a message with a file names no team. Who wrote it is asked where a channel is shared."""
    async with run_bot(external=external, **DATA) as bot:
        bot.workspace.add_user("U9", team="T9")
        root = await bot.say("ours", PersonFile("ours.txt"), user="U2")
        await bot.say("theirs", PersonFile("theirs.txt"), user="U9", thread_ts=root)
        await ask(bot, "first?", root)
        assert [text for _, text in told(bot)] == words


@on_virtual_time
async def test_whose_file_it_is_is_not_asked_where_no_other_organisation_is() -> None:
    async with run_bot(**DATA) as bot:
        root = await bot.say("ours", PersonFile("ours.txt"), user="U2")
        await ask(bot, "first?", root)
        assert [text for _, text in told(bot)] == ["ours"]
        assert not [call for call in bot.workspace.calls if call.method == "users.info"]


# -- over any course


class Course:
    """Drawn turns in one thread. `due`: words that the agent must be told, in this order."""

    def __init__(self) -> None:
        self.door = Door()
        self.root = ""
        self.due: list[str] = []
        self.said = 0

    def next(self) -> str:
        self.said += 1
        return f"word {self.said}"

    async def play(self, bot: BotHarness, step: str) -> None:
        word = self.next()
        if step == "say":
            await bot.say(word, user="U2", thread_ts=self.root)
            self.due.append(word)
            return
        if step == "unread":
            bot.workspace.faults.set(REPLIES, ["ratelimited:5"])
        self.door.is_closed = step == "refused"
        before = len(bot.agent.questions)
        await ask(bot, word, self.root)
        bot.workspace.faults.set(REPLIES, [])
        if step == "refused":
            assert len(bot.agent.questions) == before
            self.due.append(f"@U0BOT {word}")
            return
        assert bot.agent.questions[-1].text == word
        quoted = bot.agent.questions[-1].quoted
        if quoted is not None and not quoted.get("available", True):
            return
        assert [text for author, text in told(bot) if author != "this bot"] == self.due
        self.due = []


STEPS = st.lists(st.sampled_from(["say", "say", "ask", "refused", "unread", "restart"]), max_size=9)


@given(STEPS, st.booleans())
@examples(200)
def test_over_any_course_each_word_is_told_once(steps: list[str], is_followed: bool) -> None:
    """`is_followed`: the bot is there from the first message on."""

    async def go() -> None:
        course, bot = Course(), None
        options: dict[str, Any] = {"through": course.door.through, "connect_retries": 0, **DATA}
        rest, store = [*steps, "ask"], MemoryStore(is_durable=True)
        while rest:
            async with run_bot(store=store, after=bot, **options) as bot:
                if not course.root:
                    first = course.next()
                    text = f"<@U0BOT> {first}" if is_followed else first
                    course.root = await bot.say(text)
                    await bot.idle()
                    course.due = [] if is_followed else [first]
                while rest and (step := rest.pop(0)) != "restart":
                    await course.play(bot, step)
            course.door.inner = None

    virtual_clock.run(go())


# -- what a question is about


async def ask_about(bot: BotHarness, ts: str, *about: ThreadMessage, root: str = "") -> None:
    """Ask about messages, of which the last one is `ts`, as a reaction does."""
    thread = ThreadKey("T1", CHANNEL, root or ts)
    key = f"about-{ts}"
    record = QuotedMessages(thread, about, "U1", bot.now)
    await bot.app.store.change(QUOTED, (key,), lambda _: record, bot.now)
    asked = Question(thread, ts, "U1", "T1", "Please answer this.", quoted=key, variant="eyes")
    await bot.app.threads.intake.accept(asked)
    await bot.idle()


def said(ts: str, text: str, author: str = "U2") -> ThreadMessage:
    return ThreadMessage(ts, author, PersonKind.MEMBER, text)


@pytest.mark.parametrize("context", ["none", "asker", "thread"])
@pytest.mark.parametrize("form", ["data", "none"])
@on_virtual_time
async def test_what_a_question_is_about_goes_along_whatever_the_channel_says(context: str, form: str) -> None:
    async with run_bot(**{"context.format": form, "channel.context": context}) as bot:
        root = await talk(bot, "the disk is full", "who looks?")
        ts = await bot.say("it is db1", user="U2", thread_ts=root)
        await ask_about(bot, ts, said(ts, "it is db1"), root=root)
        words = ["the disk is full", "who looks?"] if (context, form) == ("thread", "data") else []
        quoted = bot.agent.questions[0].quoted
        if form == "none":
            assert "> it is db1" in quoted
        else:
            assert told(bot) == [("U2", each) for each in [*words, "it is db1"]]


@on_virtual_time
async def test_a_long_message_that_a_question_is_about_is_not_cut_like_the_others() -> None:
    async with run_bot(**DATA) as bot:
        ts = await bot.say("x" * 3000, user="U2")
        await ask_about(bot, ts, said(ts, "x" * 3000))
        assert told(bot) == [("U2", "x" * 3000)]


@on_virtual_time
async def test_the_agent_hears_that_what_it_is_asked_about_was_erased() -> None:
    async with run_bot(**DATA) as bot:
        ts = await bot.say("it is db1", user="U2")
        asked = Question(ThreadKey("T1", CHANNEL, ts), ts, "U1", "T1", "Please answer this.", quoted="gone")
        await bot.app.threads.intake.accept(asked)
        await bot.idle()
        assert bot.agent.questions[0].quoted["available"] is False


@on_virtual_time
async def test_the_instructions_of_a_channel_go_along_in_the_metadata() -> None:
    async with run_bot(**{"channel.instructions": "Answer in two sentences."}) as bot:
        await ask(bot, "what now?")
        assert place(bot)["instructions"] == "Answer in two sentences."
        assert [part["text"] for part in bot.agent.questions[0].params["message"]["parts"]] == ["what now?"]
