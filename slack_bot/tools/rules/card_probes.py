"""Probes of task cards and plans in a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .port import Place, ProbeResult, SlackPort, add_probe, largest, probe
from .stream_probes import APPEND, TEXT, filled, read, start, stop, streamed, text_chunk

_TOO_LONG = 3_000
_DETAILS = 200  # characters
_MOST_CARDS = 200
_FAILED = "Something went wrong"


def card(**fields: str) -> dict[str, str]:
    """A piece of a task card."""
    return {"type": "task_update", "id": "a", "title": "Step", "status": "complete", **fields}


def _add_size(rule: str, part: str, kind: str = "task_update") -> None:
    """A probe of the longest value of a field."""

    async def run(slack: SlackPort, place: Place) -> ProbeResult:
        ts = await start(slack, place, text_chunk(TEXT))

        async def accepts(size: int) -> bool:
            words = {part: "x" * size}
            chunk = card(**words) if kind == "task_update" else {"type": kind, **words}
            return await slack.takes(APPEND, channel=place.channel, ts=ts, chunks=[chunk])

        seen = await largest(rule, accepts)
        await stop(slack, place, ts)
        return seen

    add_probe(rule, run)


_add_size("card.title_chars", "title")
_add_size("card.details_chars", "details")
_add_size("card.output_chars", "output")
_add_size("plan.title_chars", "title", "plan_update")


@probe("card.too_long")
async def _too_long(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await start(slack, place, text_chunk(TEXT))
    chunks = [card(title="x" * _TOO_LONG)]
    seen = await slack.answer_to(APPEND, channel=place.channel, ts=ts, chunks=chunks)
    await stop(slack, place, ts)
    return seen


def _cards(shown: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The cards of a message, in plans too."""
    blocks = list(shown.get("blocks") or ())
    blocks += [each for block in blocks for each in block.get("tasks") or ()]
    return [block for block in blocks if block.get("type") == "task_card"]


def _words(value: Any) -> str:
    """All words of a field, which is text or rich text."""
    if isinstance(value, Mapping):
        return "".join(_words(value.get(name)) for name in ("text", "elements"))
    return "".join(map(_words, value)) if isinstance(value, list) else str(value or "")


async def _field(slack: SlackPort, place: Place, part: str, *texts: str) -> str:
    """A field of a card that got these texts one after the other."""
    shown = await streamed(slack, place, *(card(**{part: text}) for text in texts))
    return next((_words(each.get(part)) for each in _cards(shown)), "")


def _add_growth(part: str) -> None:
    async def run(slack: SlackPort, place: Place) -> ProbeResult:
        words = await _field(slack, place, part, "first", "second")
        return ProbeResult("appends" if "first" in words else "replaces", words)

    add_probe(f"card.{part}", run)


_add_growth("title")
_add_growth("details")
_add_growth("output")


@probe("card.hashes")
async def _hashes(slack: SlackPort, place: Place) -> ProbeResult:
    words = await _field(slack, place, "details", "## measured")
    return ProbeResult("shown" if "measured" in words else "empty", words)


@probe("card.leading_space")
async def _leading(slack: SlackPort, place: Place) -> ProbeResult:
    words = await _field(slack, place, "details", "one", " two")
    return ProbeResult("kept" if "one two" in words else "dropped", words)


@probe("card.open_after_stop")
async def _open(slack: SlackPort, place: Place) -> ProbeResult:
    shown = await streamed(slack, place, card(status="in_progress"))
    return ProbeResult(next((str(each.get("status")) for each in _cards(shown)), "none"))


@probe("plan.open_after_stop")
async def _open_plan(slack: SlackPort, place: Place) -> ProbeResult:
    chunks = [{"type": "plan_update", "title": "Plan"}, card(status="in_progress")]
    ts = await start(slack, place, *chunks, task_display_mode="plan")
    await stop(slack, place, ts)
    shown = await read(slack, place, ts)
    titles = [str(block.get("title")) for block in shown.get("blocks") or () if block.get("type") == "plan"]
    return ProbeResult("failed" if _FAILED in titles else "kept", ", ".join(titles))


@probe("card.weight")
async def _weight(slack: SlackPort, place: Place) -> ProbeResult:
    """A stream takes so many bytes of text and so many cards: what a byte of details costs."""
    size, _ = await filled(slack, place)
    ts, count = await start(slack, place, text_chunk("x")), 0
    while count < _MOST_CARDS:
        chunks = [card(id=f"c{count}", title="x", details="x" * _DETAILS)]
        if not await slack.takes(APPEND, channel=place.channel, ts=ts, chunks=chunks):
            break
        count += 1
    await slack.call("chat.stopStream", channel=place.channel, ts=ts)
    if not count:
        return ProbeResult(_MOST_CARDS)
    return ProbeResult(round(size / count / _DETAILS))
