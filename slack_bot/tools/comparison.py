"""`slack-bot compare`: two captures, or two live agents asked the same question, side by side.

Both go through the whole bot as in `replay`, so that what the reader would have seen is compared. Live agents
are asked one after the other: neither slows the other down.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, assert_never

from rich.console import Console
from rich.markdown import Markdown

from ..agents.wire import frames
from ..agents.wire.frames import decode
from ..errors import AgentError, UnreadableInput
from ..settings.load import load
from ..testing.tape.items import Moment
from ..testing.tape.json_file import Json
from ..testing.tape.tape import Recording, Tape, read_tape
from .capture.agent_address import check_there, is_address, settings_for
from .capture.capture import CaptureProgress, CaptureRequest, capture
from .files import Output, OutputFile, keep_what_is_there, open_capture, taped
from .pace import Curve, is_burst, seconds, share
from .replay.diff import common_prefix
from .replay.replay import tell_assumed
from .replay.result import STATES, beside_text
from .replay.scenario import Scenario
from .tables import cell, padded_table, printable
from .terminal import told_if_interrupted
from .trace.figures import Summary, Timeline
from .trace.trace import trace_capture

_SHOWN_VALUE = 24  # a value that is no longer than this, or true or false, is part of a flag's name
_MOST_VALUES = 6  # of a key; more are ids or texts, and only the key is worth a line
_DIFF_LINES = 60
_DIFF_CHARS = 60_000  # more is not compared: difflib takes the square of the number of lines
_EXCERPT = 600
_ENDS = {"end: closed": "the stream was closed", "end: cut": "the stream was cut"}
_TIMES = {
    "first event": "first_event",
    "first answer event": "first_answer",
    "first sign of life": "first_sign",
    "first visible text": "first_visible",
    "streaming for": "streaming",
    "longest silence of the agent": "longest_silence",
    "longest wait of the reader": "longest_wait",
    "end": "end",
}
_LOOKS = (1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1200, 1800)
_VOLUMES = ("events", "Slack calls", "failed calls", "characters shown")
_ODD = {"comment": "comment", "error": "error", "raw": "unreadable piece"}

T = TypeVar("T")


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: one, two, text, output, key. Raises UnreadableInput, AgentError."""
    check_there(args.one, args.two)
    if any(map(is_address, (args.one, args.two))) and not (args.text or "").strip():
        raise UnreadableInput("live agents want a question: slack-bot compare URL URL TEXT")
    if args.text is not None and not any(map(is_address, (args.one, args.two))):
        raise UnreadableInput("a question is for live agents; two files are compared as they are")
    out = OutputFile(args.output, [args.one, args.two]) if args.output else None
    if out is not None and not args.force:
        keep_what_is_there(Path(out.path))
    with told_if_interrupted(lambda: "nothing was compared"):
        captures = [
            _live(each, args.text, argument) if is_address(each) else open_capture(Path(each), args.key)
            for argument, each in (("A", args.one), ("B", args.two))
        ]
    one, two = map(_profile, captures, (args.one, args.two))
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
    memory, request = Output(url), CaptureRequest((text,), argument=argument)
    asyncio.run(capture(request, settings_for(url, given), memory, CaptureProgress(), also=(given,)))
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
class Profile:
    """One stream. `values` are metadata and the marks of updates, `odd` what came besides events."""

    timeline: Timeline
    result: Json
    wire: str
    artifacts: dict[str, Sent] = field(default_factory=dict)
    values: dict[str, Counter[str]] = field(default_factory=dict)
    parts: Counter[str] = field(default_factory=Counter)
    states: list[tuple[str, float]] = field(default_factory=list)
    odd: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(_ODD, 0)))  # in this order

    @property
    def text(self) -> str:
        return str(self.result["visible"])

    @property
    def flags(self) -> dict[str, int]:
        """Kinds of parts; keys and values where there are few short values, else only keys."""
        found = {f"part: {kind}": count for kind, count in sorted(self.parts.items())}
        for key, values in sorted(self.values.items()):
            if len(values) > _MOST_VALUES or max(map(len, values)) > _SHOWN_VALUE:
                found[key] = values.total()
            else:
                found |= {f"{key} = {value}": count for value, count in sorted(values.items())}
        return found

    def take(self, moment: Moment) -> None:
        self.odd.update(kind for kind in _ODD if getattr(moment, kind) is not None)
        if moment.end is not None:
            self.odd[f"end: {moment.end}"] += 1
        if moment.event is not None:
            try:
                self._frame(moment.t, decode(moment.event))
            except AgentError:
                self.odd["unreadable"] += 1

    def _frame(self, t: float, frame: frames.Frame) -> None:
        match frame:
            case frames.ArtifactUpdate():
                self._artifact(t, frame.artifact)
                marks = {"append": frame.append, "lastChunk": frame.last_chunk or None}
                self._flags(frame.metadata, marks)
            case frames.Snapshot():
                self._state(str(frame.state), t)
                for artifact in frame.artifacts:
                    self._artifact(t, artifact)
            case frames.StatusUpdate():
                self._state(str(frame.state), t)
                self._flags({"final": frame.final}, frame.metadata)
            case frames.MessageReply() | frames.Unknown():
                pass  # the text of a message is compared as visible text
            case _:
                assert_never(frame)

    def _artifact(self, t: float, artifact: frames.Artifact) -> None:
        sent = self.artifacts.setdefault(artifact.name or "(no name)", Sent(first=t))
        sent.count, sent.last, sent.chars = sent.count + 1, t, sent.chars + len(artifact.text)
        sent.ids.add(artifact.artifact_id)
        self.parts.update(
            "data" if part.has_data else "file" if part.file is not None else "text"
            for part in artifact.parts
        )
        self._flags(artifact.metadata)

    def _flags(self, *given: frames.Metadata) -> None:
        for key, value in (pair for each in given for pair in each.items()):
            if value is not None:
                shown = value if isinstance(value, str) else json.dumps(value, default=str)
                self.values.setdefault(key, Counter())[shown] += 1

    def _state(self, state: str, t: float) -> None:
        if not self.states or self.states[-1][0] != state:
            self.states.append((state, t))


def profile(tape: Tape, timeline: Timeline, result: Json) -> Profile:
    """The profile of `tape`, whose turn was `timeline` and gave `result` (the object of `replay --json`)."""
    found = Profile(timeline, result, str(tape.head.get("wire") or "not known"))
    for moment in tape.moments:
        found.take(moment)
    return found


def moments_to_look_at(end: float) -> Iterator[float]:
    """Times in seconds at which to compare what could be read, closer together at the beginning."""
    yield from (t for t in _LOOKS if t < end)
    yield end


# -- the document --------------------------------------------------------------------------------------------


def as_markdown(one: Profile, two: Profile) -> str:
    """Both streams side by side, as Markdown."""
    parts = [
        "# Comparison",
        _table(["", "A", "B"], _both(_head(one), _head(two), _cell)),
        "## In short",
        "\n".join(f"- {line}" for line in findings(one, two)),
        "## Timing",
        _table(["seconds from the question", "A", "B", "B - A"], _timing(one, two)),
        "## What could be read, when",
        _table(["after", "A", "B"], _readable(one, two)),
        "## Artifacts",
        _table(["name", "A", "B"], _both(one.artifacts, two.artifacts, _sent)),
        "## Parts, metadata and flags",
        _table(["flag", "A", "B"], _both(one.flags, two.flags, "{:,}".format)),
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
        if is_burst(each.burst_share, each.shown):
            said = f"{label} was shown in a burst: {share(each.burst_share)} of its text within half a second"
            found.append(f"{said}, after {seconds(each.longest_wait)} of waiting.")
    if only := _only_one(one.artifacts, two.artifacts):
        found.append(f"Artifacts that only one of them sends: {', '.join(only)}.")
    if only := _only_one(one.flags, two.flags):
        found.append(f"Flags that only one of them has: {', '.join(only[:12])}.")
    found.append(_same(one.text, two.text))
    return found


def _only_one(one: Mapping[str, object], two: Mapping[str, object]) -> list[str]:
    return [f"{_cell(name)} ({'A' if name in one else 'B'})" for name in sorted(one.keys() ^ two.keys())]


def _head(each: Profile) -> dict[str, str]:
    summary = each.timeline.summary
    return {
        "name": each.timeline.name,
        "question": each.timeline.question,
        "wire": each.wire,
        "outcome": summary.outcome + (f" ({summary.reason})" if summary.reason else ""),
        "states": " → ".join(f"{state} {seconds(t)}" for state, t in each.states),
        "besides events": ", ".join(_odd(kind, count) for kind, count in (+each.odd).items()),
    }


def _odd(kind: str, count: int) -> str:
    if kind in _ENDS:
        return _ENDS[kind] + (f" {count:,} times" if count > 1 else "")
    return f"{count:,} {_ODD.get(kind, kind)}{'s' * (count > 1 and kind in _ODD)}"


def _timing(one: Profile, two: Profile) -> Iterator[Sequence[str]]:
    first, second = one.timeline.summary, two.timeline.summary
    for label, name in _TIMES.items():
        before, after = getattr(first, name), getattr(second, name)
        gap = _gap(before, after)
        yield label, seconds(before), seconds(after), "" if gap is None else f"{gap:+.2f}"
    yield "burst share (shown)", share(first.burst_share), share(second.burst_share), ""
    yield "burst share (known)", share(first.agent_burst_share), share(second.agent_burst_share), ""
    counts = [_volumes(each) for each in (first, second)]
    kinds = sorted({*first.chars, *second.chars})
    for name in (*_VOLUMES, *(f"characters sent: {kind}" for kind in kinds)):
        a, b = (each.get(name, 0) for each in counts)
        if a or b:
            yield name, f"{a:,}", f"{b:,}", f"{b - a:+,}"


def _volumes(summary: Summary) -> dict[str, int]:
    sizes = (summary.events, sum(summary.calls.values()), summary.failed_calls, summary.shown)
    sent = {f"characters sent: {kind}": chars for kind, chars in summary.chars.items()}
    return dict(zip(_VOLUMES, sizes, strict=True)) | sent


def _readable(one: Profile, two: Profile) -> Iterator[Sequence[str]]:
    curves = [each.timeline.visible for each in (one, two)]
    for t in moments_to_look_at(max(one.timeline.end, two.timeline.end)):
        yield seconds(t), *(_progress(curve, t) for curve in curves)


def _progress(curve: Curve, t: float) -> str:
    """How much was in the thread at `t`, in characters and as a part of all."""
    size = next((size for at, size in reversed(curve) if at <= t + 1e-6), 0)
    whole = curve[-1][1] if curve else 0
    return f"{size:,} ({size / whole:.0%})" if whole else "0"


def _both(one: Mapping[str, T], two: Mapping[str, T], show: Callable[[T], str]) -> Iterator[Sequence[str]]:
    for name in dict.fromkeys([*one, *two]):
        yield _cell(name), *(show(each[name]) if name in each else "–" for each in (one, two))


def _sent(sent: Sent) -> str:
    when = seconds(sent.first) if sent.count == 1 else f"{seconds(sent.first)} to {seconds(sent.last)}"
    ids = f", {len(sent.ids)} ids" if len(sent.ids) > 1 else ""
    return f"{sent.count:,} ({sent.chars:,} characters{ids}), {when}"


def _text(one: Profile, two: Profile) -> str:
    before, after = one.text, two.text
    parts = [_same(before, after)]
    if before.split() != after.split() and before and after:
        parts.append(f"They part at character {common_prefix(before, after):,}.")
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
    parts = [f"### {label}: {_cell(each.timeline.name)}"]
    for message in each.result["thread"]:
        text = str(message["text"])
        head = f"{STATES.get(message['state'], message['state'])}, {len(text):,} characters"
        cards = "".join(
            f"\n- {_cell(str(task.get('title')))}: {task.get('status')}" for task in message["tasks"]
        )
        short = text if len(text) <= _EXCERPT else text[:_EXCERPT].rstrip() + " …"
        parts.append(f"Message ({head}):{cards and chr(10)}{cards}\n\n{_fenced(short)}")
        if beside := beside_text(message):
            parts.append("\n".join(f"- {_cell(' '.join(words.split()))}" for words in beside))
    return "\n\n".join(parts if each.result["thread"] else [*parts, "Nothing."])


def _fenced(text: str, language: str = "text") -> str:
    """A code block that its own content cannot end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _cell(text: str) -> str:
    return cell(printable(text))


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(padded_table(names, rows))


def _gap(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
