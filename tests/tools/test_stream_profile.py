"""What can be compared of a stream."""

from __future__ import annotations

from typing import Any

from slack_bot.testing.tape.items import Moment
from slack_bot.testing.tape.tape import Tape
from slack_bot.tools.stream_profile import Values, moments_to_look_at, profile
from tests.tools.trace.turns import drawn

RESULT = {"visible": "Hi.", "thread": [{"text": "Hi."}]}


def update(name: str, text: str, artifact_id: str = "a", **metadata: Any) -> dict[str, Any]:
    artifact = {
        "artifactId": artifact_id,
        "name": name,
        "metadata": metadata,
        "parts": [{"kind": "text", "text": text}],
    }
    return {"kind": "artifact-update", "append": True, "artifact": artifact, "metadata": {"seq": 1}}


def test_what_was_sent_and_how_it_was_marked() -> None:
    file = {"kind": "file", "file": {"bytes": "eA=="}}
    task = {
        "kind": "task",
        "status": {"state": "working"},
        "artifacts": [{"name": "old", "parts": [{"kind": "data", "data": {"a": 1}}, file]}],
    }
    done = {
        "kind": "status-update",
        "status": {"state": "completed"},
        "final": True,
        "metadata": {"trace_id": "t"},
    }
    ids = [update("stream", "x", is_narration=True, trace=f"{n:032}") for n in range(9)]
    moments = (
        Moment(0.0, event=task),
        Moment(0.5, comment="ping"),
        Moment(1.0, event=update("stream", "one", is_final_answer=True)),
        Moment(2.0, event=update("stream", "two", "b", is_final_answer=True)),
        *(Moment(3.0, event=each) for each in ids),
        Moment(4.0, event={"error": {"code": 1}}),
        Moment(4.0, raw="data: {"),
        Moment(5.0, event=done),
        Moment(6.0, end="cut"),
    )
    found = profile(Tape({"wire": "0.3"}, moments), drawn("mine"), RESULT)
    sent = found.artifacts["stream"]
    assert (sent.count, sent.chars, sent.first, sent.last, sent.ids) == (11, 15, 1.0, 3.0, {"a", "b"})
    assert list(found.artifacts) == ["old", "stream"]
    assert found.parts == {"data": 1, "file": 1, "text": 11}
    assert found.flags == {
        "append = true": 11,
        "final = true": 1,
        "is_final_answer = true": 2,
        "is_narration = true": 9,
        "seq = 1": 11,
        "trace": 9,
        "trace_id = t": 1,
    }
    assert found.states == (("working", 0.0), ("completed", 5.0))
    assert found.odd == {"comment": 1, "unreadable": 1, "raw": 1, "end: cut": 1}
    assert (found.name, found.question, found.wire, found.visible) == ("mine", "What?", "0.3", "Hi.")


def test_what_says_nothing_is_not_counted() -> None:
    message = {"kind": "message", "role": "agent", "parts": [{"kind": "text", "text": "Hi."}]}
    bare = {"kind": "artifact-update", "artifact": {"artifactId": "a", "parts": []}}
    found = profile(Tape({}, (Moment(0.0, event=message), Moment(1.0, event=bare))), drawn(), RESULT)
    assert (list(found.artifacts), found.flags, found.parts) == (["(no name)"], {}, {})


def test_an_empty_tape_has_a_profile() -> None:
    found = profile(Tape({}, ()), drawn(), {"visible": "", "thread": []})
    assert (found.wire, found.artifacts, found.flags, found.states) == ("not known", {}, {}, ())


def test_times_to_look_at_end_with_the_end() -> None:
    assert list(moments_to_look_at(12.5)) == [1, 2, 3, 5, 10, 12.5]
    assert list(moments_to_look_at(0.4)) == [0.4]


def test_values_that_are_never_the_same_are_only_counted() -> None:
    values = Values()
    for n in range(1000):
        values.add(f"{n}")
    assert (values.count, values.each) == (1000, None)
    one = Values()
    one.add("x" * 100)
    assert (one.count, one.each) == (1, None)
