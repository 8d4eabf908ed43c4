"""What of an event is new."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.a2a.wire.decode import decode
from slack_bot.tools.replay.stream_text import StreamText, name_of, text_of

PART = [{"kind": "text", "text": "hi"}]
MESSAGE = {"kind": "message", "messageId": "m1", "role": "agent", "parts": PART}


def chunk(text: str, append: bool = True, artifact_id: str = "a") -> dict[str, Any]:
    artifact = {"artifactId": artifact_id, "parts": [{"kind": "text", "text": text}]}
    return {"kind": "artifact-update", "append": append, "artifact": artifact}


def task(*texts: str, said: str = "", state: str = "working") -> dict[str, Any]:
    status: dict[str, Any] = {"state": state}
    if said:
        status["message"] = {**MESSAGE, "parts": [{"kind": "text", "text": said}]}
    artifacts = [
        {"artifactId": chr(97 + number), "parts": [{"kind": "text", "text": text}]}
        for number, text in enumerate(texts)
    ]
    return {"kind": "task", "id": "t", "status": status, "artifacts": artifacts}


def new_text(known: StreamText, event: dict[str, Any]) -> str:
    return known.new_text(decode(event))


@pytest.mark.parametrize(
    "event,name,text",
    [
        ({"kind": "artifact-update", "artifact": {"parts": PART}}, "artifact", "hi"),
        (
            {"kind": "status-update", "status": {"state": "working", "message": MESSAGE}},
            "status working",
            "hi",
        ),
        ({"kind": "status-update", "status": {"state": "working"}}, "status working", ""),
        (task("hi", state="completed"), "task completed", "hi"),
        (MESSAGE, "message", "hi"),
        ({"kind": "odd"}, "unknown", ""),
    ],
)
def test_names_and_texts_of_events(event: dict[str, Any], name: str, text: str) -> None:
    assert (name_of(decode(event)), text_of(decode(event))) == (name, text)
    assert new_text(StreamText(), event) == text


def test_a_task_says_again_what_came_in_pieces() -> None:
    known = StreamText()
    assert [new_text(known, chunk(each)) for each in ("one ", "two ")] == ["one ", "two "]
    assert new_text(known, task("one two three")) == "three"
    assert new_text(known, task("one two three")) == ""
    assert new_text(known, task("one two three", "another")) == "another"


def test_what_begins_otherwise_is_all_new() -> None:
    known = StreamText()
    new_text(known, chunk("one two "))
    assert new_text(known, task("one, two, three")) == "one, two, three"
    new_text(known, chunk("anew", append=False))
    assert new_text(known, task("anew, and more")) == ", and more"


def test_a_status_message_in_the_task_is_known_by_its_id() -> None:
    known = StreamText()
    status = {"state": "working", "message": MESSAGE}
    new_text(known, {"kind": "status-update", "status": status})
    assert new_text(known, task(said="hi")) == ""
    assert new_text(known, task(said="hi there")) == " there"
