"""A bot is killed at each point of a turn, the next process goes on, and the answer is there whole and once.

Every call of the bot to Slack, to its agent and to its store is two points: before it, and after it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import pytest

from slack_bot.agents.wire.calls import MessageRequest
from slack_bot.clock import system_clock
from slack_bot.slack.readback import comparable
from slack_bot.slack.status import WAITING_REACTION
from slack_bot.testing.harness import CHANNEL, BotHarness, bot_settings, build_in_memory, run_bot, wait_until
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.workspace import Envelope, Workspace
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.items import Moment
from slack_bot.testing.tape.json_file import Json
from slack_bot.testing.tape.tape import Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.progress import Stage, TurnRecord
from slack_bot.turn.record import Question, ThreadKey
from tests.examples import at_each_fifth
from tests.live_agent import live_agent
from tests.slack.test_extras import CHART, READS, ROWS, artifact
from tests.slack.test_extras import tape as extras_tape

LINES = "".join(f"Line {number} of the answer has some words.\n" for number in range(1, 13)).rstrip()
SECONDS = 12.0
EXTRAS = [f"Table\n{READS}", "Visits\nweb: Mon 3, Tue 4"]


@asynccontextmanager
async def killed_after(points: int, *tapes: Tape) -> AsyncIterator[tuple[BotHarness, str]]:
    """The process after one that was asked, and was killed after so many points; the question's ts."""
    async with run_bot(*tapes, store=MemoryStore(is_durable=True)) as bot:
        bot.life.end_after(points)
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        events = bot.workspace.take()
        working, over = (asyncio.create_task(each) for each in (work(bot, events), bot.life.over.wait()))
        await asyncio.wait({over, working}, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        working.cancel()
        async with run_bot(after=bot) as next_bot:
            # what was not acknowledged comes again, and what was may come twice
            await next_bot.deliver(events, retry=1)
            await next_bot.idle()
            yield next_bot, root


@at_each_fifth
@on_virtual_time
async def test_killed_at_any_point_tables_and_files_are_there_once(step: int) -> None:
    tape = extras_tape(artifact("Two cities:", ROWS, b"one"), artifact(CHART, name="b"))
    for points, name in list(enumerate(await names_of_points(tape)))[::step]:
        async with killed_after(points, tape) as (bot, root):
            read = [message for message in bot.thread(root) if message.is_bot]
            if "cannot find out what became of this question" in str(read):
                continue
            assert [message.text for message in read if message.text] == ["Two cities:", *EXTRAS], (
                points,
                name,
            )
            assert [file.content for message in read for file in message.files] == [b"one"], (points, name)
            assert str([message.extras for message in read]).count("Helpful") == 1, (points, name)


async def work(bot: BotHarness, events: Sequence[Envelope]) -> None:
    await bot.deliver(events)
    await bot.idle()


async def names_of_points(*tapes: Tape) -> list[str]:
    async with run_bot(*tapes, store=MemoryStore(is_durable=True)) as bot:
        bot.life.end_after(1_000_000)
        await bot.ask("hi")
        await bot.idle()
        return list(bot.life.points)


@at_each_fifth
@on_virtual_time
async def test_killed_at_any_point_the_answer_is_there_whole_and_once(step: int) -> None:
    lines = "".join(LINES.splitlines(keepends=True)[:4])
    tape = answer(lines, seconds=4.0)
    names = await names_of_points(tape)
    told = []
    for points, name in list(enumerate(names))[::step]:
        async with killed_after(points, tape) as (bot, root):
            assert bot.workspace.open_streams() == [], (points, name)
            assert len(bot.agent.questions) <= 1, (points, name)
            read = [message.read for message in bot.thread(root) if message.is_bot]
            if "cannot find out what became of this question" in str(read):
                told.append(points)
                assert len(read) == 1, (points, name)
            else:
                assert " ".join(bot.read(root)).split() == lines.split(), (points, name, read)
                assert str(read).count("helpful") <= 1, (points, name)
    # between asking and knowing the task nobody can tell: this agent cannot be asked for its tasks
    send, known = names.index("after save"), names.index("before change conversations")
    assert told == [at for at in range(send, known - 1) if at % step == 0], [names[at] for at in told]


MARKED = """\
# What was found

The **first point** is [the report](https://example.org/a_b?c=1), which says `a == b` & no more.

1. One thing, said at length.
2. Another *thing* of **some weight**, too.

```python
for each in range(3):
    print(each, 'is a number')
```

After that \U0001f389 comes the end of it all, in a sentence without line ends, until it is over."""


@pytest.mark.parametrize("text", [LINES, MARKED], ids=["lines", "marked"])
@at_each_fifth
@on_virtual_time
async def test_what_the_reader_saw_is_not_taken_back(step: int, text: str) -> None:
    tape = answer(text, seconds=SECONDS)
    names = await names_of_points(tape)
    ahead = 0
    for points in [at for at, name in enumerate(names) if name == "after chat.appendStream"][::step]:
        async with run_bot(tape, store=MemoryStore(is_durable=True)) as bot:
            bot.life.end_after(points)
            working = asyncio.create_task(bot.ask("hi"))
            await bot.life.over.wait()
            working.cancel()
            (root,) = [message.ts for message in bot.workspace.history(CHANNEL)]
            seen = shown(bot, root)
            (turn,) = await bot.store.unfinished()
            ahead += len(seen) > len("".join(turn.text.split()))
            async with run_bot(after=bot) as next_bot:
                read = [seen]
                stop = next_bot.workspace.listen(lambda _, b=next_bot, r=root, t=read: t.append(shown(b, r)))
                await next_bot.deliver()
                await next_bot.idle()
                stop()
                assert [each for each in read if not each.startswith(seen)] == [], points
                texts = "\n".join(next_bot.read(root))
                assert comparable(texts) == comparable(text), points
                assert texts.count("\U0001f389") == text.count("\U0001f389"), points
    assert ahead > 5 // step, "no process was killed ahead of its record"


def shown(bot: BotHarness, root: str) -> str:
    """The answer as a person reads it, without white space."""
    return "".join("".join(message.text for message in bot.thread(root) if message.is_bot).split())


@on_virtual_time
async def test_a_bot_that_is_stopped_hands_its_answer_over() -> None:
    store = MemoryStore(is_durable=True)
    async with run_bot(answer(LINES, seconds=SECONDS), store=store) as first:
        root = await first.ask("hi")
        waiting = await first.ask("and then?", user="U2", thread_ts=root)
        await asyncio.sleep(5)
        began = first.now
        await first.app.close(1.0)
        assert first.now - began < 3.0
        assert first.workspace.open_streams() == []
        assert "being restarted" in str([message.status_line for message in first.thread(root)])
        assert first.outcomes == []
        async with run_bot(after=first) as bot:
            await bot.idle()
            texts = bot.read(root)
            assert " ".join(texts[:2]).split() == LINES.split()
            stops = [call.ok for call in bot.workspace.calls if call.method == "chat.stopStream"]
            assert stops == [True] * 3, "Slack takes few stops a minute: one for each stream"
            assert [call.text for call in bot.agent.questions] == ["hi", "and then?"]

            assert bot.outcomes == ["answered", "answered"]
            (marked,) = [message for message in bot.thread(root) if message.ts == waiting]
            assert not (marked.reactions or {}).get(WAITING_REACTION)


NO_APPENDS = {"appends_per_minute": 0.01, "burst_share": 0.01, "starts_per_minute": 6000.0}


@asynccontextmanager
async def half_answered(text: str, **options: object) -> AsyncIterator[tuple[BotHarness, str]]:
    """A bot whose agent has written half of an answer, and that has no budget to show more than its start."""
    tape = answer(text, seconds=SECONDS)
    async with run_bot(tape, store=MemoryStore(is_durable=True), **NO_APPENDS, **options) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(SECONDS / 2)
        yield bot, root


@pytest.mark.parametrize("text", [LINES, MARKED], ids=["lines", "marked"])
@on_virtual_time
async def test_text_that_waits_for_its_slot_is_shown_where_the_stream_is_stopped(text: str) -> None:
    async with half_answered(text) as (first, root):
        before = shown(first, root)
        await first.app.close(0.0)
        after = shown(first, root)
        assert after.startswith(before) and len(after) > len(before) + 100 > 100
        (turn,) = await first.store.unfinished()
        assert "".join(turn.text.split()) == after
        assert [message.is_open for message in turn.messages] == [False]
        async with run_bot(after=first) as bot:
            await bot.idle()
            assert comparable("\n".join(bot.read(root))) == comparable(text)
            calls = [call.method for call in bot.workspace.calls]
            assert calls.count("chat.stopStream") == 2 and "chat.update" not in calls


@pytest.mark.parametrize("fault", ["timeout", "timeout!", "cut!", "invalid_blocks", "msg_too_long"])
@on_virtual_time
async def test_a_stop_with_text_that_fails_or_has_no_answer_shows_it_once_in_the_end(fault: str) -> None:
    async with half_answered(LINES) as (first, root):
        first.workspace.faults.set("chat.stopStream", [fault, None])
        await first.app.close(0.0)
        async with run_bot(after=first) as bot:
            await bot.idle()
            assert comparable("\n".join(bot.read(root))) == comparable(LINES)
            assert bot.workspace.open_streams() == []


@on_virtual_time
async def test_killed_while_it_hands_over_the_answer_is_there_once() -> None:
    async with half_answered(LINES) as (first, _):
        first.life.end_after(1_000_000)
        await first.app.close(0.0)
        names = list(first.life.points)
    assert "after chat.stopStream" in names
    for points in range(len(names)):
        async with half_answered(LINES) as (first, root):
            first.life.end_after(points)
            ending = asyncio.create_task(first.app.close(0.0))
            await first.life.over.wait()
            ending.cancel()
            async with run_bot(after=first) as bot:
                await bot.idle()
                assert comparable("\n".join(bot.read(root))) == comparable(LINES), (points, names[points])
                assert bot.workspace.open_streams() == [], (points, names[points])


@on_virtual_time
async def test_who_reads_half_an_answer_does_not_wait_for_a_stream() -> None:
    """Slack's budget has one start: the other answer goes on as an ordinary message."""
    tapes = [answer(LINES, seconds=240, ids=str(number)) for number in range(2)]
    async with run_bot(*tapes, store=MemoryStore(is_durable=True)) as first:
        roots = [await first.ask("hi") for _ in tapes]
        await asyncio.sleep(60)
        await first.app.close(0.0)
        before = [len(shown(first, root)) for root in roots]
        async with run_bot(after=first, starts_per_minute=0.01, start_slot_timeout=3600) as bot:
            await asyncio.sleep(60)
            assert all(len(shown(bot, root)) > was > 0 for root, was in zip(roots, before, strict=True))
            await bot.idle()
            assert all(comparable("\n".join(bot.read(root))) == comparable(LINES) for root in roots)


@pytest.mark.parametrize(("first_word", "is_known"), [(2.5, True), (9.0, False)])
@on_virtual_time
async def test_the_end_waits_a_moment_for_the_id_of_a_task(first_word: float, is_known: bool) -> None:
    """Without it the next process could not find out what became of the question."""
    tape = answer(LINES, seconds=SECONDS)
    late = [replace(each, t=each.t + first_word) for each in tape.moments]
    async with run_bot(replace(tape, moments=tuple(late)), store=MemoryStore(is_durable=True)) as first:
        root = await first.ask("hi")
        await asyncio.sleep(0.5)
        assert first.agent.questions
        began = first.now
        await first.app.close(1.0)
        assert first.now - began < 3.5
        async with run_bot(after=first) as bot:
            await bot.idle()
            assert len(bot.agent.questions) == 1
            read = str([message.read for message in bot.thread(root)])
            assert ("cannot find out" in read) is not is_known
            assert (" ".join(bot.read(root)).split() == LINES.split()) is is_known


@on_virtual_time
async def test_the_mark_of_a_question_that_waited_is_taken_away_by_the_next_process() -> None:
    """Slack had refused to take it away for a moment, and the agent was asked meanwhile."""
    tapes = answer(LINES, seconds=2), answer(LINES, seconds=SECONDS, ids="2")
    store, refused = MemoryStore(is_durable=True), {"reactions.remove": ["ratelimited", None]}
    async with run_bot(*tapes, store=store, faults=refused) as first:
        root = await first.ask("one")
        waiting = await first.ask("two", user="U2", thread_ts=root)
        await wait_until(
            lambda: len(first.agent.questions) == 2 and first.calls("reactions.remove"), first.workspace
        )
        first.life.end_now()
        async with run_bot(after=first) as bot:
            await bot.idle()
            (marked,) = [message for message in bot.thread(root) if message.ts == waiting]
            assert not (marked.reactions or {}).get(WAITING_REACTION)


@on_virtual_time
async def test_the_mark_of_a_question_that_waits_on_is_taken_away_in_the_end() -> None:
    tapes = answer(LINES, seconds=SECONDS), answer(LINES, seconds=2, ids="2")
    store, refused = MemoryStore(is_durable=True), {"reactions.add": [None, *["too_many_reactions"] * 9]}
    async with run_bot(*tapes, store=store, faults=refused) as first:
        root = await first.ask("one")
        waiting = await first.ask("two", user="U2", thread_ts=root)
        await wait_until(lambda: mark(first, root, waiting), first.workspace)
        await wait_until(lambda: first.workspace.open_streams(), first.workspace)
        first.life.end_now()
        async with run_bot(after=first) as bot:
            await bot.idle()
            assert bot.outcomes == ["answered", "answered"]
            assert not mark(bot, root, waiting)


def mark(bot: BotHarness, root: str, ts: str) -> list[str]:
    (marked,) = [message for message in bot.thread(root) if message.ts == ts]
    return list((marked.reactions or {}).get(WAITING_REACTION) or [])


@on_virtual_time
async def test_a_stop_is_kept_by_the_next_process() -> None:
    async with run_bot(answer(LINES, seconds=SECONDS), store=MemoryStore(is_durable=True)) as first:
        root = await first.ask("hi")
        await asyncio.sleep(5)
        first.workspace.stop("U1", CHANNEL, root, now=first.now)
        await first.deliver()
        first.life.end_now()
        by_first = [call.method for call in first.agent.calls].count("tasks/cancel")  # it may be that far
        async with run_bot(after=first) as bot:
            await bot.idle()
            assert bot.outcomes == ["stopped"]
            assert [call.method for call in bot.agent.calls].count("tasks/cancel") == by_first + 1
            assert "Line 12" not in str(bot.read(root))
            assert "Stopped." in bot.thread(root)[-1].read


@on_virtual_time
async def test_a_question_that_was_stopped_before_it_was_asked_is_not_asked() -> None:
    async with run_bot(answer(LINES), store=MemoryStore(is_durable=True)) as first:
        first.life.end_after(6)  # it is accepted, and the agent is not asked yet
        root = first.workspace.say("U1", CHANNEL, f"<@{first.workspace.bot.user_id}> hi", now=first.now)
        await asyncio.wait({asyncio.create_task(first.deliver())}, timeout=1)
        (turn,) = await first.store.unfinished()
        await first.store.save((replace(turn, stopped_by="U1"), 0))
        async with run_bot(after=first) as bot:
            await bot.idle()
            assert bot.agent.questions == []
            (notice,) = [message for message in bot.thread(root) if message.is_bot]
            assert "Stopped before the agent had begun." in notice.read
            assert "Try again" not in notice.read
            assert await first.store.unfinished() == []


@on_virtual_time
async def test_a_stop_may_be_about_a_stream_that_no_process_recorded() -> None:
    tape = answer(LINES, seconds=SECONDS)
    started = (await names_of_points(tape)).index("after chat.startStream")
    async with run_bot(tape, store=MemoryStore(is_durable=True)) as first:
        first.life.end_after(started)
        asking = asyncio.create_task(first.ask("hi"))
        await first.life.over.wait()
        asking.cancel()
        (root,) = [message.ts for message in first.workspace.history(CHANNEL)]
        assert first.workspace.stop("U1", CHANNEL, root, now=first.now) != []
        async with run_bot(after=first) as bot:
            await bot.deliver()
            await bot.idle()
            assert bot.outcomes == ["stopped"]
            assert "Line 12" not in str(bot.read(root))


@on_virtual_time
async def test_a_stop_that_is_late_does_not_end_the_next_turn() -> None:
    async with run_bot(answer(LINES, seconds=2), answer(LINES, seconds=SECONDS, ids="2")) as bot:
        root = await bot.ask("one")
        await asyncio.sleep(1)
        bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
        late = bot.workspace.take()
        await bot.idle()
        await bot.ask("two", thread_ts=root)
        await asyncio.sleep(5)
        await bot.deliver([each for each in late if each.payload["event"]["type"] == "agent_session_stopped"])
        await bot.idle()
        assert bot.outcomes[-1] == "answered"
        assert "Line 12" in bot.read(root)[-1]


@pytest.mark.parametrize(("wire", "context"), [("1.0", "ctx-7"), ("1.0", None), ("0.3", "ctx-7")])
async def test_a_task_whose_id_was_not_learned_is_found_by_the_question(
    wire: str, context: str | None
) -> None:
    """A server on a2a-sdk. The process ended when the agent had the question, and had not named its task."""
    thread = ThreadKey("T1", CHANNEL, "")
    async with live_agent((wire,)) as live:
        settings, workspace, store = (
            bot_settings(agent_url=live.url),
            Workspace(),
            MemoryStore(is_durable=True),
        )
        workspace.add_channel(CHANNEL)
        root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> echo of it", now=time.time())
        thread = replace(thread, ts=root)
        question = Question(thread, root, "U1", "T1", "echo of it", context_id=context)
        await store.accept(TurnRecord(question, time.time(), Stage.SENT, sent_at=time.time()))
        app = await build_in_memory(workspace, settings, system_clock(), None, store=store)
        async with app:
            request = MessageRequest(question.text, question.message_id, question.context_id)
            async with aclosing(app.agent.ask(request)) as events:
                assert [received async for received in events]
            await app.threads.replicas.start()
            await app.threads.idle()
        (seen,) = [message for message in workspace.thread(CHANNEL, root) if message.is_bot]
        if wire == "1.0":
            assert seen.text == "echo of it"
        else:
            assert "cannot find out what became of this question" in seen.read


def plan_of(states: dict[str, str]) -> Json:
    steps = [{"step_id": title, "title": title, "status": state} for title, state in states.items()]
    parts = [{"kind": "data", "data": {"steps": steps}}]
    artifact = {"artifactId": "plan", "name": "execution_plan_update", "parts": parts}
    return {"kind": "artifact-update", "taskId": "task-1", "contextId": "ctx-1", "artifact": artifact}


@on_virtual_time
async def test_the_plan_of_a_killed_process_says_that_its_step_goes_on_below() -> None:
    """Its first message keeps no title of a step that seems to run there for ever."""
    begun, *more = answer(LINES, seconds=SECONDS).moments
    plan = Moment(
        0.15, event=plan_of({"Search": "completed", "Compare": "completed", "Write": "in_progress"})
    )
    done = Moment(SECONDS + 0.25, event=plan_of(dict.fromkeys(("Search", "Compare", "Write"), "completed")))
    tape = Tape({"wire": "0.3"}, (begun, plan, *more[:-2], done, *more[-2:]))
    async with run_bot(tape, store=MemoryStore(is_durable=True)) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(SECONDS / 2)
        (seen,) = [message for message in bot.thread(root) if message.is_bot]
        assert seen.plan_title == "Step 3 of 3: Write"
        bot.life.end_now()
        async with run_bot(after=bot) as next_bot:
            await next_bot.deliver()
            await next_bot.idle()
            first, *_, last = [message for message in next_bot.thread(root) if message.is_bot]
            assert first.plan_title == "Step 3 of 3: Write (continues below)"
            assert [task.title for task in first.tasks][-1] == "Write (continues below)"
            assert not first.plan_failed
            assert last.plan_title != first.plan_title
            assert comparable("\n".join(next_bot.read(root))) == comparable(LINES)


@pytest.mark.parametrize("way", ["killed", "stopped", "told to stop"])
@on_virtual_time
async def test_a_plan_of_one_step_that_did_not_end_is_not_called_done(way: str) -> None:
    """Slack calls a plan without a title done when its only card is closed."""
    begun, *more = answer(LINES, seconds=SECONDS).moments
    plan = Moment(0.15, event=plan_of({"Write": "in_progress"}))
    async with run_bot(
        Tape({"wire": "0.3"}, (begun, plan, *more)), store=MemoryStore(is_durable=True)
    ) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(SECONDS / 2)
        (seen,) = [message for message in bot.thread(root) if message.is_bot]
        assert seen.plan_title is None
        if way == "killed":
            bot.life.end_now()
            async with run_bot(after=bot) as next_bot:
                await next_bot.deliver()
                await next_bot.idle()
                first, *_ = [message for message in next_bot.thread(root) if message.is_bot]
        else:
            if way == "stopped":
                bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
                await bot.deliver()
            else:
                await bot.say("stop", thread_ts=root)
            await bot.idle()
            (first,) = [message for message in bot.thread(root) if message.is_bot]
        title = "Write (continues below)" if way == "killed" else "Write (stopped)"
        assert [task.title for task in first.tasks] == [title]
        assert first.plan_title == title
