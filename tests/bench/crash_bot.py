"""`slack-bot run`, that kills itself at the n-th occurrence of a point: `python -m tests.bench.crash_bot`.

`CRASH_AT` is the point, `CRASH_NTH` the occurrence. Points are `before X`, `sent X` (all bytes of the request
are out) and `after X` (its answer has begun to come, and the bot does not know it). X is a method of Slack or
of the store, or `ask`, `reply` or `get` for a call to the agent. A save is named by what it keeps: `sending`
(the agent is asked next), `task` (its id is known), `message` (what Slack confirmed), `end`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from inspect import iscoroutinefunction
from typing import Any

import aiohttp
import httpx

from slack_bot import app, cli

_AGENT = {"message/send": "ask", "SendMessage": "ask", "message/stream": "ask", "SendStreamingMessage": "ask"}
_AGENT |= {"tasks/get": "get", "GetTask": "get"}


class Fuse:
    """Ends this process as SIGKILL does."""

    def __init__(self, point: str, nth: int) -> None:
        self._point, self._left = point, nth

    def pass_point(self, name: str) -> None:
        if name == self._point:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class FusedStore:
    """A store whose methods are points."""

    def __init__(self, fuse: Fuse, inner: Any) -> None:
        self._fuse, self._inner = fuse, inner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return partial(self._call, name, found) if iscoroutinefunction(found) else found

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """What counts an hour's questions asks for a `RedisStore`."""
        return type(self._inner)

    async def _call(self, name: str, method: Callable[..., Any], *args: Any, **options: Any) -> Any:
        name = _saved(*(record for record, _ in args)) if name == "save" else name
        self._fuse.pass_point(f"before {name}")
        result = await method(*args, **options)
        self._fuse.pass_point(f"after {name}")
        return result


def _saved(*records: Any) -> str:
    if any(record.ended_at is not None for record in records):
        return "end"
    if any(record.messages for record in records):
        return "message"
    return "task" if any(record.task_id is not None for record in records) else "sending"


class FusedTransport(httpx.AsyncHTTPTransport):
    """Calls to the agent are points."""

    def __init__(self, fuse: Fuse, **options: Any) -> None:
        super().__init__(**options)
        self._fuse = fuse

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        name = _name_of(request, await request.aread())

        async def trace(event: str, info: Any) -> None:
            if event == "http11.send_request_body.complete":
                self._fuse.pass_point(f"sent {name}")

        self._fuse.pass_point(f"before {name}")
        request.extensions = {**request.extensions, "trace": trace}
        response = await super().handle_async_request(request)
        self._fuse.pass_point(f"after {name}")
        return response


def _name_of(request: httpx.Request, body: bytes) -> str:
    if request.method != "POST":
        return ""
    call = json.loads(body)
    name = _AGENT.get(call["method"], "")
    return "reply" if name == "ask" and call["params"]["message"].get("taskId") else name


def slack_session(fuse: Fuse) -> aiohttp.ClientSession:
    """Calls to Slack are points."""

    async def before(_: Any, __: Any, params: aiohttp.TraceRequestStartParams) -> None:
        fuse.pass_point(f"before {params.url.name}")

    async def after(_: Any, __: Any, params: aiohttp.TraceRequestEndParams) -> None:
        fuse.pass_point(f"after {params.url.name}")

    tracing = aiohttp.TraceConfig()
    tracing.on_request_start.append(before)
    tracing.on_request_end.append(after)
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), trace_configs=[tracing])


def main() -> int:
    fuse = Fuse(os.environ.get("CRASH_AT", ""), int(os.environ.get("CRASH_NTH", "1")))
    build, open_store = app.build, app.open_store

    async def opened(*args: Any, **options: Any) -> Any:
        return FusedStore(fuse, await open_store(*args, **options))

    async def built(*args: Any, **options: Any) -> Any:
        async with AsyncExitStack() as stack:
            session = await stack.enter_async_context(slack_session(fuse))
            transport = FusedTransport(fuse)
            made = await build(*args, slack_session=session, http_transport=transport, **options)
            made.closers.push_async_callback(stack.pop_all().aclose)
            return made

    app.open_store, app.build = opened, built  # type: ignore[assignment]  # what `run` calls
    return cli.main(["run"])


if __name__ == "__main__":
    sys.exit(main())
