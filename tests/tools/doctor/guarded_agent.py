"""An agent that wants a token: anybody may read its card, nobody may call it without."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

UNKNOWN_TASK = {"code": -32001, "message": "Task not found"}


@asynccontextmanager
async def guarded_agent(token: str, *, is_said: bool) -> AsyncIterator[str]:
    """Its address. `is_said`: whether its card says that it wants one."""

    async def card(request: web.Request) -> web.Response:
        about = {
            "name": "Guarded",
            "description": "It wants a token.",
            "version": "1",
            "capabilities": {"streaming": True},
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [],
            "supportedInterfaces": [
                {"url": f"{request.url.origin()}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
            ],
        }
        scheme = {"bearer": {"httpAuthSecurityScheme": {"scheme": "bearer"}}}
        wanted = {"securitySchemes": scheme, "securityRequirements": [{"schemes": {"bearer": {"list": []}}}]}
        return web.json_response({**about, **wanted} if is_said else about)

    async def call(request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {token}":
            raise web.HTTPUnauthorized
        asked = await request.json()
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "error": UNKNOWN_TASK})

    app = web.Application()
    app.router.add_get("/.well-known/agent-card.json", card)
    app.router.add_post("/", call)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()
