"""The scripted agent on a real socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from .scripted import ConnectionCut, ScriptedAgent

_GRACE = 1.0  # seconds for streams that are still open when the server is stopped


def scripted_app(agent: ScriptedAgent) -> web.Application:
    """An aiohttp application that serves `agent` at every path."""

    async def serve(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        answer = await agent.handle(request.method, str(request.url), body, dict(request.headers.items()))
        response = web.StreamResponse(status=answer.status, headers=dict(answer.headers))
        await response.prepare(request)
        try:
            async for chunk in answer.body:
                if chunk:
                    await response.write(chunk)
        except ConnectionCut:
            if request.transport is not None:
                request.transport.abort()
            return response
        except ConnectionResetError:
            return response  # the reader went away; the task does not care
        await response.write_eof()
        return response

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", serve)
    return app


@asynccontextmanager
async def serve_scripted(agent: ScriptedAgent, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve `agent` in this event loop; yields its base URL. Port 0 takes a free one.

    Raises:
        OSError: the port is taken.
    """
    runner = web.AppRunner(
        scripted_app(agent), shutdown_timeout=_GRACE, handler_cancellation=True, access_log=None
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        yield f"http://{host}:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()
