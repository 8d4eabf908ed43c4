"""PURE. The checks of `conform`: each looks at the measures of one case and says yes, no or does not apply.

The first eight have the names, and ask the questions, of the CAIPE suite. The others ask what that suite does
not: whether the text is the agent's, complete and in order, how soon it came, and what is left in the thread.
A result's detail says what was found and, where it can be known, whose fault it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from .measures import Measures, lag, visible_chars

_GOOD = ("answered", "asked")
_MARKERS = ("[FINAL ANSWER]", "[FINAL_ANSWER]")
_MARKUP = re.compile(r"[\s`*_~|>\u2060-]+")
_WORD_CUT = re.compile(r"[a-zA-Z]{2}")
_PIECE = 24  # characters from which a line can be recognised
_SHOWN = 60  # characters of a text that a detail quotes
_CLOSED = ("complete", "error")

Params: TypeAlias = Mapping[str, Any]
Kind: TypeAlias = Literal["number", "text", "texts"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """`ok` is None where the check does not apply: there was nothing to look at."""

    ok: bool | None
    detail: str


Judge: TypeAlias = Callable[[Measures, Params], CheckResult]


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a check. A `default` of None: the case must give it."""

    kind: Kind
    default: Any = None


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `about` is the sentence in the report."""

    name: str
    about: str
    judge: Judge
    params: Mapping[str, Param] = field(default_factory=dict)


CHECKS: dict[str, Check] = {}
"""Every check, by name."""


def _check(name: str, about: str, **params: Param) -> Callable[[Judge], Judge]:
    def register(judge: Judge) -> Judge:
        CHECKS[name] = Check(name, about, judge, params)
        return judge

    return register


# -- the CAIPE suite -----------------------------------------------------------------------------------------


@_check("content_delivered", "The answer has content", over=Param("number", 20))
def _content_delivered(m: Measures, params: Params) -> CheckResult:
    """Content before an error does not count: the reader was told that it is incomplete."""
    bad = next((outcome for outcome in m.outcomes if outcome not in _GOOD), None)
    why = f", and then the turn ended as {bad} ({m.result['reason']})" if bad else ""
    return CheckResult(m.total > params["over"] and bad is None, f"{m.total}c delivered{why}")


@_check("stream_opened", "A stream was opened (startStream)")
def _stream_opened(m: Measures, params: Params) -> CheckResult:
    return CheckResult(m.opened, "opened" if m.opened else "never opened")


@_check("live_streamed", "The answer was streamed, not kept for stopStream")
def _live_streamed(m: Measures, params: Params) -> CheckResult:
    begun = f", {m.begun} of them with startStream" if m.begun else ""
    return CheckResult(m.streamed > 0, f"{m.streamed}c via appendStream{begun}")


@_check("no_duplicate", "No text in both appendStream and stopStream")
def _no_duplicate(m: Measures, params: Params) -> CheckResult:
    both = m.streamed > 0 and m.stopped > 0
    return CheckResult(not both, f"appendStream={m.streamed}c, stopStream={m.stopped}c")


@_check("final_answer_latched", "The final answer was recognised")
def _final_answer_latched(m: Measures, params: Params) -> CheckResult:
    return CheckResult(m.latched, str(m.latched))


@_check("no_tools", "No tool was called")
def _no_tools(m: Measures, params: Params) -> CheckResult:
    return CheckResult(not m.tools, _tools(m))


@_check("tools_used", "A tool was called", any=Param("texts", ("search", "fetch_document")))
def _tools_used(m: Measures, params: Params) -> CheckResult:
    return CheckResult(any(name in m.tools for name in params["any"]), _tools(m))


@_check("multi_chunk", "The answer came in several chunks", over=Param("number", 1))
def _multi_chunk(m: Measures, params: Params) -> CheckResult:
    return CheckResult(m.final_chunks > params["over"], f"{m.final_chunks} chunks")


def _tools(m: Measures) -> str:
    return f"tools: {dict(m.tools)}" if m.tools else "none"


# -- the text in the thread ----------------------------------------------------------------------------------


@_check("text_equals_final", "The thread reads as the agent's final result")
def _text_equals_final(m: Measures, params: Params) -> CheckResult:
    if m.final is None:
        return CheckResult(None, "the agent sent no final result")
    return _same(m, m.final)


@_check("text_is", "The thread reads as this text", text=Param("text"))
def _text_is(m: Measures, params: Params) -> CheckResult:
    return _same(m, params["text"])


@_check("text_has", "This can be read in the thread", texts=Param("texts"))
def _text_has(m: Measures, params: Params) -> CheckResult:
    everything = "\n".join(_readable_texts(m))
    missing = [text for text in params["texts"] if text not in everything]
    return CheckResult(not missing, _list("missing", missing) if missing else "all there")


@_check("text_lacks", "This is no part of the answer", texts=Param("texts"))
def _text_lacks(m: Measures, params: Params) -> CheckResult:
    found = [text for text in params["texts"] if text in m.text]
    return CheckResult(not found, _list("in the answer", found) if found else "none of it")


@_check("no_marker", "No [FINAL ANSWER] marker was ever shown")
def _no_marker(m: Measures, params: Params) -> CheckResult:
    shown = any(mark in text for text in (*m.looks, m.text) for mark in _MARKERS)
    return CheckResult(not shown, "a marker was shown" if shown else "never shown")


@_check("no_narration", "Nothing that was narration was ever shown as answer")
def _no_narration(m: Measures, params: Params) -> CheckResult:
    if not m.narration:
        return CheckResult(None, "the agent marked nothing as narration")
    answer = visible_chars(m.final or "")
    foreign = [piece for piece in m.narration if visible_chars(piece) not in answer]
    ever = [visible_chars(text) for text in (*m.looks, m.text)]
    found = [piece for piece in foreign if any(visible_chars(piece) in text for text in ever)]
    return CheckResult(
        not found, _list("shown as answer", found) if found else f"{len(foreign)} sentences kept out"
    )


@_check("nothing_twice", "No line stood there more often than it was written")
def _nothing_twice(m: Measures, params: Params) -> CheckResult:
    """Also for a moment: a reader saw what was shown twice and then repaired."""
    if not m.total:
        return CheckResult(None, "there is no answer")
    source = visible_chars(m.final or "") or visible_chars(m.said)
    looks = m.looks[:: max(1, len(m.looks) // 40)]
    texts = [*looks, "".join(m.texts)]
    for text in reversed(texts):
        whole = visible_chars(text)
        for piece in _pieces(text):
            if whole.count(piece) > max(1, source.count(piece)):
                return CheckResult(False, f"{_short(piece)} stood there {whole.count(piece)} times")
    return CheckResult(True, "no line more often than the agent wrote it")


@_check("whole_words", "No word was ever shown by halves")
def _whole_words(m: Measures, params: Params) -> CheckResult:
    """At any time the live answer ended where a word of the whole answer ends."""
    whole = "".join(m.texts)
    if not whole or not m.opened:
        return CheckResult(None, "nothing was streamed")
    for look in m.looks:
        text = look.rstrip()
        if whole.startswith(text) and _WORD_CUT.fullmatch(text[-1:] + whole[len(text) : len(text) + 1]):
            return CheckResult(False, f"{_short(text[-20:])} stood there, and its last word was not whole")
    return CheckResult(True, f"{len(m.looks)} times looked at")


@_check("only_grows", "The answer grew at its end only")
def _only_grows(m: Measures, params: Params) -> CheckResult:
    """Markup does not count: it is closed at the end of a message and opened again in the next."""
    if not m.total:
        return CheckResult(None, "there is no answer")
    end = _bare(m.text)
    for look in m.looks:
        text = _bare(look)
        if not end.startswith(text):
            return CheckResult(
                False, f"{_short(text[-40:])} was shown and is not there any more, or elsewhere"
            )
    return CheckResult(True, f"{len(m.looks)} times looked at, each time a beginning of the end")


def _same(m: Measures, wanted: str) -> CheckResult:
    have, want = visible_chars("".join(m.texts)), visible_chars(wanted)
    if have == want:
        return CheckResult(True, f"{len(want)} characters, white space apart")
    same = next(
        (n for n, (a, b) in enumerate(zip(have, want, strict=False)) if a != b), min(len(have), len(want))
    )
    there, should = have[same : same + 20] or "nothing", want[same : same + 20] or "nothing"
    return CheckResult(
        False, f"{len(have)} characters for {len(want)}; after {same}: {there!r} instead of {should!r}"
    )


def _readable_texts(m: Measures) -> Iterator[str]:
    """Texts, blocks and cards."""
    for message in m.thread:
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


# -- time: each failure says whether the bot or its agent was late -------------------------------------------


@_check(
    "first_visible_text",
    "The first answer text can be read soon after the question",
    within=Param("number", 8.0),
)
def _first_visible_text(m: Measures, params: Params) -> CheckResult:
    first, within = m.summary.first_visible, params["within"]
    if first is None:
        return CheckResult(False, "no answer text was ever to be seen")
    if first <= within:
        return CheckResult(True, f"after {first:.2f} s")
    wrote = m.summary.first_answer
    blame = "" if wrote is None else f"; the agent began to write it after {wrote:.2f} s"
    late = wrote is not None and wrote > within
    return CheckResult(
        False, f"after {first:.2f} s instead of {within:g} s{blame}" + (": the agent's wait" if late else "")
    )


@_check(
    "shown_soon", "The first answer text is shown soon after the agent wrote it", within=Param("number", 1.0)
)
def _shown_soon(m: Measures, params: Params) -> CheckResult:
    if not m.written:
        return CheckResult(None, "the agent wrote no answer")
    first, wrote = m.summary.first_visible, m.written[0][0]
    if first is None:
        return CheckResult(False, "the agent wrote, and nothing was ever to be seen")
    waited = max(0.0, first - wrote)
    return CheckResult(waited <= params["within"], f"{waited:.2f} s after the agent's first word")


@_check(
    "never_lags",
    "What the agent wrote is shown soon, at any time",
    within=Param("number", 2.5),
    but=Param("number", 40),
)
def _never_lags(m: Measures, params: Params) -> CheckResult:
    if not m.written:
        return CheckResult(None, "the agent wrote no answer")
    longest = lag(m.written, m.visible, m.summary.end, int(params["but"]))
    return CheckResult(
        longest <= params["within"],
        f"at most {longest:.2f} s between writing and showing, {params['but']:g} characters apart",
    )


@_check("burst_share", "The answer did not fall into the thread all at once", most=Param("number", 0.5))
def _burst_share(m: Measures, params: Params) -> CheckResult:
    share, agent = m.summary.burst_share, m.summary.agent_burst_share
    if share is None:
        return CheckResult(None, "no answer text was ever to be seen")
    said = f"{share:.0%} within half a second"
    if share > params["most"] and agent is not None:
        said += f"; the agent itself wrote {agent:.0%} within half a second"
    return CheckResult(share <= params["most"], said)


@_check("live_share", "Most of the answer stood there before the result came", least=Param("number", 0.8))
def _live_share(m: Measures, params: Params) -> CheckResult:
    share = m.result["live_share"]
    if share is None:
        return CheckResult(None, "there is no answer")
    return CheckResult(share >= params["least"], f"{share:.0%} stood there before the result came")


@_check("no_long_gap", "The answer never stood still for long", within=Param("number", 2.0))
def _no_long_gap(m: Measures, params: Params) -> CheckResult:
    gap = m.result["longest_gap"]
    if gap is None:
        return CheckResult(None, "there is no answer")
    return CheckResult(gap <= params["within"], f"at most {gap:.2f} s without new text")


@_check("ends_in_time", "The turn was over in time", within=Param("number", 60.0))
def _ends_in_time(m: Measures, params: Params) -> CheckResult:
    return CheckResult(m.summary.end <= params["within"], f"after {m.summary.end:.2f} s")


# -- the turn as a whole -------------------------------------------------------------------------------------


@_check("outcomes", "The turns ended like this", are=Param("texts", ("answered",)))
def _outcomes(m: Measures, params: Params) -> CheckResult:
    reason = m.result["reason"]
    said = ", ".join(m.outcomes) or "never ended"
    return CheckResult(m.outcomes == tuple(params["are"]), said + (f" ({reason})" if reason else ""))


@_check("nothing_left_open", "No stream, card or status is left open")
def _nothing_left_open(m: Measures, params: Params) -> CheckResult:
    streams = sum(message.state == "streaming" for message in m.thread)
    cards = sum(task["status"] not in _CLOSED for message in m.thread for task in message.tasks)
    status = next((message.status_line for message in m.thread if message.status_line), None)
    left = [f"{streams} streams"] * bool(streams) + [f"{cards} cards"] * bool(cards)
    left += [f"the status {status!r}"] if status else []
    return CheckResult(not left, "left open: " + ", ".join(left) if left else "everything closed")


@_check("no_silence", "Something can be read in the thread")
def _no_silence(m: Measures, params: Params) -> CheckResult:
    said = any(text.strip() for text in _readable_texts(m))
    return CheckResult(said, "there is something to read" if said else "nothing can be read in the thread")


@_check("stop_has_no_text", "chat.stopStream carries no text")
def _stop_has_no_text(m: Measures, params: Params) -> CheckResult:
    return CheckResult(m.stopped == 0, f"stopStream={m.stopped}c")


@_check("cards", "The cards say how their steps ended", complete=Param("number", 0), error=Param("number", 0))
def _cards(m: Measures, params: Params) -> CheckResult:
    states = [task["status"] for message in m.thread for task in message.tasks]
    found = [states.count(state) for state in _CLOSED]
    enough = found[0] >= params["complete"] and found[1] >= params["error"]
    return CheckResult(enough, f"{found[0]} complete, {found[1]} error, {len(states) - sum(found)} open")


@_check("asked_once", "Each question went to the agent once")
def _asked_once(m: Measures, params: Params) -> CheckResult:
    if m.asked is None:
        return CheckResult(None, "cannot be seen from here")
    return CheckResult(m.asked == m.questions, f"{m.questions} asked, {m.asked} sent to the agent")


@_check("messages", "The answer took so many messages", least=Param("number", 1), most=Param("number", 1))
def _messages(m: Measures, params: Params) -> CheckResult:
    count = len(m.thread)
    return CheckResult(params["least"] <= count <= params["most"], f"{count} messages")


@_check("calls_accepted", "Slack took every call", but=Param("number", 0))
def _calls_accepted(m: Measures, params: Params) -> CheckResult:
    failed = [call for call in m.result["calls"] if not call["ok"]]
    first = f"; first {failed[0]['method']}: {failed[0]['error']}" if failed else ""
    return CheckResult(len(failed) <= params["but"], f"{len(failed)} refused{first}")


@_check("cap_stops_no_other", "A tool at its limit stops no other", says=Param("text", "limit reached"))
def _cap_stops_no_other(m: Measures, params: Params) -> CheckResult:
    if params["says"] not in m.said:
        return CheckResult(None, f"no tool said {params['says']!r}")
    order = m.tool_order
    capped = max(set(order), key=order.count, default="")
    after = order[len(order) - order[::-1].index(capped) :] if capped in order else ()
    return CheckResult(bool(after), f"after {capped}: {', '.join(dict.fromkeys(after)) or 'no tool'}")
