"""A language model behind any endpoint that speaks OpenAI's chat completions, streamed.

A request is repeated a few times, but only before the first text: later text is on its way to the reader.
Errors name no address and no key, and quote nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...agents.wire import sse
from ...errors import AgentError
from ...http_client import AsyncBaseTransport, AsyncClient, HTTPError, InvalidURL, Response, shared_tls
from ...settings.models import ReferenceSettings
from .scenarios import STATUSES
from .structured import whole_characters
from .toolbox import ASK, FETCH, PLAN, RESPONSE, SEARCH, ModelFailed, Prompt, Returned, ToolCall

_PAUSES = (0.5, 2.0)  # seconds before each further attempt
_AGAIN = frozenset({408, 409, 429, 500, 502, 503, 504})
_MOST_BYTES = 4 * 1024 * 1024  # of one chunk
_MOST_LINES = 50_000  # of one event

log = logging.getLogger("slack_bot.reference")
Json = dict[str, Any]


class _Unlucky(Exception):
    """Nothing was said yet, so it may be tried again."""


def endpoint_client(settings: ReferenceSettings, transport: AsyncBaseTransport | None = None) -> AsyncClient:
    """An HTTP client with the key and the patience of `settings`. `transport` replaces the network."""
    key = settings.model_key.get_secret_value() if settings.model_key else ""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = settings.model_timeout
    return AsyncClient(verify=shared_tls(), transport=transport, headers=headers, timeout=timeout)


class EndpointModel:
    """The model that `settings` name, asked over `http`, of which it keeps the conversation."""

    def __init__(self, http: AsyncClient, settings: ReferenceSettings, prompt: Prompt) -> None:
        self._http, self._settings = http, settings
        is_structured = settings.response_mode == "structured"
        self._messages = opening(prompt, is_structured=is_structured)
        self._tools = [_SEARCH, _FETCH, _PLAN, _RESPONSE if is_structured else _ASK]
        self._said = ""

    async def turn(self, returned: Returned) -> AsyncIterator[str | ToolCall]:
        if returned:
            self._add(returned)
        deltas = Deltas()
        for pause in (*_PAUSES, None):
            try:
                async for said in self._attempt(deltas):
                    yield said
                break
            except _Unlucky as unlucky:
                if pause is None:
                    raise ModelFailed(f"The language model {unlucky}.") from None
                await asyncio.sleep(pause)
        self._said = "".join(deltas.text)

    def _add(self, returned: Returned) -> None:
        calls, results = list[Json](), list[Json]()
        for call, result in returned:
            function = {"name": call.tool, "arguments": call.arguments or "{}"}
            calls.append({"id": call.id, "type": "function", "function": function})
            results.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
        message = {"role": "assistant", "content": self._said or None, "tool_calls": calls}
        self._messages += [message, *results]

    async def _attempt(self, deltas: Deltas) -> AsyncIterator[str | ToolCall]:
        settings = self._settings
        url = f"{(settings.model_url or '').rstrip('/')}/chat/completions"
        asked = {"model": settings.model_name, "messages": self._messages, "tools": self._tools}
        idle = settings.model_timeout
        try:
            async with self._http.stream("POST", url, json={**asked, "stream": True}) as response:
                _check(response)
                events = sse.events(response, _MOST_BYTES, _MOST_LINES)
                while True:
                    async with asyncio.timeout(idle):
                        event = await anext(events, None)
                    if event is None:
                        return
                    data = event.data or ""
                    if data.strip() == "[DONE]":
                        return
                    for said in deltas.feed(data):
                        yield said
        except (HTTPError, InvalidURL, AgentError, TimeoutError) as error:
            log.warning("the language model's endpoint: %s", type(error).__name__)
            if deltas.is_empty:
                raise _Unlucky("cannot be reached") from error
            raise ModelFailed("The connection to the language model broke in the middle.") from error


def _check(response: Response) -> None:
    """Raises _Unlucky where another attempt may help, ModelFailed where none will."""
    if response.is_success:
        return
    log.warning("the language model's endpoint answered HTTP %d", response.status_code)
    if response.status_code in _AGAIN:
        raise _Unlucky(f"refused the request (HTTP {response.status_code})")
    raise ModelFailed(f"The language model refused the request (HTTP {response.status_code}).")


class Deltas:
    """The chunks of one message, in their order."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self._calls: dict[object, ToolCall] = {}  # how each call began, by its index or its id
        self._latest: object = None

    @property
    def is_empty(self) -> bool:
        return not self.text and not self._calls

    def feed(self, data: str) -> Iterator[str | ToolCall]:
        """What one chunk says. Raises ModelFailed where it is an error or cannot be read."""
        delta = _delta(data)
        calls = delta.get("tool_calls")
        for part in calls if isinstance(calls, list) else []:
            if isinstance(part, Mapping) and (said := self._part(part)) is not None:
                yield said
        text = delta.get("content")
        if isinstance(text, str) and text:
            self.text.append(whole_characters(text))
            yield self.text[-1]

    def _part(self, part: Mapping[str, Any]) -> ToolCall | None:
        key = part.get("index")
        self._latest = key = part.get("id") or self._latest if key is None else key
        said = part.get("function")
        function = said if isinstance(said, Mapping) else {}
        name = function.get("name")
        if key not in self._calls:
            if not name:
                return None  # a piece of a call that never began
            self._calls[key] = ToolCall(str(part.get("id") or f"call-{len(self._calls) + 1}"), str(name))
        return replace(self._calls[key], arguments=whole_characters(str(function.get("arguments") or "")))


def _delta(data: str) -> Mapping[str, Any]:
    try:
        chunk = json.loads(data)
    except (ValueError, RecursionError):
        raise ModelFailed("The language model sent something that cannot be read.") from None
    if not isinstance(chunk, dict) or chunk.get("error"):
        raise ModelFailed("The language model broke off with an error.")
    choices = chunk.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    delta = first.get("delta") if isinstance(first, dict) else None
    return delta if isinstance(delta, dict) else {}


# -- the prompt, and the tools as chat completions want them -------------------------------------------------

_BASE = (
    "You answer questions from a small knowledge base. Search it before you answer a question about it, and"
    " read what you found. For work of several steps keep a plan with write_todos. A tool that says that its"
    " limit is reached is not to be called again; the others still are. Write Markdown."
)
_MARKED = (
    " Say in a short sentence what you do before you do it. When you have all you need, write"
    " [FINAL ANSWER] on a line of its own and then the answer, and nothing else. Never write the marker for"
    " another reason. If you still call a tool behind it, write the marker again before you go on with the"
    " answer. Ask the human, where you must, with ask_human."
)
_STRUCTURED = (
    " Give your answer by calling PlatformEngineerResponse, once, as the last thing you do; its content is"
    " all that the reader sees. If you must ask the human, set require_user_input, write the question as"
    " content, and name what you need in metadata.input_fields."
)
_SKILLS = {"deep-research": " Search from several sides before you answer, and read every page that fits."}


def opening(prompt: Prompt, *, is_structured: bool) -> list[Json]:
    """The messages that a conversation begins with."""
    system = _BASE + (_STRUCTURED if is_structured else _MARKED) + _SKILLS.get(prompt.skill, "")
    messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt.question}]
    if prompt.reply is not None:
        messages.append({"role": "assistant", "content": prompt.asked})
        messages.append({"role": "user", "content": prompt.reply})
    return messages


def _object(required: str, /, **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": required.split()}


def _tool(name: str, about: str, required: str, /, **properties: Json) -> Json:
    parameters = _object(required, **properties)
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


def _list_of(items: Json) -> Json:
    return {"type": "array", "items": items}


_STRING: Json = {"type": "string"}
_TRUTH: Json = {"type": "boolean"}
_FIELDS = _list_of(
    _object(
        "field_name field_description",
        field_name=_STRING,
        field_description=_STRING,
        field_values=_list_of(_STRING),
        required=_TRUTH,
    )
)
_TODOS = _list_of(_object("title status", title=_STRING, agent=_STRING, status={"enum": [*STATUSES]}))
_DONE: Json = {"type": "string", "description": "When all is done: what was done, in a few words."}

_SEARCH = _tool(SEARCH, "Find sections of the knowledge base.", "query", query=_STRING)
_FETCH = _tool(FETCH, "Read a whole page of the knowledge base by its name.", "name", name=_STRING)
_PLAN = _tool(PLAN, "Show the whole plan as it now stands.", "todos", todos=_TODOS, title=_DONE)
_ASK = _tool(ASK, "Ask the human and wait for the answer.", "prompt", prompt=_STRING, input_fields=_FIELDS)
_RESPONSE = _tool(
    RESPONSE,
    "Give the answer.",
    "is_task_complete require_user_input content",
    is_task_complete=_TRUTH,
    require_user_input=_TRUTH,
    was_task_successful=_TRUTH,
    content=_STRING,
    metadata={"type": "object", "properties": {"user_input": _TRUTH, "input_fields": _FIELDS}},
)
