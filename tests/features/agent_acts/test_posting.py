"""An agent posts into another channel, where the operator listed the pair."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from slack_bot.features.agent_acts.feature import ActingAgents
from slack_bot.testing.harness import BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.examples import at_each_third
from tests.features.agent_acts.test_feature import acting, lines
from tests.threads.test_asker_rights import exchanges

THERE, PRIVATE = "C2", "G3"
URL = "https://playground.slack.com"
POST = {"action": "post", "channel": THERE, "text": "The disk of <!channel> *db1* is full."}
PAIR = f'[channels.C1]\npost_to = ["{THERE}"]\n'


@asynccontextmanager
async def posting(
    folder: Path, *tapes: Tape, file: str = PAIR, after: BotHarness | None = None, **settings: Any
) -> AsyncIterator[BotHarness]:
    """A bot in `C1`, `C2` and the private channel `G3`, which delivers what a process before it left."""
    (config := folder / "slack_bot.toml").write_text(file)
    async with run_bot(*tapes, config=str(config), after=after, **settings) as bot:
        if after is None:
            bot.workspace.add_channel(THERE).members.add("U2")
            bot.workspace.add_channel(PRIVATE, kind="group").members.add("U1")
        work = bot.app.features["agent_acts"].run
        running = [] if work is None else [asyncio.create_task(work())]
        try:
            yield bot
        finally:
            for task in running:
                task.cancel()


def posts(bot: BotHarness, channel: str = THERE) -> list[str]:
    """What stands in a channel, without its threads."""
    return [each.text for each in bot.workspace.history(channel)]


async def asked(bot: BotHarness) -> str:
    root = await bot.ask("what now?")
    await bot.idle()
    return root


@on_virtual_time
async def test_it_is_posted_there_with_a_link_to_its_cause_and_the_thread_says_so(tmp_path: Path) -> None:
    async with posting(tmp_path, acting(POST, POST)) as bot:
        root = await asked(bot)
        (text,) = posts(bot)
        question = f"{URL}/archives/C1/p{root.replace('.', '')}"
        head, _, body = text.partition("\n\n")
        assert head == f"_From the agent because of [this message]({question}):_"
        assert "*db1*" in body and "<!channel>" not in body
        (there,) = bot.workspace.history(THERE)
        link = f"{URL}/archives/{THERE}/p{there.ts.replace('.', '')}"
        said, answered = sorted(text.strip() for text in bot.read(root))
        assert (said, answered) == ("Done.", f"_The agent wrote [a message]({link}) in <#{THERE}>._")
        slack = bot.agent.questions[0].params["message"]["metadata"]["slack"]
        assert (slack["actions"], slack["post_to"]) == (["post"], [THERE])


@on_virtual_time
async def test_without_a_listed_pair_nothing_is_posted_or_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with posting(tmp_path, acting(POST), file='[channels.C9]\npost_to = ["C2"]\n') as bot:
        root = await asked(bot)
        assert posts(bot) == [] and [text.strip() for text in bot.read(root)] == ["Done."]
        assert "does not allow it" in caplog.text
        assert bot.calls("conversations.info") == []


async def refused(folder: Path, tape: Tape, file: str = PAIR, **settings: Any) -> tuple[list[str], str, Any]:
    """What is posted, what the thread says of it, and what the agent learns with the next question."""
    async with posting(folder, tape, answer("Yes."), answer("No."), file=file, **settings) as bot:
        if "shared" in folder.name:
            bot.workspace.add_user("U9", team="T9")
            bot.workspace.add_channel(THERE).members.add("U9")
        root = await asked(bot)
        for text in ("and now?", "and then?"):
            await bot.ask(text, thread_ts=root)
            await bot.idle()
        (line,) = lines(bot, root)
        told = [each.params["message"]["metadata"]["slack"] for each in bot.agent.questions]
        assert "refused_actions" not in told[0] and "refused_actions" not in told[2]
        return [*posts(bot), *posts(bot, PRIVATE)], line, told[1]["refused_actions"]


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        ({**POST, "channel": PRIVATE}, f"it may not post from here into <#{PRIVATE}>"),
        ({**POST, "channel": "#general"}, "it named no channel by its id"),
        ({**POST, "text": ""}, "it gave no text to post"),
        ({**POST, "text": "a" * 3001}, "its text has more than 3000 characters"),
    ],
)
@on_virtual_time
async def test_a_refusal_is_told_to_people_and_to_the_agent_once(
    act: dict[str, Any], reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    posted, line, told = await refused(tmp_path, acting(act))
    assert posted == []
    assert line == f"_The agent wanted to do something in Slack, and could not: {reason}._"
    assert told == [{"action": "post", "channel": act["channel"], "reason": reason}]
    assert reason in caplog.text


@on_virtual_time
async def test_nothing_goes_where_another_organisation_reads(tmp_path: Path) -> None:
    (folder := tmp_path / "shared").mkdir()
    posted, line, told = await refused(folder, acting(POST))
    assert posted == []
    assert "other organisations can read <#C2>" in line and len(told) == 1


@pytest.mark.parametrize(("name", "is_posted"), [("post_to", False), ("post_to_public", True)])
@on_virtual_time
async def test_what_is_asked_in_private_becomes_public_only_where_the_pair_says_so(
    name: str, is_posted: bool, tmp_path: Path
) -> None:
    file = f'[channels.dm]\n{name} = ["{THERE}", "{PRIVATE}"]\n'
    tape = acting(POST, {**POST, "channel": PRIVATE})
    async with posting(tmp_path, tape, file=file) as bot:
        direct = bot.workspace.direct("U1")
        root = await bot.say("what now?", channel=direct)
        await bot.idle()
        assert (len(posts(bot)), len(posts(bot, PRIVATE))) == (int(is_posted), 1)
        said = [text for text in bot.read(root, direct) if "everybody can read <#C2>" in text]
        assert bool(said) is not is_posted


async def left_undone(folder: Path, points: int) -> tuple[BotHarness, str, list[str]]:
    """A process that ended after so many points behind the question, its question and these points."""
    store = MemoryStore(is_durable=True)
    async with posting(folder, acting(POST), store=store) as bot:
        root = await bot.ask("what now?")
        bot.life.end_after(points)
        await asyncio.sleep(30.0)
        bot.life.end_now()
        return bot, root, list(bot.life.points)


@on_virtual_time
async def test_what_an_agent_wrote_with_the_rights_of_the_asker_stays_in_the_thread(tmp_path: Path) -> None:
    _, _, points = await left_undone(tmp_path, 1_000)
    before, root, _ = await left_undone(tmp_path, points.index("before conversations.info"))
    async with posting(tmp_path, after=before, **exchanges(tmp_path)) as bot:
        await asyncio.sleep(60.0)
        assert posts(bot) == []
        assert "with the rights of who asks" in str(lines(bot, root))


@pytest.mark.parametrize("entry", ["internal_error", "timeout!", "ratelimited:5"])
@pytest.mark.parametrize("method", ["chat.postMessage", "conversations.info"])
@on_virtual_time
async def test_what_slack_does_not_take_now_is_posted_later_and_once(
    method: str, entry: str, tmp_path: Path
) -> None:
    async with posting(tmp_path, acting(POST)) as bot:
        bot.workspace.faults.set(method, [*[entry] * 4, None])
        root = await asked(bot)
        await asyncio.sleep(900)
        assert len(posts(bot)) == 1
        assert sum("a message" in text for text in bot.read(root)) == 1


@on_virtual_time
async def test_what_slack_refuses_is_said(tmp_path: Path) -> None:
    async with posting(tmp_path, acting(POST)) as bot:
        bot.workspace.add_channel(THERE, with_bot=False)
        root = await asked(bot)
        (line,) = lines(bot, root)
        assert posts(bot) == [] and "Slack does not take it (not_in_channel)" in line


@at_each_third
@on_virtual_time
async def test_killed_at_any_point_it_is_posted_and_said_once(step: int, tmp_path: Path) -> None:
    _, _, points = await left_undone(tmp_path, 1_000)
    assert points.count("after chat.postMessage") == 2
    for number in range(0, len(points), step):
        before, root, _ = await left_undone(tmp_path, number)
        async with posting(tmp_path, after=before) as bot:
            await asyncio.sleep(300.0)
            await bot.idle()
            where = f"killed after {number} points, {points[number]}"
            said = [each.read for each in bot.thread(root)]
            is_lost = "cannot find out what became of this question" in str(said)  # it is not asked twice
            assert len(posts(bot)) == (0 if is_lost else 1), (where, said)
            assert sum("[a message]" in text for text in said) == len(posts(bot)), where


@on_virtual_time
async def test_two_replicas_post_it_once(tmp_path: Path) -> None:
    async with posting(tmp_path, acting(POST)) as bot:
        acting_agents = bot.app.threads.acts
        assert isinstance(acting_agents, ActingAgents)
        others = [asyncio.create_task(acting_agents.run()) for _ in range(3)]
        bot.workspace.faults.set("chat.postMessage", ["timeout!", "internal_error!", None])
        await asked(bot)
        await asyncio.sleep(300.0)
        for other in others:
            other.cancel()
        assert len(posts(bot)) == 1


@on_virtual_time
async def test_a_post_is_no_question_where_each_message_is_one(tmp_path: Path) -> None:
    file = f'[channel]\nrespond = "channel"\nask = "What is it?"\n{PAIR}[channels.C2]\npost_to = ["C1"]\n'
    names = ["C1", THERE]
    async with posting(tmp_path, acting(POST), file=file, allowed_bots=names) as bot:
        await asked(bot)
        await asyncio.sleep(300.0)
        await bot.idle()
        assert len(posts(bot)) == 1
        assert len(bot.agent.questions) == 1


@on_virtual_time
async def test_what_another_bot_wrote_leads_to_no_post(tmp_path: Path) -> None:
    file = f'[channel]\nrespond = "channel"\nask = "What is it?"\n{PAIR}'
    async with posting(tmp_path, acting(POST), file=file, allowed_bots=["U7"]) as bot:
        bot.workspace.add_user("U7", is_bot=True)
        await bot.say("The disk is full.", user="U7")
        await bot.idle()
        assert len(bot.agent.questions) == 1
        assert posts(bot) == []
