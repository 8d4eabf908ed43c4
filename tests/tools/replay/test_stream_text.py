"""What of an event is new."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.a2a.wire.decode import decode
from slack_bot.tools.replay.stream_text import StreamText, asked_name, name_of, text_of

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
    said = StreamText().take("x", event)
    assert (said.name, said.text, said.fresh) == (name, text, text)


def test_a_task_says_again_what_came_in_pieces() -> None:
    heard = StreamText()
    assert [heard.take("", chunk(each)).fresh for each in ("one ", "two ")] == ["one ", "two "]
    assert heard.take("", task("one two three")).fresh == "three"
    assert heard.take("", task("one two three")).fresh == ""
    assert heard.take("", task("one two three", "another")).fresh == "another"


def test_what_begins_otherwise_is_all_new() -> None:
    heard = StreamText()
    heard.take("", chunk("one two "))
    assert heard.take("", task("one, two, three")).fresh == "one, two, three"
    heard.take("", chunk("anew", append=False))
    assert heard.take("", task("anew, and more")).fresh == ", and more"


def test_a_status_message_in_the_task_is_known_by_its_id() -> None:
    heard = StreamText()
    status = {"state": "working", "message": MESSAGE}
    heard.take("", {"kind": "status-update", "status": status})
    assert heard.take("", task(said="hi")).fresh == ""
    assert heard.take("", task(said="hi there")).fresh == " there"


def test_an_event_that_is_an_error_keeps_its_kind() -> None:
    assert StreamText().take("task", {"error": {"code": 1}}).name == "task"


def test_the_state_of_a_task_that_was_asked_for() -> None:
    raw = {"kind": "task", "asked": True, "state": "working"}
    assert asked_name(raw, StreamText().take("task", raw)) == "task working"
    assert asked_name(task(), StreamText().take("task", task())) == "task working"
