"""`slack-bot compare`: two captures, or two live agents asked the same question, side by side.

Both go through the whole bot as in `replay`, so that what the reader would have seen is compared, not only
what was sent. Live agents are asked one after the other, so that neither slows the other down.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, assert_never

from rich.console import Console
from rich.markdown import Markdown

from ..a2a.wire.decode import decode
from ..a2a.wire.frames import (
    Artifact,
    ArtifactUpdate,
    Frame,
    MessageReply,
    Metadata,
    Part,
    Snapshot,
    StatusUpdate,
    Unknown,
)
from ..errors import AgentError, UnreadableInput
from ..settings.load import load
from ..testing.tape.items import Moment
from ..testing.tape.json_file import Json
from ..testing.tape.tape import Recording, Tape, read_tape
from .capture.agent_address import check_there, is_address, settings_for
from .capture.capture import CaptureProgress, CaptureRequest, capture
from .interruption import told_if_interrupted
from .open_capture import open_capture, taped
from .output_file import MemoryOutput, OutputFile
from .replay.plain_text import STATES
from .replay.replay import accept_any_script, tell_assumed
from .replay.scenario import Scenario
from .trace.canvas import text_width
from .trace.figures import Curve, Summary, Timeline
from .trace.picture import seconds, share
from .trace.table import printable
from .trace.trace import trace_capture

_SHOWN_VALUE = 24  # a value that is no longer than this, or true or false, is part of a flag's name
_MOST_VALUES = 6  # of a key; more are ids or texts, and only the key is worth a line
_DIFF_LINES = 60
_DIFF_CHARS = 60_000  # more is not compared: difflib takes the square of the number of lines
_EXCERPT = 600
_ENDS = {"end: closed": "the stream was closed", "end: cut": "the stream was cut"}
_ODD = {"comment": "comment", "error": "error", "raw": "unreadable piece"}

MarkdownTable: TypeAlias = Sequence[Sequence[str]]


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: one, two, text, output, key. Returns the exit status.

    Raises UnreadableInput for wrong usage and what cannot be read or written, AgentError for an agent that
    cannot be asked.
    """
    check_there(args.one, args.two)
    if any(map(is_address, (args.one, args.two))) and not (args.text or "").strip():
        raise UnreadableInput("live agents want a question: slack-bot compare URL URL TEXT")
    if args.text is not None and not any(map(is_address, (args.one, args.two))):
        raise UnreadableInput("a question is for live agents; two files are compared as they are")
    accept_any_script()
    out = OutputFile(args.output, [args.one, args.two]) if args.output else None
    with told_if_interrupted(lambda: "nothing was compared"):
        captures = [
            _live(each, args.text, argument) if is_address(each) else open_capture(Path(each), args.key)
            for argument, each in (("A", args.one), ("B", args.two))
        ]
    one, two = (_profile(capture, name) for capture, name in zip(captures, (args.one, args.two), strict=True))
    text = as_markdown(one, two)
    if out is not None:
        with out:
            out.text(text)
        sys.stderr.write(f"-> {out.path}\n")
    elif sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        sys.stdout.write(text)
    return 0


def _profile(capture: Tape | Recording, name: str) -> Profile:
    short = name if is_address(name) else Path(name).name
    line, result = trace_capture(capture, short, Scenario())
    tell_assumed(name, capture, result)
    return profile(taped(capture), line, result)


def _live(url: str, text: str, argument: str) -> Tape | Recording:
    given = load()
    settings, note = settings_for(url, given)
    progress = CaptureProgress()
    if note:
        progress.say(f"note: {note}")
    memory = MemoryOutput(url)
    asyncio.run(
        capture(CaptureRequest((text,), argument=argument), settings, memory, progress, also=(given,))
    )
    return read_tape(memory.data, url)


# -- what can be compared of a stream ------------------------------------------------------------------------


@dataclass(slots=True)
class Sent:
    """Artifacts of one name: how often, how much text, from when to when (seconds)."""

    count: int = 0
    chars: int = 0
    first: float = 0.0
    last: float = 0.0
    ids: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Values:
    """How often a key was sent, and how often with each value; None where these are too many or too long.

    A key with a new value in every event would fill the memory.
    """

    count: int = 0
    each: Counter[str] | None = field(default_factory=Counter)

    def add(self, value: str) -> None:
        """One more value."""
        self.count += 1
        if self.each is not None:
            self.each[value] += 1
            if len(self.each) > _MOST_VALUES or len(value) > _SHOWN_VALUE:
                self.each = None


@dataclass(frozen=True, slots=True)
class Profile:
    """One stream. `flags` are metadata and the marks of updates, `odd` what came besides events."""

    name: str
    question: str
    wire: str
    artifacts: Mapping[str, Sent]
    flags: Mapping[str, int]
    parts: Mapping[str, int]
    states: tuple[tuple[str, float], ...]
    odd: Mapping[str, int]
    timeline: Timeline
    visible: str
    messages: tuple[Json, ...]


def profile(tape: Tape, timeline: Timeline, result: Json) -> Profile:
    """The profile of `tape`, whose turn was `timeline` and gave `result` (the object of `replay --json`)."""
    counts = _Counts()
    for moment in tape.moments:
        counts.take(moment)
    return Profile(
        name=timeline.name,
        question=timeline.question,
        wire=str(tape.head.get("wire") or "not known"),
        artifacts=counts.artifacts,
        flags=_flags_of(counts.flags),
        parts=counts.parts,
        states=tuple(counts.states),
        odd={kind: count for kind, count in counts.odd.items() if count},
        timeline=timeline,
        visible=str(result["visible"]),
        messages=tuple(result["thread"]),
    )


class _Counts:
    def __init__(self) -> None:
        self.artifacts: dict[str, Sent] = {}
        self.flags: dict[str, Values] = {}
        self.parts: Counter[str] = Counter()
        self.states: list[tuple[str, float]] = []
        self.odd: Counter[str] = Counter()

    def take(self, moment: Moment) -> None:
        for kind in ("comment", "error", "raw"):
            self.odd[kind] += getattr(moment, kind) is not None
        if moment.end is not None:
            self.odd[f"end: {moment.end}"] += 1
        if moment.event is not None:
            try:
                self._frame(moment.t, decode(moment.event))
            except AgentError:
                self.odd["unreadable"] += 1

    def _frame(self, t: float, frame: Frame) -> None:
        match frame:
            case ArtifactUpdate():
                self._artifact(t, frame.artifact, frame.metadata)
                self._flag("append", frame.append)
                self._flag("lastChunk", frame.last_chunk or None)
            case Snapshot():
                self._state(str(frame.state), t)
                for artifact in frame.artifacts:
                    self._artifact(t, artifact, {})
            case StatusUpdate():
                self._state(str(frame.state), t)
                self._flag("final", frame.final)
                self._metadata(frame.metadata)
            case MessageReply() | Unknown():
                pass  # the text of a message is compared as visible text
            case _:
                assert_never(frame)

    def _artifact(self, t: float, artifact: Artifact, metadata: Metadata) -> None:
        sent = self.artifacts.setdefault(artifact.name or "(no name)", Sent(first=t))
        sent.count, sent.last, sent.chars = sent.count + 1, t, sent.chars + len(artifact.text)
        sent.ids.add(artifact.artifact_id)
        self.parts.update(map(_kind_of, artifact.parts))
        self._metadata(artifact.metadata)
        self._metadata(metadata)

    def _metadata(self, metadata: Metadata) -> None:
        for key, value in metadata.items():
            self._flag(key, value)

    def _flag(self, key: str, value: Any) -> None:
        if value is not None:
            shown = value if isinstance(value, str) else json.dumps(value, default=str)
            self.flags.setdefault(key, Values()).add(shown)

    def _state(self, state: str, t: float) -> None:
        if not self.states or self.states[-1][0] != state:
            self.states.append((state, t))


def _kind_of(part: Part) -> str:
    return "data" if part.has_data else "file" if part.file is not None else "text"


def _flags_of(flags: Mapping[str, Values]) -> dict[str, int]:
    """Key and value where there are few short values, else only the key."""
    found: dict[str, int] = {}
    for key, values in sorted(flags.items()):
        if values.each is None:
            found[key] = values.count
        else:
            found |= {f"{key} = {value}": count for value, count in sorted(values.each.items())}
    return found


def moments_to_look_at(end: float) -> Iterator[float]:
    """Times in seconds at which to compare what could be read, closer together at the beginning."""
    for t in (1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1200, 1800):
        if t < end:
            yield float(t)
    yield end


# -- the document --------------------------------------------------------------------------------------------


def as_markdown(one: Profile, two: Profile) -> str:
    """Both streams side by side, as Markdown."""
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
    """The most important differences, a sentence each."""
    found = []
    first, second = one.timeline.summary, two.timeline.summary
    if first.outcome != second.outcome:
        found.append(f"A ended {first.outcome}, B {second.outcome}.")
    gap = _gap(first.first_visible, second.first_visible)
    if gap is not None and abs(gap) >= 1:
        found.append(f"{'A' if gap > 0 else 'B'} could be read {abs(gap):.1f} s sooner.")
    for label, each in (("A", first), ("B", second)):
        if (each.burst_share or 0) > 0.5 and each.shown > 200:
            said = f"{label} was shown in a burst: {share(each.burst_share)} of its text within half a second"
            found.append(f"{said}, after {seconds(each.longest_wait)} of waiting.")
    if only := _only_one(one.artifacts, two.artifacts):
        found.append(f"Artifacts that only one of them sends: {', '.join(only)}.")
    if only := _only_one(_all_flags(one), _all_flags(two)):
        found.append(f"Flags that only one of them has: {', '.join(only[:12])}.")
    found.append(_same(one.visible, two.visible))
    return found


def _only_one(one: Mapping[str, object], two: Mapping[str, object]) -> list[str]:
    return [f"{cell(name)} ({'A' if name in one else 'B'})" for name in sorted(one.keys() ^ two.keys())]


def _heads(one: Profile, two: Profile) -> MarkdownTable:
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


def _timing(one: Profile, two: Profile) -> MarkdownTable:
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


def _volumes(first: Summary, second: Summary) -> MarkdownTable:
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


def _readable(one: Profile, two: Profile) -> MarkdownTable:
    end = max(one.timeline.end, two.timeline.end)
    return [
        [seconds(t), *(_progress(each.timeline.visible, t) for each in (one, two))]
        for t in moments_to_look_at(end)
    ]


def _progress(curve: Curve, t: float) -> str:
    """How much was in the thread at `t`, in characters and as a part of all."""
    size = next((size for at, size in reversed(curve) if at <= t + 1e-6), 0)
    whole = curve[-1][1] if curve else 0
    return f"{size:,} ({size / whole:.0%})" if whole else "0"


def _artifacts(one: Profile, two: Profile) -> MarkdownTable:
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


def _counts(one: Mapping[str, int], two: Mapping[str, int]) -> MarkdownTable:
    names = dict.fromkeys([*one, *two])
    return [
        [cell(name), *(f"{each[name]:,}" if name in each else "–" for each in (one, two))] for name in names
    ]


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
    flat = " ".join(printable(text).split())
    return re.sub(r"([\\|`*_<>\[\]])", r"\\\1", flat)


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with aligned columns."""
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
