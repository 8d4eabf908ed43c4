"""PURE. Checks of when the answer could be read. Each failure says whether the bot or its agent was late."""

from __future__ import annotations

from .checks import Check, CheckResult, Param, Params
from .measures import Measures, lag


def _first_visible_text(seen: Measures, params: Params) -> CheckResult:
    first, within = seen.summary.first_visible, params["within"]
    if first is None:
        return CheckResult(False, "no answer text was ever to be seen")
    if first <= within:
        return CheckResult(True, f"after {first:.2f} s")
    wrote = seen.summary.first_answer
    blame = "" if wrote is None else f"; the agent began to write it after {wrote:.2f} s"
    late = wrote is not None and wrote > within
    return CheckResult(
        False, f"after {first:.2f} s instead of {within:g} s{blame}" + (": the agent's wait" if late else "")
    )


def _shown_soon(seen: Measures, params: Params) -> CheckResult:
    if not seen.written:
        return CheckResult(None, "the agent wrote no answer")
    first, wrote = seen.summary.first_visible, seen.written[0][0]
    if first is None:
        return CheckResult(False, "the agent wrote, and nothing was ever to be seen")
    waited = max(0.0, first - wrote)
    return CheckResult(waited <= params["within"], f"{waited:.2f} s after the agent's first word")


def _never_lags(seen: Measures, params: Params) -> CheckResult:
    if not seen.written:
        return CheckResult(None, "the agent wrote no answer")
    longest = lag(seen.written, seen.visible, seen.summary.end, int(params["but"]))
    return CheckResult(
        longest <= params["within"],
        f"at most {longest:.2f} s between writing and showing, {params['but']:g} characters apart",
    )


def _burst_share(seen: Measures, params: Params) -> CheckResult:
    share, agent = seen.summary.burst_share, seen.summary.agent_burst_share
    if share is None:
        return CheckResult(None, "no answer text was ever to be seen")
    said = f"{share:.0%} within half a second"
    if share > params["most"] and agent is not None:
        said += f"; the agent itself wrote {agent:.0%} within half a second"
    return CheckResult(share <= params["most"], said)


def _live_share(seen: Measures, params: Params) -> CheckResult:
    share = seen.result["live_share"]
    if share is None:
        return CheckResult(None, "there is no answer")
    return CheckResult(share >= params["least"], f"{share:.0%} stood there before the result came")


def _no_long_gap(seen: Measures, params: Params) -> CheckResult:
    gap = seen.result["longest_gap"]
    if gap is None:
        return CheckResult(None, "there is no answer")
    return CheckResult(gap <= params["within"], f"at most {gap:.2f} s without new text")


def _ends_in_time(seen: Measures, params: Params) -> CheckResult:
    return CheckResult(seen.summary.end <= params["within"], f"after {seen.summary.end:.2f} s")


TIME = (
    Check(
        "first_visible_text",
        "The first answer text can be read soon after the question",
        _first_visible_text,
        {"within": Param("number", 8.0)},
    ),
    Check(
        "shown_soon",
        "The first answer text is shown soon after the agent wrote it",
        _shown_soon,
        {"within": Param("number", 1.0)},
    ),
    Check(
        "never_lags",
        "What the agent wrote is shown soon, at any time",
        _never_lags,
        {"within": Param("number", 2.5), "but": Param("number", 40)},
    ),
    Check(
        "burst_share",
        "The answer did not fall into the thread all at once",
        _burst_share,
        {"most": Param("number", 0.5)},
    ),
    Check(
        "live_share",
        "Most of the answer stood there before the result came",
        _live_share,
        {"least": Param("number", 0.8)},
    ),
    Check(
        "no_long_gap",
        "The answer never stood still for long",
        _no_long_gap,
        {"within": Param("number", 2.0)},
    ),
    Check("ends_in_time", "The turn was over in time", _ends_in_time, {"within": Param("number", 60.0)}),
)
