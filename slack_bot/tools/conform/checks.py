"""PURE. The checks of `conform`: each looks at the measures of one case and says yes, no or not here.

The first eight bear the names, and ask the questions, of the CAIPE suite. The others ask what that suite does
not: whether the text is the agent's, stands there once and in order, came when it was written, and what is
left behind in the thread. A verdict's detail says what was found and, if it can be told, whose fault it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from .measures import Measures

_GOOD = ("answered", "asked")

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
    """What a case may say about a check. A `default` of None: it must."""

    kind: Kind
    default: Any = None


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `about` is the sentence that stands in the report."""

    name: str
    about: str
    judge: Judge
    params: Mapping[str, Param] = field(default_factory=dict)


# -- the CAIPE suite -----------------------------------------------------------------------------------------


def _content_delivered(seen: Measures, params: Params) -> CheckResult:
    """Content in front of an error is no content: the reader was told that it is not all."""
    bad = next((outcome for outcome in seen.outcomes if outcome not in _GOOD), None)
    why = f", and then the turn ended as {bad} ({seen.result['reason']})" if bad else ""
    return CheckResult(seen.total > params["over"] and bad is None, f"{seen.total}c delivered{why}")


def _stream_opened(seen: Measures, params: Params) -> CheckResult:
    return CheckResult(seen.opened, "opened" if seen.opened else "never opened")


def _live_streamed(seen: Measures, params: Params) -> CheckResult:
    begun = f", {seen.begun} of them with startStream" if seen.begun else ""
    return CheckResult(seen.streamed > 0, f"{seen.streamed}c via appendStream{begun}")


def _no_duplicate(seen: Measures, params: Params) -> CheckResult:
    both = seen.streamed > 0 and seen.stopped > 0
    return CheckResult(not both, f"appendStream={seen.streamed}c, stopStream={seen.stopped}c")


def _final_answer_latched(seen: Measures, params: Params) -> CheckResult:
    return CheckResult(seen.latched, str(seen.latched))


def _no_tools(seen: Measures, params: Params) -> CheckResult:
    return CheckResult(not seen.tools, _tools(seen))


def _tools_used(seen: Measures, params: Params) -> CheckResult:
    return CheckResult(any(name in seen.tools for name in params["any"]), _tools(seen))


def _multi_chunk(seen: Measures, params: Params) -> CheckResult:
    return CheckResult(seen.final_chunks > params["over"], f"{seen.final_chunks} chunks")


def _tools(seen: Measures) -> str:
    return f"tools: {dict(seen.tools)}" if seen.tools else "none"


CAIPE = (
    Check("content_delivered", "The answer has content", _content_delivered, {"over": Param("number", 20)}),
    Check("stream_opened", "A stream was opened (startStream)", _stream_opened),
    Check("live_streamed", "The answer was streamed, not kept for stopStream", _live_streamed),
    Check("no_duplicate", "No text in both appendStream and stopStream", _no_duplicate),
    Check("final_answer_latched", "The final answer was recognised", _final_answer_latched),
    Check("no_tools", "No tool was called", _no_tools),
    Check(
        "tools_used", "A tool was called", _tools_used, {"any": Param("texts", ("search", "fetch_document"))}
    ),
    Check("multi_chunk", "The answer came in several chunks", _multi_chunk, {"over": Param("number", 1)}),
)
