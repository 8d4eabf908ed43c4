"""PURE. A trace for a terminal: time, event, decision and its reason, Slack call; and the figures below.

Rows come one by one, so a live turn can be watched. Of many alike, with at most calls between them, only the
first two and the last one are printed, and what lies between is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from unicodedata import combining, east_asian_width

from .drawing import seconds, share
from .figures import BURST_WITHIN, SILENCE, Summary
from .timeline import Decision, Row

_FIRST = 2  # of many alike
_TIME, _EVENT, _CALL = 9, 34, 40
_LEAST, _NARROW = 40, 100  # columns: of any table, and below which all columns but the time's are narrower


@dataclass(slots=True)
class _Run:
    """Rows of one lane that are alike: how many, the characters of those not printed, and the last one."""

    like: object = None
    count: int = 0
    chars: int = 0
    last: Row | None = None


class Table:
    """Gives the lines for each row. `width` is the terminal's, in characters; `everything`: none left out."""

    def __init__(self, width: int = 160, *, everything: bool = False) -> None:
        room = max(width, _LEAST) - _TIME - 3
        small = min(1.0, room / (_NARROW - _TIME - 3))
        self._event, self._call = int(_EVENT * small), int(_CALL * small)
        self._decision = room - self._event - self._call
        self._width = max(width, _LEAST)
        self._everything = everything
        self._runs: dict[str, _Run] = {}
        self._at = 0.0

    def head(self) -> list[str]:
        """The names of the columns."""
        names = self._line("time", "event", "decision and reason", "Slack call")
        return [names, "-" * _columns(names)]

    def add(self, row: Row) -> list[str]:
        """The lines that `row` makes known."""
        silence, self._at = row.t - self._at, max(row.t, self._at)
        before = self.end() if silence >= SILENCE else []
        if silence >= SILENCE:
            before.append(f"{'':{_TIME}}... {seconds(silence)} of silence ...")
        if self._everything or row.lane == "decision":
            return [*before, *self.end(), *self._lines(row)]
        like = (row.kind, row.name, row.ok, tuple(each.kinds for each in row.decisions))
        run = self._runs.get(row.lane)
        if run is not None and run.like != like:
            before += self.end()
        run = self._runs.setdefault(row.lane, _Run(like))
        run.count += 1
        if run.count <= _FIRST:
            return [*before, *self._lines(row)]
        run.chars += run.last.chars if run.last else 0
        run.last = row
        return before

    def end(self) -> list[str]:
        """What is left when nothing more comes."""
        runs = [run for run in self._runs.values() if run.last is not None]
        self._runs = {}
        lines = []
        for run in runs:
            between = run.count - _FIRST - 1
            if between > 0:
                lines.append(self._between(run, between))
        for last in sorted((run.last for run in runs if run.last), key=lambda row: row.t):
            lines += self._lines(last)
        return lines

    def _between(self, run: _Run, count: int) -> str:
        is_call = run.last is not None and run.last.lane == "slack"
        said = f"... {count:,} more {'calls' if is_call else 'events'} like this, {run.chars:,} characters"
        start = _TIME + (self._event + self._decision + 2 if is_call else 0)
        return cut(" " * min(start, max(0, self._width - len(said))) + said, self._width).rstrip()

    def _lines(self, row: Row) -> list[str]:
        time = f"{row.t:.3f}"
        if row.lane == "slack":
            mark = "" if row.ok else "FAILED "
            return [self._line(time, "", "", mark + _with_text(row.name, row, self._call - len(mark)))]
        name = f"({row.name})" if row.lane == "decision" else _with_text(row.name, row, self._event)
        told = list(_told(row.decisions))
        lines = [self._line(time, name, told[0] if told else "")]
        return lines + [self._line("", "", each) for each in told[1:]]

    def _line(self, time: str, event: str, decision: str = "", call: str = "") -> str:
        cells = (
            time.rjust(_TIME - 1),
            cut(event, self._event),
            cut(decision, self._decision),
            cut(call, self._call),
        )
        return " ".join(cells).rstrip()


def _told(decisions: tuple[Decision, ...]) -> Iterator[str]:
    """Each decision that says something, on a line of its own."""
    for each in decisions:
        done = ", ".join(f"{name}: {reason}" if reason else name for name, reason in each.actions)
        if each.late:
            yield f"{each.event}: dropped, it came too late ({each.why})"
        elif each.event != "TaskKnown":
            yield done or f"{each.event}: {each.why}"


def _with_text(name: str, row: Row, room: int) -> str:
    if not row.chars:
        return name
    short = name.removeprefix("assistant.threads.").removeprefix("chat.")
    head = f"{short} +{row.chars:,}"
    return f"{head} {row.text}" if room - len(head) > 4 else head


def _columns(text: str) -> int:
    return sum(_width(letter) for letter in text)


def _width(letter: str) -> int:
    if combining(letter) or letter in "\u200b\u200c\u200d\ufe0f":
        return 0
    return 2 if east_asian_width(letter) in "WF" else 1


def cut(text: str, room: int) -> str:
    """`text` on exactly `room` columns, without anything that moves a terminal's cursor."""
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    if _columns(text) > room:
        while text and _columns(text) > room - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (room - _columns(text))


def figures(summary: Summary) -> str:
    """The figures, one a line."""
    calls = ", ".join(f"{name} {count}" for name, count in summary.calls.items()) or "none"
    failed = f"; {summary.failed_calls} failed" if summary.failed_calls else ""
    chars = ", ".join(f"{kind} {count:,}" for kind, count in summary.chars.items() if count) or "none"
    lines = [
        ("outcome", summary.outcome + (f" ({summary.reason})" if summary.reason else "")),
        ("first event", seconds(summary.first_event)),
        ("first answer token", seconds(summary.first_answer)),
        ("first visible text", seconds(summary.first_visible)),
        ("streaming for", seconds(summary.streaming)),
        ("longest silence", f"{seconds(summary.longest_silence)} of the agent"),
        ("longest wait", f"{seconds(summary.longest_wait)} of the reader, without anything new"),
        ("burst share", f"{share(summary.burst_share)} of the text was shown within {BURST_WITHIN:g} s"),
        ("", f"{share(summary.agent_burst_share)} of it was sent by the agent within {BURST_WITHIN:g} s"),
        ("events", f"{summary.events:,}"),
        ("Slack calls", f"{sum(summary.calls.values())}: {calls}{failed}"),
        ("characters sent", chars),
        ("characters shown", f"{summary.shown:,}"),
    ]
    return "".join(f"{name:>20}  {value}\n" for name, value in lines)
