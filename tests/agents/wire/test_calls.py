"""The calls as HTTP+JSON carries them. As JSON-RPC they are in `test_client`."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from a2a.compat.v0_3 import a2a_v0_3_pb2 as old
from a2a.types import SendMessageRequest, TaskPushNotificationConfig
from google.protobuf.json_format import ParseDict
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.wire.calls import (
    Binding,
    Call,
    Interface,
    MessageRequest,
    TaskVerb,
    Wire,
    ask_call,
    card_call,
    delete_push_call,
    headers,
    list_call,
    set_push_call,
    task_call,
)
from slack_bot.turn.files import GivenFile

NEW = Interface("https://agent.example/a2a/", "1.0", binding="HTTP+JSON")
OLD = Interface("https://agent.example/a2a", "0.3", binding="HTTP+JSON")
ASKING = MessageRequest(
    "q",
    "m",
    context_id="c",
    task_id="t",
    references=("r",),
    files=(GivenFile("a.txt", "text/plain", content="aGk="), GivenFile("b", "image/png", url="https://x/b")),
    quoted="before",
    data=(({"a": 1}, {"k": "v"}),),
    metadata={"slack": {"team": "T1"}},
)


def at(call: Call) -> tuple[str, str]:
    return call.method, call.url.removeprefix("https://agent.example/a2a")


def body_of(call: Call) -> dict[str, Any]:
    assert call.body is not None
    return json.loads(json.dumps(call.body))  # type: ignore[no-any-return]


def test_where_each_call_goes() -> None:
    assert at(ask_call(NEW, ASKING, stream=True)) == ("POST", "/message:stream")
    assert at(ask_call(NEW, ASKING, stream=False)) == ("POST", "/message:send")
    assert at(task_call(NEW, "get", "t", 3)) == ("GET", "/tasks/t?historyLength=3")
    assert at(task_call(NEW, "cancel", "t")) == ("POST", "/tasks/t:cancel")
    assert at(task_call(NEW, "subscribe", "t")) == ("POST", "/tasks/t:subscribe")
    assert at(list_call(NEW, "c d", 0.0, "p")) == (
        "GET", "/tasks?pageSize=20&historyLength=1000&contextId=c+d&pageToken=p",
    )  # fmt: skip
    assert at(set_push_call(NEW, "t", "p", "https://bot/", "s")) == (
        "POST",
        "/tasks/t/pushNotificationConfigs",
    )
    assert at(delete_push_call(NEW, "t", "p")) == ("DELETE", "/tasks/t/pushNotificationConfigs/p")


def test_0_3_has_a_version_in_its_paths() -> None:
    assert at(ask_call(OLD, ASKING, stream=True)) == ("POST", "/v1/message:stream")
    assert at(task_call(OLD, "get", "t")) == ("GET", "/v1/tasks/t?historyLength=1")
    assert at(delete_push_call(OLD, "t", "p")) == ("DELETE", "/v1/tasks/t/pushNotificationConfigs/p")


def test_a_tenant_stands_in_the_path_and_a_query_stays_last() -> None:
    tenant = Interface("https://agent.example/a2a?assistant=x", "1.0", "ac/me", "HTTP+JSON")
    assert at(ask_call(tenant, ASKING, stream=True)) == ("POST", "/ac%2Fme/message:stream?assistant=x")
    assert at(task_call(tenant, "get", "t")) == ("GET", "/ac%2Fme/tasks/t?assistant=x&historyLength=1")
    assert "tenant" not in body_of(ask_call(tenant, ASKING, stream=True))


@given(st.text(min_size=1))
def test_whatever_a_task_is_named_it_stays_one_part_of_the_path(task_id: str) -> None:
    try:
        task_id.encode()
    except UnicodeEncodeError:
        return  # such a name never came over a wire
    path = at(task_call(NEW, "cancel", task_id))[1]
    assert path.removesuffix(":cancel").count("/") == 2
    assert not {"?", "#", " "} & set(path)


def test_a_question_of_1_0_is_what_the_sdk_reads() -> None:
    read = ParseDict(body_of(ask_call(NEW, ASKING, stream=False)), SendMessageRequest())
    message = read.message
    assert (message.message_id, message.context_id, message.task_id) == ("m", "c", "t")
    assert [part.WhichOneof("content") for part in message.parts] == ["text", "raw", "url", "data", "text"]
    assert list(message.reference_task_ids) == ["r"]
    assert read.configuration.history_length == 1


def test_a_question_of_0_3_is_what_the_sdk_reads() -> None:
    sent = body_of(ask_call(OLD, ASKING, stream=False))
    read = ParseDict(sent, old.SendMessageRequest(), ignore_unknown_fields=True)
    message = read.request
    assert (message.message_id, message.context_id, message.task_id) == ("m", "c", "t")
    assert message.role == old.ROLE_USER
    assert [part.WhichOneof("part") for part in message.content] == ["text", "file", "file", "data", "text"]
    one, two = message.content[1].file, message.content[2].file
    assert (one.file_with_bytes, one.name, one.mime_type) == (b"aGk=", "a.txt", "text/plain")
    assert (two.file_with_uri, two.name) == ("https://x/b", "b")
    assert dict(message.content[3].data.data) == {"a": 1}
    assert dict(message.content[3].metadata) == {"k": "v"}
    assert dict(message.content[4].metadata) == {"role": "context"}
    assert read.configuration.blocking
    # the one thing that 0.3 has no place for
    del sent["message"]["referenceTaskIds"]
    ParseDict(sent, old.SendMessageRequest())


@pytest.mark.parametrize("binding", get_args(Binding))
@pytest.mark.parametrize("wire", get_args(Wire))
def test_each_wire_has_a_row_in_the_tables(wire: Wire, binding: Binding) -> None:
    """But that 0.3 lists no tasks."""
    face = Interface("https://agent.example/a2a", wire, binding=binding)
    calls = [
        *(ask_call(face, ASKING, stream=stream) for stream in (True, False)),
        *(task_call(face, verb, "t") for verb in get_args(TaskVerb)),
        card_call(face),
        set_push_call(face, "t", "p", "https://bot/", "s"),
        delete_push_call(face, "t", "p"),
    ]
    assert all(call.url.startswith(face.url) for call in calls)
    assert headers(face, ("https://x",), stream=True)["A2A-Extensions"] == "https://x"


@pytest.mark.parametrize("wire", ["0.3", "1.0"])
def test_push_is_asked_for_as_the_sdk_reads_it(wire: Wire) -> None:
    face = OLD if wire == "0.3" else NEW
    sent = body_of(set_push_call(face, "t", "p", "https://bot/", "s"))
    if wire == "1.0":
        new = ParseDict(sent, TaskPushNotificationConfig())
        assert (new.task_id, new.id, new.url, new.token) == ("t", "p", "https://bot/", "s")
        return
    read = ParseDict(sent, old.CreateTaskPushNotificationConfigRequest())
    config = read.config.push_notification_config
    assert (read.parent, read.config_id, config.url, config.token) == ("tasks/t", "p", "https://bot/", "s")
    assert list(config.authentication.schemes) == ["Bearer"]
