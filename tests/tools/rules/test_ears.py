"""What is heard in Socket Mode."""

from __future__ import annotations

import pytest

from slack_bot.testing import virtual_clock
from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.tools.rules.ears import NoConnection, open_socket
from slack_bot.tools.rules.trial import emulated


@virtual_clock.on_virtual_time
async def test_what_is_not_acknowledged_comes_again_and_says_so() -> None:
    async with emulated(WorkspaceRules.real()) as (slack, place):
        ears = slack.ears
        ears.leaves = lambda heard: heard.event.get("text") == "left" and heard.attempt == 0
        since = len(ears.heard)
        await slack.ok("chat.postMessage", **place.thread, text="left")
        first = await ears.until(lambda heard: heard.event.get("text") == "left", since=since)
        again = await ears.until(lambda heard: heard.attempt == 1, within=60, since=since)
        assert first is not None
        assert again is not None
        assert (again.reason, round(again.at - first.at)) == ("timeout", 3)
        assert await ears.until(lambda heard: heard.attempt == 2, within=600, since=since) is None


@virtual_clock.on_virtual_time
async def test_a_connection_that_is_refused_says_why() -> None:
    async with emulated(WorkspaceRules.real()) as (slack, _):
        with pytest.raises(NoConnection, match="http_403"):
            await open_socket(slack.http, (await slack.ticket()).replace("ticket-", "made-up-"))


@virtual_clock.on_virtual_time
async def test_events_by_http_are_answered_left_or_refused() -> None:
    async with emulated(WorkspaceRules.real(), is_http=True) as (slack, place):
        ears = slack.ears_by("http")
        ears.leaves = lambda heard: heard.event.get("text") == "left" and heard.attempt == 0
        since = len(ears.heard)
        await slack.ok("chat.postMessage", **place.thread, text="left")
        again = await ears.until(lambda heard: heard.attempt == 1, within=60, since=since)
        assert again is not None
        assert again.reason == "http_timeout"
        await slack.hand.press(place.channel, place.root, "nothing")
        await slack.ok("chat.postMessage", **place.thread, text="taken")
        assert await ears.until(lambda heard: heard.event.get("text") == "taken", since=since) is not None
        assert await ears.until(lambda heard: heard.attempt == 2, within=600, since=since) is None
