"""What was written is taken away."""

from __future__ import annotations

from slack_bot.testing import virtual_clock
from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.tools.rules.rules import probes_of
from slack_bot.tools.rules.stream_probes import start, text_chunk
from slack_bot.tools.rules.tidying import tidy
from slack_bot.tools.rules.trial import emulated


@virtual_clock.on_virtual_time
async def test_open_streams_are_ended_and_what_people_wrote_stays() -> None:
    async with emulated(WorkspaceRules.real()) as (slack, place):
        await start(slack, place, text_chunk("open"))
        for _ in range(120):
            await slack.ok("chat.postMessage", **place.thread, text="one of many")
        await slack.hand.mention(place.channel, place.root)
        assert await tidy(slack, place.bot_user) == 0
        for channel, root in ((place.channel, place.root), place.direct):
            answer = await slack.call("conversations.replies", channel=channel, ts=root)
            assert answer.error == "thread_not_found"


@virtual_clock.on_virtual_time
async def test_what_cannot_be_deleted_is_counted() -> None:
    rules = WorkspaceRules.real().as_measured({"stream.stop_after_stop": "internal_error"})
    async with emulated(rules) as (slack, place):
        await slack.ok("chat.delete", channel=place.direct[0], ts=place.direct[1])
        assert await tidy(slack, place.bot_user) == 1


@virtual_clock.on_virtual_time
async def test_a_file_goes_with_its_message() -> None:
    async with emulated(WorkspaceRules.real()) as (slack, place):
        (probe,) = probes_of(["file.in_thread"])
        await probe.run(slack, place)
        answer = await slack.ok("conversations.replies", channel=place.channel, ts=place.root)
        (file,) = [file["id"] for message in answer["messages"] for file in message.get("files", ())]
        assert await tidy(slack, place.bot_user) == 0
        assert (await slack.call("files.delete", file=file)).error == "file_not_found"
