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
