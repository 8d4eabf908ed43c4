import pytest

from slack_bot.testing.agent.snapshot import (
    Json,
    is_over,
    last_message,
    opened,
    state_of,
    status_event,
    task_of,
    wire_of,
    with_state,
)


def chunk(text: str, *, append: bool | None = None, artifact_id: str = "a", **more: object) -> Json:
    artifact = {"artifactId": artifact_id, "name": "n", "parts": [{"kind": "text", "text": text}], **more}
    event: Json = {"kind": "artifact-update", "taskId": "t", "contextId": "c", "artifact": artifact}
    return event if append is None else {**event, "append": append}


def status(state: str, **more: object) -> Json:
    return {"kind": "status-update", "taskId": "t", "contextId": "c", "status": {"state": state, **more}}


def texts(task: Json | None) -> list[str]:
    assert task is not None
    return ["".join(part["text"] for part in each["parts"]) for each in task["artifacts"]]


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"task": {"id": "t"}}, "task"),
        ({"statusUpdate": {"taskId": "t"}}, "statusUpdate"),
        ({"artifactUpdate": {"taskId": "t"}}, "artifactUpdate"),
        ({"message": {"parts": []}}, "message"),
        ({"kind": "task", "id": "t"}, "task"),
        ({"kind": "status-update"}, "statusUpdate"),
        ({"kind": "artifact-update"}, "artifactUpdate"),
        ({"kind": "message"}, "message"),
        ({"artifact": {}}, "artifactUpdate"),
        ({"id": "t", "status": {}}, "task"),
        ({"taskId": "t", "status": {}}, "statusUpdate"),
        ({"parts": []}, "message"),
        ({"kind": "news"}, ""),
        ({}, ""),
    ],
)
def test_events_of_both_dialects_are_opened(event: Json, kind: str) -> None:
    assert opened(event)[0] == kind


def test_the_first_event_that_shows_a_dialect_decides() -> None:
    assert wire_of([]) == "0.3"
    assert wire_of([{}, {"task": {}}, {"kind": "status-update"}]) == "1.0"
    assert wire_of([{"kind": "task"}, {"task": {}}]) == "0.3"


def test_chunks_append_replace_and_begin_artifacts() -> None:
    events = [chunk("a"), chunk("b", append=True), chunk("x", append=True, artifact_id="other")]
    assert texts(task_of(events, "0.3")) == ["ab", "x"]
    assert texts(task_of([*events, chunk("new")], "0.3")) == ["new", "x"]


def test_metadata_of_chunks_and_statuses_is_joined() -> None:
    events = [
        chunk("a"),
        chunk("b", append=True, metadata={"x": 1}),
        chunk("c", append=True, metadata={"y": 2}),
    ]
    task = task_of([*events, {**status("working"), "metadata": {"trace_id": "1"}}], "0.3")
    assert task is not None
    assert task["artifacts"][0]["metadata"] == {"x": 1, "y": 2}
    assert task["metadata"] == {"trace_id": "1"}


def test_a_status_message_goes_into_the_history_when_the_next_comes() -> None:
    message = {"kind": "message", "messageId": "m", "parts": []}
    events = [status("working", message=message), status("working", message=message), status("completed")]
    task = task_of(events, "0.3")
    assert task is not None
    assert task["history"] == [message]
    assert state_of(task) == "completed"
    assert is_over(task)


def test_a_task_event_brings_what_it_has() -> None:
    first = {
        "kind": "task",
        "id": "t",
        "contextId": "c",
        "status": {"state": "submitted"},
        "history": [{"role": "user"}],
    }
    task = task_of([first, chunk("a"), {"kind": "task", "id": "t", "artifacts": []}], "0.3")
    assert task is not None
    assert (task["kind"], task["id"], task["contextId"]) == ("task", "t", "c")
    assert texts(task) == ["a"]
    assert task["history"] == [{"role": "user"}]
    assert not is_over(task)


def test_a_message_beside_a_task_is_history_and_without_one_there_is_no_task() -> None:
    message = {"kind": "message", "messageId": "m", "parts": [{"kind": "text", "text": "hi"}]}
    task = task_of([status("working"), message], "0.3")
    assert task is not None
    assert task["history"] == [message]
    assert task_of([message], "0.3") is None
    assert last_message([message]) == message
    assert last_message([status("working")]) is None


def test_broken_events_do_no_harm() -> None:
    assert task_of(
        [{"kind": "artifact-update", "taskId": "t", "artifact": None}, {"kind": "status-update"}], "1.0"
    ) == {
        "id": "t",
        "contextId": "",
        "status": {"state": "TASK_STATE_SUBMITTED"},
    }
    assert state_of({}) == ""


def test_states_are_spelled_as_the_wire_does() -> None:
    old, new = task_of([status("working")], "0.3"), task_of([{"statusUpdate": {"taskId": "t"}}], "1.0")
    assert old is not None
    assert new is not None
    canceled = with_state(old, "canceled", "0.3")
    assert canceled["status"] == {"state": "canceled"}
    assert status_event(canceled, "0.3")["final"] is True
    failed = with_state(new, "failed", "1.0")
    assert failed["status"]["state"] == "TASK_STATE_FAILED"
    assert status_event(failed, "1.0") == {
        "statusUpdate": {"taskId": "t", "contextId": "", "status": failed["status"]}
    }
