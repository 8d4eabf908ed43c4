"""PURE. Builds the A2A calls as HTTP requests: on the 0.3 and the 1.0 wire, as JSON-RPC and as HTTP+JSON.

Unknown ids are left out, never null. fasta2a 0.6 answers HTTP 500 without `acceptedOutputModes`.
`historyLength` 0 means "everything" to some 0.3 servers (facts: A2A 1.2, 2.8).

HTTP+JSON of 0.3 is proto's JSON, as a2a-sdk, ADK and Google's Agent Engine read it, where parts are in
`content`.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from ...turn.files import GivenFile

Json: TypeAlias = dict[str, Any]
Wire: TypeAlias = Literal["0.3", "1.0"]
Binding: TypeAlias = Literal["JSONRPC", "HTTP+JSON"]
TaskVerb: TypeAlias = Literal["get", "cancel", "subscribe"]

OUTPUT_MODES = ("text/plain", "text/markdown", "application/json")
HISTORY_LENGTH = 1
MISSED_MESSAGES = 1000
"""How many messages to read of a task whose stream was lost."""
_PAGE_TASKS = 20

_METHODS: Mapping[str, Mapping[Wire, str]] = {
    "stream": {"0.3": "message/stream", "1.0": "SendStreamingMessage"},
    "send": {"0.3": "message/send", "1.0": "SendMessage"},
    "get": {"0.3": "tasks/get", "1.0": "GetTask"},
    "cancel": {"0.3": "tasks/cancel", "1.0": "CancelTask"},
    "subscribe": {"0.3": "tasks/resubscribe", "1.0": "SubscribeToTask"},
    "list": {"1.0": "ListTasks"},
    "card": {"0.3": "agent/getAuthenticatedExtendedCard", "1.0": "GetExtendedAgentCard"},
    "set-push": {"0.3": "tasks/pushNotificationConfig/set", "1.0": "CreateTaskPushNotificationConfig"},
    "delete-push": {
        "0.3": "tasks/pushNotificationConfig/delete",
        "1.0": "DeleteTaskPushNotificationConfig",
    },
}
_STREAM_PATH = "/message:stream"
_CODES_OF_TASK: Mapping[int, int] = {404: -32001, 409: -32002, 501: -32004}
"""Error codes by HTTP status: a2a-sdk 0.3 sends only a sentence in the body."""


@dataclass(frozen=True, slots=True)
class Interface:
    """One address of an agent, with the wire and the binding that the card names for it."""

    url: str
    wire: Wire
    tenant: str | None = None
    binding: Binding = "JSONRPC"


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP request.

    `body`: sent as JSON; None for a request without a body. `last_id`: the id of the last event that came, to
    go on after it. `codes`: error codes by HTTP status, for answers whose body has none.
    """

    method: str
    url: str
    body: Json | None = field(default=None, repr=False)
    last_id: str = ""
    codes: Mapping[int, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class MessageRequest:
    """One question to the agent.

    - `task_id`: only if the question answers that task. `references`: ids of other tasks.
    - `files`: sent after the text.
    - `quoted`: earlier messages of the thread, sent as a part of their own after the question.
    - `data`: further data parts, each with its metadata. They may come without a text.
    - `metadata`: the metadata of the message.
    """

    text: str
    message_id: str
    context_id: str | None = None
    task_id: str | None = None
    references: tuple[str, ...] = ()
    files: tuple[GivenFile, ...] = field(default=(), repr=False)
    quoted: str | Mapping[str, Any] | None = None
    data: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)


def ask_call(interface: Interface, request: MessageRequest, *, stream: bool) -> Call:
    """The call that asks a question: with the streaming method, or with the one that waits for the answer."""
    wire = _FORMATS[interface.wire]
    parts = [wire.part(request.text)] if request.text or not request.data else []
    parts += [wire.file_part(each) for each in request.files]
    for content, about in request.data:
        parts.append({**wire.part(content), **({"metadata": dict(about)} if about else {})})
    if request.quoted is not None:
        parts.append({**wire.part(request.quoted), "metadata": {"role": "context"}})
    message: Json = {**wire.message, "parts": parts}
    ids = {"messageId": request.message_id, "contextId": request.context_id, "taskId": request.task_id}
    message |= {name: value for name, value in ids.items() if value}
    if request.references:
        message["referenceTaskIds"] = list(request.references)
    if request.metadata:
        message["metadata"] = dict(request.metadata)
    accepted = {"acceptedOutputModes": list(OUTPUT_MODES), "historyLength": HISTORY_LENGTH}
    params = {"message": message, "configuration": {**accepted, **wire.waiting}}
    return _call(interface, "stream" if stream else "send", request.message_id, params)


def task_call(
    interface: Interface, verb: TaskVerb, task_id: str, messages: int = HISTORY_LENGTH, *, last_id: str = ""
) -> Call:
    """The call that reads a task with its last `messages`, cancels it, or subscribes to it again.

    `last_id`: the event after which a subscription goes on.
    """
    params: Json = {"id": task_id}
    if verb == "get":
        params["historyLength"] = messages
    is_sendable = last_id.isascii() and last_id.isprintable()
    return replace(
        _call(interface, verb, f"{verb}-{task_id}", params), last_id=last_id if is_sendable else ""
    )


def list_call(interface: Interface, context_id: str | None, since: float, page: str) -> Call:
    """The call that reads one page of a conversation's tasks with their messages. For the 1.0 wire only.

    If `context_id` is None, it reads all tasks that changed after `since`, in seconds since 1970. `page`: the
    token of the page, or "".
    """
    params: Json = {"pageSize": _PAGE_TASKS, "historyLength": MISSED_MESSAGES}
    if context_id is None:
        params["statusTimestampAfter"] = datetime.fromtimestamp(since, UTC).isoformat().replace("+00:00", "Z")
    else:
        params["contextId"] = context_id
    if page:
        params["pageToken"] = page
    return _call(interface, "list", f"list-{context_id or since}", params)


def card_call(interface: Interface) -> Call:
    """The call that reads the extended card, which only clients with a login may see."""
    return _call(interface, "card", "card", {})


def set_push_call(interface: Interface, task_id: str, push_id: str, url: str, token: str) -> Call:
    """The call that lets the agent post news of a task to `url`.

    `token` is sent in two places, because each server uses only one of them ([spec] 4.3.3, a2a-python#585).
    """
    config = {"id": push_id, "url": url, "token": token}
    params = {"taskId": task_id, **_FORMATS[interface.wire].push(config)}
    return _call(interface, "set-push", f"set-push-{push_id}", params)


def delete_push_call(interface: Interface, task_id: str, push_id: str) -> Call:
    """The call that ends the posts which `set_push_call` started."""
    ids = zip(_FORMATS[interface.wire].push_ids, (task_id, push_id), strict=True)
    return _call(interface, "delete-push", f"delete-push-{push_id}", dict(ids))


def headers(interface: Interface, extensions: Sequence[str] = (), *, stream: bool) -> dict[str, str]:
    """The headers of a request.

    LangGraph streams only if SSE is accepted. Compression and caches would delay a stream. Extensions have an
    older header on 0.3 (facts: A2A 1.6). HTTP+JSON has a media type of its own ([spec] 11.1).
    """
    accepted = "application/json"
    if interface.binding == "HTTP+JSON":
        accepted += ", application/a2a+json"
    values = {
        "Content-Type": "application/json",
        "Accept": f"text/event-stream, {accepted}" if stream else accepted,
        "Accept-Encoding": "identity",
        "Cache-Control": "no-store",
        "A2A-Version": interface.wire,
    }
    names = _FORMATS[interface.wire].extension_headers if extensions else ()
    return values | dict.fromkeys(names, ", ".join(extensions))


def _call(interface: Interface, verb: str, request_id: str, params: Json) -> Call:
    if interface.binding == "HTTP+JSON":
        return _rest(interface, verb, params)
    if interface.tenant:  # the client must echo what the card's interface says ([spec] 8.3.2)
        params["tenant"] = interface.tenant
    body = {"jsonrpc": "2.0", "id": request_id, "method": _METHODS[verb][interface.wire], "params": params}
    return Call("POST", _rpc_url(interface.url, verb), body)


def _rpc_url(url: str, verb: str) -> str:
    """The address of a JSON-RPC call.

    If `url` is the REST address for streams, it serves no other call: agno takes JSON-RPC there, and has an
    address of its own beside it for each other call (facts: A2A 2.7).
    """
    base, is_of_stream, rest = url.partition(_STREAM_PATH)
    is_moved = is_of_stream and rest[:1] in ("", "?") and verb in ("get", "cancel")
    return f"{base}/tasks:{verb}{rest}" if is_moved else url


# -- HTTP+JSON -----------------------------------------------------------------------------------------------


def _rest(interface: Interface, verb: str, params: Json) -> Call:
    """A call as HTTP+JSON ([spec] 11.3); on 0.3 its paths are below `/v1`."""
    task = f"/tasks/{quote(str(params.get('taskId') or params.get('id')), safe='')}"
    configs, wire = f"{task}/pushNotificationConfigs", _FORMATS[interface.wire]
    method, path, body, query = "POST", f"{task}:{verb}", dict[str, Any](), dict[str, Any]()
    match verb:
        case "stream" | "send":
            path = f"/message:{verb}"
            body = wire.rest_body(path, params)
        case "get":
            method, path, query = "GET", task, {"historyLength": params["historyLength"]}
        case "list":
            method, path, query = "GET", "/tasks", params
        case "card":
            method, path = "GET", wire.card_path
        case "set-push":
            path, body = configs, wire.rest_body(configs, params)
        case "delete-push":
            push = params[wire.push_ids[1]]
            method, path = "DELETE", f"{configs}/{quote(push, safe='')}"
    codes = _CODES_OF_TASK if path.startswith(task) else {}
    return Call(method, _rest_url(interface, path, query), body if method == "POST" else None, codes=codes)


def _rest_url(interface: Interface, path: str, query: Mapping[str, object]) -> str:
    """The interface's address with `path` added, before its own query."""
    parts = urlsplit(interface.url)
    tenant = f"/{quote(interface.tenant, safe='')}" if interface.tenant else ""
    prefix = _FORMATS[interface.wire].rest_prefix or tenant
    whole_query = "&".join(filter(None, (parts.query, urlencode(query))))
    return urlunsplit(
        (parts.scheme, parts.netloc, f"{parts.path.rstrip('/')}{prefix}{path}", whole_query, "")
    )


def _proto_body(path: str, params: Json) -> Json:
    """The parameters of a question, or of a call about push, in proto's JSON."""
    if "message" in params:
        return params | {"message": _proto_message(params["message"])}
    return _proto_push(path[1:], params)


def _proto_message(message: Json) -> Json:
    """A message of 0.3 in proto's JSON."""
    rest = {name: value for name, value in message.items() if name not in ("kind", "role", "parts")}
    return {**rest, "role": "ROLE_USER", "content": [_proto_part(each) for each in message["parts"]]}


def _proto_part(part: Json) -> Json:
    content: Json = {}
    match part:
        case {"kind": "text", "text": text}:
            content = {"text": text}
        case {"kind": "data", "data": data}:
            content = {"data": {"data": data}}
        case {"kind": "file", "file": {"name": name, "mimeType": kind, **source}}:
            if "uri" in source:
                proto_file = {"fileWithUri": source["uri"]}
            else:  # the SDKs for Python and Go take the Base64 of JSON-RPC for the bytes (facts: A2A 14)
                code = str(source["bytes"]).encode("ascii")
                proto_file = {"fileWithBytes": base64.b64encode(code).decode("ascii")}
            content = {"file": {**proto_file, "name": name, "mimeType": kind}}
    return content | {key: part[key] for key in ("metadata",) if key in part}


def _proto_push(configs: str, params: Json) -> Json:
    config = params["pushNotificationConfig"]
    name = f"{configs}/{config['id']}"
    named_config = {"name": name, "pushNotificationConfig": config}
    return {"parent": configs.rpartition("/")[0], "configId": config["id"], "config": named_config}


# -- what the wires differ in --------------------------------------------------------------------------------


def _part_03(content: str | Mapping[str, Any]) -> Json:
    if isinstance(content, str):
        return {"kind": "text", "text": content}
    return {"kind": "data", "data": dict(content)}


def _part_10(content: str | Mapping[str, Any]) -> Json:
    if isinstance(content, str):
        return {"text": content}
    return {"data": dict(content), "mediaType": "application/json"}


def _file_part_03(file: GivenFile) -> Json:
    content = {"uri": file.url} if file.url else {"bytes": file.content}
    return {"kind": "file", "file": {"name": file.name, "mimeType": file.media_type, **content}}


def _file_part_10(file: GivenFile) -> Json:
    content = {"url": file.url} if file.url else {"raw": file.content}
    return {**content, "filename": file.name, "mediaType": file.media_type}


def _push_03(config: Json) -> Json:
    authentication = {"schemes": ["Bearer"], "credentials": config["token"]}
    return {"pushNotificationConfig": config | {"authentication": authentication}}


def _push_10(config: Json) -> Json:
    return config | {"authentication": {"scheme": "Bearer", "credentials": config["token"]}}


@dataclass(frozen=True, slots=True)
class _Format:
    """How one wire writes what its calls carry. `_METHODS` has the names of its methods.

    - `part`: makes a part of text or data; `file_part`: of bytes or an address (facts: A2A 1.4).
    - `waiting`: lets a call wait for the whole answer.
    - `push`: the address for news; `push_ids`: the names of task and address in the call that deletes it.
    - `rest_prefix`, `card_path`: paths of HTTP+JSON. `rest_body`: writes the parameters for a path.
    """

    message: Json
    part: Callable[[str | Mapping[str, Any]], Json]
    file_part: Callable[[GivenFile], Json]
    waiting: Json
    push: Callable[[Json], Json]
    push_ids: tuple[str, str]
    extension_headers: tuple[str, ...]
    rest_prefix: str
    card_path: str
    rest_body: Callable[[str, Json], Json]


_FORMATS: Mapping[Wire, _Format] = {
    "0.3": _Format(
        message={"kind": "message", "role": "user"},
        part=_part_03,
        file_part=_file_part_03,
        waiting={"blocking": True},
        push=_push_03,
        push_ids=("id", "pushNotificationConfigId"),
        extension_headers=("A2A-Extensions", "X-A2A-Extensions"),
        rest_prefix="/v1",
        card_path="/card",
        rest_body=_proto_body,
    ),
    "1.0": _Format(
        message={"role": "ROLE_USER"},
        part=_part_10,
        file_part=_file_part_10,
        waiting={"returnImmediately": False},
        push=_push_10,
        push_ids=("taskId", "id"),
        extension_headers=("A2A-Extensions",),
        rest_prefix="",
        card_path="/extendedAgentCard",
        rest_body=lambda _, params: params,
    ),
}
