from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.a2a.wire.requests import Interface, MessageRequest, Wire, ask_body, headers, task_body


def no_nulls(value: Any) -> bool:
    if isinstance(value, dict):
        return all(no_nulls(each) for each in value.values())
    return all(no_nulls(each) for each in value) if isinstance(value, list) else value is not None


def test_a_question_on_0_3() -> None:
    assert ask_body(Interface("", "0.3"), MessageRequest("hi", "m1", context_id="c1"), stream=True) == {
        "jsonrpc": "2.0",
        "id": "m1",
        "method": "message/stream",
        "params": {
            "message": {
                "kind": "message",
                "role": "user",
                "messageId": "m1",
                "contextId": "c1",
                "parts": [{"kind": "text", "text": "hi"}],
            },
            "configuration": {
                "acceptedOutputModes": ["text/plain", "text/markdown", "application/json"],
                "historyLength": 1,
                "blocking": True,
            },
        },
    }


def test_a_question_on_1_0() -> None:
    asking = MessageRequest("hi", "m1", task_id="t1")
    assert ask_body(Interface("", "1.0", "acme"), asking, stream=False) == {
        "jsonrpc": "2.0",
        "id": "m1",
        "method": "SendMessage",
        "params": {
            "message": {
                "role": "ROLE_USER",
                "messageId": "m1",
                "taskId": "t1",
                "parts": [{"text": "hi"}],
            },
            "configuration": {
                "acceptedOutputModes": ["text/plain", "text/markdown", "application/json"],
                "historyLength": 1,
                "returnImmediately": False,
            },
            "tenant": "acme",
        },
    }


@given(
    st.sampled_from(["0.3", "1.0"]),
    st.builds(MessageRequest, st.text(), st.text(), st.none() | st.text(), st.none() | st.text()),
    st.booleans(),
)
def test_what_is_not_known_is_left_out(wire: Wire, asking: MessageRequest, stream: bool) -> None:
    body = ask_body(Interface("", wire), asking, stream=stream)
    message = body["params"]["message"]
    assert no_nulls(body)
    assert ("contextId" in message) == bool(asking.context_id)
    assert ("taskId" in message) == bool(asking.task_id)
    assert body["params"]["configuration"]["acceptedOutputModes"]


@pytest.mark.parametrize(
    ("wire", "verb", "method", "params"),
    [
        ("0.3", "get", "tasks/get", {"id": "t", "historyLength": 1}),
        ("0.3", "cancel", "tasks/cancel", {"id": "t"}),
        ("0.3", "subscribe", "tasks/resubscribe", {"id": "t"}),
        ("1.0", "get", "GetTask", {"id": "t", "historyLength": 1}),
        ("1.0", "cancel", "CancelTask", {"id": "t"}),
        ("1.0", "subscribe", "SubscribeToTask", {"id": "t"}),
    ],
)
def test_calls_about_a_task(wire: Wire, verb: Any, method: str, params: dict[str, Any]) -> None:
    body = task_body(Interface("", wire), verb, "t")
    assert (body["method"], body["params"]) == (method, params)
    assert task_body(Interface("", wire, "acme"), verb, "t")["params"]["tenant"] == "acme"


def test_headers_of_a_stream() -> None:
    found = headers("1.0", ("urn:a", "urn:b"), stream=True)
    assert found["Accept"] == "text/event-stream, application/json"
    assert found["Accept-Encoding"] == "identity"
    assert found["Cache-Control"] == "no-store"
    assert found["A2A-Version"] == "1.0"
    assert found["A2A-Extensions"] == "urn:a, urn:b"
    assert "X-A2A-Extensions" not in found


def test_headers_for_0_3_name_extensions_twice() -> None:
    found = headers("0.3", ("urn:a",), stream=False)
    assert found["A2A-Extensions"] == found["X-A2A-Extensions"] == "urn:a"
    assert found["Accept"] == "application/json"
    assert "A2A-Extensions" not in headers("0.3", stream=False)
