"""PURE. The moments of a very long tape, read from its bytes whenever one is asked for.

A moment as Python objects takes twenty times the room of its line. So of a long tape only the bytes are held,
which may be a file mapped into memory, and for each moment where its line begins and when it came. All lines
are read once at the beginning, so that a wrong one is an error before the tape is used.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import overload

from ...errors import UnreadableInput
from .items import Items, Moment
from .json_file import load_row


class MappedLines(Sequence[Moment]):
    """The moments in the lines of `data` that follow its first line, the head; `name` is the file's.

    Raises UnreadableInput for the first line that cannot be read.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self._data, self._name = data, name
        self._starts, self._times = array("Q"), array("d")
        self.events = array("Q")
        """Which of the moments are events."""
        self.has_questions = False
        items, number = Items(name, "line"), 1
        at = data.find(b"\n") + 1
        while 0 < at < len(data):
            number += 1
            line = self._line(at, number)
            if line.strip():
                self._note(at, items.moment(load_row(line, name, number), number))
            at = data.find(b"\n", at) + 1
        items.check_some()

    def _note(self, at: int, moment: Moment) -> None:
        if moment.event is not None:
            self.events.append(len(self._starts))
        self.has_questions = self.has_questions or moment.question is not None
        self._starts.append(at)
        self._times.append(moment.t)

    def time(self, index: int) -> float:
        """When a moment came, without reading it."""
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
        line = self._line(self._starts[index], index)
        moment = Items(self._name, "line").moment(load_row(line, self._name, index), index)
        return moment if moment.t == self._times[index] else replace(moment, t=self._times[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(_same, self, other))

    def __hash__(self) -> int:
        return hash(len(self))

    def _line(self, start: int, number: int) -> str:
        end = self._data.find(b"\n", start)
        line = self._data[start : end if end >= 0 else len(self._data)]
        try:
            return line.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise UnreadableInput(f"{self._name}, line {number}: not UTF-8 text") from error


def _same(one: object, other: object) -> bool:
    return one == other
