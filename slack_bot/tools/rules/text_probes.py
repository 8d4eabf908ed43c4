"""Probes of what a call may hold: texts, metadata, and the blocks of a message."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .port import Need, Place, ProbeResult, SlackPort, add_probe, largest, probe
from .stream_probes import APPEND, TEXT, divider, read, start, stop

POST, UPDATE = "chat.postMessage", "chat.update"
_TOO_LONG = 60_000
_TOO_MANY = 120


def paragraph(size: int) -> str:
    """`size` characters in short lines."""
    line = "x" * 79 + "\n"
    return (line * (size // len(line) + 1))[:size].rstrip("\n").ljust(size, "x")


async def post(slack: SlackPort, place: Place, **args: Any) -> str:
    """The ts of a new message in the thread."""
    return str((await slack.ok(POST, **place.thread, **{"text": TEXT, **args})).get("ts"))


def _metadata(size: int) -> dict[str, Any]:
    """Metadata of `size` bytes of JSON."""
    empty = {"event_type": "measured", "event_payload": {"a": ""}}
    return {**empty, "event_payload": {"a": "x" * (size - len(json.dumps(empty)))}}


def add_size(rule: str, method: str, make: Callable[[int], dict[str, Any]], *needs: Need) -> None:
    """A probe of the largest argument that a method takes; `make` gives arguments of a size."""

    async def run(slack: SlackPort, place: Place) -> ProbeResult:
        at = {**place.thread, "text": TEXT} if method == POST else place.thread

        async def accepts(size: int) -> bool:
            args = make(size)
            if "markdown_text" in args:
                return await slack.takes(method, **place.thread, **args)
            return await slack.takes(method, **{**at, **args})

        return await largest(rule, accepts)

    add_probe(rule, run, *needs)


def add_answer(rule: str, method: str, **args: Any) -> None:
    """A probe of Slack's answer to a call in the thread."""

    async def run(slack: SlackPort, place: Place) -> ProbeResult:
        return await slack.answer_to(method, **place.thread, **args)

    add_probe(rule, run)


add_size("call.chars", POST, lambda size: {"markdown_text": paragraph(size)})
add_answer("call.too_long", POST, markdown_text=paragraph(_TOO_LONG))
add_answer("post.two_texts", POST, markdown_text=TEXT, text=TEXT)
add_answer("post.empty", POST, text=" ")
add_size("metadata.bytes", POST, lambda size: {"metadata": _metadata(size)})
add_answer("metadata.too_large", POST, text=TEXT, metadata=_metadata(_TOO_LONG))
add_size("blocks.count", POST, lambda size: {"blocks": [divider()] * size})
add_answer("blocks.too_many", POST, text=TEXT, blocks=[divider()] * _TOO_MANY)


async def _edited(slack: SlackPort, place: Place, size: int, ts: str) -> str:
    return (await slack.call(UPDATE, channel=place.channel, ts=ts, text=paragraph(size))).error


@probe("update.chars")
async def _update_chars(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await post(slack, place)

    async def accepts(size: int) -> bool:
        return await _edited(slack, place, size, ts) == "ok"

    return await largest("update.chars", accepts)


@probe("update.too_long")
async def _update_too_long(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await post(slack, place)
    return ProbeResult(await _edited(slack, place, _TOO_LONG, ts))


@probe("update.drops_cards")
async def _drops_cards(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await start(slack, place, {"type": "task_update", "id": "a", "title": TEXT, "status": "complete"})
    await stop(slack, place, ts)
    blocks = [{"type": "markdown", "text": TEXT}]
    await slack.ok(UPDATE, channel=place.channel, ts=ts, text=TEXT, blocks=blocks)
    kinds = {block.get("type") for block in (await read(slack, place, ts)).get("blocks") or ()}
    return ProbeResult(not kinds & {"task_card", "plan"})


@probe("post.chars")
async def _post_chars(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await post(slack, place, text=paragraph(_TOO_LONG))
    return ProbeResult(len(str((await read(slack, place, ts)).get("text"))))


@probe("thread.reply_as_root")
async def _reply_as_root(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await post(slack, place)
    return await slack.answer_to(POST, channel=place.channel, thread_ts=ts, text=TEXT)


@probe("chunk_blocks.kept")
async def _chunk_blocks(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await start(slack, place, {"type": "markdown_text", "text": TEXT})
    for _ in range(3):
        chunks = [{"type": "blocks", "blocks": [divider()] * 40}]
        await slack.call(APPEND, channel=place.channel, ts=ts, chunks=chunks)
    await stop(slack, place, ts)
    blocks = (await read(slack, place, ts)).get("blocks") or ()
    return ProbeResult(sum(block.get("type") == "divider" for block in blocks))
