"""Fifty workspaces with ten answers each at once, of five tokens a second, in one process: each within the
limits of its own workspace, and as quick as if it were alone. On virtual time, so that the machine plays no
part (`tests.bench.teams` measures it).
"""

from __future__ import annotations

import asyncio

import pytest

from slack_bot.testing.tape.builders import chunk, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.e2e.several_teams import TeamsBot, channel_of, run_teams

TEAMS, ANSWERS, TOKENS, A_SECOND = 50, 10, 60, 5.0
FLOOD = 60


def written(number: int) -> Tape:
    """An answer of so many tokens."""
    ids = f"a{number}"
    moments = [Moment(0.1, event=task(ids=ids))]
    moments += [
        Moment(0.3 + token / A_SECOND, event=chunk(f"token{token} ", ids=ids)) for token in range(TOKENS)
    ]
    end = moments[-1].t + 0.1
    moments += [Moment(end, event=status("completed", ids=ids)), Moment(end, end="closed")]
    return Tape({"wire": "0.3"}, tuple(moments))


async def ask_all(bot: TeamsBot, flood: int) -> dict[int, list[str]]:
    roots: dict[int, list[str]] = {number: [] for number in range(1, len(bot.teams) + 1)}
    for _ in range(flood):
        roots[1].append(await bot.ask(1, "more"))
    for _ in range(ANSWERS):
        for number, asked in roots.items():
            asked.append(await bot.ask(number, "go"))
    return roots


def first_texts(bot: TeamsBot, number: int, roots: list[str]) -> list[float]:
    """Seconds from each question to the first message of its answer."""
    shown = (bot.team(number).thread(channel_of(number), root) for root in roots)
    return [float(messages[1].ts) - float(messages[0].ts) for messages in shown]


async def all_first_texts(flood: int) -> dict[int, list[float]]:
    asked = TEAMS * ANSWERS + flood
    async with run_teams(*(written(number) for number in range(asked)), count=TEAMS) as bot:
        roots = await ask_all(bot, flood)
        await bot.idle()
        for number, own in roots.items():
            for root in own:
                text = "".join(bot.read(number, root))
                assert [*text.split()] == [f"token{token}" for token in range(TOKENS)]
            assert not [call for call in bot.team(number).calls if call.limited]
        await asyncio.sleep(0)
        return {number: first_texts(bot, number, own) for number, own in roots.items()}


@pytest.mark.slow
@on_virtual_time
async def test_each_keeps_to_its_own_limits_and_none_is_slower_because_one_floods() -> None:
    calm, flooded = await all_first_texts(0), await all_first_texts(FLOOD)
    for number in range(2, TEAMS + 1):
        assert max(calm[number]) < 3.0
        assert max(flooded[number]) < max(calm[number]) + 0.5
    assert max(flooded[1]) > 20.0, "the flood waits for its own turns"
