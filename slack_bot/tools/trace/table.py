"""A trace for a terminal: time, event, decision and its reason, Slack call; the figures below.

Of many rows that are alike, with at most calls between them, the first two and the last are printed; the
rest is counted, as are polls that find nothing new.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from rich.cells import cell_len

from .figures import BURST_WITHIN, SILENCE, Summary, Timeline
from .picture import seconds, share
from .timeline import Decision, Row, late

_FIRST = 2  # of many alike
_TIME, _EVENT, _CALL = 9, 34, 40
_LEAST, _NARROW = 40, 100  # columns: of any table, and below which all columns but the time's are narrower
_LOOK = "look"


@dataclass(slots=True)
class _Run:
    """Rows of one lane that are alike. `hidden` are those not printed, each with its place among all rows."""

    like: object
    count: int = 0
    hidden: list[tuple[int, Row]] = field(default_factory=list)


class Table:
    """Gives the lines for each row. `width` is the terminal's; `everything`: no row is left out."""

    def __init__(self, width: int = 160, *, everything: bool = False) -> None:
        self._width = max(width, _LEAST)
        room = self._width - _TIME - 3
        small = min(1.0, room / (_NARROW - _TIME - 3))
        self._event, self._call = int(_EVENT * small), int(_CALL * small)
        self._decision = room - self._event - self._call
        self._everything = everything
        self._runs: dict[str, _Run] = {}
        self._place = 0
        self._at = 0.0

    def head(self) -> list[str]:
        """The names of the columns."""
        names = self._line("time", "event", "decision and reason", "Slack call")
        return [names, "-" * cell_len(names)]

    def add(self, row: Row) -> list[str]:
        """The lines that `row` makes known."""
        self._place += 1
        is_look = row.kind == _LOOK
        before = [] if is_look else self._silence(row)
        if self._everything or (row.lane == "decision" and not is_look):
            return [*before, *self.end(), *self._lines(row)]
        lane = row.kind if is_look else row.lane
        like = (row.kind, row.name, row.ok, tuple(each.kinds for each in row.decisions))
        if lane in self._runs and self._runs[lane].like != like and not is_look:
            before += self.end()
        run = self._runs.setdefault(lane, _Run(like))
        run.count += 1
        if run.count > (0 if is_look else _FIRST):
            run.hidden.append((self._place, row))
            return before
        # what the other lanes kept back came before this row
        kept = self._kept_back({name: other for name, other in self._runs.items() if other is not run})
        return [*before, *kept, *self._lines(row)]

    def end(self) -> list[str]:
        """What is left when nothing more comes."""
        lines = self._kept_back(self._runs)
        self._runs = {}
        return lines

    def _silence(self, row: Row) -> list[str]:
        silence, self._at = row.t - self._at, max(row.t, self._at)
        if silence < SILENCE:
            return []
        return [*self.end(), f"{'':{_TIME}}... {seconds(silence)} of silence ..."]

    def _kept_back(self, runs: Mapping[str, _Run]) -> list[str]:
        """The lines for the rows of `runs` that were not printed, in order."""
        found = list[tuple[int, list[str]]]()
        for lane, run in runs.items():
            if run.hidden:
                found += self._rest(lane, run.hidden)
                run.hidden = []
        return [line for _, lines in sorted(found, key=itemgetter(0)) for line in lines]

    def _rest(self, lane: str, hidden: Sequence[tuple[int, Row]]) -> Iterator[tuple[int, list[str]]]:
        (place, row), (end, last) = hidden[0], hidden[-1]
        if lane == _LOOK:
            yield place, [self._looks(len(hidden), row, last)]
            return
        if len(hidden) > 2:
            yield place, [self._between([each for _, each in hidden[:-1]])]
        elif len(hidden) == 2:
            yield place, self._lines(row)
        yield end, self._lines(last)

    def _between(self, rows: Sequence[Row]) -> str:
        is_call = rows[0].lane == "slack"
        said = f"... {len(rows):,} more {'call' if is_call else 'event'}s like this"
        said += f", {sum(row.chars for row in rows):,} characters"
        start = _TIME + (self._event + self._decision + 2 if is_call else 0)
        return cut(" " * min(start, max(0, self._width - len(said))) + said, self._width).rstrip()

    def _looks(self, count: int, first: Row, last: Row) -> str:
        if count == 1:
            return self._line(f"{first.t:.3f}", f"(asked: {first.name})", "nothing new")
        said = f"the task was asked for {count:,} times until {last.t:.3f} s, {last.name}: nothing new"
        return cut(f"{first.t:.3f}".rjust(_TIME - 1) + f" ... {said}", self._width).rstrip()

    def _lines(self, row: Row) -> list[str]:
        time = f"{row.t:.3f}"
        if row.kind == "asking":
            return ["", cut(f"{time:>{_TIME - 1}} {row.name}: {row.text}", self._width).rstrip()]
        if row.lane == "slack":
            mark = "" if row.ok else "FAILED "
            return [self._line(time, "", "", mark + _with_text(row.name, row, self._call - len(mark)))]
        name = f"asked: {row.name}" if row.asked else row.name
        name = f"({name})" if row.lane == "decision" else _with_text(name, row, self._event)
        words = list(_words(row.decisions))
        lines = [self._line(time, name, words[0] if words else "")]
        return lines + [self._line("", "", each) for each in words[1:]]

    def _line(self, time: str, event: str, decision: str = "", call: str = "") -> str:
        cells = (cut(event, self._event), cut(decision, self._decision), cut(call, self._call))
        return " ".join((time.rjust(_TIME - 1), *cells)).rstrip()


def _words(decisions: tuple[Decision, ...]) -> Iterator[str]:
    """A line for each decision that did something."""
    for each in decisions:
        done = ", ".join(f"{name}: {reason}" if reason else name for name, reason in each.actions)
        if each.late:
            yield f"{each.event}: {late(each.state)} ({each.reason})"
        elif each.event != "TaskKnown":
            yield done or f"{each.event}: {each.reason}"


def _with_text(name: str, row: Row, room: int) -> str:
    if not row.chars:
        return name
    short = name.removeprefix("assistant.threads.").removeprefix("chat.")
    head = f"{short} +{row.chars:,}"
    return f"{head} {row.text}" if room - len(head) > 4 else head


def printable(text: str) -> str:
    """`text` without anything that moves a terminal's cursor."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def cut(text: str, room: int) -> str:
    """`text` on exactly `room` columns, printable."""
    text = printable(text)
    if cell_len(text) > room:
        while text and cell_len(text) > room - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (room - cell_len(text))


def figures(summary: Summary) -> str:
    """The figures, one a line."""
    calls = ", ".join(f"{name} {count}" for name, count in summary.calls.items()) or "none"
    failed = f"; {summary.failed_calls} failed" if summary.failed_calls else ""
    chars = ", ".join(f"{kind} {count:,}" for kind, count in summary.chars.items() if count) or "none"
    shown, sent, within = summary.burst_share, summary.agent_burst_share, f"within {BURST_WITHIN:g} s"
    lines = [
        ("outcome", summary.outcome + (f" ({summary.reason})" if summary.reason else "")),
        ("first event", seconds(summary.first_event)),
        ("first answer token", seconds(summary.first_answer)),
        ("first visible text", seconds(summary.first_visible)),
        ("streaming for", seconds(summary.streaming)),
        ("longest silence", f"{seconds(summary.longest_silence)} of the agent"),
        ("longest wait", f"{seconds(summary.longest_wait)} of the reader, without anything new"),
        (
            "burst share",
            "no text was shown" if shown is None else f"{share(shown)} of the text was shown {within}",
        ),
        *([("", f"{share(sent)} of what the agent wrote was sent {within}")] if sent is not None else []),
        ("events", f"{summary.events:,}"),
        ("Slack calls", f"{sum(summary.calls.values())}: {calls}{failed}"),
        ("characters sent", chars),
        ("characters shown", f"{summary.shown:,}"),
    ]
    return "".join(f"{name:>20}  {value}\n" for name, value in lines)


def figures_of(line: Timeline) -> str:
    """The figures of each question's turn; of a single one without its name."""
    if len(line.turns) < 2:
        return figures(line.summary)
    parts = (f"{turn.user}: {turn.question}\n{figures(turn.summary)}" for turn in line.turns)
    return "\n".join(parts)
