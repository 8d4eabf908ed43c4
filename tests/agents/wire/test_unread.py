"""What of an event is not understood: nothing of what agents really send, and each slip of the pen."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slack_bot.agents.wire.frames import decode
from slack_bot.agents.wire.unread import unread_in
from slack_bot.errors import UnreadableInput
from slack_bot.testing.tape.tape import SeveralStreams
from slack_bot.tools.files import open_capture, taped

HERE = Path(__file__).parents[2]
FOLDERS = (
    HERE / "captures",
    HERE.parent / "docs" / "tapes",
    HERE.parent / "slack_bot" / "tools" / "conform" / "suites",
    *HERE.parents[1].glob("shared/captures"),
)
STEP = {"metadata": {"is_final_answer": True}, "artifactId": "a-1", "name": "answer", "description": "d"}
EVENTS: dict[str, dict[str, Any]] = {
    "0.3 task": {
        "kind": "task",
        "id": "t",
        "contextId": "c",
        "status": {
            "state": "working",
            "message": {"role": "agent", "parts": [{"kind": "text", "text": "a"}]},
        },
        "artifacts": [{**STEP, "parts": [{"kind": "text", "text": "Hello."}]}],
        "history": [{"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "Hi"}]}],
    },
    "0.3 status": {
        "kind": "status-update",
        "taskId": "t",
        "contextId": "c",
        "final": True,
        "status": {
            "state": "completed",
            "message": {"role": "agent", "parts": [{"kind": "text", "text": "a"}]},
        },
    },
    "0.3 artifact": {
        "kind": "artifact-update",
        "taskId": "t",
        "contextId": "c",
        "append": True,
        "lastChunk": True,
        "artifact": {
            **STEP,
            "parts": [
                {"kind": "text", "text": "Hello."},
                {"kind": "data", "data": {"a": 1}},
                {"kind": "file", "file": {"uri": "https://a.invalid/x", "name": "x"}},
            ],
        },
    },
    "0.3 message": {"kind": "message", "messageId": "m", "role": "agent", "parts": [{"text": "Hello."}]},
    "1.0 task": {
        "task": {
            "id": "t",
            "contextId": "c",
            "status": {
                "state": "TASK_STATE_WORKING",
                "message": {"role": "ROLE_AGENT", "parts": [{"text": "a"}]},
            },
            "artifacts": [{**STEP, "parts": [{"text": "Hello."}]}],
        }
    },
    "1.0 status": {
        "statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}
    },
    "1.0 artifact": {
        "artifactUpdate": {
            "taskId": "t",
            "contextId": "c",
            "append": True,
            "artifact": {
                **STEP,
                "parts": [{"text": "Hello."}, {"url": "https://a.invalid/x"}, {"data": [1]}],
            },
        }
    },
    "1.0 message": {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "Hello."}]}},
    "flat": {"taskId": "t", "artifact": {**STEP, "parts": [{"text": "Hello."}]}},
}


def captured() -> Iterator[tuple[str, Any]]:
    files = (path for folder in FOLDERS for path in sorted(folder.rglob("*")) if path.is_file())
    for path in files:
        try:
            captures = [open_capture(path)]
        except SeveralStreams as several:
            captures = [open_capture(path, key) for key in several.keys]
        except UnreadableInput:  # notes, truths, suites
            continue
        for capture in captures:
            yield path.name, taped(capture)


def test_nothing_that_an_agent_was_seen_to_send_is_called_unread() -> None:
    found, count = list[str](), 0
    for name, tape in captured():
        for moment in tape.moments:
            count += moment.event is not None
            found += [f"{name}: {each}" for each in unread_in(moment.event or {})]
    assert found == []
    assert count > 900


def slips(word: str) -> Iterator[str]:
    """`word` with a letter left out, doubled, changed with the next one, or wrong."""
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]
        yield word[:at] + word[at] + word[at:]
        yield word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
    yield f"{word[:-1]}x"


def broken(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """`value` with one slip in one key or kind, each in its turn; where it is."""
    if isinstance(value, list):
        for number, each in enumerate(value):
            for where, changed in broken(each, f"{path}[{number}]"):
                yield where, [*value[:number], changed, *value[number + 1 :]]
    for key, inner in value.items() if isinstance(value, dict) else ():
        rest = {name: each for name, each in value.items() if name != key}
        yield from (
            (f"{path}.{key} as {slip}", {**rest, slip: inner}) for slip in slips(key) if slip not in value
        )
        if key in ("kind", "state") and not path.endswith("]"):  # a part is known by its keys
            yield from ((f"{path}.{key}: {slip}", {**rest, key: slip}) for slip in slips(inner))
        if key != "data":
            for where, changed in broken(inner, f"{path}.{key}"):
                yield where, {**rest, key: changed}


@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_a_slip_in_a_key_or_kind_changes_nothing_or_is_named(event: dict[str, Any]) -> None:
    frame, tried, silent = decode(event), 0, list[str]()
    assert unread_in(event) == []
    for where, changed in broken(copy.deepcopy(event)):
        tried += 1
        is_small = ".id as" in where or ".file.name as" in where  # no text is lost by them
        if decode(changed) != frame and not unread_in(changed) and not is_small:
            silent.append(where)
    assert silent == []
    assert tried > 60


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (
            {"kind": "artifact-udpate", "artifact": {}},
            "artifact-udpate: there is no such kind of event; did you mean 'artifact-update'?",
        ),
        ({"kind": "weather"}, "weather: there is no such kind of event"),
        (
            {"artifactUpdat": {"artifact": {}}},
            "an event without a kind: nothing in it says what it is (its keys: artifactUpdat);"
            " did you mean 'artifactUpdate'?",
        ),
        (
            {"kind": "artifact-update", "artifcat": {"parts": []}},
            "artifact-update: there is no key artifcat; did you mean 'artifact'?",
        ),
        (
            {"kind": "artifact-update", "taskId": "t"},
            "artifact-update: it has no artifact (its keys: kind, taskId)",
        ),
        (
            {"kind": "artifact-update", "artifact": {"parts": [{"kind": "text", "txet": "Hello."}]}},
            "artifact-update: artifact.parts[0] has no text, data or file that can be read"
            " (its keys: kind, txet); did you mean 'text'?",
        ),
        (
            {"kind": "artifact-update", "artifact": {"parts": [{"kind": "text", "value": "Hello."}]}},
            "artifact-update: artifact.parts[0] has no text, data or file that can be read"
            " (its keys: kind, value); did you mean 'text'?",
        ),
        (
            {"kind": "status-update", "status": {"state": "complted"}},
            "status-update: there is no state 'complted'; did you mean 'completed'?",
        ),
        (
            {"kind": "artifact-update", "append": "true", "artifact": {}},
            "artifact-update: append is a text, not true or false",
        ),
        ({"kind": "message", "parts": 7}, "message: parts is a number, not a list"),
        ({"kind": "message", "parts": [7]}, "message: parts[0] is a number, not an object"),
    ],
)
def test_the_sentence_names_what_is_wrong_and_what_was_meant(event: dict[str, Any], said: str) -> None:
    assert [str(each) for each in unread_in(event)] == [said]


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"kind": "ping"},
        {"kind": "status-update", "status": {"state": "unknown"}},
        {"statusUpdate": {"status": {"state": "TASK_STATE_UNSPECIFIED"}}},
        {"message": {"messageId": "m", "role": "ROLE_AGENT"}},
        {"artifactUpdate": {"artifact": {"artifactId": "a"}, "custom": 1}},
        {"artifactUpdate": {"artifact": {"parts": [{}, {"kind": "text"}, {"text": ""}, {"text": None}]}}},
        {"error": {"code": -32603, "message": "boom"}},
        {"kind": "task", "id": "t", "artifacts": None, "history": None, "agentName": "x", "status": None},
    ],
)
def test_what_carries_nothing_for_a_reader_is_not_named(event: dict[str, Any]) -> None:
    assert unread_in(event) == []
