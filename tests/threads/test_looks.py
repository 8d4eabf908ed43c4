"""Which name and picture an agent's answers have: of the settings, of its card, or none of its own."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest

from slack_bot.agents.agents import Agents
from slack_bot.http_client import AsyncBaseTransport, Request, Response
from slack_bot.settings.agents import AgentEntry, AgentTable
from slack_bot.slack.look import Look
from slack_bot.threads.looks import look_of
from tests.agents_of import agents_of, only


class Cards(AsyncBaseTransport):
    """Each agent's card has this name and picture."""

    def __init__(self, name: str, icon: str = "") -> None:
        self._card = {
            "name": name,
            "description": "Helps.",
            "url": "http://agent.invalid/",
            "version": "1",
            "protocolVersion": "0.3.0",
            "preferredTransport": "JSONRPC",
            "capabilities": {"streaming": True},
            "skills": [],
            "iconUrl": icon,
        }

    async def handle_async_request(self, request: Request) -> Response:
        card = {**self._card, "url": f"http://{request.url.host}/"}
        return Response(200, json=card, request=request)


async def looks(closers: AsyncExitStack, cards: Cards, **entries: AgentEntry) -> Agents:
    agents = await agents_of(closers, AgentTable(entries, are_listed=True), cards)
    for each in agents:
        await each.ensure_card()
    return agents


def entry(host: str, **given: str) -> AgentEntry:
    return AgentEntry.model_validate({"url": f"http://{host}.invalid/", **given})


async def test_the_only_agent_answers_under_the_bot_s_own_name() -> None:
    async with AsyncExitStack() as closers:
        assert look_of(await agents_of(closers, only("http://agent.invalid/")), "default") is None


async def test_the_settings_count_then_the_card_then_the_name_in_the_settings() -> None:
    async with AsyncExitStack() as closers:
        cards = Cards("Research  \n desk", "https://desk.example/icon.png")
        agents = await looks(
            closers, cards, research=entry("research"), ops=entry("ops", name="Ops", icon=":wrench:")
        )
        picture = "https://desk.example/icon.png"
        assert look_of(agents, "research") == Look("Research desk", "", picture)
        assert look_of(agents, "ops") == Look("Ops", ":wrench:", picture)
        assert look_of(agents, "gone") == Look("gone")
        unread = await agents_of(closers, AgentTable({"research": entry("research")}, are_listed=True))
        assert look_of(unread, "research") == Look("research")


async def test_two_agents_with_one_name_are_told_apart() -> None:
    async with AsyncExitStack() as closers:
        agents = await looks(
            closers, Cards("Helper"), research=entry("research"), ops=entry("ops", name="helper")
        )
        assert look_of(agents, "research") == Look("Helper (research)")
        assert look_of(agents, "ops") == Look("helper (ops)")


@pytest.mark.parametrize(
    "icon", ["http://desk.example/i.png", "https://127.0.0.1/i.png", "javascript:alert(1)"]
)
async def test_a_picture_that_is_not_of_the_web_is_not_passed_on(icon: str) -> None:
    async with AsyncExitStack() as closers:
        agents = await looks(closers, Cards("<!channel> \u202egnp", icon), research=entry("research"))
        look = look_of(agents, "research")
        assert look is not None and look.icon_url == ""
        assert "\u202e" not in look.name
