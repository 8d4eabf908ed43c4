"""Probes of what comes again when the app does not acknowledge it."""

from __future__ import annotations

from itertools import pairwise

from .ears import HeardEvent, Way
from .port import CannotTell, Need, Place, ProbeResult, SlackPort, add_probe, probe
from .text_probes import post

_LEFT = "Left without an acknowledgement."
_REFUSED = "Refused for good."
_PATIENCE = 420.0  # seconds for the next attempt


async def _attempts(slack: SlackPort, place: Place, way: Way) -> list[HeardEvent]:
    """Each coming of one event that is never acknowledged."""

    async def make() -> list[HeardEvent]:
        ears = slack.ears_by(way)
        since = len(ears.heard)

        def is_left(heard: HeardEvent) -> bool:
            return heard.event.get("text") == _LEFT and heard.event.get("type") == "message"

        ears.leaves = is_left
        await post(slack, place, text=_LEFT)
        found = list[HeardEvent]()
        while await ears.until(is_left, _PATIENCE, since):
            found += [heard for heard in ears.heard[since:] if is_left(heard)]
            since = len(ears.heard)
        if not found:
            raise CannotTell("no event came of a post")
        return found

    return await slack.once(f"attempts by {way}", make)


def _add(group: Way, *needs: Need) -> None:
    needs = (Need.EVENTS, Need.SANDBOX, Need.TIME, *needs)
    words = {"delivery": "timeout", "http": "http_timeout"}

    async def retries(slack: SlackPort, place: Place) -> ProbeResult:
        return ProbeResult(len(await _attempts(slack, place, group)) - 1)

    async def reason(slack: SlackPort, place: Place) -> ProbeResult:
        told = next((each.reason for each in await _attempts(slack, place, group) if each.attempt), "")
        return ProbeResult(told if told == words[group] else "other", told)

    add_probe(f"{group}.retries", retries, *needs)
    add_probe(f"{group}.reason", reason, *needs)
    for number, name in enumerate(("ack", "second_pause", "third_pause")):
        _add_pause(group, name, number, *needs)


def _add_pause(group: Way, name: str, number: int, *needs: Need) -> None:
    """The time between two attempts, without that in which Slack waits for the acknowledgement."""

    async def pause(slack: SlackPort, place: Place) -> ProbeResult:
        found = await _attempts(slack, place, group)
        if len(found) < number + 2:
            raise CannotTell(f"it came {len(found)} times")
        pauses = [later.at - earlier.at for earlier, later in pairwise(found)]
        return ProbeResult(round(pauses[number] - (pauses[0] if number else 0.0)))

    add_probe(f"{group}.{name}", pause, *needs)


_add("delivery")
_add("http", Need.HTTP)


@probe("http.no_retry", Need.EVENTS, Need.SANDBOX, Need.HTTP)
async def _no_retry(slack: SlackPort, place: Place) -> ProbeResult:
    ears = slack.ears_by("http")
    since = len(ears.heard)

    def is_refused(heard: HeardEvent) -> bool:
        return heard.event.get("text") == _REFUSED and heard.event.get("type") == "message"

    ears.refuses = is_refused
    await post(slack, place, text=_REFUSED)
    if await ears.until(is_refused, since=since) is None:
        raise CannotTell("no event came of a post")
    again = await ears.until(lambda heard: is_refused(heard) and heard.attempt > 0, since=since)
    return ProbeResult(again is None)
