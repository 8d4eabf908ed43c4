"""An agent that can only be asked in ways that the bot does not speak: that is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from slack_bot.observe.health import HealthCheck
from slack_bot.testing.harness import run_bot
from slack_bot.testing.virtual_clock import on_virtual_time


class Card(httpx.AsyncBaseTransport):
    """Before the agent: another card."""

    def __init__(self, inner: httpx.AsyncBaseTransport, changes: dict[str, Any]) -> None:
        self.inner, self.changes = inner, changes

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self.inner.handle_async_request(request)
        if request.method == "POST":
            return response
        return httpx.Response(
            200, json={**json.loads(await response.aread()), **self.changes}, request=request
        )


def with_card(changes: dict[str, Any]) -> Callable[[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport]:
    return lambda inner: Card(inner, changes)


@pytest.mark.parametrize("binding", ["SLIM", "GRPC"])
@pytest.mark.parametrize("is_old", [True, False])
@on_virtual_time
async def test_it_is_said_without_an_offer_to_try_again(binding: str, is_old: bool) -> None:
    face = {"url": "http://agent.invalid/", "protocolBinding": binding, "protocolVersion": "1.0"}
    changes: dict[str, Any] = {"preferredTransport": binding}
    if not is_old:
        changes["supportedInterfaces"] = [face]
    async with run_bot(through=with_card(changes)) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        shown = str(bot.thread(root)[-1])
        assert bot.outcomes == ["refused"]
        assert f"The agent can only be asked over {binding}, which I do not speak." in shown
        assert "Try again" not in shown and "right now" not in shown
        checks = bot.app.health.body()["checks"]
        assert isinstance(checks, dict)
        problem = f"The agent's card offers {binding} only, and the bot speaks JSON-RPC and HTTP+JSON."
        assert checks[HealthCheck.AGENT] == problem
        assert not bot.agent.questions
