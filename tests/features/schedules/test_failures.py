"""Where it is told that a schedule fails, and that it works again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from slack_bot.testing.harness import BotHarness
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer, failure
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.examples import at_each_fifth
from tests.features.schedules.test_feature import open_home
from tests.features.schedules.test_timer import DAY, HOUR, HOURLY, SILENT, clockwork, pass_time, roots
from tests.features.usage.test_limits import costs

OPS = "C8"
TOLD = f'on_failure = "{OPS}"\n'


def told(bot: BotHarness) -> list[str]:
    return [seen.text for seen in bot.workspace.history(OPS)]


def with_ops(bot: BotHarness) -> BotHarness:
    bot.workspace.add_channel(OPS).members.add("U1")
    return bot


@on_virtual_time
async def test_the_first_of_failures_in_a_row_is_told_and_that_it_works_again(tmp_path: Path) -> None:
    tapes = [failure("no disk"), failure("no disk"), answer("Fine."), answer("Fine.")]
    async with clockwork(tmp_path, HOURLY + TOLD, *tapes) as bot:
        with_ops(bot)
        await pass_time(bot, 4 * HOUR)
        failed, works = told(bot)
        link = f"https://playground.slack.com/archives/C1/p{roots(bot)[0].replace('.', '')}"
        assert failed == f"The schedule *news* did not work. The agent failed (no disk). ([thread]({link}))"
        assert works == "The schedule *news* works again."
        assert len(roots(bot)) == 4, "and each thread says it, too"


@on_virtual_time
async def test_what_goes_on_failing_is_told_each_day(tmp_path: Path) -> None:
    four_times_a_day = HOURLY.replace("0 * * * *", "0 */6 * * *")
    async with clockwork(tmp_path, four_times_a_day + TOLD, *[failure("no")] * 8) as bot:
        with_ops(bot)
        await pass_time(bot, 1.5 * DAY)
        assert len(roots(bot)) == 6
        assert len(told(bot)) == 2


@on_virtual_time
async def test_a_schedule_that_may_be_silent_leaves_nothing_in_its_channel_then(tmp_path: Path) -> None:
    async with clockwork(tmp_path, SILENT + TOLD, failure("no disk"), answer(""), answer("Full.")) as bot:
        with_ops(bot)
        await pass_time(bot, 2 * HOUR)
        assert roots(bot) == []
        assert told(bot) == [
            "The schedule *news* did not work. The agent failed (no disk).",
            "The schedule *news* works again.",
        ]
        await pass_time(bot, HOUR)
        assert bot.read(roots(bot)[0]) == ["Something is new", "Full."]


@on_virtual_time
async def test_a_person_is_told_directly_also_of_what_was_never_posted(tmp_path: Path) -> None:
    text = HOURLY.replace('channel = "C1"', 'channel = "C7"') + 'on_failure = "U2"\n'
    async with clockwork(tmp_path, text) as bot:
        await pass_time(bot, HOUR)
        direct = bot.workspace.direct("U2")
        ((line,),) = [bot.read(root, direct) for root in roots(bot, direct)]
        assert line.startswith("The schedule *news* did not work. Slack does not take this for C7")


@on_virtual_time
async def test_a_run_over_a_limit_is_not_asked_and_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    limits = {"usage.total_tokens": 100}
    async with clockwork(tmp_path, HOURLY + TOLD, *[costs(60)] * 9, **limits) as bot:
        with_ops(bot)
        await pass_time(bot, 6 * HOUR)
        assert len(bot.agent.questions) == len(roots(bot)) < 6
        (line,) = [each for each in told(bot) if "did not work" in each]
        reason = "The limit of a day is reached: 100 tokens for all together, until "
        assert line.startswith(f"The schedule *news* did not work. {reason}")
        assert line.endswith(" 00:00 UTC.")
        (told_again, *_) = [each for each in caplog.messages if each.startswith("a question of")]
        assert told_again.startswith("a question of the schedule news was not asked: The limit of a day is")
        await open_home(bot, "U1")
        assert "· the last run failed" in str(bot.workspace.home("U1"))


@on_virtual_time
async def test_a_schedule_counts_for_its_own_limit_and_not_for_the_person_it_writes_to(
    tmp_path: Path,
) -> None:
    text = HOURLY.replace('channel = "C1"', 'user = "U1"')
    limits = {"usage.person_tokens": 100}
    async with clockwork(tmp_path, text, *[costs(60)] * 9, **limits) as bot:
        await pass_time(bot, 6 * HOUR)  # a day of UTC ends meanwhile
        asked = len(bot.agent.questions)
        assert asked < 6, "its own limit"
        await bot.ask("and I?", user="U1")
        await bot.idle()
        assert len(bot.agent.questions) == asked + 1


@pytest.mark.parametrize("name", ["hourly_total", "hourly_channel"])
@on_virtual_time
async def test_schedules_count_for_the_limits_of_an_hour(name: str, tmp_path: Path) -> None:
    text = HOURLY.replace("0 * * * *", "*/10 * * * *")
    async with clockwork(tmp_path, text + TOLD, *[answer("1.")] * 9, **{name: 2}) as bot:
        with_ops(bot)
        await pass_time(bot, HOUR - 60)
        assert len(bot.agent.questions) == 2
        assert "there are too many" in told(bot)[0].lower()


async def killed_after(folder: Path, points: int) -> tuple[list[str], list[str]]:
    """The points of the process, and what is told after the next one."""
    tapes = [failure("no disk")]
    async with clockwork(folder, SILENT + TOLD, *tapes, store=MemoryStore(is_durable=True)) as bot:
        with_ops(bot)
        await pass_time(bot, HOUR - bot.now % HOUR - 2.0)
        bot.life.end_after(points)
        working, over = (asyncio.create_task(each) for each in (pass_time(bot, 30.0), bot.life.over.wait()))
        await asyncio.wait({over, working}, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        working.cancel()
        async with clockwork(folder, SILENT + TOLD, after=bot) as next_bot:
            await pass_time(next_bot, HOUR / 4)
            return list(bot.life.points), told(next_bot)


@at_each_fifth
@on_virtual_time
async def test_killed_at_any_point_it_is_told_once(step: int, tmp_path: Path) -> None:
    names, whole = await killed_after(tmp_path, 1_000_000)
    assert len(whole) == 1
    for points, name in list(enumerate(names))[::step]:
        _, lines = await killed_after(tmp_path, points)
        assert len(lines) == 1 and "did not work" in lines[0], (points, name)
