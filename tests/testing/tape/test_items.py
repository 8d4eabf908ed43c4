"""One item of a capture, in each of its wrappings."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.errors import UnreadableInput
from slack_bot.testing.tape.items import Items, Moment, caipe_end

STATUS = {"kind": "status-update", "status": {"state": "working"}}
ERROR = {"code": -32603, "message": "boom"}


def read(*items: Any) -> list[Moment]:
    reader = Items("f", "item")
    found = [reader.moment(item, number) for number, item in enumerate(items, 1)]
    reader.check_some()
    return found


@pytest.mark.parametrize(
    "item",
    [
        STATUS,
        {**STATUS, "_t": 0},
        {"jsonrpc": "2.0", "id": 1, "result": STATUS},
        {"jsonrpc": "2.0", "result": {**STATUS, "_t": 0}},
        {"result": STATUS},
        {"t": 0, "result": STATUS},
        {"t": 0, "event": STATUS},
        {"t": 0, "event": "status", "data": STATUS},
        {"event": "status", "data": {"jsonrpc": "2.0", "result": STATUS}},
        {"event": "status", "data": '{"kind": "status-update", "status": {"state": "working"}}'},
        {"timestamp": "2026-02-17T20:10:37.426Z", "type": "status", "raw": STATUS},
        {"timestamp": 1771359037426, "raw": STATUS},
        {"timestamp": 12.5, "raw": STATUS},
    ],
)
def test_a_wrapping_is_taken_off(item: dict[str, Any]) -> None:
    assert read(item) == [Moment(0.0, event=STATUS)]


@pytest.mark.parametrize(
    "item", [{"jsonrpc": "2.0", "error": ERROR}, {"t": 0, "error": ERROR}, {"id": 7, "error": ERROR}]
)
def test_an_error_is_one(item: dict[str, Any]) -> None:
    assert read(item) == [Moment(0.0, error=ERROR)]


def test_comments_and_ends() -> None:
    assert read({"t": 1, "comment": "ping"}, {"t": 2, "end": "cut"}) == [
        Moment(1.0, comment="ping"),
        Moment(2.0, end="cut"),
    ]
    assert read({**STATUS, "end": "cut"})[0].event == {**STATUS, "end": "cut"}


def test_times_count_on_where_they_are_missing_and_never_back() -> None:
    items = [STATUS, STATUS, {**STATUS, "_t": 5}, STATUS, {"jsonrpc": "2.0", "result": {**STATUS, "_t": 4}}]
    assert [moment.t for moment in read(*items)] == [0.0, 0.02, 5.0, 5.02, 5.02]


def test_timestamps_count_from_the_first() -> None:
    stamps = ["2026-02-17T20:10:37.426Z", "2026-02-17T20:10:39.376", 1771359040426, 1771359040.0]
    assert [moment.t for moment in read(*({"timestamp": stamp, "raw": STATUS} for stamp in stamps))] == [
        0.0,
        1.95,
        3.0,
        3.0,
    ]


def test_a_caipe_artifact_becomes_an_update() -> None:
    reader = Items("f", "item")
    with_parts = {
        "t": 9.5,
        "seq": 4,
        "artifact_name": "final_result",
        "metadata": {"a": 1},
        "parts": [{"text": "x"}],
    }
    first = reader.moment(with_parts, 1).event or {}
    second = reader.moment({"artifact_name": "other", "text": "old"}, 2).event or {}
    assert first["artifact"] == {
        "artifactId": "artifact-4",
        "name": "final_result",
        "description": "",
        "metadata": {"a": 1},
        "parts": [{"text": "x"}],
    }
    assert second["artifact"]["parts"] == [{"kind": "text", "text": "old"}]
    assert second["artifact"]["artifactId"] == "artifact-2"
    assert reader.needs_end and reader.last == 9.52


@pytest.mark.parametrize(
    "status,state", [("canceled", "canceled"), ({"state": "failed"}, "failed"), (None, "completed")]
)
def test_the_end_that_caipe_leaves_out(status: Any, state: str) -> None:
    assert caipe_end(status)["status"] == {"state": state}
    assert caipe_end(status)["final"] is True


def test_unknown_events_are_kept_among_known_ones_only() -> None:
    assert read(STATUS, {"novel": 1}, {"data": {"x": 1}, "error": "text"})[1:] == [
        Moment(0.02, event={"novel": 1}),
        Moment(0.04, event={"data": {"x": 1}, "error": "text"}),
    ]
    with pytest.raises(UnreadableInput, match="f: none of its 2 objects is an A2A event"):
        read({"novel": 1}, {"data": {"x": 1}})
    with pytest.raises(UnreadableInput, match="f: there are no events in it"):
        read()


@pytest.mark.parametrize(
    "item,reason",
    [
        (1, "an event must be a JSON object, not a number"),
        ([], "an event must be a JSON object, not a list"),
        (None, "an event must be a JSON object, not null"),
        ({"jsonrpc": "2.0"}, "a JSON-RPC envelope without a result or an error"),
        ({"result": 7}, "a JSON-RPC envelope without a result or an error"),
        ({**STATUS, "_t": "x"}, "a time must be a number of seconds from the start"),
        ({**STATUS, "_t": True}, "a time must be a number of seconds from the start"),
        ({**STATUS, "_t": -1}, "a time must be a number of seconds from the start"),
        ({**STATUS, "_t": float("inf")}, "a time must be a number of seconds from the start"),
        ({**STATUS, "_t": 10**400}, "a time must be a number of seconds from the start"),
        ({"timestamp": "noon", "raw": STATUS}, "its timestamp is not an ISO 8601 time"),
        ({"timestamp": [], "raw": STATUS}, "its timestamp is not an ISO 8601 time"),
        ({"timestamp": True, "raw": STATUS}, "its timestamp is not an ISO 8601 time"),
    ],
)
def test_a_wrong_item_is_named(item: Any, reason: str) -> None:
    with pytest.raises(UnreadableInput) as caught:
        read(item)
    assert str(caught.value) == f"f, item 1: {reason}"
