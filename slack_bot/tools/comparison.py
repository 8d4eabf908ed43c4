"""PURE. Two streams side by side, as Markdown: artifacts, flags, timing, text, and what a reader saw."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence

from .replay.plain_text import STATES
from .stream_profile import Profile, Sent, moments_to_look_at
from .trace.canvas import text_width
from .trace.figures import Curve, Summary
from .trace.picture import seconds, share

_DIFF_LINES = 60
_DIFF_CHARS = 60_000  # difflib needs the square of a text's lines
_EXCERPT = 600
_ENDS = {"end: closed": "the stream was closed", "end: cut": "the stream was cut"}
_ODD = {"comment": "comment", "error": "error", "raw": "unreadable piece"}

Table = Sequence[Sequence[str]]


def compared(one: Profile, two: Profile) -> str:
    """The comparison as one Markdown document."""
    parts = [
        "# Comparison",
        _table(["", "A", "B"], _heads(one, two)),
        "## In short",
        "\n".join(f"- {line}" for line in findings(one, two)),
        "## Timing",
        _table(["seconds from the question", "A", "B", "B - A"], _timing(one, two)),
        "## What could be read, when",
        _table(["after", "A", "B"], _readable(one, two)),
        "## Artifacts",
        _table(["name", "A", "B"], _artifacts(one, two)),
        "## Parts, metadata and flags",
        _table(["flag", "A", "B"], _counts(_all_flags(one), _all_flags(two))),
        "## Text",
        _text(one, two),
        "## What the reader saw",
        *(_seen(label, each) for label, each in (("A", one), ("B", two))),
    ]
    return "\n\n".join(parts) + "\n"


def findings(one: Profile, two: Profile) -> list[str]:
    """The differences that matter, a sentence each."""
    found = []
    first, second = one.timeline.summary, two.timeline.summary
    if first.outcome != second.outcome:
        found.append(f"A ended {first.outcome}, B {second.outcome}.")
    soon = _gap(first.first_visible, second.first_visible)
    if soon is not None and abs(soon) >= 1:
        found.append(f"{'A' if soon > 0 else 'B'} could be read {abs(soon):.1f} s sooner.")
    for label, each in (("A", first), ("B", second)):
        if (each.burst_share or 0) > 0.5 and each.shown > 200:
            said = f"{label} was shown in a burst: {share(each.burst_share)} of its text within half a second"
            found.append(f"{said}, after {seconds(each.longest_wait)} of waiting.")
    only = sorted(set(one.artifacts) ^ set(two.artifacts))
    if only:
        sides = ", ".join(f"{cell(name)} ({'A' if name in one.artifacts else 'B'})" for name in only)
        found.append(f"Artifacts that only one of them sends: {sides}.")
    marks = sorted(set(_all_flags(one)) ^ set(_all_flags(two)))
    if marks:
        sides = ", ".join(f"{cell(name)} ({'A' if name in _all_flags(one) else 'B'})" for name in marks[:12])
        found.append(f"Flags that only one of them has: {sides}.")
    found.append(_same(one.visible, two.visible))
    return found


# -- tables ------------------------------------------------------------------------------------------------


def _heads(one: Profile, two: Profile) -> Table:
    rows = [["name"], ["question"], ["wire"], ["outcome"], ["states"], ["besides events"]]
    for each in (one, two):
        summary = each.timeline.summary
        states = " → ".join(f"{state} {seconds(t)}" for state, t in each.states)
        odd = ", ".join(_odd(kind, count) for kind, count in each.odd.items())
        ended = summary.outcome + (f" ({summary.reason})" if summary.reason else "")
        for row, value in zip(rows, (each.name, each.question, each.wire, ended, states, odd), strict=True):
            row.append(cell(value))
    return rows


def _odd(kind: str, count: int) -> str:
    if kind in _ENDS:
        return _ENDS[kind] + (f" {count:,} times" if count > 1 else "")
    return f"{count:,} {_ODD.get(kind, kind)}{'s' * (count > 1 and kind in _ODD)}"


def _timing(one: Profile, two: Profile) -> Table:
    first, second = one.timeline.summary, two.timeline.summary
    rows = []
    for label, name in (
        ("first event", "first_event"),
        ("first answer token", "first_answer"),
        ("first visible text", "first_visible"),
        ("streaming for", "streaming"),
        ("longest silence of the agent", "longest_silence"),
        ("longest wait of the reader", "longest_wait"),
        ("end", "end"),
    ):
        before, after = getattr(first, name), getattr(second, name)
        gap = _gap(before, after)
        rows.append([label, seconds(before), seconds(after), "" if gap is None else f"{gap:+.2f}"])
    return [*rows, *_volumes(first, second)]


def _volumes(first: Summary, second: Summary) -> Table:
    rows = [
        ["burst share (shown)", share(first.burst_share), share(second.burst_share), ""],
        ["burst share (sent)", share(first.agent_burst_share), share(second.agent_burst_share), ""],
    ]
    pairs = {
        "events": (first.events, second.events),
        "Slack calls": (sum(first.calls.values()), sum(second.calls.values())),
        "failed calls": (first.failed_calls, second.failed_calls),
        "characters shown": (first.shown, second.shown),
        **{
            f"characters sent: {kind}": (first.chars.get(kind, 0), second.chars.get(kind, 0))
            for kind in sorted({*first.chars, *second.chars})
        },
    }
    return [*rows, *([name, f"{a:,}", f"{b:,}", f"{b - a:+,}"] for name, (a, b) in pairs.items() if a or b)]


def _readable(one: Profile, two: Profile) -> Table:
    end = max(one.timeline.end, two.timeline.end)
    return [
        [seconds(t), *(_progress(each.timeline.visible, t) for each in (one, two))]
        for t in moments_to_look_at(end)
    ]


def _progress(curve: Curve, t: float) -> str:
    """How much stood in the thread at `t`, in characters and as a part of all."""
    size = next((size for at, size in reversed(curve) if at <= t + 1e-6), 0)
    whole = curve[-1][1] if curve else 0
    return f"{size:,} ({size / whole:.0%})" if whole else "0"


def _artifacts(one: Profile, two: Profile) -> Table:
    names = dict.fromkeys([*one.artifacts, *two.artifacts])
    return [[cell(name), *(_sent(each.artifacts.get(name)) for each in (one, two))] for name in names]


def _sent(sent: Sent | None) -> str:
    if sent is None:
        return "–"
    when = seconds(sent.first) if sent.count == 1 else f"{seconds(sent.first)} to {seconds(sent.last)}"
    ids = f", {len(sent.ids)} ids" if len(sent.ids) > 1 else ""
    return f"{sent.count:,} ({sent.chars:,} characters{ids}), {when}"


def _all_flags(each: Profile) -> dict[str, int]:
    return {**{f"part: {kind}": count for kind, count in sorted(each.parts.items())}, **each.flags}


def _counts(one: Mapping[str, int], two: Mapping[str, int]) -> Table:
    names = dict.fromkeys([*one, *two])
    return [
        [cell(name), *(f"{each[name]:,}" if name in each else "–" for each in (one, two))] for name in names
    ]


# -- text --------------------------------------------------------------------------------------------------


def _text(one: Profile, two: Profile) -> str:
    before, after = one.visible, two.visible
    parts = [_same(before, after)]
    if before.split() != after.split() and before and after:
        at = next(
            (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
            min(len(before), len(after)),
        )
        parts.append(f"They part at character {at:,}.")
        if max(len(before), len(after)) <= _DIFF_CHARS:
            lines = list(
                difflib.unified_diff(before.splitlines(), after.splitlines(), "A", "B", lineterm="", n=1)
            )
            left = len(lines) - _DIFF_LINES
            parts.append(_fenced("\n".join(lines[:_DIFF_LINES]), "diff"))
            parts += [f"{left:,} further lines differ or stand around differences."] if left > 0 else []
    return "\n\n".join(parts)


def _same(before: str, after: str) -> str:
    sizes = f"{len(before):,} and {len(after):,} characters"
    if before == after:
        return f"The reader reads the same text in the end ({len(before):,} characters)."
    if before.split() == after.split():
        return f"The texts differ in white space only ({sizes})."
    if not before or not after:
        return f"{'A' if not before else 'B'} shows no text ({sizes})."
    words = difflib.SequenceMatcher(None, before.split()[:4000], after.split()[:4000], autojunk=False)
    return f"The texts differ ({sizes}); {words.ratio():.0%} of the words are common to both."


def _seen(label: str, each: Profile) -> str:
    parts = [f"### {label}: {cell(each.name)}"]
    for message in each.messages:
        text = str(message["text"])
        head = f"{STATES.get(message['state'], message['state'])}, {len(text):,} characters"
        cards = "".join(
            f"\n- {cell(str(task.get('title')))}: {task.get('status')}" for task in message["tasks"]
        )
        short = text if len(text) <= _EXCERPT else text[:_EXCERPT].rstrip() + " …"
        parts.append(f"Message ({head}):{cards and chr(10)}{cards}\n\n{_fenced(short)}")
    return "\n\n".join(parts if each.messages else [*parts, "Nothing."])


def _fenced(text: str, language: str = "text") -> str:
    """A code block that its own content cannot end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def cell(text: str) -> str:
    """`text` in one cell of a table, without markup of its own."""
    flat = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return re.sub(r"([\\|`*_<>\[\]])", r"\\\1", flat)


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table whose columns stand below each other in a terminal, too."""
    all_rows = [list(names), *map(list, rows)]
    widths = [max(3, *(_columns(row[n]) for row in all_rows)) for n in range(len(names))]
    lines = [
        "| "
        + " | ".join(text + " " * (wide - _columns(text)) for text, wide in zip(row, widths, strict=True))
        + " |"
        for row in all_rows
    ]
    rule = "|" + "|".join("-" * (wide + 2) for wide in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _columns(text: str) -> int:
    return round(sum(2 if text_width(letter, 1) == 1 else 1 for letter in text))


def _gap(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
