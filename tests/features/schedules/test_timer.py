"""Schedules: what stands in the channel, and when; restarts, replicas and silence."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from slack_bot.app import read_config_again
from slack_bot.errors import StoreAway
from slack_bot.features.feature import FeatureWork
from slack_bot.features.schedules.records import RUNS, SCHEDULES
from slack_bot.features.schedules.timer import ScheduleTimer
from slack_bot.settings.config_file import read_schedules
from slack_bot.store.collection import Change, Collection, Key, R, Revision
from slack_bot.store.outbound import OUTBOUND
from slack_bot.testing.agent.scripted import AgentCall
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer, failure, question
from slack_bot.testing.tape.tape import Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.examples import at_each_fifth

HOUR, DAY = 3600.0, 86_400.0
HOURLY = f'[schedules.news]\ncron = "0 * * * *"\nchannel = "{CHANNEL}"\nask = "What is new?"\n'
SILENT = f"{HOURLY}skip_if_silent = true\nheadline = 'Something is new'\n"


@asynccontextmanager
async def running(bot: BotHarness) -> AsyncIterator[None]:
    """All that a bot does by itself, as while Slack is connected."""
    works = [work.run for work in bot.app.features.values() if work.run is not None]
    tasks = [asyncio.create_task(run()) for run in works]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


@asynccontextmanager
async def clockwork(
    folder: Path, text: str, *tapes: Tape, after: BotHarness | None = None, **overrides: Any
) -> AsyncIterator[BotHarness]:
    (file := folder / "slack_bot.toml").write_text(text, "utf-8")
    async with run_bot(*tapes, config=str(file), after=after, **overrides) as bot:
        yield bot


async def pass_time(bot: BotHarness, seconds: float) -> None:
    """While the bot works by itself."""
    async with running(bot):
        await asyncio.sleep(seconds)
        await bot.idle()


def roots(bot: BotHarness, channel: str = CHANNEL) -> list[str]:
    return [seen.ts for seen in bot.workspace.history(channel)]


def read(bot: BotHarness) -> list[list[str]]:
    return [bot.read(root) for root in roots(bot)]


def slack_metadata(call: AgentCall) -> dict[str, Any]:
    found = call.params["message"].get("metadata", {}).get("slack", {})
    assert isinstance(found, dict)
    return found


async def to_the_hour(bot: BotHarness, before: float = HOUR / 2) -> None:
    """Until so many seconds `before` the second full one."""
    await pass_time(bot, 2 * HOUR - bot.now % HOUR - before)


@on_virtual_time
async def test_each_hour_the_question_is_asked_and_its_answer_stands_below_it(tmp_path: Path) -> None:
    async with clockwork(tmp_path, HOURLY, answer("One."), answer("Two."), answer("Three.")) as bot:
        await pass_time(bot, 2 * HOUR)
        assert read(bot) == [["What is new?", "One."], ["What is new?", "Two."]]
        assert "addressed" not in slack_metadata(bot.agent.questions[0])
        contexts = {call.params["message"].get("contextId") for call in bot.agent.questions}
        assert contexts == {None}, "each is a conversation of its own"
        times = [float(root) % HOUR for root in roots(bot)]
        assert all(at < 3.0 for at in times), "within three seconds"


@on_virtual_time
async def test_people_go_on_in_the_thread(tmp_path: Path) -> None:
    async with clockwork(tmp_path, HOURLY, answer("One."), answer("Really.")) as bot:
        await pass_time(bot, HOUR)
        (root,) = roots(bot)
        await bot.ask("really?", thread_ts=root)
        await bot.idle()
        assert bot.read(root) == ["What is new?", "One.", "Really."]
        assert bot.agent.questions[1].params["message"]["contextId"]


@on_virtual_time
async def test_a_schedule_that_mentions_the_bot_asks_it_once(tmp_path: Path) -> None:
    text = HOURLY.replace("What is new?", "<@UBOT> what is new?")
    async with clockwork(tmp_path, text) as bot:
        me = bot.workspace.bot
        text = HOURLY.replace("What is new?", f"<@{me.user_id}> what is new?")
        allowed = [me.user_id, CHANNEL]
        async with clockwork(tmp_path, text, after=bot, allowed_bots=allowed) as next_bot:
            await pass_time(next_bot, HOUR)
            await next_bot.idle()
            assert len(next_bot.agent.questions) == 1
            assert len(next_bot.read(roots(next_bot)[0])) == 2


@on_virtual_time
async def test_one_thread_has_all_runs_in_one_conversation_and_begins_anew_if_it_is_deleted(
    tmp_path: Path,
) -> None:
    tapes = [answer(f"{number}.") for number in range(1, 5)]
    async with clockwork(tmp_path, f'{HOURLY}thread = "one"\n', *tapes) as bot:
        await pass_time(bot, 2 * HOUR)
        (root,) = roots(bot)
        assert bot.read(root) == ["What is new?", "1.", "What is new?", "2."]
        first, second = (call.params["message"].get("contextId") for call in bot.agent.questions)
        assert first is None and second is not None
        for seen in bot.thread(root):
            bot.workspace.delete(CHANNEL, seen.ts, now=bot.now)
        await bot.deliver()
        await pass_time(bot, HOUR)
        (root,) = roots(bot)
        assert bot.read(root) == ["What is new?", "3."]


@on_virtual_time
async def test_to_a_person_directly(tmp_path: Path) -> None:
    async with clockwork(tmp_path, HOURLY.replace(f'channel = "{CHANNEL}"', 'user = "U1"')) as bot:
        await pass_time(bot, HOUR)
        direct = bot.workspace.direct("U1")
        assert bot.read(roots(bot, direct)[0], direct) == ["What is new?", "Hello."]


# -- silence


@on_virtual_time
async def test_an_agent_that_has_nothing_to_say_leaves_nothing_in_the_channel(tmp_path: Path) -> None:
    tapes = [answer(""), answer("The disk is full."), answer("Still.")]
    async with clockwork(tmp_path, SILENT, *tapes) as bot:
        await pass_time(bot, HOUR)
        assert (bot.outcomes, roots(bot)) == (["silent"], [])
        assert slack_metadata(bot.agent.questions[0])["addressed"] is False
        assert [call.method for call in bot.workspace.calls if call.method.startswith("chat.")] == []
        await pass_time(bot, HOUR)
        (root,) = roots(bot)
        assert bot.read(root) == ["Something is new", "The disk is full."]
        await bot.ask("still?", thread_ts=root)
        await bot.idle()
        assert bot.read(root) == ["Something is new", "The disk is full.", "Still."]
        assert bot.agent.questions[2].params["message"]["contextId"], "it goes on in this conversation"
        runs = [record async for _, record in bot.store.records(OUTBOUND)]  # type: ignore[attr-defined]
        assert sorted(run.state for run in runs) == ["sent", "silent"]


@on_virtual_time
async def test_what_such_an_agent_asks_back_can_be_answered(tmp_path: Path) -> None:
    async with clockwork(tmp_path, SILENT, question("Which disk?"), answer("That one.")) as bot:
        await pass_time(bot, HOUR)
        (root,) = roots(bot)
        assert "Which disk?" in str(bot.read(root))
        await bot.ask("the second", thread_ts=root)
        await bot.idle()
        assert bot.agent.questions[1].params["message"]["taskId"]
        assert bot.read(root)[-1] == "That one."


@on_virtual_time
async def test_a_failure_is_never_silent(tmp_path: Path) -> None:
    async with clockwork(tmp_path, SILENT, failure("no")) as bot:
        await pass_time(bot, HOUR)
        (root,) = roots(bot)
        assert bot.read(root)[0] == "Something is new"
        assert bot.outcomes == ["failed"]


@on_virtual_time
async def test_who_tries_again_gets_an_answer_and_goes_on_there(tmp_path: Path) -> None:
    tapes = [failure("no"), answer(""), answer("More.")]
    async with clockwork(tmp_path, SILENT, *tapes) as bot:
        await pass_time(bot, HOUR)
        (root,) = roots(bot)
        bot.workspace.press("U1", CHANNEL, bot.thread(root)[-1].ts, "retry", now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert "without writing an answer" in bot.thread(root)[-1].read
        await bot.ask("more?", thread_ts=root)
        await bot.idle()
        assert bot.read(root)[-1] == "More."
        assert bot.agent.questions[2].params["message"]["contextId"]


@on_virtual_time
async def test_silent_runs_in_one_thread_leave_nothing_there(tmp_path: Path) -> None:
    text, tapes = f'{SILENT}thread = "one"\n', [answer(""), answer("1."), answer(""), answer("2.")]
    async with clockwork(tmp_path, text, *tapes) as bot:
        await pass_time(bot, 4 * HOUR)
        (root,) = roots(bot)
        assert bot.read(root) == ["Something is new", "1.", "2."]


async def killed_after(folder: Path, points: int, *tapes: Tape) -> tuple[list[str], list[list[str]], int]:
    """The points of the process, the threads after the next one, and how often the agent was asked."""
    async with clockwork(folder, SILENT, *tapes, store=MemoryStore(is_durable=True)) as bot:
        await pass_time(bot, HOUR - bot.now % HOUR - 2.0)
        bot.life.end_after(points)
        working, over = (asyncio.create_task(each) for each in (pass_time(bot, 20.0), bot.life.over.wait()))
        await asyncio.wait({over, working}, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        working.cancel()
        async with clockwork(folder, SILENT, after=bot) as next_bot:
            await pass_time(next_bot, HOUR / 4)
            threads = [[seen.read for seen in next_bot.thread(root)] for root in roots(next_bot)]
            return list(bot.life.points), threads, len(next_bot.agent.questions)


@at_each_fifth
@on_virtual_time
async def test_killed_at_any_point_a_late_thread_begins_once_and_has_the_answer_once(
    tmp_path: Path, step: int
) -> None:
    tape, notices = answer("The disk is full.\nIt is the second one.\n", seconds=4.0), 0
    names, whole, _ = await killed_after(tmp_path, 1_000_000, tape)
    assert names.count("after chat.postMessage") == 2
    for points, name in list(enumerate(names))[::step]:
        _, threads, asked = await killed_after(tmp_path, points, tape)
        assert asked <= 1, (points, name)
        if "cannot find out what became of this question" in str(threads):
            notices += 1
            assert [len(each) for each in threads] == [2], (points, name)
        else:
            assert [" ".join(each).split() for each in threads] == [" ".join(whole[0]).split()], (
                points,
                name,
            )
    assert notices <= 6


# -- missed, running, stopped


@on_virtual_time
async def test_what_was_missed_is_made_up_for_once(tmp_path: Path) -> None:
    async with clockwork(tmp_path, HOURLY) as bot:
        await to_the_hour(bot)
        before = len(roots(bot))
        await asyncio.sleep(5 * HOUR)  # no bot runs
        async with clockwork(tmp_path, HOURLY, after=bot) as next_bot:
            await pass_time(next_bot, HOUR / 4)
            assert len(roots(next_bot)) == before + 1


@on_virtual_time
async def test_what_was_missed_may_be_dropped(tmp_path: Path) -> None:
    text = f'{HOURLY}missed = "drop"\n'
    async with clockwork(tmp_path, text) as bot:
        await to_the_hour(bot)
        before = len(roots(bot))
        await asyncio.sleep(5 * HOUR)
        async with clockwork(tmp_path, text, after=bot) as next_bot:
            await pass_time(next_bot, HOUR / 4)
            assert len(roots(next_bot)) == before
            await pass_time(next_bot, HOUR / 2)
            assert len(roots(next_bot)) == before + 1


@on_virtual_time
async def test_new_times_have_missed_nothing(tmp_path: Path) -> None:
    async with clockwork(tmp_path, HOURLY) as bot:
        await pass_time(bot, 1.0)
        await asyncio.sleep(2 * DAY)
        async with clockwork(tmp_path, HOURLY.replace("0 * * * *", "5 * * * *"), after=bot) as next_bot:
            await pass_time(next_bot, 1.0)
            assert roots(next_bot) == []


@pytest.mark.parametrize(("if_running", "expected"), [("skip", 2), ("queue", 3)])
def test_a_run_that_is_due_while_the_one_before_runs(tmp_path: Path, if_running: str, expected: int) -> None:
    @on_virtual_time
    async def test() -> None:
        text = f'{HOURLY}if_running = "{if_running}"\n'.replace("0 * * * *", "*/10 * * * *")
        async with clockwork(tmp_path, text, answer("One.", seconds=900.0), answer("Two.")) as bot:
            async with running(bot):
                await asyncio.sleep(600.0 - bot.now % 600.0 + 1300.0)
                assert len(roots(bot)) == expected
            await bot.idle()

    test()


@on_virtual_time
async def test_one_that_was_stopped_stays_so_and_goes_on_without_what_was_due_meanwhile(
    tmp_path: Path,
) -> None:
    async with clockwork(tmp_path, HOURLY, operators=["U1"]) as bot:
        await pass_time(bot, 1.0)
        timer = ScheduleTimer(read_schedules(bot.app.settings), bot.store, bot.app.clock)
        await timer.pause("news", "U1")
        await pass_time(bot, 3 * HOUR)
        assert roots(bot) == []
        assert [each.paused_by for each in await timer.statuses()] == ["U1"]
        await timer.resume("news", "U1")
        await pass_time(bot, HOUR)
        assert len(roots(bot)) == 1


class AwayStore(MemoryStore):
    """It fails as long as `is_away`."""

    is_away = False

    async def change(self, collection: Collection[R], key: Key, revise: Change[R], now: float) -> Revision[R]:
        if self.is_away:
            raise StoreAway("The store is away.")
        return await super().change(collection, key, revise, now)


@on_virtual_time
async def test_the_store_that_fails_when_a_run_is_due_only_delays_it(tmp_path: Path) -> None:
    store = AwayStore()
    async with clockwork(tmp_path, HOURLY, store=store) as bot:
        await to_the_hour(bot)
        before = len(roots(bot))
        async with running(bot):
            await asyncio.sleep(HOUR / 2 - 1.0)
            store.is_away = True
            await asyncio.sleep(60.0)
            assert len(roots(bot)) == before
            store.is_away = False
            await asyncio.sleep(60.0)
            assert len(roots(bot)) == before + 1
        await bot.idle()


@on_virtual_time
async def test_several_processes_run_it_once(tmp_path: Path) -> None:
    store = MemoryStore()
    async with clockwork(tmp_path, HOURLY, store=store) as bot:
        timers = [ScheduleTimer(read_schedules(bot.app.settings), store, bot.app.clock) for _ in range(3)]
        tasks = [asyncio.create_task(timer.run()) for timer in timers]
        await pass_time(bot, 3 * HOUR)
        for task in tasks:
            task.cancel()
        assert len(roots(bot)) == 3


@on_virtual_time
async def test_without_schedules_there_is_no_row_and_without_a_file_no_work(tmp_path: Path) -> None:
    async with run_bot() as bot:
        assert bot.app.features["schedules"] == FeatureWork()
    async with clockwork(tmp_path, "[channel]\n", store=(store := CountingStore())) as bot:
        await pass_time(bot, DAY)
        assert store.asked.isdisjoint({SCHEDULES.name, RUNS.name})


class CountingStore(MemoryStore):
    """Knows which collections it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = set[str]()

    async def get(self, collection: Collection[R], key: Key) -> R | None:
        self.asked.add(collection.name)
        return await super().get(collection, key)

    async def change(self, collection: Collection[R], key: Key, revise: Change[R], now: float) -> Revision[R]:
        self.asked.add(collection.name)
        return await super().change(collection, key, revise, now)

    async def due(self, collection: Collection[R], now: float, most: int) -> list[R]:
        self.asked.add(collection.name)
        return await super().due(collection, now, most)


# -- the file is read again


@on_virtual_time
async def test_what_the_file_says_now_counts_without_a_restart(tmp_path: Path) -> None:
    tapes = [answer(f"{number}.") for number in range(1, 9)]
    async with clockwork(tmp_path, "[channel]\n", *tapes) as bot, running(bot):
        await asyncio.sleep(2 * HOUR)
        assert roots(bot) == []
        file = tmp_path / "slack_bot.toml"
        file.write_text(HOURLY)
        read_config_again(bot.app)
        await asyncio.sleep(HOUR)
        await bot.idle()
        assert read(bot) == [["What is new?", "1."]]
        file.write_text(HOURLY.replace("0 * * * *", "0 */6 * * *").replace("new?", "old?"))
        read_config_again(bot.app)
        await asyncio.sleep(6 * HOUR)
        await bot.idle()
        assert [thread[0] for thread in read(bot)] == ["What is new?", "What is old?"]
        file.write_text("[channel]\n")
        read_config_again(bot.app)
        await asyncio.sleep(DAY)
        assert len(roots(bot)) == 2


@on_virtual_time
async def test_a_wrong_file_changes_nothing_and_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with clockwork(tmp_path, HOURLY) as bot, running(bot):
        (tmp_path / "slack_bot.toml").write_text(HOURLY.replace("0 * * * *", "0 * *"))
        read_config_again(bot.app)
        await asyncio.sleep(HOUR)
        await bot.idle()
        assert len(roots(bot)) == 1
        (line,) = [each.getMessage() for each in caplog.records if "was not read again" in each.getMessage()]
        assert "schedules.news.cron is '0 * *'" in line and "what it said before still counts" in line
