"""Streams of agents: what is written once is read alike on every wire."""

from __future__ import annotations

from random import Random

import pytest

from slack_bot.agents.wire.frames import Frame, decode

from .stream import MIXED, PLAIN, Json, Stream, artifact, data, holding, message, status, task, words

EVENTS: tuple[Json, ...] = (
    task(),
    task("working", [{"artifactId": "a", "parts": [words("One")]}], [message(words("Hm"), key="h")]),
    artifact("answer", "One", {"is_final_answer": True}, append=False),
    holding("form", data({"kind": "a kind of its own", "state": "open"}), append=False),
    message(words("Hello"), key="m"),
    status("working", words("Looking"), key="w"),
    status("input-required", words("Which?"), data({"fields": [{"id": "a"}]})),
)


def read(wire: str) -> list[Frame]:
    stream = Stream(Random(1), wire)
    for event in EVENTS:
        stream.say(event)
        stream.wait(1.0)
    return [decode(moment.event) for moment in stream.tape().moments if moment.event is not None]


@pytest.mark.parametrize("wire", [*PLAIN, *MIXED])
def test_every_wire_says_the_same(wire: str) -> None:
    found = read(wire)
    assert len(found) == len(EVENTS)
    expected = read("0.3")
    if wire != "0.3":  # only that wire says which event is the last
        expected = [
            each if not hasattr(each, "final") else type(each)(
                each.task_id, each.context_id, each.state, each.message, getattr(other, "final", None)
            )
            for each, other in zip(expected, found, strict=True)
        ]  # fmt: skip
    assert found == expected


def test_the_wires_look_different() -> None:
    shapes = set()
    for wire in (*PLAIN, *MIXED):
        stream = Stream(Random(1), wire)
        stream.say(EVENTS[0])
        stream.say(EVENTS[-1])
        tape = stream.tape()
        assert tape.head["wire"] in PLAIN
        shapes.add(str([moment.event for moment in tape.moments]))
    assert len(shapes) == 4


def test_parts_take_their_time_and_the_stream_is_closed() -> None:
    stream = Stream(Random(1), "0.3")
    stream.chunks("answer", ["a", "b", "c"], 30.0, goes_on=False)
    first, second, third, end = stream.tape().moments
    assert [(each.event or {})["append"] for each in (first, second, third)] == [False, True, True]
    assert 0.1 == first.t < second.t < third.t < end.t < 100.0
    assert end.end == "closed"
