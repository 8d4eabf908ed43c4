"""A trace as rows: for a terminal, with the figures below; and as one HTML file, with the picture above.

In a terminal, of many rows that are alike, with at most calls between them, the first two and the last are
printed; the rest is counted, as are polls that find nothing new. What agents wrote is never markup.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from operator import itemgetter

from rich.cells import cell_len

from ..pace import BURST_WITHIN, SILENCE, seconds, share
from ..tables import cut
from .figures import Summary, Timeline
from .picture import draw
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
        names = self._line("time", "event", "decision and reason", "Slack call")
        return [names, "-" * cell_len(names)]

    def add(self, row: Row) -> list[str]:
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


def figures(summary: Summary) -> str:
    """The figures, one a line."""
    calls = ", ".join(f"{name} {count}" for name, count in summary.calls.items()) or "none"
    failed = f"; {summary.failed_calls} failed" if summary.failed_calls else ""
    chars = ", ".join(f"{kind} {count:,}" for kind, count in summary.chars.items() if count) or "none"
    shown, sent, within = summary.burst_share, summary.agent_burst_share, f"within {BURST_WITHIN:g} s"
    lines = [
        ("outcome", summary.outcome + (f" ({summary.reason})" if summary.reason else "")),
        ("first event", seconds(summary.first_event)),
        ("first answer event", seconds(summary.first_answer)),
        ("first sign of life", seconds(summary.first_sign)),
        ("first visible text", seconds(summary.first_visible)),
        ("streaming for", seconds(summary.streaming)),
        ("longest silence", f"{seconds(summary.longest_silence)} of the agent"),
        ("longest wait", f"{seconds(summary.longest_wait)} of the reader, without anything new"),
        (
            "burst share",
            "no text was shown" if shown is None else f"{share(shown)} of the text was shown {within}",
        ),
        *([("", f"{share(sent)} of it was known to be the answer {within}")] if sent is not None else []),
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


# -- the page ------------------------------------------------------------------------------------------------

MOST_ROWS = 5_000
"""Rows of one trace in the page; a browser needs seconds for more."""

_STYLE = """
:root { color-scheme: light; }
body { margin: 0; background: #f1f5f9; color: #0f172a;
  font: 14px/1.45 ui-sans-serif, system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 1280px; margin: 0 auto; padding: 16px; }
svg { display: block; width: 100%; height: auto; border-radius: 8px; box-shadow: 0 1px 3px #0003; }
h2 { font-size: 16px; margin: 28px 0 8px; }
.tools { display: flex; gap: 16px; align-items: center; flex-wrap: wrap; margin: 8px 0; color: #475569; }
input[type=search] { font: inherit; padding: 6px 10px; width: 22em; max-width: 100%;
  border: 1px solid #cbd5e1; border-radius: 6px; }
.table { overflow: auto; max-height: 80vh; background: #fff;
  border-radius: 8px; box-shadow: 0 1px 3px #0003; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th { position: sticky; top: 0; background: #f8fafc; text-align: left; padding: 8px 10px; }
td { border-top: 1px solid #e2e8f0; padding: 4px 10px; vertical-align: top; overflow-wrap: anywhere; }
td:first-child { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; color: #475569; }
td small { color: #64748b; }
tr.failed td { background: #fef2f2; }
tr.slack td { background: #f0fdfa; }
tr.failed td:last-child { color: #b91c1c; }
"""
_SCRIPT = """
for (const box of document.querySelectorAll("section")) {
  const rows = [...box.querySelectorAll("tbody tr")], count = box.querySelector("output");
  const show = () => {
    const word = box.querySelector("input[type=search]").value.toLowerCase();
    const lanes = [...box.querySelectorAll("input[type=checkbox]:checked")].map(each => each.value);
    let shown = 0;
    for (const row of rows) {
      const fits = lanes.includes(row.dataset.lane) && row.textContent.toLowerCase().includes(word);
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = shown + " of " + rows.length + " rows";
  };
  box.addEventListener("input", show);
  show();
}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page(timelines: Sequence[Timeline]) -> str:
    """The HTML document."""
    title = escape("Trace: " + ", ".join(each.name for each in timelines))
    html = (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<style>{_STYLE}</style>\n<main>\n{draw(timelines)}"
        + "".join(_section(each) for each in timelines)
        + f"</main>\n<script>{_SCRIPT}</script>\n</html>\n"
    )
    return html.encode("utf-8", "replace").decode()  # lone surrogates cannot be written


def _section(line: Timeline) -> str:
    rows = line.rows[:MOST_ROWS]
    left = len(line.rows) - len(rows)
    note = f"<p>{left:,} further rows are left out here.</p>" if left else ""
    lanes = (("agent", "events"), ("decision", "the bot's own"), ("slack", "Slack calls"))
    boxes = "".join(
        f'<label><input type="checkbox" value="{lane}" checked> {words}</label>' for lane, words in lanes
    )
    return (
        f"<section>\n<h2>{escape(line.name)}</h2>\n"
        f'<div class="tools"><input type="search" placeholder="Filter: a word of an event, a reason, a call"'
        f' aria-label="Filter rows">{boxes}<output></output></div>\n'
        '<div class="table"><table><thead><tr><th>time</th><th>event</th><th>decision and reason</th>'
        f"<th>Slack call</th></tr></thead>\n<tbody>\n{''.join(map(_html_row, rows))}</tbody></table></div>"
        f"{note}\n</section>\n"
    )


def _html_row(row: Row) -> str:
    name = f"asked: {row.name}" if row.asked or row.kind == "look" else row.name
    said = escape(name) + (f" <small>+{row.chars:,}</small>" if row.chars else "")
    said += f"<br><small>{escape(row.text)}</small>" if row.text else ""
    event, call = ("", said) if row.lane == "slack" else (said, "")
    failed = "" if row.ok else " failed"
    cells = (f"{row.t:.3f}", event, "<br>".join(_decided(row)), call)
    inner = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr class="{row.lane}{failed}" data-lane="{row.lane}">{inner}</tr>\n'


def _decided(row: Row) -> Iterable[str]:
    for each in row.decisions:
        actions = "; ".join(f"<b>{escape(name)}</b> {escape(why)}" for name, why in each.actions)
        dropped = f" <b>{escape(late(each.state))}</b>" if each.late else ""
        yield f"{escape(each.event)} <small>{escape(each.reason)}</small> → {actions or 'nothing'}{dropped}"
