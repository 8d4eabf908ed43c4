"""Fault scripts, exactly as the scenario files write them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from slack_bot.slack.faults import _CLASSES
from slack_bot.testing.slack import faults
from slack_bot.testing.slack.faults import ERROR_NAMES, FaultScript, ScriptedFault, parse
from tests.syntax_trees import syntax_tree


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (None, None),
        ("internal_error", ScriptedFault("internal_error")),
        ("internal_error!", ScriptedFault("internal_error", applied=True)),
        ("error:new_name", ScriptedFault("new_name")),
        ("error:new_name!", ScriptedFault("new_name", applied=True)),
        ("error:new_name:7", ScriptedFault("new_name", number=7)),
        ("error:internal_error", ScriptedFault("internal_error")),
        ("ratelimited:2", ScriptedFault("ratelimited", number=2)),
        ("timeout", ScriptedFault("timeout")),
        ("timeout!", ScriptedFault("timeout", applied=True)),
        ("connect", ScriptedFault("connect")),
        ("cut", ScriptedFault("cut")),
        ("cut!", ScriptedFault("cut", applied=True)),
        ("slow:4", ScriptedFault("slow", number=4)),
        ("slow:4!", ScriptedFault("slow", applied=True, number=4)),
        ("http:503", ScriptedFault("http", number=503)),
        ("http:503!", ScriptedFault("http", applied=True, number=503)),
    ],
)
def test_entries(entry: str | None, fault: ScriptedFault | None) -> None:
    assert parse(entry) == fault


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("", "a fault is written name, "),
        ("!", "a fault is written name, "),
        ("ratelimited:", "a fault is written name, "),
        ("ratelimited:soon", "a fault is written name, "),
        ("two words", "a fault is written name, "),
        (":3", "a fault is written name, "),
        ("x:²", "a fault is written name, "),
        ("Timeout", "a fault is written name, "),
        (7, "a fault is written name, "),
        ("timeout:3", "timeout takes no number"),
        ("cut:3", "cut takes no number"),
        ("connect:3", "connect takes no number"),
        ("connect!", "what never reached Slack cannot have been applied"),
        ("slow", "slow takes seconds"),
        ("slow:0", "slow takes seconds"),
        ("http", "http takes a status"),
        ("http:200", "http takes a status"),
        ("http:600!", "http takes a status"),
        ("ratelimited:3!", "what Slack wants to see again later was not applied"),
        ("banana", "it is neither timeout, cut, connect, slow or http nor a known error of Slack's; write"),
        ("timout", "known error of Slack's (did you mean 'timeout'?); write error:timout for one that"),
        ("ratelimted:2", "(did you mean 'ratelimited:2'?); write error:ratelimted:2 for one that"),
        ("intrnal_error!", "(did you mean 'internal_error!'?)"),
        ("error:timeout", "timeout is no error of Slack's; leave error: out"),
        ("error:", "a fault is written name, "),
        ("error", "error takes a name, as in error:some_new_name"),
        ("error:5", "error takes a name, as in error:some_new_name"),
    ],
)
def test_what_is_no_entry(entry: str, reason: str) -> None:
    with pytest.raises(ValueError, match="is not a fault") as caught:
        parse(entry)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("entry", "status", "headers", "silence"),
    [
        ("ratelimited", 429, {"Retry-After": "1"}, ""),
        ("ratelimited:30", 429, {"Retry-After": "30"}, ""),
        ("rate_limited", 200, {}, ""),
        ("rate_limited:4", 200, {"Retry-After": "4"}, ""),
        ("internal_error!", 200, {}, ""),
        ("timeout!", 200, {}, "timeout"),
        ("http:502", 502, {}, ""),
        ("cut", 200, {}, "cut"),
        ("connect", 200, {}, "connect"),
    ],
)
def test_how_a_fault_is_answered(entry: str, status: int, headers: dict[str, str], silence: str) -> None:
    fault = parse(entry)
    assert fault is not None
    answer = fault.answer
    assert (answer.status, answer.headers, answer.silence, fault.delay) == (status, headers, silence, 0.0)


def test_a_list_is_used_call_by_call_and_its_last_entry_repeats() -> None:
    script = FaultScript({"chat.appendStream": [None, "ratelimited:2", "internal_error!"]})
    got = [script.next("chat.appendStream") for _ in range(5)]
    assert [fault and fault.error for fault in got] == [
        None, "ratelimited", "internal_error", "internal_error", "internal_error",
    ]  # fmt: skip


def test_a_method_may_be_spelled_with_underscores() -> None:
    script = FaultScript({"assistant_threads_setStatus": ["missing_scope"], "chat.update": []})
    assert script.next("assistant.threads.setStatus") == ScriptedFault("missing_scope")
    assert script.next("chat.update") is None
    assert script.next("chat.delete") is None


def test_only_methods_that_exist_have_scripts() -> None:
    for name in ("chat.apendStream", "chat_apendStream", "uplod"):
        with pytest.raises(ValueError, match=f"'{name}' is not a method"):
            FaultScript({name: ["timeout"]})
    assert FaultScript({"upload": ["timeout"]}).next("upload") == ScriptedFault("timeout")


def test_a_script_can_be_replaced() -> None:
    script = FaultScript({"chat.update": ["fatal_error"]})
    script.set("chat.update", [])
    assert script.next("chat.update") is None


OURS = {"connect_failed", "connection_lost", "timeout", "unreadable"}
"""Names that the bot gives to calls without an answer of Slack's."""


def test_every_error_that_the_workspace_answers_is_in_it() -> None:
    folder = Path(faults.__file__).parent
    raised = {
        each.args[0].value
        for path in folder.glob("*.py")
        for each in ast.walk(syntax_tree(path))
        if isinstance(each, ast.Call) and ast.unparse(each.func) == "Refused" and each.args
        if isinstance(each.args[0], ast.Constant)
    }
    assert len(raised) > 30
    assert raised <= ERROR_NAMES


def test_every_error_that_the_bot_knows_is_in_it() -> None:
    known = {name for _, names in _CLASSES for name in names.split()}
    assert known - OURS <= ERROR_NAMES
    assert not OURS & ERROR_NAMES
