"""Probes of what an app hears: events of messages and streams, and the connections that bring them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp

from .ears import BY_HAND, HeardEvent, NoConnection, open_socket
from .port import CannotTell, Need, Place, ProbeResult, SlackPort, probe
from .stream_probes import APPEND, TEXT, start, stop, text_chunk

_QUIET = 3.0  # seconds after which an event that did not come is not waited for
_MOST = 40  # connections that are tried
_EMOJI = "straight_ruler"


def is_about(ts: str) -> Callable[[HeardEvent], bool]:
    """Whether an event is about that message itself."""

    def matches(heard: HeardEvent) -> bool:
        return heard.event.get("type") == "message" and ts in _named(heard.event)

    return matches


def _named(event: Mapping[str, Any]) -> set[str]:
    """The messages that an event is about."""
    inner = event.get("message") or {}
    named = {str(each) for each in (inner.get("ts"), event.get("deleted_ts")) if each}
    return named or {str(event.get("ts"))}


async def _quiet(slack: SlackPort, matches: Callable[[HeardEvent], bool], since: int) -> list[HeardEvent]:
    """All events that match, once none has come for a while."""
    await asyncio.sleep(_QUIET)
    return [heard for heard in slack.ears.heard[since:] if matches(heard)]


@probe("event.own_post", Need.EVENTS)
async def _own_post(slack: SlackPort, place: Place) -> ProbeResult:
    ears = slack.ears
    ts = str((await slack.ok("chat.postMessage", **place.thread, text=TEXT)).get("ts"))
    return ProbeResult(await ears.until(is_about(ts)) is not None)


@probe("event.stream_start", Need.EVENTS)
async def _stream_start(slack: SlackPort, place: Place) -> ProbeResult:
    ears = slack.ears
    ts = await start(slack, place, text_chunk(TEXT))
    heard = await ears.until(is_about(ts))
    await stop(slack, place, ts)
    if heard is None:
        raise CannotTell("no event came of the start of a stream")
    is_empty = not heard.event.get("text") and heard.event.get("streaming_state") == "in_progress"
    return ProbeResult("empty" if is_empty else "written")


@probe("event.appends", Need.EVENTS)
async def _appends(slack: SlackPort, place: Place) -> ProbeResult:
    ears = slack.ears
    ts = await start(slack, place, text_chunk(TEXT))
    await ears.until(is_about(ts))
    since = len(ears.heard)
    for _ in range(3):
        await slack.ok(APPEND, channel=place.channel, ts=ts, chunks=[text_chunk(TEXT)])
    count = len(await _quiet(slack, is_about(ts), since))
    await stop(slack, place, ts)
    return ProbeResult(count)


@probe("event.stream_end", Need.EVENTS)
async def _stream_end(slack: SlackPort, place: Place) -> ProbeResult:
    ears = slack.ears
    ts = await start(slack, place, text_chunk(TEXT))
    await ears.until(is_about(ts))
    since = len(ears.heard)
    await stop(slack, place, ts)
    heard = await ears.until(is_about(ts), _QUIET, since)
    return ProbeResult("none" if heard is None else str(heard.event.get("subtype") or "message"))


@probe("event.delete", Need.EVENTS)
async def _delete(slack: SlackPort, place: Place) -> ProbeResult:
    ears = slack.ears
    ts = str((await slack.ok("chat.postMessage", **place.thread, text=TEXT)).get("ts"))
    await ears.until(is_about(ts), _QUIET)
    since = len(ears.heard)
    await slack.ok("chat.delete", channel=place.channel, ts=ts)
    heard = await ears.until(is_about(ts), _QUIET, since)
    return ProbeResult("none" if heard is None else str(heard.event.get("subtype") or "message"))


async def _edited(slack: SlackPort, place: Place) -> list[Mapping[str, Any]]:
    """The events of an edit of a mention, in order."""
    ears, hand = slack.ears, slack.hand
    since = len(ears.heard)
    await hand.mention(place.channel, place.root)
    heard = await ears.until(lambda each: each.event.get("user") == place.user, BY_HAND, since)
    ts = "" if heard is None else str(heard.event.get("ts"))

    def matches(heard: HeardEvent) -> bool:
        return heard.event.get("type") in ("app_mention", "message") and ts in _named(heard.event)

    await _quiet(slack, matches, since)
    since = len(ears.heard)
    await hand.edit(place.channel, place.root)
    await ears.until(matches, BY_HAND, since)
    return [heard.event for heard in await _quiet(slack, matches, since)]


@probe("event.edit", Need.EVENTS, Need.HAND)
async def _edit(slack: SlackPort, place: Place) -> ProbeResult:
    told = [each for each in await _edited(slack, place) if each.get("type") == "message"]
    return ProbeResult(str(told[0].get("subtype") or "message") if told else "none")


@probe("event.edit_mention", Need.EVENTS, Need.HAND)
async def _edit_mention(slack: SlackPort, place: Place) -> ProbeResult:
    return ProbeResult(any(each.get("type") == "app_mention" for each in await _edited(slack, place)))


@probe("event.reaction_thread", Need.EVENTS)
async def _reaction(slack: SlackPort, place: Place) -> ProbeResult:
    ears = slack.ears
    item = {"channel": place.channel, "timestamp": place.root, "name": _EMOJI}
    await slack.ok("reactions.add", **item)
    heard = await ears.until(lambda each: each.event.get("type") == "reaction_added", _QUIET)
    await slack.ok("reactions.remove", **item)
    if heard is None:
        raise CannotTell("no reaction_added came; the app may not subscribe to it")
    return ProbeResult("thread_ts" in heard.event.get("item", {}))


async def _mentioned(slack: SlackPort, place: Place) -> list[str]:
    """The events of a mention, in order."""
    ears = slack.ears
    since = len(ears.heard)
    await slack.hand.mention(place.channel, place.root)

    def matches(heard: HeardEvent) -> bool:
        return heard.event.get("user") == place.user and heard.event.get("type") in ("app_mention", "message")

    await ears.until(matches, BY_HAND, since)
    return [str(heard.event.get("type")) for heard in await _quiet(slack, matches, since)]


@probe("event.twins", Need.EVENTS, Need.HAND)
async def _twins(slack: SlackPort, place: Place) -> ProbeResult:
    return ProbeResult(len(await _mentioned(slack, place)))


@probe("event.first", Need.EVENTS, Need.HAND)
async def _first(slack: SlackPort, place: Place) -> ProbeResult:
    heard = await _mentioned(slack, place)
    if len(heard) < 2:
        raise CannotTell("a mention was not told twice")
    return ProbeResult(heard[0])


async def _connected(slack: SlackPort) -> tuple[int, str]:
    """How many connections the app may have, and why there is not one more."""
    sockets, reason = list[aiohttp.ClientWebSocketResponse](), ""
    try:
        while len(sockets) < _MOST and not reason:
            try:
                sockets.append((await slack.connect())[0])
            except NoConnection as refusal:
                reason = str(refusal)
    finally:
        for socket in sockets:
            await socket.close()
    return len(sockets) + 1, reason


@probe("socket.count", Need.EVENTS, Need.ALONE)
async def _count(slack: SlackPort, place: Place) -> ProbeResult:
    return ProbeResult((await _connected(slack))[0])


@probe("socket.refusal", Need.EVENTS, Need.ALONE)
async def _refusal(slack: SlackPort, place: Place) -> ProbeResult:
    reason = (await _connected(slack))[1]
    return ProbeResult(reason if reason == "too_many_websockets" else "other", reason)


@probe("socket.ticket_once", Need.EVENTS, Need.ALONE)
async def _ticket(slack: SlackPort, place: Place) -> ProbeResult:
    url = await slack.ticket()
    first, _ = await open_socket(slack.http, url)
    try:
        second, _ = await open_socket(slack.http, url)
    except NoConnection as refusal:
        return ProbeResult(True, str(refusal))
    finally:
        await first.close()
    await second.close()
    return ProbeResult(False)
