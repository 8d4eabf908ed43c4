"""The way of a bot to its agent: what is answered is kept, and broken where that is wanted."""

from __future__ import annotations

import json

import httpx

from ..clock import Clock, loop_clock
from ..tools.capture.http_tap import rpc_call
from .recorder import Recorder


class ReplayRouter(httpx.AsyncBaseTransport):
    """An httpx transport over `network`.

    `recorder` keeps what was answered; it may be shared. `cut_after` breaks each answer's stream after so
    many events.
    """

    def __init__(
        self,
        network: httpx.AsyncBaseTransport,
        clock: Clock | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self._network = network
        self.recorder = recorder or Recorder((clock or loop_clock()).monotonic)
        self.cut_after: int | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Pass `request` on."""
        names = _names_in(await request.aread()) if request.method == "POST" else ()
        cut_after = self.cut_after  # as it was when the question was asked
        response = await self._network.handle_async_request(request)
        if (asked := rpc_call(request)) is None:
            return response
        cut = cut_after if asked.verb == "ask" else None
        return self.recorder.heard(response, asked.verb, asked.wire, names, cut)

    async def aclose(self) -> None:
        """Close the network's transport."""
        await self._network.aclose()


def _names_in(body: bytes) -> tuple[str, ...]:
    """The ids of the message and of the task that a call is about."""
    try:
        params = json.loads(body)["params"]
        message = params.get("message", {})
        names = message.get("messageId"), message.get("taskId"), params.get("id"), params.get("taskId")
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        return ()
    return tuple(name for name in names if isinstance(name, str))
