"""Fault scripts, exactly as the scenario files write them."""

from __future__ import annotations

import pytest

from slack_bot.playground.emulated.faults import Fault, FaultScript, parse


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (None, None),
        ("internal_error", Fault("internal_error")),
        ("internal_error!", Fault("internal_error", applied=True)),
        ("ratelimited:2", Fault("ratelimited", retry_after=2)),
        ("timeout", Fault("timeout")),
        ("timeout!", Fault("timeout", applied=True)),
    ],
)
def test_entries(entry: str | None, fault: Fault | None) -> None:
    assert parse(entry) == fault


@pytest.mark.parametrize("entry", ["", "!", "ratelimited:", "ratelimited:soon", "two words", ":3", "x:²"])
def test_what_is_no_entry(entry: str) -> None:
    with pytest.raises(ValueError, match="not a fault"):
        parse(entry)


@pytest.mark.parametrize(
    ("entry", "status", "headers", "silent"),
    [
        ("ratelimited", 429, {"Retry-After": "1"}, False),
        ("ratelimited:30", 429, {"Retry-After": "30"}, False),
        ("rate_limited", 200, {}, False),
        ("rate_limited:4", 200, {"Retry-After": "4"}, False),
        ("internal_error!", 200, {}, False),
        ("timeout!", 200, {}, True),
    ],
)
def test_how_a_fault_is_answered(entry: str, status: int, headers: dict[str, str], silent: bool) -> None:
    fault = parse(entry)
    assert fault is not None
    assert (fault.status, fault.headers, fault.silent) == (status, headers, silent)


def test_a_list_is_used_call_by_call_and_its_last_entry_repeats() -> None:
    script = FaultScript({"chat.appendStream": [None, "ratelimited:2", "internal_error!"]})
    got = [script.next("chat.appendStream") for _ in range(5)]
    assert [fault and fault.error for fault in got] == [
        None, "ratelimited", "internal_error", "internal_error", "internal_error",
    ]  # fmt: skip


def test_a_method_may_be_spelled_with_underscores() -> None:
    script = FaultScript({"assistant_threads_setStatus": ["missing_scope"], "chat.update": []})
    assert script.next("assistant.threads.setStatus") == Fault("missing_scope")
    assert script.next("chat.update") is None
    assert script.next("chat.delete") is None


def test_a_script_can_be_replaced() -> None:
    script = FaultScript({"chat.update": ["fatal_error"]})
    script.set("chat.update", [])
    assert script.next("chat.update") is None
