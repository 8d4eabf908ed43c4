"""PURE. A replayed thread as a person reads it in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ...testing.tape.json_file import Json
from ..trace.figures import BURST_WITHIN, burst_share
from ..turn_log import failed_calls
from .result import ReplayedTurn

STATES = {"streaming": "still open", "sealed": "streamed", "posted": "posted"}
"""How a message came to be, in words."""
_MARKS = {"complete": "[x]", "error": "[!]", "in_progress": "[ ]", "pending": "[ ]"}


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A further question. `place`: how many of the bot's messages are above it."""

    place: int
    text: str


def as_text(
    result: Json, *, asker: str, question: str, more: Sequence[FollowUp] = (), paces: Sequence[str]
) -> str:
    """The thread, and a summary line for each question. `result` is the object of `replay --json`."""
    parts, start = list[str](), 0
    asked = [FollowUp(0, question), *more]
    ends = [*(each.place for each in more), len(result["thread"])]
    for number, (each, end) in enumerate(zip(asked, ends, strict=True)):
        parts += [f"{asker}: {each.text}", *map(_message, result["thread"][start:end])]
        parts += [f"-- {paces[number]}"] if number < len(paces) else []
        start = end
    return "\n\n".join(parts) + "\n"


def as_thread(result: Json, *, asker: str, question: str) -> str:
    """The thread alone, without a line end, and without further questions."""
    return "\n\n".join([f"{asker}: {question}", *map(_message, result["thread"])])


def _message(message: Json) -> str:
    lines = [f"bot ({STATES.get(message['state'], message['state'])}):"]
    lines += [line for task in message["tasks"] for line in _task(task)]
    if message["text"]:
        lines.append(message["text"].rstrip("\n"))
    # a post's words are in its blocks as well
    under = [text for block in message["blocks"] for text in _block(block) if text not in message["text"]]
    lines += [f"  | {text}" for text in under]
    if message["status_line"]:
        lines.append(f"  ({message['status_line']})")
    return "\n".join(lines)


def _task(task: Json) -> list[str]:
    head = f"  {_MARKS.get(str(task.get('status')), '[?]')} {task.get('title', '')} - {task.get('status')}"
    more = [str(task.get(name) or "").strip() for name in ("details", "output")]
    return [head, *(f"      {line}" for text in more if text for line in text.split("\n"))]


def words_in(blocks: Iterable[Json]) -> str:
    """What can be read in blocks, on one line."""
    return " ".join(text for block in blocks for text in _block(block))


def _block(block: Json) -> list[str]:
    """The words and buttons of a block; one we do not know is named."""
    words = [text for text in _texts(block) if text]
    return words or [f"<{block.get('type', 'block')}>"]


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for part in value for text in _texts(part)]
    if not isinstance(value, dict):
        return []
    text = value.get("text")
    own = [f"[{text}]" if value.get("type") == "button" else text] if isinstance(text, str) else []
    if value.get("type") == "button":
        return [f"[{label}]" for label in _texts(value.get("text"))] or own
    inner = [part for name, part in value.items() if name != "text" or isinstance(part, dict | list)]
    return [*own, *(line for part in inner for line in _texts(part))]


_WORTH_STREAMING = 200  # characters; a sentence or two always come at once
_LONG = 2.0  # seconds


def pace_of(replayed: ReplayedTurn) -> str:
    """The line, without a line end. Times count from the question."""
    ended, calls = replayed.turn.ended, replayed.turn.calls
    outcome = ended.outcome if ended else "not taken"
    reason = ended.reason if ended else "the bot did not take the question"
    failed = len(failed_calls(replayed.turn))
    words = [
        outcome + (f" ({reason})" if reason else ""),
        *_visible_text(replayed),
        f"{len(calls)} Slack calls",
        *([f"{failed} of them failed"] if failed else []),
    ]
    return ", ".join(words)


def _visible_text(replayed: ReplayedTurn) -> Iterator[str]:
    turn, growths = replayed.turn, replayed.growths
    asked, ended = ([each.at] if each else [] for each in (turn.started, turn.ended))
    first = round(growths[0][0] - asked[0], 3) if growths and asked else None
    if first is not None:
        yield f"first text after {first:g} s"
    is_long = sum(size for _, size in growths) > _WORTH_STREAMING
    if is_long and (burst := burst_share(growths) or 0.0) > 0.5:
        yield f"{burst:.0%} of it within half a second"
    times = [*asked, *(at for at, _ in growths), *ended]
    waited = round(max((after - before for before, after in pairwise(times)), default=0.0), 3)
    if waited >= _LONG and waited != first:
        yield f"{waited:g} s without anything new"
    if (live := replayed.live_share) is not None:
        yield f"{live:.0%} live"
    if gap := replayed.longest_gap:
        yield f"longest gap {gap:g} s"


assert BURST_WITHIN == 0.5, "the words name it"
