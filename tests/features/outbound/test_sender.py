"""The bot speaks first: where it writes, who may answer, and what a process that was killed leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from slack_bot.features.outbound.sender import FEATURE
from slack_bot.testing.agent.scripted import AgentCall
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot, wait_until
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.testing.tape.builders import answer, question
from slack_bot.testing.tape.tape import Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.outbound import OutboundMessage, OutboundRecord
from slack_bot.turn.record import ThreadKey
from tests.examples import at_each_fifth
from tests.features.routing.test_router import town
from tests.store import subjects

LINES = "".join(f"Line {number} of the text has some words.\n" for number in range(1, 13)).rstrip()
LONG = "\n\n".join(f"Paragraph {number} " + "has many words. " * 60 for number in range(20)).rstrip()
SAID = OutboundMessage("All is <@U1> *well*.", channel=CHANNEL)
ASKED = OutboundMessage("What is new?", channel=CHANNEL, headline="News", is_question=True)


async def put(bot: BotHarness, message: OutboundMessage, key: str = "k") -> OutboundRecord:
    return await subjects.accept_outbound(bot.store, OutboundRecord(key, message, bot.now))


@asynccontextmanager
async def running(bot: BotHarness) -> AsyncIterator[None]:
    run = bot.app.features[FEATURE.name].run
    assert run is not None
    task = asyncio.create_task(run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def deliver(bot: BotHarness) -> OutboundRecord:
    """As in a bot that runs, until everything is there."""
    async with running(bot):
        while await subjects.unfinished_outbound(bot.store):  # noqa: ASYNC110  a store tells nobody
            await asyncio.sleep(0.5)
    await bot.idle()
    found = await subjects.outbound(bot.store, "k")
    assert found is not None
    return found


def sent_ids(call: AgentCall) -> tuple[str | None, str | None]:
    """The context and the task that a question to the agent names."""
    message = call.params["message"]
    return message.get("contextId"), message.get("taskId")


async def say(bot: BotHarness, message: OutboundMessage) -> OutboundRecord:
    await put(bot, message)
    return await deliver(bot)


@on_virtual_time
async def test_a_text_is_the_root_message_as_it_was_typed() -> None:
    async with run_bot() as bot:
        said = await say(bot, SAID)
        (root,) = bot.workspace.history(CHANNEL)
        assert (root.ts, root.text, root.is_bot) == (said.posted[0], SAID.text, True)
        assert said.link.endswith(f".slack.com/archives/{CHANNEL}/p{root.ts.replace('.', '')}")
        assert bot.agent.questions == []
        assert (await deliver(bot)) == said
        assert len(bot.calls("chat.postMessage")) == 1


@on_virtual_time
async def test_what_is_said_while_the_bot_runs_is_delivered_within_two_seconds() -> None:
    async with run_bot() as bot:
        async with running(bot):
            await asyncio.sleep(3600.0)
            await put(bot, SAID)
            began = bot.now
            await wait_until(lambda: bot.workspace.history(CHANNEL), bot.workspace)
        assert bot.now - began < 2.0


@on_virtual_time
async def test_under_a_headline_a_long_text_stands_whole_in_the_thread() -> None:
    async with run_bot() as bot:
        said = await say(bot, OutboundMessage(LONG, channel=CHANNEL, headline="Report"))
        (root,) = bot.workspace.history(CHANNEL)
        headline, *body = bot.read(root.ts)
        assert (root.text, headline) == ("Report", "Report")
        assert len(body) > 1
        assert " ".join(body).split() == LONG.split()
        assert len(said.posted) == len(body) + 1


@on_virtual_time
async def test_into_a_thread_and_the_link_says_so() -> None:
    async with run_bot() as bot:
        root = await bot.say("hello everybody")
        said = await say(bot, replace(SAID, thread_ts=root))
        assert bot.read(root) == [SAID.text]
        assert said.link.endswith(f"?thread_ts={root}&cid={CHANNEL}")


@on_virtual_time
async def test_the_agents_answer_is_edited_into_the_thread_and_anybody_goes_on_in_its_context() -> None:
    async with run_bot(
        answer("Nothing is new."),
        answer("Really."),
    ) as bot:
        said = await say(bot, ASKED)
        root = said.posted[0]
        assert bot.read(root) == ["News", "Nothing is new."]
        assert bot.calls("chat.startStream") == []
        await bot.ask("really?", user="U2", thread_ts=root)
        await bot.idle()
        first, second = bot.agent.questions
        assert (first.text, second.text) == ("What is new?", "really?")
        known = await subjects.conversation(bot.store, bot.app.agent.key, ThreadKey("T1", CHANNEL, root))
        assert known.context_id is not None
        assert sent_ids(second)[0] == known.context_id


@on_virtual_time
async def test_an_operators_mentions_take_effect_and_the_agents_do_not() -> None:
    async with run_bot(answer("Hello <!channel> and <@U2>.")) as bot:
        await say(bot, replace(ASKED, headline="For <@U1>"))
        sent = [str(call) for method in ("chat.postMessage", "chat.update") for call in bot.calls(method)]
        assert "<@U1>" in sent[0]
        assert not [call for call in sent if "<!channel>" in call or "<@U2>" in call]


@on_virtual_time
async def test_what_people_wait_for_goes_first() -> None:
    scarce = {"post_burst": 20.0, "posts_per_second": 0.01, "rotate_bytes": 1500}
    async with run_bot(rules=WorkspaceRules(), **scarce) as bot:
        await put(bot, OutboundMessage(LONG, channel=CHANNEL))
        async with running(bot):
            await asyncio.sleep(60.0)
            before = len(bot.calls("chat.postMessage"))
            asked = await bot.ask("")
            await asyncio.sleep(1.0)
            assert before < len(LONG) // 1500
            assert "Write your question in the same message" in bot.read(asked)[0]
            assert await subjects.unfinished_outbound(bot.store)


@on_virtual_time
async def test_without_a_headline_the_question_is_shown() -> None:
    async with run_bot() as bot:
        said = await say(bot, replace(ASKED, headline=""))
        assert bot.read(said.posted[0]) == ["What is new?", "Hello."]


@on_virtual_time
async def test_the_channels_agent_is_asked_also_if_few_may_ask_it(tmp_path: Path) -> None:
    settings = f"""
[agents.ops]
url = "http://ops.invalid/"
people = ["U9"]
[channels.{CHANNEL}]
agent = "ops"
"""
    async with town(tmp_path, settings) as there:
        await say(there.bot, ASKED)
        assert (there.asked("default"), there.asked("ops")) == ([], ["What is new?"])


@on_virtual_time
async def test_in_a_direct_message_any_reply_in_the_thread_goes_on() -> None:
    async with run_bot(answer("Good morning."), answer("Fine.")) as bot:
        said = await say(bot, replace(ASKED, channel="", user="U1"))
        direct, root = bot.workspace.direct("U1"), said.posted[0]
        assert bot.read(root, direct) == ["News", "Good morning."]
        await bot.say("and you?", thread_ts=root, channel=direct)
        await bot.idle()
        assert [asked.text for asked in bot.agent.questions] == ["What is new?", "and you?"]
        assert sent_ids(bot.agent.questions[1])[0] is not None
        assert bot.read(root, direct)[-1] == "Fine."


@on_virtual_time
async def test_what_the_agent_asks_back_anybody_may_answer_without_a_mention() -> None:
    async with run_bot(question("Which one?"), answer("That one.")) as bot:
        root = (await say(bot, ASKED)).posted[0]
        assert "Which one?" in str(bot.read(root))
        await bot.say("the second", user="U2", thread_ts=root)
        await bot.idle()
        assert sent_ids(bot.agent.questions[1])[1] is not None
        assert bot.read(root)[-1] == "That one."
        await bot.say("thanks", user="U1", thread_ts=root)
        await bot.idle()
        assert len(bot.agent.questions) == 2


@on_virtual_time
async def test_anybody_may_stop_an_answer_that_nobody_asked_for() -> None:
    async with run_bot(answer(LINES, seconds=60.0)) as bot:
        await put(bot, ASKED)
        async with running(bot):
            await wait_until(lambda: bot.agent.questions, bot.workspace)
            await bot.ask("stop", user="U2", thread_ts=bot.workspace.history(CHANNEL)[0].ts)
            await bot.idle()
        assert bot.outcomes == ["stopped"]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (replace(SAID, channel="C404"), "for C404 (channel_not_found): check the id"),
        (replace(SAID, channel="C2"), "for C2 (not_in_channel): invite the bot"),
        (replace(SAID, channel="", user="U404"), "for U404 (user_not_found): check the id (U...)"),
        (replace(SAID, thread_ts="1.000001"), "check the link"),
    ],
)
def test_what_slack_does_not_take_is_one_sentence_with_the_remedy(
    message: OutboundMessage, problem: str
) -> None:
    @on_virtual_time
    async def test() -> None:
        async with run_bot() as bot:
            bot.workspace.add_channel("C2", with_bot=False)
            said = await say(bot, message)
            assert said.error is not None
            assert problem in said.error
            assert said.error.endswith(".")
            assert not await subjects.unfinished_outbound(bot.store)

    test()


@on_virtual_time
async def test_no_typing_status_says_that_a_text_is_tried_again() -> None:
    message = replace(SAID, headline="News")
    async with run_bot(faults={"chat.postMessage": [None, *["internal_error"] * 6, None]}) as bot:
        said = await say(bot, message)
        await asyncio.sleep(3600.0)
        assert len(said.posted) == 2
        assert bot.calls("assistant.threads.setStatus") == []


@on_virtual_time
async def test_posts_without_an_answer_are_looked_for_and_not_doubled() -> None:
    async with run_bot(faults={"chat.postMessage": ["timeout!", "timeout", "internal_error!"]}) as bot:
        said = await say(bot, OutboundMessage(LINES, channel=CHANNEL, headline="Report"))
        (root,) = bot.workspace.history(CHANNEL)
        assert bot.read(root.ts) == ["Report", LINES]
        assert len(said.posted) == 2


# -- killed


async def names_of_points(message: OutboundMessage, *tapes: Tape) -> list[str]:
    async with run_bot(*tapes, store=MemoryStore(is_durable=True)) as bot:
        await put(bot, message)
        bot.life.end_after(1_000_000)
        await deliver(bot)
        return list(bot.life.points)


async def killed_after(points: int, message: OutboundMessage, *tapes: Tape) -> tuple[list[str], str, int]:
    """What stands there after the next process: texts, all that is read; how often the agent was asked."""
    async with run_bot(*tapes, store=MemoryStore(is_durable=True)) as bot:
        await put(bot, message)
        bot.life.end_after(points)
        working, over = (asyncio.create_task(each) for each in (deliver(bot), bot.life.over.wait()))
        await asyncio.wait({over, working}, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        working.cancel()
        async with run_bot(after=bot) as next_bot:
            said = await deliver(next_bot)
            assert said.error is None
            assert next_bot.workspace.open_streams() == []
            roots = [root.ts for root in next_bot.workspace.history(CHANNEL)]
            assert roots == [said.posted[0]], points
            read = [seen.read for seen in next_bot.thread(roots[0]) if seen.is_bot]
            return next_bot.read(roots[0]), str(read), len(next_bot.agent.questions)


@at_each_fifth
@on_virtual_time
async def test_killed_at_any_point_a_text_is_there_whole_and_once(step: int) -> None:
    message = OutboundMessage(LONG, channel=CHANNEL, headline="Report")
    names = await names_of_points(message)
    assert names.count("after chat.postMessage") > 2
    for points, name in list(enumerate(names))[::step]:
        headline, *body = (await killed_after(points, message))[0]
        assert headline == "Report", (points, name)
        assert " ".join(body).split() == LONG.split(), (points, name)


@at_each_fifth
@on_virtual_time
async def test_killed_at_any_point_an_answer_is_there_whole_and_once(step: int) -> None:
    lines = "".join(LINES.splitlines(keepends=True)[:4])
    tape = answer(lines, seconds=4.0)
    names, told = await names_of_points(ASKED, tape), []
    for points, name in list(enumerate(names))[::step]:
        (headline, *body), read, asked = await killed_after(points, ASKED, tape)
        assert headline == "News", (points, name)
        assert asked <= 1, (points, name)
        if "cannot find out what became of this question" in read:
            told.append(points)
            assert len(body) == 1, (points, name)
        else:
            assert " ".join(body).split() == lines.split(), (points, name, body)
    # between asking and knowing the task nobody can tell: this agent cannot be asked for its tasks
    send, known = names.index("after save"), names.index("before change conversations")
    assert told == [at for at in range(send, known - 1) if at % step == 0], [names[at] for at in told]
