"""PURE. A trace as one HTML file: the picture, and every row below it. Nothing is loaded from anywhere.

What agents wrote is data here, never markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from .figures import Timeline
from .picture import draw
from .timeline import Row, late

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
        f"<th>Slack call</th></tr></thead>\n<tbody>\n{''.join(map(_row, rows))}</tbody></table></div>"
        f"{note}\n</section>\n"
    )


def _row(row: Row) -> str:
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
