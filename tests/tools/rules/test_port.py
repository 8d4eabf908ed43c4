"""What a probe works with."""

from __future__ import annotations

import asyncio
import gc

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.testing import virtual_clock
from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.tools.rules.port import CannotTell, SlackPort, largest
from slack_bot.tools.rules.trial import emulated


@virtual_clock.on_virtual_time
async def test_a_call_that_comes_too_often_waits_and_one_in_a_hurry_does_not() -> None:
    async with emulated(WorkspaceRules.real()) as (slack, place):
        begun = slack.clock.wall()
        for _ in range(51):
            await slack.ok("conversations.replies", channel=place.channel, ts=place.root)
        assert slack.clock.wall() - begun == pytest.approx(2, abs=0.1)
        made = slack.calls
        asked = {"channel": place.channel, "ts": place.root}
        answer = await slack.call("conversations.replies", hurry=True, **asked)
        assert (answer.is_limited, answer.status, answer.retry_after) == (True, 429, 1)
        assert slack.calls == made + 1


@virtual_clock.on_virtual_time
async def test_what_cannot_be_told_says_why() -> None:
    async with emulated(WorkspaceRules.real()) as (slack, place):
        with pytest.raises(CannotTell, match="another kind of token"):
            await slack.ok("apps.connections.open")
        with pytest.raises(CannotTell, match=r"chat.update is refused \(message_not_found\)"):
            await slack.ok("chat.update", channel=place.channel, ts="1.2", text="a")
        deaf = SlackPort(AsyncWebClient(), slack.http, slack.clock)
        with pytest.raises(CannotTell, match="SLACK_APP_TOKEN"):
            await deaf.connect()
        with pytest.raises(CannotTell, match="SLACK_APP_TOKEN"):
            _ = deaf.ears
        with pytest.raises(CannotTell, match="in HTTP mode"):
            slack.ears_by("http")
        with pytest.raises(CannotTell, match="a person"):
            _ = deaf.hand


@pytest.mark.parametrize("limit", [0, 1, 49, 50, 51, 120, 1_000])
async def test_the_largest_number_is_found_by_few_questions(limit: int) -> None:
    asked: list[int] = []

    async def accepts(number: int) -> bool:
        asked.append(number)
        return number <= limit

    seen = await largest("stop.blocks", accepts)
    assert seen.value == min(limit, 200)
    assert len(asked) <= (2 if limit == 50 else 12)


@virtual_clock.on_virtual_time
async def test_what_nobody_waits_for_any_more_may_fail_without_a_word() -> None:
    heard: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, said: heard.append(str(said)))

    async def fails() -> None:
        await asyncio.sleep(1)
        raise CannotTell("the server is gone")

    async def leaves() -> None:
        async with emulated(WorkspaceRules.real()) as (slack, _):
            waits = asyncio.create_task(slack.once("a", fails))
            await asyncio.sleep(0.5)
            waits.cancel()
            await asyncio.sleep(1)

    await leaves()
    gc.collect()
    assert heard == []
