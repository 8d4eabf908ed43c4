"""PURE. Checks of what stands in the thread: the agent's answer, whole, once, in order, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .checks import Check, CheckResult, Param, Params
from .measures import Measures, visible_chars

_MARKERS = ("[FINAL ANSWER]", "[FINAL_ANSWER]")
_MARKUP = re.compile(r"[\s`*_~|>\u2060-]+")
_WORD_CUT = re.compile(r"[a-zA-Z]{2}")
_PIECE = 24  # characters of a line by which it is known again
_SHOWN = 60  # characters of a text in a detail


def _text_equals_final(seen: Measures, params: Params) -> CheckResult:
    if seen.final is None:
        return CheckResult(None, "the agent sent no final result")
    return _same(seen, seen.final)


def _text_is(seen: Measures, params: Params) -> CheckResult:
    return _same(seen, params["text"])


def _same(seen: Measures, wanted: str) -> CheckResult:
    have, want = visible_chars("".join(seen.texts)), visible_chars(wanted)
    if have == want:
        return CheckResult(True, f"{len(want)} characters, white space apart")
    same = next(
        (n for n, (a, b) in enumerate(zip(have, want, strict=False)) if a != b), min(len(have), len(want))
    )
    there, should = have[same : same + 20] or "nothing", want[same : same + 20] or "nothing"
    return CheckResult(
        False, f"{len(have)} characters for {len(want)}; after {same}: {there!r} instead of {should!r}"
    )


def _text_has(seen: Measures, params: Params) -> CheckResult:
    everything = "\n".join(everything_in(seen))
    missing = [text for text in params["texts"] if text not in everything]
    return CheckResult(not missing, _list("missing", missing) if missing else "all there")


def _text_lacks(seen: Measures, params: Params) -> CheckResult:
    found = [text for text in params["texts"] if text in seen.text]
    return CheckResult(not found, _list("in the answer", found) if found else "none of it")


def _no_marker(seen: Measures, params: Params) -> CheckResult:
    ever = (look.visible for look in seen.looks)
    shown = any(mark in text for text in (*ever, seen.text) for mark in _MARKERS)
    return CheckResult(not shown, "a marker was shown" if shown else "never shown")


def _no_narration(seen: Measures, params: Params) -> CheckResult:
    if not seen.narration:
        return CheckResult(None, "the agent marked nothing as narration")
    answer = visible_chars(seen.final or "")
    foreign = [piece for piece in seen.narration if visible_chars(piece) not in answer]
    ever = [visible_chars(text) for text in (*(look.visible for look in seen.looks), seen.text)]
    found = [piece for piece in foreign if any(visible_chars(piece) in text for text in ever)]
    return CheckResult(
        not found, _list("shown as answer", found) if found else f"{len(foreign)} sentences kept out"
    )


def _nothing_twice(seen: Measures, params: Params) -> CheckResult:
    """Also for a moment: what was shown twice and then repaired was seen by somebody."""
    if not seen.total:
        return CheckResult(None, "there is no answer")
    source = visible_chars(seen.final or "") or visible_chars(seen.said)
    texts = [
        *(look.visible for look in seen.looks[:: max(1, len(seen.looks) // 40)]),
        "".join(seen.texts),
    ]
    for text in reversed(texts):
        whole = visible_chars(text)
        for piece in _pieces(text):
            if whole.count(piece) > max(1, source.count(piece)):
                return CheckResult(False, f"{_short(piece)} stood there {whole.count(piece)} times")
    return CheckResult(True, "no line more often than the agent wrote it")


def _only_grows(seen: Measures, params: Params) -> CheckResult:
    """Markup does not count: it is closed and opened again where a message ends."""
    if not seen.total:
        return CheckResult(None, "there is no answer")
    end = _bare(seen.text)
    for look in seen.looks:
        text = _bare(look.visible)
        if not end.startswith(text):
            return CheckResult(
                False, f"{_short(text[-40:])} was shown and is not there any more, or elsewhere"
            )
    return CheckResult(True, f"{len(seen.looks)} times looked at, each time a beginning of the end")


def _whole_words(seen: Measures, params: Params) -> CheckResult:
    """Each look at a live answer ends where a word of the whole answer ends."""
    whole = "".join(seen.texts)
    if not whole or not seen.opened:
        return CheckResult(None, "nothing was streamed")
    for look in seen.looks:
        text = look.visible.rstrip()
        if whole.startswith(text) and _WORD_CUT.fullmatch(text[-1:] + whole[len(text) : len(text) + 1]):
            return CheckResult(False, f"{_short(text[-20:])} stood there, and its last word was not whole")
    return CheckResult(True, f"{len(seen.looks)} times looked at")


def everything_in(seen: Measures) -> Iterator[str]:
    """All that can be read in the thread: texts, blocks, cards."""
    for message in seen.thread:
        yield message.text
        yield from _strings(message.blocks)
        yield from _strings(message.tasks)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)


def _pieces(text: str) -> Iterator[str]:
    lines = (visible_chars(line) for line in text.splitlines())
    return (line for line in dict.fromkeys(lines) if len(line) >= _PIECE)


def _bare(text: str) -> str:
    return _MARKUP.sub("", text)


def _list(what: str, texts: list[str]) -> str:
    more = f" and {len(texts) - 2} more" if len(texts) > 2 else ""
    return f"{what}: {', '.join(_short(text) for text in texts[:2])}{more}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


TEXT = (
    Check("text_equals_final", "The thread reads as the agent's final result", _text_equals_final),
    Check("text_is", "The thread reads as this text", _text_is, {"text": Param("text")}),
    Check("text_has", "This can be read in the thread", _text_has, {"texts": Param("texts")}),
    Check("text_lacks", "This is no part of the answer", _text_lacks, {"texts": Param("texts")}),
    Check("no_marker", "No [FINAL ANSWER] marker was ever shown", _no_marker),
    Check("no_narration", "Nothing that was narration was ever shown as answer", _no_narration),
    Check("nothing_twice", "No line stood there more often than it was written", _nothing_twice),
    Check("whole_words", "No word was ever shown by halves", _whole_words),
    Check("only_grows", "The answer grew at its end only", _only_grows),
)
