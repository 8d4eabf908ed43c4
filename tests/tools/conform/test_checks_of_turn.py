"""Checks of the whole turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slack_bot.tools.conform.measures import Measures
from slack_bot.tools.replay.result import Shown
from tests.tools.conform.measured import measured, verdict

SEEN = measured()
CARD = {"id": "c", "title": "Look", "details": "", "output": ""}


def with_message(**changed: Any) -> Measures:
    usual: dict[str, Any] = {"ts": "9.0", "text": "", "state": "sealed"}
    return replace(SEEN, thread=(*SEEN.thread, Shown(**{**usual, **changed})))


def test_how_the_turns_ended() -> None:
    assert verdict("outcomes", SEEN).detail == "answered"
    failed = replace(SEEN, outcomes=("asked", "failed"), result={**SEEN.result, "reason": "task failed"})
    assert verdict("outcomes", failed, are=("asked", "answered")).detail == "asked, failed (task failed)"
    assert verdict("outcomes", replace(SEEN, outcomes=())).ok is False


@pytest.mark.parametrize(
    ("changed", "left"),
    [
        ({"state": "streaming"}, "left open: 1 streams"),
        ({"tasks": ({**CARD, "status": "in_progress"},)}, "left open: 1 cards"),
        ({"status_line": "is thinking..."}, "left open: the status 'is thinking...'"),
    ],
)
def test_what_is_left_open(changed: dict[str, Any], left: str) -> None:
    assert verdict("nothing_left_open", SEEN).ok
    found = verdict("nothing_left_open", with_message(**changed))
    assert (found.ok, found.detail) == (False, left)


def test_silence_and_text_in_the_stop() -> None:
    assert verdict("no_silence", SEEN).ok
    assert verdict("no_silence", replace(SEEN, thread=(Shown("1.0", " ", "posted"),))).ok is False
    assert verdict("stop_has_no_text", SEEN).ok
    assert verdict("stop_has_no_text", replace(SEEN, stopped=4)).ok is False


def test_cards_messages_calls() -> None:
    assert verdict("cards", SEEN, complete=1).detail == "1 complete, 0 error, 0 open"
    assert verdict("cards", SEEN, error=1).ok is False
    assert verdict("messages", SEEN).ok
    assert verdict("messages", SEEN, least=2, most=3).ok is False
    assert verdict("calls_accepted", SEEN).ok
    calls = [{"method": "chat.update", "ok": False, "error": "ratelimited"}, *SEEN.result["calls"]]
    refused = replace(SEEN, result={**SEEN.result, "calls": calls})
    assert verdict("calls_accepted", refused).detail == "1 refused; first chat.update: ratelimited"
    assert verdict("calls_accepted", refused, but=1).ok


def test_each_question_is_sent_once() -> None:
    assert verdict("asked_once", SEEN).ok
    assert verdict("asked_once", replace(SEEN, asked=2)).ok is False
    assert verdict("asked_once", replace(SEEN, asked=None)).ok is None


def test_a_capped_tool_stops_no_other() -> None:
    capped = replace(SEEN, said="limit reached: search may be called 2 times", tool_order=("search",) * 3)
    assert verdict("cap_stops_no_other", SEEN).ok is None
    assert verdict("cap_stops_no_other", capped).detail == "after search: no tool"
    assert verdict("cap_stops_no_other", replace(capped, tool_order=("search", "search", "fetch"))).ok
    assert verdict("cap_stops_no_other", replace(capped, tool_order=())).ok is False
