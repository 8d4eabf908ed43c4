"""PURE. Checks of the turn as a whole: how it ended, what it left behind, what it asked of others."""

from __future__ import annotations

from .checks import Check, CheckResult, Param, Params
from .checks_of_text import everything_in
from .measures import Measures

_CLOSED = ("complete", "error")


def _outcomes(seen: Measures, params: Params) -> CheckResult:
    reason = seen.result["reason"]
    said = ", ".join(seen.outcomes) or "never ended"
    return CheckResult(seen.outcomes == tuple(params["are"]), said + (f" ({reason})" if reason else ""))


def _nothing_left_open(seen: Measures, params: Params) -> CheckResult:
    streams = sum(message.state == "streaming" for message in seen.thread)
    cards = sum(task["status"] not in _CLOSED for message in seen.thread for task in message.tasks)
    status = next((message.status_line for message in seen.thread if message.status_line), None)
    left = [f"{streams} streams"] * bool(streams) + [f"{cards} cards"] * bool(cards)
    left += [f"the status {status!r}"] if status else []
    return CheckResult(not left, "left open: " + ", ".join(left) if left else "everything closed")


def _no_silence(seen: Measures, params: Params) -> CheckResult:
    said = any(text.strip() for text in everything_in(seen))
    return CheckResult(said, "there is something to read" if said else "nothing can be read in the thread")


def _stop_has_no_text(seen: Measures, params: Params) -> CheckResult:
    return CheckResult(seen.stopped == 0, f"stopStream={seen.stopped}c")


def _cards(seen: Measures, params: Params) -> CheckResult:
    states = [task["status"] for message in seen.thread for task in message.tasks]
    found = [states.count(state) for state in _CLOSED]
    enough = found[0] >= params["complete"] and found[1] >= params["error"]
    return CheckResult(enough, f"{found[0]} complete, {found[1]} error, {len(states) - sum(found)} open")


def _asked_once(seen: Measures, params: Params) -> CheckResult:
    if seen.asked is None:
        return CheckResult(None, "cannot be seen from here")
    return CheckResult(
        seen.asked == seen.questions, f"{seen.questions} asked, {seen.asked} sent to the agent"
    )


def _messages(seen: Measures, params: Params) -> CheckResult:
    count = len(seen.thread)
    return CheckResult(params["least"] <= count <= params["most"], f"{count} messages")


def _calls_accepted(seen: Measures, params: Params) -> CheckResult:
    failed = [call for call in seen.result["calls"] if not call["ok"]]
    first = f"; first {failed[0]['method']}: {failed[0]['error']}" if failed else ""
    return CheckResult(len(failed) <= params["but"], f"{len(failed)} refused{first}")


def _cap_stops_no_other(seen: Measures, params: Params) -> CheckResult:
    if params["says"] not in seen.said:
        return CheckResult(None, f"no tool said {params['says']!r}")
    order = seen.tool_order
    capped = max(set(order), key=order.count, default="")
    after = order[len(order) - order[::-1].index(capped) :] if capped in order else ()
    return CheckResult(bool(after), f"after {capped}: {', '.join(dict.fromkeys(after)) or 'no tool'}")


TURN = (
    Check("outcomes", "The turns ended like this", _outcomes, {"are": Param("texts", ("answered",))}),
    Check("nothing_left_open", "No stream, card or status is left open", _nothing_left_open),
    Check("no_silence", "Something can be read in the thread", _no_silence),
    Check("stop_has_no_text", "chat.stopStream carries no text", _stop_has_no_text),
    Check(
        "cards",
        "The cards say how their steps ended",
        _cards,
        {"complete": Param("number", 0), "error": Param("number", 0)},
    ),
    Check("asked_once", "Each question went to the agent once", _asked_once),
    Check(
        "messages",
        "The answer took so many messages",
        _messages,
        {"least": Param("number", 1), "most": Param("number", 1)},
    ),
    Check("calls_accepted", "Slack took every call", _calls_accepted, {"but": Param("number", 0)}),
    Check(
        "cap_stops_no_other",
        "A tool at its limit stops no other",
        _cap_stops_no_other,
        {"says": Param("text", "limit reached")},
    ),
)
