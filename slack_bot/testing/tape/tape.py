"""PURE. Every kind of capture file becomes a `Tape` (events and when they came) or a `Recording` (raw bytes).

Formats are recognised by content, never by name: people rename files. What is read is kept raw; only the
JSON-RPC envelope is taken off, so that a tape says the same whichever tool wrote it.
"""

import json
import operator
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, overload

from ...errors import UnreadableInput
from .items import INTERRUPTED, RESULT_KEYS, Items, Moment, caipe_end
from .json_file import Json, load_json, load_row
from .recording import Recording, looks_raw, read_recording

__all__ = ["Json", "Moment", "Recording", "Tape", "read_tape", "write_tape"]

_READABLE = "a tape, A2A results in JSON or raw SSE can be read"
FORMAT = "slack-bot-tape"
VERSION = 1
_HEAD: Json = {"format": FORMAT, "version": VERSION}
LONG = 4 * 1024 * 1024
"""Bytes from which on a tape is read line by line whenever its moments are asked for (`lines`)."""
_LINES_A_LOOK = 1_000
Progress: TypeAlias = Callable[[float], None]
READS = ("dialect", "answer_source")
"""Settings that say how an answer is read; a tape's head may name them."""
TAKEN_OVER = "taken_over"
"""In a tape's head: another process went on with the turn; words may be missing."""

WAITED = "waited"
"""In a tape's head: seconds from the question until the agent was asked, where that took long."""
ENDED = "ended"
"""In a tape's head: how the turn ended, where its events do not show it."""


@dataclass(frozen=True, slots=True)
class Tape:
    """A whole stream. `head` has `format`, `version`, and where known agent, wire, question, captured_at."""

    head: Json
    moments: Sequence[Moment]


class SeveralStreams(UnreadableInput):
    """A file holds several lists of events; `keys` are their names."""

    def __init__(self, sentence: str, keys: list[str]) -> None:
        super().__init__(sentence)
        self.keys = keys


Turns: TypeAlias = Sequence[tuple[str | None, Tape | Recording]]
"""Questions (None: not known), each with what came in answer to it."""


def read_tape(
    data: str | bytes,
    name: str,
    key: str | None = None,
    *,
    may_be_empty: bool = False,
    progress: Progress | None = None,
) -> Tape | Recording:
    """Read a capture. `name` is the file's, for errors; `key` picks one list of several.

    `progress` is called while a long tape is read, with the part that was, from 0 to 1.
    UnreadableInput: not a format we know, or without events, unless it `may_be_empty` or its scenario has an
    `agent_error`.
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(raw) >= LONG and (long := _read_long(raw, name, key, progress)) is not None:
        return long
    raw = raw[:]  # a mapped file becomes its bytes
    if not raw.strip():
        raise UnreadableInput(f"{name}: the file is empty; {_READABLE}")
    if looks_raw(raw) and b"\0" not in raw:
        _no_key(key, name, "a raw response")
        if (recording := read_recording(raw)) is None:
            raise UnreadableInput(
                f"{name}: this is no recording: no SSE text or HTTP response follows its first line;"
                f" {_READABLE}"
            )
        return recording
    text = _decode(raw, name).removeprefix("\ufeff")
    if text.lstrip()[:1] not in ("{", "["):
        raise UnreadableInput(f"{name}, line 1: neither JSON nor SSE text starts like this; {_READABLE}")
    if (head := _tape_head(text)) is not None:
        _no_key(key, name, "a tape")
        around = head.get("scenario")
        fails = isinstance(around, dict) and around.get("agent_error") is not None
        moments = _read_lines(text, name, may_be_empty or fails)
    else:
        head, moments = {}, _read_document(load_json(text, name), name, key, may_be_empty)
    return Tape({**_HEAD, **head}, tuple(moments))


class MappedLines(Sequence[Moment]):
    """The moments of a long tape, read from the lines of `data` below its head whenever one is asked for.

    As Python objects they take twenty times the room. All lines are read once at the beginning, so that a
    wrong one is an error before the tape is used: UnreadableInput. `events`: which moments are events.
    """

    def __init__(self, data: bytes, name: str, progress: Progress | None = None) -> None:
        self._data, self._name = data, name
        self._starts, self._numbers, self._times = array("Q"), array("Q"), array("d")
        self.events = array("Q")
        self.has_questions = False
        items, number = Items(name, "line"), 1
        at = data.find(b"\n") + 1
        while 0 < at < len(data):
            number += 1
            if progress is not None and number % _LINES_A_LOOK == 0:
                progress(at / len(data))
            line = self._line(at, number)
            if line.strip():
                self._note(at, number, items.moment(load_row(line, name, number), number))
            at = data.find(b"\n", at) + 1
        items.check_some()

    def _note(self, at: int, number: int, moment: Moment) -> None:
        if moment.event is not None:
            self.events.append(len(self._starts))
        self.has_questions = self.has_questions or moment.question is not None
        self._starts.append(at)
        self._numbers.append(number)
        self._times.append(moment.t)

    def time(self, index: int) -> float:
        return self._times[index]

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> Moment: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Moment, ...]: ...
    def __getitem__(self, index: int | slice) -> Moment | tuple[Moment, ...]:
        if isinstance(index, slice):
            return tuple(self[each] for each in range(*index.indices(len(self))))
        number = self._numbers[index]
        row = load_row(self._line(self._starts[index], number), self._name, number)
        return replace(Items(self._name, "line").moment(row, number), t=self._times[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(operator.eq, self, other))

    def __hash__(self) -> int:
        return hash(len(self))

    def _line(self, start: int, number: int) -> str:
        end = self._data.find(b"\n", start)
        line = self._data[start : end if end >= 0 else len(self._data)]
        try:
            return line.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise UnreadableInput(f"{self._name}, line {number}: not UTF-8 text") from error


def write_tape(tape: Tape) -> str:
    """`tape` as JSON Lines: the head, then one moment a line. `read_tape` gives the same tape back."""
    return "".join(tape_lines(tape.head, tape.moments))


def tape_lines(head: Json, moments: Iterable[Moment]) -> Iterator[str]:
    """The lines of a tape, one by one."""
    yield as_line({**_HEAD, **head})
    for moment in moments:
        yield as_line(row_of(moment))


def as_line(row: Json) -> str:
    """One line of a tape."""
    return json.dumps(row, ensure_ascii=False, separators=(", ", ": ")) + "\n"


def turns_of(tape: Tape | Recording) -> Turns:
    """Each question of `tape` (None: not known) and what came in answer to it, in seconds from there."""
    if isinstance(tape, Recording):
        return ((None, tape),)
    given = tape.head.get("question")
    asked = given if isinstance(given, str) else None
    long = tape.moments if isinstance(tape.moments, MappedLines) else None
    if not (long.has_questions if long is not None else any(m.question is not None for m in tape.moments)):
        return ((asked, tape),)
    turns: list[tuple[str | None, float, list[Moment]]] = [(asked, 0.0, [])]
    for moment in tape.moments:
        if moment.question is not None:
            turns.append((moment.question, moment.t, []))
        else:
            _, start, moments = turns[-1]
            moments.append(replace(moment, t=round(moment.t - start, 6)) if start else moment)
    return tuple((text, Tape({**tape.head, "question": text}, tuple(rows))) for text, _, rows in turns)


def interrupted_at(capture: Tape | Recording) -> float | None:
    """When whoever captured it interrupted `capture`, in seconds; None if it came to an end."""
    if isinstance(capture, Recording):
        return capture.ended if capture.interrupted else None
    last = capture.moments[-1] if capture.moments else None
    return last.t if last is not None and last.comment == INTERRUPTED else None


def gap_in(capture: Tape | Recording) -> str | None:
    """Why words of the answer may be missing in `capture`, in a sentence; None: no reason is known."""
    if isinstance(capture, Recording) or not capture.head.get(TAKEN_OVER):
        return None
    return "another process went on; words that came in between are not in the tape"


def end_in(capture: Tape | Recording) -> str | None:
    """How the turn of `capture` ended where its events do not show that, in a sentence; None: they do."""
    ended = None if isinstance(capture, Recording) else capture.head.get(ENDED)
    if not isinstance(ended, str):
        return None
    return f"the last event of the tape is not its end: the bot's record says {ended}"


def wait_in(capture: Tape | Recording) -> str | None:
    """That the times of `capture` do not count from the question, in a sentence; None: they do."""
    waited = None if isinstance(capture, Recording) else capture.head.get(WAITED)
    if not isinstance(waited, int | float):
        return None
    return f"the agent was asked {waited:g} s after the question; all times count from when it was asked"


def assumption(capture: Tape | Recording, outcome: str | None) -> str | None:
    """What a replay of `capture` that ended as `outcome` took for granted, in a sentence; None: nothing."""
    ended = None
    if isinstance(capture, Recording):
        ended = capture.ended if capture.cut else None
    elif capture.moments and capture.moments[-1].end == "cut":
        ended = capture.moments[-1].t
    if outcome not in ("lost", "watched") or ended is None:
        return None
    return (
        f"the capture breaks off at {ended:.3f} s, and what the agent did then is not in it: from there on"
        " the task is taken to stay as it was"
    )


def _read_long(raw: bytes, name: str, key: str | None, progress: Progress | None) -> Tape | None:
    try:
        head = json.loads(raw[: raw.find(b"\n") + 1])
    except (ValueError, RecursionError):
        return None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        return None
    _no_key(key, name, "a tape")
    _check_head(head, name)
    return Tape({**_HEAD, **head}, MappedLines(raw, name, progress))


def _no_key(key: str | None, name: str, what: str) -> None:
    if key is not None:
        raise UnreadableInput(f"{name}: {what} has no key {key!r}; leave --key out")


def _decode(raw: bytes, name: str) -> str:
    if b"\0" in raw:
        raise UnreadableInput(f"{name}: the file is binary, not text; {_READABLE}")
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UnreadableInput(f"{name}, line {line}: not UTF-8 text") from error


def row_of(moment: Moment) -> Json:
    """`moment` as a line of a tape says it."""
    said = {name: getattr(moment, name) for name in ("event", "comment", "error", "end", "raw", "question")}
    return {"t": moment.t, **{name: value for name, value in said.items() if value is not None}}


def _tape_head(text: str) -> Json | None:
    """The first line, if this is JSON Lines: our head, or {} where the lines begin at once."""
    line, _, rest = text.lstrip("\r\n\t ").partition("\n")
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(first, dict):
        return None
    if first.get("format") == FORMAT:
        return first
    return {} if rest.strip() else None


def _read_lines(text: str, name: str, may_be_empty: bool) -> Iterator[Moment]:
    items, is_first = Items(name, "line"), True
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        value = load_row(line, name, number)
        if is_first and isinstance(value, dict) and value.get("format") == FORMAT:
            _check_head(value, name)
        else:
            yield items.moment(value, number)
        is_first = False
    items.check_some(may_be_empty=may_be_empty)


def _check_head(head: Json, name: str) -> None:
    version = head.get("version", VERSION)
    if version != VERSION:
        raise UnreadableInput(f"{name}, line 1: tape version {version!r} is not known here (only {VERSION})")


def _read_document(value: Any, name: str, key: str | None, may_be_empty: bool) -> Iterator[Moment]:
    status = None
    if isinstance(value, dict):
        status, value = value.get("raw_status"), _pick(value, name, key)
    else:
        _no_key(key, name, "a plain list")
    items = Items(name, "item")
    for number, item in enumerate(value, 1):
        yield items.moment(item, number)
    items.check_some(may_be_empty=may_be_empty)
    if items.needs_end:
        yield Moment(items.last, event=caipe_end(status))


def _pick(document: Json, name: str, key: str | None) -> Any:
    if key is None:
        if isinstance(document.get("events"), list):
            return document["events"]
        if "jsonrpc" in document or RESULT_KEYS & document.keys():
            return [document]
        if isinstance(document.get("artifacts"), list):
            return document["artifacts"]
    if isinstance(document.get("artifacts"), dict):
        document = document["artifacts"]
    lists = {
        label: value
        for label, value in document.items()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    }
    names = ", ".join(lists) or "none"
    if key is not None and key not in lists:
        raise UnreadableInput(f"{name}: no list of events is called {key!r}; there are: {names}")
    if key is None and len(lists) > 1:
        sentence = f"{name}: several lists of events; choose one with --key: {names}"
        raise SeveralStreams(sentence, list(lists))
    if not lists:
        raise UnreadableInput(f"{name}, line 1: a JSON object without a list of events; {_READABLE}")
    return lists[key] if key is not None else next(iter(lists.values()))
