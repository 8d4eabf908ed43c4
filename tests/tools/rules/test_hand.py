"""What a person does for a probe."""

from __future__ import annotations

from slack_bot.testing import virtual_clock
from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.tools.rules.trial import emulated


@virtual_clock.on_virtual_time
async def test_a_person_mentions_the_bot_in_the_thread() -> None:
    async with emulated(WorkspaceRules.real()) as (slack, place):
        await slack.hand.mention(place.channel, place.root)
        heard = await slack.ears.until(lambda each: each.event.get("type") == "app_mention")
        assert heard is not None
        assert heard.event["thread_ts"] == place.root


@virtual_clock.on_virtual_time
async def test_a_person_edits_presses_and_looks() -> None:
    async with emulated(WorkspaceRules.real()) as (slack, place):
        await slack.hand.mention(place.channel, place.root)
        since = len(slack.ears.heard)
        await slack.hand.edit(place.channel, place.root)
        told = await slack.ears.until(
            lambda each: each.event.get("subtype") == "message_changed", since=since
        )
        assert told is not None
        assert told.event["message"]["text"].endswith("hello again")
        await slack.ok("assistant.threads.setStatus", **place.session, status="is here")
        assert await slack.hand.sees(place.channel, place.root, "is here")
        assert not await slack.hand.sees(place.channel, place.root, "is gone")
        await slack.hand.press(place.channel, place.root, "no such button")
        assert await slack.ears.until(lambda each: "actions" in each.payload, within=1.0) is None
