"""Probes of how often a method may be called: to the first refusal, and for half a minute behind it.

Most calls name something that does not exist: Slack counts them, and nobody sees them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ...settings.slack_rules import RATED
from .port import CallReply, CannotTell, Need, Place, ProbeResult, SlackPort, add_probe, probe
from .stream_probes import APPEND
from .thread_probes import EPHEMERAL, SESSION, STATUS, UPLOAD

REST = 60.0
"""Seconds after which a method may be called as often at once as it ever may."""
_WINDOW = 30.0  # seconds
_AT_ONCE = 10  # calls
_FARTHEST = 4  # times what is expected
_NO_TS = "1000000000.000001"


def _arguments(place: Place) -> Mapping[str, dict[str, Any]]:
    at = {"channel": place.channel, "ts": _NO_TS}
    thread = {"channel_id": place.channel, "thread_ts": _NO_TS}
    return {
        "chat.startStream": {"channel": place.channel, "thread_ts": _NO_TS, **place.recipient},
        "chat.appendStream": {**at, "markdown_text": "x"},
        "chat.stopStream": at,
        "chat.update": {**at, "text": "x"},
        "chat.delete": at,
        "chat.postMessage": {"channel": place.channel, "thread_ts": _NO_TS, "text": "x"},
        EPHEMERAL: {"channel": place.channel, "user": place.user, "thread_ts": _NO_TS, "text": "x"},
        STATUS: {**thread, "status": ""},
        SESSION: {**thread, "status": "active"},
        "conversations.replies": at,
        "conversations.history": {"channel": place.channel, "limit": 1},
        "reactions.add": {"channel": place.channel, "timestamp": _NO_TS, "name": "straight_ruler"},
        "users.info": {"user": place.user},
        UPLOAD: {"filename": "measured.txt", "length": 1},
    }


async def _measured(slack: SlackPort, place: Place, method: str) -> tuple[int, int, str]:
    """How many calls were taken at once, how many in a minute behind that, and how refusals came."""

    async def make() -> tuple[int, int, str]:
        args, most = _arguments(place)[method], RATED[method][1] * _FARTHEST
        refusals: list[CallReply] = []
        taken = 0
        while taken < most and not refusals:
            replies = await asyncio.gather(
                *(slack.call(method, hurry=True, **args) for _ in range(min(_AT_ONCE, RATED[method][1])))
            )
            refusals += [each for each in replies if each.is_limited]
            taken += len(replies) - sum(each.is_limited for each in replies)
        if not refusals:
            raise CannotTell(f"{taken} calls at once were all taken")
        later, end = 0, slack.clock.wall() + _WINDOW
        while slack.clock.wall() < end:
            reply = await slack.call(method, hurry=True, **args)
            if reply.is_limited:
                refusals.append(reply)
                await asyncio.sleep(reply.retry_after or 1.0)
            else:
                later += 1
        return taken, round(later * 60 / _WINDOW), _form(refusals)

    return await slack.once(f"rate {method}", make)


def _form(refusals: list[CallReply]) -> str:
    by_http = {each.status == 429 for each in refusals}
    return "both" if len(by_http) > 1 else "http" if by_http == {True} else "body"


def _add(method: str) -> None:
    async def burst(slack: SlackPort, place: Place) -> ProbeResult:
        return ProbeResult((await _measured(slack, place, method))[0])

    async def rate(slack: SlackPort, place: Place) -> ProbeResult:
        return ProbeResult((await _measured(slack, place, method))[1])

    add_probe(f"rate.{method}", rate, Need.SANDBOX, Need.RATE)
    add_probe(f"burst.{method}", burst, Need.SANDBOX, Need.RATE)


for _method in RATED:
    _add(_method)


@probe("rate.form", Need.SANDBOX, Need.RATE)
async def _rate_form(slack: SlackPort, place: Place) -> ProbeResult:
    return ProbeResult((await _measured(slack, place, APPEND))[2])
