"""PURE. The checks of `conform`: each looks at the measures of one case and says yes, no or does not apply.

The first eight are those of the CAIPE suite, by name and question. A detail says what was found and, where it
can be known, whose fault it is.
"""

from __future__ import annotations  # the kinds of parameters are read as words

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from ...text.masking import mask_secrets
from ..pace import lag
from ..replay.diff import common_prefix
from ..sent import visible_chars
from .measures import Measures

_GOOD = ("answered", "asked")
_MARKERS = ("[FINAL ANSWER]", "[FINAL_ANSWER]")
_MARKUP = re.compile(r"[\s`*_~|>\u2060-]+")
_WORD_CUT = re.compile(r"[a-zA-Z]{2}")
_PIECE = 24  # characters from which a line can be recognised
_SHOWN = 60  # characters of a text that a detail quotes
_CLOSED = ("complete", "error")


class CheckResult(NamedTuple):
    """`ok` is None where the check does not apply: there was nothing to look at."""

    ok: bool | None
    detail: str


Verdict: TypeAlias = tuple[bool | None, str]
Texts: TypeAlias = Sequence[str]
KINDS = {"float": "a number", "str": "a text", "Texts": "a list of texts"}
"""The annotations of a check's parameters, in words."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `about` is the sentence in the report, `given` are parameters of `look`."""

    name: str
    about: str
    look: Callable[..., Verdict]
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def params(self) -> dict[str, tuple[str, Any]]:
        """What a case may give, each with its one of `KINDS` and its default; None: it must be given."""
        kinds = {name: kind for name, kind in self.look.__annotations__.items() if kind in KINDS}
        defaults = self.look.__defaults__ or (None,) * len(kinds)
        return dict(zip(kinds, zip(kinds.values(), defaults, strict=True), strict=True))

    def judge(self, m: Measures) -> CheckResult:
        return CheckResult(*self.look(m, **self.given))


CHECKS: dict[str, Check] = {}
"""Every check, by name."""


def _check(about: str) -> Callable[[Callable[..., Verdict]], Callable[..., Verdict]]:
    def register(look: Callable[..., Verdict]) -> Callable[..., Verdict]:
        name = look.__name__.removeprefix("_")
        CHECKS[name] = Check(name, about, look)
        return look

    return register


# -- the CAIPE suite -----------------------------------------------------------------------------------------


@_check("The answer has content")
def _content_delivered(m: Measures, over: float = 20) -> Verdict:
    """Content before an error does not count: the reader was told that it is incomplete."""
    bad = next((outcome for outcome in m.outcomes if outcome not in _GOOD), None)
    why = f", and then the turn ended as {bad} ({m.reason or m.result['reason']})" if bad else ""
    wanted = f"; more than {over:g} are wanted" if m.total <= over else ""
    return m.total > over and bad is None, f"{m.total} characters delivered{why}{wanted}"


@_check("A stream was opened (startStream)")
def _stream_opened(m: Measures) -> Verdict:
    return m.opened, "opened" if m.opened else "never opened"


@_check("The answer was streamed, not kept for stopStream")
def _live_streamed(m: Measures) -> Verdict:
    begun = f", {m.begun} of them with startStream" if m.begun else ""
    return m.streamed > 0, f"{m.streamed} characters by appendStream{begun}"


@_check("No text in both appendStream and stopStream")
def _no_duplicate(m: Measures) -> Verdict:
    return not (m.streamed and m.stopped), f"appendStream={m.streamed}c, stopStream={m.stopped}c"


@_check("The final answer was recognised")
def _final_answer_latched(m: Measures) -> Verdict:
    return m.latched, str(m.latched)


@_check("No tool was called")
def _no_tools(m: Measures) -> Verdict:
    return not m.tools, _tools(m)


@_check("A tool was called")
def _tools_used(m: Measures, any: Texts = ("search", "fetch_document")) -> Verdict:
    has_one = not m.tools.keys().isdisjoint(any)
    return has_one, _tools(m) if has_one else f"{_tools(m)}; wanted: {' or '.join(any)}"


@_check("The answer came in several chunks")
def _multi_chunk(m: Measures, over: float = 1) -> Verdict:
    is_enough = m.final_chunks > over
    return is_enough, f"{m.final_chunks} chunks" + ("" if is_enough else f"; more than {over:g} are wanted")


def _tools(m: Measures) -> str:
    return f"tools: {dict(m.tools)}" if m.tools else "none"


# -- the text in the thread ----------------------------------------------------------------------------------


@_check("The thread reads as the agent's final result")
def _text_equals_final(m: Measures) -> Verdict:
    return (None, "the agent sent no final result") if m.final is None else _text_is(m, m.final)


@_check("The thread reads as this text")
def _text_is(m: Measures, text: str) -> Verdict:
    # secrets are masked in the thread, and that is no difference
    have, want = visible_chars("".join(m.texts)), visible_chars(mask_secrets(text))
    if have == want:
        return True, f"{len(want)} characters, white space apart"
    same = common_prefix(have, want)
    there, should = have[same : same + 20] or "nothing", want[same : same + 20] or "nothing"
    return False, f"{len(have)} characters for {len(want)}; after {same}: {there!r} instead of {should!r}"


@_check("This can be read in the thread")
def _text_has(m: Measures, texts: Texts) -> Verdict:
    everything = "\n".join(_readable_texts(m))
    missing = [text for text in texts if text not in everything]
    return not missing, _list("missing", missing) or "all there"


@_check("This is no part of the answer")
def _text_lacks(m: Measures, texts: Texts) -> Verdict:
    found = [text for text in texts if text in m.text]
    return not found, _list("in the answer", found) or "none of it"


@_check("No [FINAL ANSWER] marker was ever shown")
def _no_marker(m: Measures) -> Verdict:
    shown = any(mark in text for text in (*m.looks, m.text) for mark in _MARKERS)
    return not shown, "a marker was shown" if shown else "never shown"


@_check("Nothing that was narration was ever shown as answer")
def _no_narration(m: Measures) -> Verdict:
    if not m.narration:
        return None, "the agent marked nothing as narration"
    answer = visible_chars(m.final or "")
    foreign = [piece for piece in m.narration if visible_chars(piece) not in answer]
    ever = [visible_chars(text) for text in (*m.looks, m.text)]
    found = [piece for piece in foreign if any(visible_chars(piece) in text for text in ever)]
    return not found, _list("shown as answer", found) or f"{len(foreign)} sentences kept out"


@_check("No line stood there more often than it was written")
def _nothing_twice(m: Measures) -> Verdict:
    """Also for a moment: a reader saw what was shown twice and then repaired."""
    if not m.total:
        return None, "there is no answer"
    source = visible_chars(m.final or "") or visible_chars(m.said)
    looks = m.own_looks[:: max(1, len(m.looks) // 40)]
    for text in reversed([*looks, "".join(m.texts)]):
        whole = visible_chars(text)
        for piece in dict.fromkeys(map(visible_chars, text.splitlines())):
            if len(piece) >= _PIECE and whole.count(piece) > max(1, source.count(piece)):
                return False, f"{_short(piece)} stood there {whole.count(piece)} times"
    return True, "no line more often than the agent wrote it"


@_check("No word was ever shown by halves")
def _whole_words(m: Measures) -> Verdict:
    """At any time the live answer ended where a word of the whole answer ends."""
    whole = "".join(m.texts)
    if not whole or not m.opened:
        return None, "nothing was streamed"
    for text in map(str.rstrip, m.looks):
        if whole.startswith(text) and _WORD_CUT.fullmatch(text[-1:] + whole[len(text) : len(text) + 1]):
            return False, f"{_short(text[-20:])} stood there, and its last word was not whole"
    return True, f"{len(m.looks)} times looked at"


@_check("The answer grew at its end only")
def _only_grows(m: Measures) -> Verdict:
    """Markup does not count: it is closed at the end of a message and opened again in the next."""
    if not m.total:
        return None, "there is no answer"
    end = _MARKUP.sub("", m.text)
    for look in m.looks:
        if not end.startswith(_MARKUP.sub("", look)):
            return False, f"{_short(look[-40:])} was shown and is not there any more, or elsewhere"
    return True, f"{len(m.looks)} times looked at, each time a beginning of the end"


def _readable_texts(m: Measures) -> Iterator[str]:
    for message in m.thread:
        yield from _strings([message["text"], message["blocks"], message["tasks"]])


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(part)


def _list(what: str, texts: Sequence[str]) -> str:
    more = f" and {len(texts) - 2} more" if len(texts) > 2 else ""
    return f"{what}: {', '.join(map(_short, texts[:2]))}{more}" if texts else ""


def _short(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


# -- time: each failure says whether the bot or its agent was late -------------------------------------------


@_check("The first answer text can be read soon after the question")
def _first_visible_text(m: Measures, within: float = 8.0) -> Verdict:
    first, wrote = m.summary.first_visible, m.sent[0][0] if m.sent else None
    if first is None:
        return False, "no answer text was ever to be seen"
    if first <= within:
        return True, f"after {first:.2f} s"
    blame = "" if wrote is None else f"; the agent began to write it after {wrote:.2f} s"
    late = ": the agent's wait" if wrote is not None and wrote > within else ""
    return False, f"after {first:.2f} s instead of {within:g} s{blame}{late}"


@_check("The first answer text is shown soon after the agent wrote it")
def _shown_soon(m: Measures, within: float = 1.0) -> Verdict:
    if not m.sent:
        return None, "it is not known when the agent wrote the answer"
    if m.summary.first_visible is None:
        return False, "the agent wrote, and nothing was ever to be seen"
    waited = max(0.0, m.summary.first_visible - m.sent[0][0])
    return waited <= within, f"{waited:.2f} s after the agent's first word"


@_check("What the agent wrote is shown soon, at any time")
def _never_lags(m: Measures, within: float = 2.5, but: float = 40) -> Verdict:
    if not m.sent:
        return None, "it is not known when the agent wrote the answer"
    longest = lag(m.sent, m.visible, m.summary.end, int(but))
    said = f"at most {longest:.2f} s between writing and showing, {but:g} characters apart"
    return longest <= within, said


@_check("The answer did not fall into the thread all at once")
def _burst_share(m: Measures, most: float = 0.5) -> Verdict:
    share, agent = m.summary.burst_share, m.agent_burst_share
    if share is None:
        return None, "no answer text was ever to be seen"
    said = f"{share:.0%} within half a second"
    if share > most and agent is not None:
        whose = "the agent itself wrote" if agent > most else "it was held: the agent wrote only"
        said += f"; {whose} {agent:.0%} within half a second"
    return share <= most, said if share <= most else f"{said}; at most {most:.0%} may"


@_check("Most of the answer stood there before the result came")
def _live_share(m: Measures, least: float = 0.8) -> Verdict:
    if m.live_share is None:
        return None, "there is no answer"
    is_near = m.live_share < least and f"{m.live_share:.0%}" == f"{least:.0%}"
    said = f"{m.live_share:{'.1%' if is_near else '.0%'}} stood there before the result, not kept back for it"
    return m.live_share >= least, said if m.live_share >= least else f"{said}; at least {least:.0%} should"


@_check("The answer never stood still for long")
def _no_long_gap(m: Measures, within: float = 2.0) -> Verdict:
    if (gap := m.result["longest_gap"]) is None:
        return None, "there is no answer"
    return gap <= within, f"at most {gap:.2f} s without new text"


@_check("The turn was over in time")
def _ends_in_time(m: Measures, within: float = 60.0) -> Verdict:
    return m.summary.end <= within, f"after {m.summary.end:.2f} s"


# -- the turn as a whole -------------------------------------------------------------------------------------


@_check("The turns ended like this")
def _outcomes(m: Measures, are: Texts = ("answered",)) -> Verdict:
    reason = f" ({m.reason or m.result['reason']})" if m.result["reason"] else ""
    return m.outcomes == tuple(are), (", ".join(m.outcomes) or "never ended") + reason


@_check("No stream, card or status is left open")
def _nothing_left_open(m: Measures) -> Verdict:
    streams = sum(message["state"] == "streaming" for message in m.thread)
    cards = sum(task["status"] not in _CLOSED for message in m.thread for task in message["tasks"])
    status = next((message["status_line"] for message in m.thread if message["status_line"]), None)
    left = [f"{streams} streams"] * bool(streams) + [f"{cards} cards"] * bool(cards)
    left += [f"the status {status!r}"] if status else []
    return not left, "left open: " + ", ".join(left) if left else "everything closed"


@_check("Something can be read in the thread")
def _no_silence(m: Measures) -> Verdict:
    said = any(text.strip() for text in _readable_texts(m))
    return said, "there is something to read" if said else "nothing can be read in the thread"


@_check("chat.stopStream carries no text")
def _stop_has_no_text(m: Measures) -> Verdict:
    return m.stopped == 0, f"stopStream={m.stopped}c"


@_check("The cards say how their steps ended")
def _cards(m: Measures, complete: float = 0, error: float = 0) -> Verdict:
    states = [task["status"] for message in m.thread for task in message["tasks"]]
    done, failed = map(states.count, _CLOSED)
    said = f"{done} complete, {failed} error, {len(states) - done - failed} open"
    return done >= complete and failed >= error, said


@_check("Each question went to the agent once")
def _asked_once(m: Measures) -> Verdict:
    if m.asked is None:
        return None, "cannot be seen from here"
    return m.asked == m.questions, f"{m.questions} asked, {m.asked} sent to the agent"


@_check("A form reached the person, and its answer the agent")
def _form_answered(m: Measures, holds: Texts = ()) -> Verdict:
    asked = [f"{each['kind']} with {len(each['fields'])} fields" for each in m.result.get("forms", ())]
    if not asked:
        return False, "the agent asked for nothing"
    if m.outcomes[-1:] != ("answered",):
        return False, f"{asked[-1]}, and then the turn was {(m.outcomes or ('not taken',))[-1]}"
    lost = [each for each in holds if m.sent_last is not None and each not in m.sent_last]
    return not lost, asked[-1] + (f", but {lost[0]} was not in the answer" if lost else ", answered")


@_check("Each file arrived byte for byte: the answer has its name and its SHA-256")
def _files_arrived(m: Measures) -> Verdict:
    if not m.files:
        return None, "no file was shared"
    lost = [name for name, digest in m.files.items() if name not in m.text or digest not in m.text]
    return not lost, f"{len(m.files) - len(lost)} of {len(m.files)}" + (f", not {lost[0]}" if lost else "")


@_check("The pages that the agent named as its sources are shown with the answer, ten at least of many")
def _sources_shown(m: Measures) -> Verdict:
    if not m.sources:
        return None, "the agent named no source"
    shown = json.dumps([[message["blocks"], message["text"]] for message in m.thread])
    lost = [url for url in m.sources[:10] if url not in shown]
    return not lost, f"{len(m.sources)} named" + (f", not shown: {lost[0]}" if lost else "")


@_check("The answer took so many messages")
def _messages(m: Measures, least: float = 1, most: float = 1) -> Verdict:
    return least <= len(m.thread) <= most, f"{len(m.thread)} messages"


@_check("Slack took every call")
def _calls_accepted(m: Measures, but: float = 0) -> Verdict:
    failed = [call for call in m.result["calls"] if not call["ok"]]
    first = f"; first {failed[0]['method']}: {failed[0]['error']}" if failed else ""
    return len(failed) <= but, f"{len(failed)} refused{first}"


@_check("A tool at its limit stops no other")
def _cap_stops_no_other(m: Measures, says: str = "limit reached") -> Verdict:
    if says not in m.said:
        return None, f"no tool said {says!r}"
    order = m.tool_order
    capped = max(set(order), key=order.count, default="")
    after = order[len(order) - order[::-1].index(capped) :] if order else ()
    return bool(after), f"after {capped}: {', '.join(dict.fromkeys(after)) or 'no tool'}"
