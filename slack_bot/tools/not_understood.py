"""What in a capture the bot does not understand: for each such event where it stands and what was meant.

The bot leaves out what it does not know, because agents may send more than A2A has. In a file that somebody
wrote or changed by hand it is mostly a slip, and half of the answer would be missing without a word.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from ..agents.wire.sse import SseReader
from ..agents.wire.unread import unread_in
from ..settings.names import nearest
from ..testing.tape.items import Moment
from ..testing.tape.json_file import Json
from ..testing.tape.tape import READS, Recording, Tape
from .capture.tape_writer import moments_of
from .tables import printable

EXIT_NOT_UNDERSTOOD = 3
"""Exit status with `--strict`."""

_MOST = 20  # lines of one file
_QUOTED = 60
_NUMBER = re.compile(r"\d+")
_NO_LIMIT = 1 << 62
_KEEP_ALIVE = re.compile(r"event:\s*(ping|heartbeat|keep-?alive)\s*$", re.MULTILINE)  # as the bot skips it
_SSE_FIELDS = ("data", "event", "id", "retry")


@dataclass(frozen=True, slots=True)
class UnreadEvent:
    """An event that was not understood, or not all of it. `place`: its line, or its number in a list.

    `meant`: what was probably meant; None: nothing is near.
    """

    place: str
    kind: str
    what: str
    meant: str | None = None

    def __str__(self) -> str:
        kind = f" ({self.kind})" if self.kind else ""
        guess = f"; did you mean {self.meant!r}?" if self.meant else ""
        return printable(f"{self.place}{kind}: {self.what}{guess}")

    def as_json(self) -> Json:
        """As `replay --json` has it."""
        return {"place": self.place, "kind": self.kind, "what": self.what, "meant": self.meant}


def unread_events(capture: Tape | Recording) -> list[UnreadEvent]:
    """In the order of the file, one for each event."""
    if isinstance(capture, Recording):
        return list(_in_recording(capture))
    in_head = list(_in_head(capture.head))
    return in_head + [
        found for moment in capture.moments if (found := _in_moment(moment, moment.place)) is not None
    ]


def tell_unread(name: str, events: Sequence[UnreadEvent]) -> None:
    """Say it on stderr, as `unread_lines`."""
    for each in unread_lines(events):
        sys.stderr.write(f"not understood: {name}, {each}\n")


def unread_lines(events: Sequence[UnreadEvent]) -> Iterator[str]:
    """A line for each of the first, in which those that follow it and are like it are counted, and one that
    counts the others.
    """
    left = len(events)
    for _, group in islice(groupby(events, _likeness), _MOST):
        first, *others = group
        left -= 1 + len(others)
        more = f" (and {len(others):,} more like it, the last: {others[-1].place})" if others else ""
        yield f"{first}{printable(more)}"
    if left:
        yield f"{left:,} more events"


def _likeness(event: UnreadEvent) -> tuple[str, str, str | None]:
    """Numbers make no difference."""
    return event.kind, _NUMBER.sub("0", event.what), event.meant


def exit_status(status: int, found: Iterable[Sequence[UnreadEvent]], *, strict: bool) -> int:
    """`status`; where that is 0 and `strict`, the one that says that something was not understood."""
    return EXIT_NOT_UNDERSTOOD if strict and not status and any(found) else status


def _in_head(head: Json) -> Iterator[UnreadEvent]:
    """Settings that are none: the tape would be read in another way than its author meant."""
    settings = head.get("settings")
    for name in settings if isinstance(settings, dict) else ():
        if name not in READS:
            what = f"there is no setting {name[:_QUOTED]!r} that a tape may name; they are {', '.join(READS)}"
            yield UnreadEvent("line 1", "head", what, nearest(name, READS, 0.6))


def _in_moment(moment: Moment, place: str) -> UnreadEvent | None:
    if moment.raw is not None and moment.raw.strip() and not _KEEP_ALIVE.match(moment.raw):
        return UnreadEvent(place, "", f"this is not JSON: {moment.raw.strip()[:_QUOTED]!r}")
    if moment.event is None or not (unread := unread_in(moment.event)):
        return None
    first, more = unread[0], f", and {len(unread) - 1} more in this event" if unread[1:] else ""
    return UnreadEvent(place, first.kind, f"{first.what}{more}", first.meant)


def _in_recording(recording: Recording) -> Iterator[UnreadEvent]:
    if "event-stream" not in recording.headers.get("content-type", ""):
        return  # the bot ends the turn with an error where it cannot read that
    reader, line = SseReader(_NO_LIMIT), recording.first_line
    for block in [*reader.feed(recording.body), *reader.end()]:
        lines = block.raw.split(b"\n")
        first = next((n for n, each in enumerate(lines) if each.startswith(b"data")), 0)
        place = f"line {line + first}"
        line += block.raw.count(b"\n")
        found = [_in_moment(moment, place) for moment in moments_of(0.0, block)]
        yield from (each for each in found if each is not None)
        if not any(found) and block.data is None and (field := _unknown_field(lines)):
            meant = nearest(field, _SSE_FIELDS)
            yield UnreadEvent(place, "", f"there is no field {field!r} in an event stream", meant)


def _unknown_field(lines: Iterable[bytes]) -> str:
    names = (line.partition(b":")[0].strip().decode("utf-8", "replace") for line in lines)
    return next((name[:_QUOTED] for name in names if name and name not in _SSE_FIELDS), "")
