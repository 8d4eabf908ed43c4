from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    FileRef,
    MessageReply,
    Part,
    Snapshot,
    StatusUpdate,
    TaskState,
    Unknown,
    decode,
    failure,
    quote,
    task_id_of,
    unwrap,
)
from slack_bot.errors import AgentError, AgentFailed, BadAgentData

IDS = {"taskId": "t", "contextId": "c"}


def in_envelope(result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": result}


def artifact_of(payload: Any) -> Artifact:
    frame = decode(payload)
    assert isinstance(frame, ArtifactUpdate)
    return frame.artifact


def parts_of(*parts: Any, key: str = "parts") -> tuple[Part, ...]:
    return artifact_of({"artifactUpdate": {"artifact": {"artifactId": "a", key: list(parts)}}}).parts


# --- events -------------------------------------------------------------------------------------------------


def test_task_of_0_3_and_1_0() -> None:
    old = {
        "kind": "task",
        "id": "t",
        "contextId": "c",
        "status": {"state": "submitted"},
        "artifacts": [{"artifactId": "a", "parts": [{"kind": "text", "text": "x"}]}],
        "history": [{"role": "user", "messageId": "m", "parts": [{"kind": "text", "text": "q"}]}],
        "metadata": {"k": 1},
    }
    new = {
        "task": {
            "id": "t",
            "contextId": "c",
            "status": {"state": "TASK_STATE_SUBMITTED"},
            "artifacts": [{"artifactId": "a", "parts": [{"text": "x"}]}],
            "history": [{"role": "ROLE_USER", "messageId": "m", "parts": [{"text": "q"}]}],
            "metadata": {"k": 1},
        }
    }
    expected = Snapshot(
        "t",
        "c",
        TaskState.SUBMITTED,
        artifacts=(Artifact("a", parts=(Part(text="x"),)),),
        history=(AgentMessage("m", "user", (Part(text="q"),)),),
        metadata={"k": 1},
    )
    assert decode(old) == decode(new) == decode(in_envelope(old)) == decode(in_envelope(new)) == expected


def test_status_update_of_0_3_and_1_0() -> None:
    message = {"role": "agent", "messageId": "m", "parts": [{"text": "Looking"}], **IDS}
    said = AgentMessage("m", "agent", (Part(text="Looking"),), "t", "c")
    old = {
        "kind": "status-update",
        **IDS,
        "final": True,
        "status": {"state": "input-required", "message": message},
    }
    new = {"statusUpdate": {**IDS, "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": message}}}
    assert decode(old) == StatusUpdate("t", "c", TaskState.INPUT_REQUIRED, said, final=True)
    assert decode(new) == StatusUpdate("t", "c", TaskState.INPUT_REQUIRED, said, final=None)


def test_artifact_update_of_0_3_and_1_0() -> None:
    artifact = {"artifactId": "a", "name": "answer", "description": "d", "parts": [{"text": "The "}]}
    expected = Artifact("a", "answer", "d", (Part(text="The "),))
    old = {"kind": "artifact-update", **IDS, "append": False, "lastChunk": True, "artifact": artifact}
    assert decode(old) == ArtifactUpdate(expected, "t", "c", append=False, last_chunk=True)
    new = {"artifactUpdate": {**IDS, "artifact": artifact}}
    assert decode(new) == ArtifactUpdate(expected, "t", "c", append=None, last_chunk=False)


@pytest.mark.parametrize(
    "payload",
    [
        {"kind": "message", "role": "agent", "messageId": "m", "parts": [{"kind": "text", "text": "Hello"}]},
        {"message": {"role": "ROLE_AGENT", "messageId": "m", "parts": [{"text": "Hello"}]}},
        {"msg": {"role": "ROLE_AGENT", "messageId": "m", "content": [{"text": "Hello"}]}},
        {"role": "agent", "messageId": "m", "parts": [{"text": "Hello"}]},
        {"role": "agent", "messageId": "m", "content": [{"text": "Hello"}]},
        {"kind": "message", "messageId": "m", "content": "Hello"},
    ],
)
def test_message_in_every_dialect(payload: dict[str, Any]) -> None:
    assert decode(payload) == MessageReply(AgentMessage("m", "agent", (Part(text="Hello"),)))


def test_the_hybrids_of_langgraph_and_fasta2a() -> None:
    flat = {"kind": "status-update", **IDS, "final": False, "status": {"state": "TASK_STATE_WORKING"}}
    assert decode(in_envelope(flat)) == StatusUpdate("t", "c", TaskState.WORKING, final=False)
    wrapped = {"statusUpdate": {**IDS, "status": {"state": "working"}}}
    assert decode(in_envelope(wrapped)) == StatusUpdate("t", "c", TaskState.WORKING)
    both = {"artifactUpdate": {"kind": "artifact-update", "artifact": {"artifactId": "a"}}}
    assert decode(both) == ArtifactUpdate(Artifact("a"))
    # a kind inside the wrapper is believed before the wrapper's name
    assert decode({"task": flat}) == StatusUpdate("t", "c", TaskState.WORKING, final=False)


def test_events_without_kind_or_wrapper_are_known_by_their_keys() -> None:
    assert decode({"id": "t", "contextId": "c", "status": {"state": "working"}}) == Snapshot(
        "t", "c", TaskState.WORKING
    )
    assert decode({"taskId": "t", "status": "completed"}) == StatusUpdate("t", None, TaskState.COMPLETED)
    assert decode({"id": "t", "artifacts": []}) == Snapshot("t")
    assert decode({"artifact": {"parts": [{"text": "x"}]}}) == ArtifactUpdate(
        Artifact(parts=(Part(text="x"),))
    )
    assert decode({"artifact_update": {"artifact": {}, "last_chunk": True}}) == ArtifactUpdate(
        Artifact(), last_chunk=True
    )


def test_what_nobody_knows_is_kept_as_unknown() -> None:
    assert decode({"kind": "future-event", "x": 1}) == Unknown("futureevent")
    assert decode({"kind": 7}) == Unknown("")
    assert decode({}) == Unknown("")
    assert decode(in_envelope(None)) == Unknown("")
    assert decode({"kind": "x" * 500}) == Unknown("x" * 60)


# --- small things -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spelled", "state"),
    [
        ("working", TaskState.WORKING),
        ("TASK_STATE_AUTH_REQUIRED", TaskState.AUTH_REQUIRED),
        ("input-required", TaskState.INPUT_REQUIRED),
        ("cancelled", TaskState.CANCELED),
        ("TASK_STATE_CANCELLED", TaskState.CANCELED),
        ("TASK_STATE_UNSPECIFIED", TaskState.UNKNOWN),
        (3, TaskState.COMPLETED),
        (99, TaskState.UNKNOWN),
        (True, TaskState.UNKNOWN),
        (None, TaskState.UNKNOWN),
    ],
)
def test_states(spelled: Any, state: TaskState) -> None:
    assert decode({"task": {"id": "t", "status": {"state": spelled}}}) == Snapshot("t", state=state)


def test_a_status_that_is_no_object() -> None:
    assert decode({"kind": "task", "id": "t", "status": ["odd"]}) == Snapshot("t")


def test_data_parts() -> None:
    assert parts_of(
        {"kind": "data", "data": {"a": 1}}, {"data": None}, {"data": [1], "metadata": {"m": 1}}
    ) == (
        Part(data={"a": 1}, has_data=True),
        Part(data=None, has_data=True),
        Part(data=[1], has_data=True, metadata={"m": 1}),
    )
    # BeeAI sends its text as data
    assert parts_of({"data": {"type": "text", "text": "Hi."}}) == (Part(text="Hi."),)
    assert parts_of({"data": {"type": "text", "text": "Hi.", "n": 1}})[0].has_data
    # 0.3's REST puts a message of its own around the value
    assert parts_of({"data": {"data": {"a": 1}}}, key="content") == (Part(data={"a": 1}, has_data=True),)
    assert parts_of({"data": {"a": 1}}, key="content") == (Part(data={"a": 1}, has_data=True),)


@pytest.mark.parametrize(
    "part",
    [
        {"kind": "file", "file": {"name": "h.txt", "mimeType": "text/plain", "bytes": "aGk="}},
        {"raw": "aGk=", "filename": "h.txt", "mediaType": "text/plain"},
        {"file": {"filename": "h.txt", "mediaType": "text/plain", "raw": "aGk="}},
        {"file": {"fileWithBytes": "aGk=", "mimeType": "text/plain", "name": "h.txt"}},
        {"file": {"fileWithBytes": "YUdrPQ==", "mimeType": "text/plain", "name": "h.txt"}},
        {"file": {"bytes": "aGk=", "mimeType": "text/plain"}, "filename": "h.txt"},
    ],
)
def test_files_by_value(part: dict[str, Any]) -> None:
    assert parts_of(part) == (Part(file=FileRef("h.txt", "text/plain", content="aGk=")),)


@pytest.mark.parametrize(
    "part",
    [
        {"kind": "file", "file": {"uri": "https://e/a.png"}},
        {"url": "https://e/a.png"},
        {"fileUrl": "https://e/a.png"},
        {"file": {"fileWithUri": "https://e/a.png"}},
    ],
)
def test_files_by_address(part: dict[str, Any]) -> None:
    assert parts_of(part) == (Part(file=FileRef(url="https://e/a.png")),)


def test_parts_that_cannot_be_read_are_left_out() -> None:
    assert parts_of("bare", 7, {}, {"kind": "text", "text": 9}, {"file": {"name": "x"}}) == (
        Part(text="bare"),
    )
    assert artifact_of({"kind": "artifact-update", "artifact": {"parts": 7}}).parts == ()


def test_ids_are_text_that_can_be_stored() -> None:
    frame = decode({"task": {"id": 7, "contextId": "a\ud83d", "status": {}}})
    assert frame == Snapshot("7", "a\ufffd")
    assert decode({"task": {"id": "", "contextId": False, "status": {}}}) == Snapshot()


# --- errors -------------------------------------------------------------------------------------------------


def test_a_json_rpc_error() -> None:
    with pytest.raises(AgentFailed, match="-32001: Task not found") as caught:
        decode({"jsonrpc": "2.0", "error": {"code": -32001, "message": "Task not found"}})
    assert caught.value.code == -32001
    assert caught.value.safe == "The agent no longer knows this task."


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({"error": {"code": 500, "status": "INTERNAL", "message": "unknown exception"}}, -32603),
        ({"error": {"code": 418, "status": "TEAPOT", "message": "short and stout"}}, 418),
        ({"code": 5, "message": "not found", "details": []}, 5),
        ({"error": "Accept header must include text/event-stream"}, 0),
        ({"error": {"message": None}}, 0),
        ({"error": {}}, 0),
        ({"error": False}, 0),
    ],
)
def test_errors_of_other_shapes(payload: Any, code: int) -> None:
    with pytest.raises(AgentFailed) as caught:
        decode(payload)
    assert caught.value.code == code
    assert caught.value.safe == AgentFailed.safe


def test_an_error_beside_a_result_is_no_error() -> None:
    event = {"kind": "task", "id": "t", "status": {"state": "failed"}, "error": "x"}
    assert decode(event) == Snapshot("t", state=TaskState.FAILED)
    assert unwrap({"result": event, "error": None}) == event
    assert unwrap({"result": event, "error": {"code": 1}}) == event


@pytest.mark.parametrize("payload", [None, 1, "x", [], [{"kind": "task"}]])
def test_json_that_is_no_object(payload: Any) -> None:
    with pytest.raises(BadAgentData):
        decode(payload)


def test_what_a_server_wrote_is_quoted_in_one_short_line() -> None:
    assert quote("a\n\tb\x00 \u2028c\ud83d") == "a b c\ufffd"
    assert len(quote("x" * 10_000)) == 1200
    assert "\n" not in str(failure({"code": 1, "message": "line\nline"}))


# --- anything -----------------------------------------------------------------------------------------------

_WORDS = """
    jsonrpc result error code message msg task statusUpdate artifactUpdate kind status state artifact
    artifacts history parts content text data file raw url bytes id taskId contextId artifactId final
    append role metadata lastChunk
"""
_KEYS = st.sampled_from(_WORDS.split())
_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["task", "message", "status-update", "artifact-update", "working", "TASK_STATE_FAILED"])
)
_JSON = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=6),
    max_leaves=30,
)


@given(_JSON)
def test_any_json_is_a_frame_or_an_error_of_ours(value: Any) -> None:
    try:
        frame, task_id = decode(value), task_id_of(value)
    except AgentError:
        return
    assert task_id is None or isinstance(task_id, str)
    assert isinstance(frame, Snapshot | StatusUpdate | ArtifactUpdate | MessageReply | Unknown)


def test_deep_nesting_is_not_walked() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = {"data": deep}
    assert isinstance(decode({"artifactUpdate": {"artifact": {"parts": [{"data": deep}]}}}), ArtifactUpdate)
    while isinstance(deep, dict):  # taken apart by hand, because freeing it recurses
        deep = deep.pop("data")


def test_a_large_number_as_an_id() -> None:
    assert decode(json.loads('{"task": {"id": 99999999999999999999999, "status": {}}}')) == Snapshot("9" * 23)


def test_the_first_versions_say_in_the_artifact_how_it_grows() -> None:
    artifact = {"parts": [{"type": "text", "text": "a"}], "index": 0, "append": True, "lastChunk": True}
    found = decode({"id": "t", "artifact": artifact})
    assert isinstance(found, ArtifactUpdate)
    assert (found.append, found.last_chunk, found.task_id) == (True, True, "t")


@pytest.mark.parametrize("parts", [{"kind": "text", "text": "Hi."}, "Hi."])
def test_one_part_may_come_without_a_list(parts: Any) -> None:
    found = decode({"kind": "message", "role": "agent", "parts": parts})
    assert isinstance(found, MessageReply)
    assert found.message.text == "Hi."


def test_which_states_end_a_task_and_which_wait_for_a_human() -> None:
    assert {state for state in TaskState if state.is_terminal} == {
        TaskState.COMPLETED,
        TaskState.FAILED,
        TaskState.CANCELED,
        TaskState.REJECTED,
    }
    assert {state for state in TaskState if state.is_asking} == {
        TaskState.INPUT_REQUIRED,
        TaskState.AUTH_REQUIRED,
    }


def test_text_parts_are_joined_without_anything_between() -> None:
    parts = (Part(text="Hel"), Part(data={"x": 1}, has_data=True), Part(text="lo"))
    assert AgentMessage(parts=parts).text == "Hello"
    assert Artifact(parts=parts).text == "Hello"
