"""A language model behind any endpoint that speaks OpenAI's chat completions, streamed.

A request is repeated a few times, but only before the first text: later text is on its way to the reader.
Errors name no address and no key, and quote nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

import httpx

from ...a2a.wire import sse
from ...errors import AgentError
from ...settings.models import ReferenceSettings
from .model import CallPart, ModelFailed, Prompt, Token, ToolCall, ToolReturn, Utterance
from .prompts import opening, tools

_PAUSES = (0.5, 2.0)  # seconds before each further attempt
_AGAIN = frozenset({408, 409, 429, 500, 502, 503, 504})
_MOST_BYTES = 4 * 1024 * 1024  # of one chunk

log = logging.getLogger("slack_bot.reference")


class _Unlucky(Exception):
    """Nothing was said yet, so it may be tried again."""


class EndpointModel:
    """The model that `settings` name. `transport` stands in for the network. Close it."""

    def __init__(
        self, settings: ReferenceSettings, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        key = settings.model_key.get_secret_value() if settings.model_key else ""
        self._settings = settings
        self._http = httpx.AsyncClient(
            transport=transport,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=settings.model_timeout,
        )

    def converse(self, prompt: Prompt) -> _Talk:
        """Begin a conversation."""
        return _Talk(self._http, self._settings, prompt)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


class _Talk:
    def __init__(self, http: httpx.AsyncClient, settings: ReferenceSettings, prompt: Prompt) -> None:
        self._http = http
        self._settings = settings
        self._mode = prompt.mode
        self._messages = opening(prompt)

    async def turn(self, returned: Sequence[ToolReturn]) -> AsyncIterator[Utterance]:
        """The next message. Raises ModelFailed."""
        self._messages += [
            {"role": "tool", "tool_call_id": each.call.id, "content": each.result.text} for each in returned
        ]
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
        self._messages.append(deltas.message())

    async def _attempt(self, deltas: Deltas) -> AsyncIterator[Utterance]:
        try:
            async with self._http.stream("POST", self._url, json=self._body()) as response:
                _check(response)
                async for event in sse.events(
                    response, idle=self._settings.model_timeout, max_event_bytes=_MOST_BYTES
                ):
                    data = event.data or ""
                    if data.strip() == "[DONE]":
                        return
                    for said in deltas.feed(data):
                        yield said
        except (httpx.HTTPError, httpx.InvalidURL, AgentError) as error:
            log.warning("the language model's endpoint: %s", type(error).__name__)
            if deltas.is_empty:
                raise _Unlucky("cannot be reached") from error
            raise ModelFailed("The connection to the language model broke in the middle.") from error

    @property
    def _url(self) -> str:
        return f"{(self._settings.model_url or '').rstrip('/')}/chat/completions"

    def _body(self) -> dict[str, Any]:
        return {
            "model": self._settings.model_name,
            "messages": self._messages,
            "tools": tools(self._mode),
            "stream": True,
        }


def _check(response: httpx.Response) -> None:
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
        self._text: list[str] = []
        self._calls: dict[object, ToolCall] = {}
        self._latest: object = None

    @property
    def calls(self) -> list[ToolCall]:
        """The calls so far."""
        return list(self._calls.values())

    @property
    def is_empty(self) -> bool:
        """Nothing was said yet."""
        return not self._text and not self._calls

    def message(self) -> dict[str, Any]:
        """The message as the endpoint wants it back."""
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.tool, "arguments": call.arguments or "{}"},
            }
            for call in self.calls
        ]
        text = "".join(self._text)
        return {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}

    def feed(self, data: str) -> Iterator[Token | CallPart]:
        """What one chunk says. Raises ModelFailed where it is an error or cannot be read."""
        delta = _delta(data)
        calls = delta.get("tool_calls")
        for part in calls if isinstance(calls, list) else []:
            if isinstance(part, Mapping) and (said := self._part(part)) is not None:
                yield said
        text = delta.get("content")
        if isinstance(text, str) and text:
            self._text.append(_whole(text))
            yield Token(_whole(text))

    def _part(self, part: Mapping[str, Any]) -> CallPart | None:
        key = part.get("index")
        key = part.get("id") or self._latest if key is None else key
        self._latest = key
        said = part.get("function")
        function = said if isinstance(said, Mapping) else {}
        name, arguments = function.get("name"), _whole(function.get("arguments") or "")
        known = self._calls.get(key)
        if known is None and not name:
            return None  # a piece of a call that never began
        call = known or ToolCall(str(part.get("id") or f"call-{len(self._calls) + 1}"), str(name), "")
        self._calls[key] = ToolCall(call.id, call.tool, call.arguments + arguments)
        return CallPart(call.id, call.tool, arguments)


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


def _whole(text: object) -> str:
    """Text without half surrogate pairs, which cannot go on a wire."""
    return str(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
