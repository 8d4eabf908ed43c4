"""The eight checks of the CAIPE suite: what they ask, and the words of their details."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.tools.conform.measured import FIRST, TEXT, measured, verdict

SEEN = measured()
ENDED = f"{len(TEXT)}c delivered, and then the turn ended as failed (None)"


@pytest.mark.parametrize(
    ("name", "params", "detail"),
    [
        ("content_delivered", {"over": 20}, f"{len(TEXT)}c delivered"),
        ("stream_opened", {}, "opened"),
        ("live_streamed", {}, f"{len(TEXT)}c via appendStream, {len(FIRST)} of them with startStream"),
        ("no_duplicate", {}, f"appendStream={len(TEXT)}c, stopStream=0c"),
        ("final_answer_latched", {}, "True"),
        ("tools_used", {}, "tools: {'search': 1}"),
        ("multi_chunk", {}, "2 chunks"),
    ],
)
def test_what_holds(name: str, params: dict[str, Any], detail: str) -> None:
    found = verdict(name, SEEN, **params)
    assert (found.ok, found.detail) == (True, detail)


@pytest.mark.parametrize(
    ("name", "changed", "params", "detail"),
    [
        ("content_delivered", {}, {"over": 200}, f"{len(TEXT)}c delivered"),
        ("content_delivered", {"outcomes": ("asked", "failed")}, {}, ENDED),
        ("live_streamed", {"streamed": 0, "begun": 0}, {}, "0c via appendStream"),
        ("no_duplicate", {"stopped": 3}, {}, f"appendStream={len(TEXT)}c, stopStream=3c"),
        ("no_tools", {}, {}, "tools: {'search': 1}"),
        ("tools_used", {}, {"any": ("fetch_document",)}, "tools: {'search': 1}"),
        ("tools_used", {"tools": {}}, {}, "none"),
        ("multi_chunk", {"final_chunks": 1}, {}, "1 chunks"),
    ],
)
def test_what_does_not(name: str, changed: Any, params: dict[str, Any], detail: str) -> None:
    found = verdict(name, replace(SEEN, **changed), **params)
    assert (found.ok, found.detail) == (False, detail)


def test_a_stream_that_was_refused_was_not_opened_and_no_answer_is_no_latch() -> None:
    calls = [{**call, "ok": False} for call in SEEN.result["calls"]]
    refused = replace(SEEN, result={**SEEN.result, "calls": calls, "latches": {}})
    assert verdict("stream_opened", refused).detail == "never opened"
    assert verdict("final_answer_latched", refused).ok is False
    assert verdict("no_tools", replace(SEEN, tools={})).ok is True
