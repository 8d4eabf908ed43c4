"""PURE. When the agent had sent how much of a text, read from its raw events without the bot's parser.

A text comes as pieces or as snapshots that grow, in artifacts, statuses or messages: whichever way had it
first counts.
"""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any

from ..agents.wire import frames
from ..errors import AgentError
from ..testing.tape.json_file import Json
from .replay.diff import common_prefix
from .turn_log import AgentOutput

_ANCHOR = 24  # characters from which a stretch of the text can be recognised


def sent_curve(outputs: Iterable[AgentOutput], text: str) -> tuple[tuple[float, int], ...]:
    """How many characters of `text`, without white space, the agent had sent by when (monotonic seconds)."""
    wanted = visible_chars(text)
    ways: dict[str, list[tuple[float, str, bool]]] = defaultdict(list)
    for output in outputs:
        for way, said, appends in _sayings(output.frame):
            ways[way].append((output.at, said, appends))
    times = [math.inf] * len(wanted)
    for said_so in ways.values():
        for pieces in (said_so, list(_as_snapshots(said_so))):
            _find(wanted, [(at, piece) for at, piece, _ in pieces], times)
    found = sorted(t for t in times if t < math.inf)
    return tuple(dict(zip(found, range(1, len(found) + 1), strict=True)).items())


def visible_chars(text: str) -> str:
    """`text` without white space."""
    return "".join(text.split())


def all_sayings(events: Iterable[Json]) -> Iterator[str]:
    """The text of each artifact and message in raw events, without white space."""
    for event in events:
        with suppress(AgentError):
            yield from (said for _, said, _ in _sayings(frames.decode(event)) if said)


def _sayings(frame: frames.Frame | None) -> Iterator[tuple[str, str, bool]]:
    """The way that a text came by, the text without white space, whether it goes on another one."""
    match frame:
        case frames.ArtifactUpdate(artifact=artifact, append=append):
            yield "artifact", _text(artifact.parts), append is True
        case frames.StatusUpdate(message=frames.AgentMessage(role="agent", parts=parts)):
            yield "status", _text(parts), False
        case frames.MessageReply(message=frames.AgentMessage(role="agent", parts=parts)):
            yield "message", _text(parts), False
        case frames.Snapshot(message=message, artifacts=artifacts, history=history):
            told = [each.parts for each in (*history, message) if each is not None and each.role == "agent"]
            for parts in (*(each.parts for each in artifacts), *told):
                yield "task", _text(parts), False


def _text(parts: Iterable[frames.Part]) -> str:
    return visible_chars("".join(part.text or "".join(_strings(part.data)) for part in parts))


def _strings(data: Any) -> Iterator[str]:
    """The text in data that is nothing but a text, else all strings."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict) and isinstance(text := data.get("text"), str):
        yield text
    elif isinstance(data, dict | list):
        for each in data.values() if isinstance(data, dict) else data:
            yield from _strings(each)


def _as_snapshots(pieces: Iterable[tuple[float, str, bool]]) -> Iterator[tuple[float, str, bool]]:
    known = ""
    for at, said, appends in pieces:
        new = said if appends or not said.startswith(known) else said[len(known) :]
        known = known + said if appends else said
        yield at, new, appends


def _find(wanted: str, pieces: Sequence[tuple[float, str]], times: list[float]) -> None:
    """Put into `times` when each character came, where that is earlier."""
    stream, ends = "".join(piece for _, piece in pieces), list(accumulate(len(piece) for _, piece in pieces))
    done, at = 0, 0
    while done < len(wanted):
        found = stream.find(wanted[done : done + _ANCHOR], at)
        if found < 0:
            done += _ANCHOR  # not the agent's words, or changed
            continue
        at = found
        size = common_prefix(stream[at : at + len(wanted) - done], wanted[done:])
        stop, number = done + size, bisect_right(ends, at)
        while done < stop:
            came, until = pieces[number][0], min(stop, done + ends[number] - at)
            times[done:until] = [min(each, came) for each in times[done:until]]
            done, at, number = until, at + until - done, number + 1
