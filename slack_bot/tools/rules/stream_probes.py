"""Probes of streamed messages: what begins one, what it takes, how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ...settings.slack_rules import OK
from .port import CannotTell, Need, Place, ProbeResult, SlackPort, largest, probe

START, APPEND, STOP = "chat.startStream", "chat.appendStream", "chat.stopStream"
TEXT = "Measured."
_NO_TEAM, _NO_TS = "T00000000", "1000000000.000001"
_READS = 3
_LOOK = 5.0  # seconds between two looks at a stream
_LONGEST = 660.0  # seconds that a stream is watched
_PIECE = 500  # bytes
_MOST_BYTES = 60_000
_NAME = "Name of an agent"


def text_chunk(text: str) -> dict[str, str]:
    """A piece of text for a stream."""
    return {"type": "markdown_text", "text": text}


def divider() -> dict[str, str]:
    """The smallest block."""
    return {"type": "divider"}


async def start(slack: SlackPort, place: Place, *chunks: Mapping[str, Any], **args: Any) -> str:
    """Begin a stream in the channel. Its ts; CannotTell where it is refused."""
    given = {"chunks": [dict(chunk) for chunk in chunks]} if chunks else {}
    started = await slack.ok(START, **place.thread, **place.recipient, **given, **args)
    return str(started.get("ts"))


async def stop(slack: SlackPort, place: Place, ts: str, **args: Any) -> Mapping[str, Any]:
    """End it."""
    return await slack.ok(STOP, channel=place.channel, ts=ts, **args)


async def streamed(slack: SlackPort, place: Place, *chunks: Mapping[str, Any], **args: Any) -> dict[str, Any]:
    """A message of these chunks, as it is read back. `args`: of the stop."""
    ts = await start(slack, place, *chunks)
    await stop(slack, place, ts, **args)
    return await read(slack, place, ts)


async def read(slack: SlackPort, place: Place, ts: str, **args: Any) -> dict[str, Any]:
    """A message of the thread, read back."""
    asked = {"channel": place.channel, "ts": place.root, "oldest": ts, "latest": ts, "inclusive": "true"}
    for _ in range(_READS):
        thread = await slack.ok("conversations.replies", **asked, limit=5, **args)
        for message in thread.get("messages") or ():
            if message.get("ts") == ts:
                return dict(message)
        await asyncio.sleep(1.0)  # Slack may list it a moment later
    raise CannotTell("the message cannot be read back")


async def try_start(slack: SlackPort, place: Place, **args: Any) -> ProbeResult:
    """What Slack answers to a start. One that begins is stopped."""
    answer = await slack.call(START, **{"chunks": [text_chunk(TEXT)], **args})
    if answer.error == OK:
        await slack.call(STOP, channel=args["channel"], ts=str(answer.body.get("ts")))
    return ProbeResult(answer.error)


@probe("stream.recipient_user")
async def _without_user(slack: SlackPort, place: Place) -> ProbeResult:
    return await try_start(slack, place, **place.thread, recipient_team_id=place.team)


@probe("stream.recipient_team")
async def _without_team(slack: SlackPort, place: Place) -> ProbeResult:
    return await try_start(slack, place, **place.thread, recipient_user_id=place.user)


@probe("stream.direct")
async def _in_direct(slack: SlackPort, place: Place) -> ProbeResult:
    channel, root = place.direct
    return await try_start(slack, place, channel=channel, thread_ts=root)


@probe("stream.recipient_bot")
async def _for_bot(slack: SlackPort, place: Place) -> ProbeResult:
    to = {"recipient_user_id": place.bot_user, "recipient_team_id": place.team}
    return await try_start(slack, place, **place.thread, **to)


@probe("stream.recipient_of_other_team")
async def _for_other_team(slack: SlackPort, place: Place) -> ProbeResult:
    to = {"recipient_user_id": place.user, "recipient_team_id": _NO_TEAM}
    return await try_start(slack, place, **place.thread, **to)


@probe("stream.no_thread")
async def _without_thread(slack: SlackPort, place: Place) -> ProbeResult:
    return await try_start(slack, place, channel=place.channel, **place.recipient)


@probe("stream.unknown_thread")
async def _in_unknown_thread(slack: SlackPort, place: Place) -> ProbeResult:
    return await try_start(slack, place, channel=place.channel, thread_ts=_NO_TS, **place.recipient)


@probe("stream.display")
async def _dense(slack: SlackPort, place: Place) -> ProbeResult:
    return await try_start(slack, place, **place.thread, **place.recipient, task_display_mode="dense")


@probe("stream.text_and_chunks")
async def _both(slack: SlackPort, place: Place) -> ProbeResult:
    return await try_start(slack, place, **place.thread, **place.recipient, markdown_text=TEXT)


@probe("stream.mode")
async def _other_mode(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await start(slack, place, markdown_text=TEXT)
    seen = await slack.answer_to(APPEND, channel=place.channel, ts=ts, chunks=[text_chunk(TEXT)])
    await stop(slack, place, ts)
    return seen


@probe("stream.empty_append")
async def _empty(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await start(slack, place, text_chunk(TEXT))
    seen = await slack.answer_to(APPEND, channel=place.channel, ts=ts)
    await stop(slack, place, ts)
    return seen


@probe("stream.append_after_stop")
async def _append_after_stop(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await start(slack, place, text_chunk(TEXT))
    await stop(slack, place, ts)
    return await slack.answer_to(APPEND, channel=place.channel, ts=ts, chunks=[text_chunk(TEXT)])


@probe("stream.stop_after_stop")
async def _stop_twice(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await start(slack, place, text_chunk(TEXT))
    await stop(slack, place, ts)
    return await slack.answer_to(STOP, channel=place.channel, ts=ts)


@probe("stream.update_while_open")
async def _update_open(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await start(slack, place, text_chunk(TEXT))
    seen = await slack.answer_to("chat.update", channel=place.channel, ts=ts, text=TEXT)
    await slack.call(STOP, channel=place.channel, ts=ts)
    return seen


@probe("stream.delete_while_open")
async def _delete_open(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await start(slack, place, text_chunk(TEXT))
    seen = await slack.answer_to("chat.delete", channel=place.channel, ts=ts)
    await slack.call(STOP, channel=place.channel, ts=ts)
    return seen


async def _lived(slack: SlackPort, place: Place, *, is_fed: bool) -> ProbeResult:
    """Seconds until a stream is over, looked at every few seconds."""
    began = slack.clock.wall()
    ts = await start(slack, place, text_chunk(TEXT))
    while (age := slack.clock.wall() - began) < _LONGEST:
        await asyncio.sleep(_LOOK)
        if is_fed:
            chunks = [text_chunk(" more")]
            is_over = not await slack.takes(APPEND, channel=place.channel, ts=ts, chunks=chunks)
        else:
            is_over = (await read(slack, place, ts)).get("streaming_state") != "in_progress"
        if is_over:
            return ProbeResult(round(slack.clock.wall() - began))
    await stop(slack, place, ts)
    return ProbeResult(round(age), "or longer")


@probe("stream.life", Need.TIME)
async def _life(slack: SlackPort, place: Place) -> ProbeResult:
    return await _lived(slack, place, is_fed=True)


@probe("stream.idle", Need.TIME)
async def _idle(slack: SlackPort, place: Place) -> ProbeResult:
    return await _lived(slack, place, is_fed=False)


async def filled(slack: SlackPort, place: Place) -> tuple[int, str]:
    """How many bytes of text a stream takes, and the error that follows."""

    async def make() -> tuple[int, str]:
        ts, size, error = await start(slack, place), 0, OK
        while size < _MOST_BYTES:
            chunks = [text_chunk("x" * (_PIECE - 1) + "\n")]
            error = (await slack.call(APPEND, channel=place.channel, ts=ts, chunks=chunks)).error
            if error != OK:
                break
            size += _PIECE
        await slack.call(STOP, channel=place.channel, ts=ts)
        return size, error

    return await slack.once("filled", make)


@probe("stream.bytes")
async def _bytes(slack: SlackPort, place: Place) -> ProbeResult:
    size, error = await filled(slack, place)
    return ProbeResult(size, error if error != OK else "or more")


@probe("stream.full")
async def _full(slack: SlackPort, place: Place) -> ProbeResult:
    return ProbeResult((await filled(slack, place))[1])


@probe("stream.name")
async def _name(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await start(slack, place, text_chunk(TEXT), username=_NAME)
    await stop(slack, place, ts)
    return ProbeResult((await read(slack, place, ts)).get("username") == _NAME)


@probe("stop.tells_message")
async def _told(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await start(slack, place, text_chunk(TEXT))
    return ProbeResult(bool((await stop(slack, place, ts)).get("message")))


@probe("stop.blocks")
async def _stop_blocks(slack: SlackPort, place: Place) -> ProbeResult:
    ts = ""

    async def accepts(count: int) -> bool:
        nonlocal ts
        ts = ts or await start(slack, place, text_chunk(TEXT))
        is_taken = await slack.takes(STOP, channel=place.channel, ts=ts, blocks=[divider()] * count)
        ts = "" if is_taken else ts
        return is_taken

    seen = await largest("stop.blocks", accepts)
    if ts:
        await stop(slack, place, ts)
    return seen


@probe("stop.too_many_blocks")
async def _too_many_blocks(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await start(slack, place, text_chunk(TEXT))
    seen = await slack.answer_to(STOP, channel=place.channel, ts=ts, blocks=[divider()] * 101)
    await slack.call(STOP, channel=place.channel, ts=ts)
    return seen


@probe("stop.place")
async def _stop_place(slack: SlackPort, place: Place) -> ProbeResult:
    shown = await streamed(slack, place, text_chunk(TEXT), blocks=[divider()])
    kinds = [block.get("type") for block in shown.get("blocks") or ()]
    if "divider" not in kinds:
        raise CannotTell("the blocks of a stop cannot be read back")
    return ProbeResult("below" if kinds[-1] == "divider" else "above", " ".join(map(str, kinds)))


@probe("stop.metadata")
async def _stop_metadata(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await start(slack, place, text_chunk(TEXT))
    kept = {"event_type": "measured", "event_payload": {"a": "b"}}
    await stop(slack, place, ts, metadata=kept)
    shown = await read(slack, place, ts, include_all_metadata="true")
    return ProbeResult((shown.get("metadata") or {}).get("event_type") == "measured")


@probe("stop.session")
async def _stop_session(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await start(slack, place, text_chunk(TEXT))
    seen = await slack.answer_to(STOP, channel=place.channel, ts=ts, session_status="measured")
    await slack.call(STOP, channel=place.channel, ts=ts)
    return seen
