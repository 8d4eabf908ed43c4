"""The agents of one bot by their names."""

from __future__ import annotations

from contextlib import AsyncExitStack

from slack_bot.errors import AgentUnreachable
from slack_bot.settings.agents import AgentEntry, AgentTable, RoutingSettings
from tests.agents_of import agents_of

TWO = AgentTable(
    {name: AgentEntry(url=f"http://{name}.invalid/") for name in ("default", "ops")},
    RoutingSettings(default="ops"),
    are_listed=True,
)


async def test_each_is_found_by_its_name_and_the_settings_say_which_is_the_default() -> None:
    async with AsyncExitStack() as closers:
        agents = await agents_of(closers, TWO)
        assert [each.name for each in agents] == ["default", "ops"]
        assert (agents.default.name, agents.are_several) == ("ops", True)
        assert agents.get("ops") is agents.default
        assert agents.get("sales") is None


async def test_what_is_stored_of_an_agent_has_its_name_and_of_the_default_one_its_address() -> None:
    async with AsyncExitStack() as closers:
        agents = await agents_of(closers, TWO)
        keys = [agents.key_of(name) for name in ("default", "ops", "sales")]
        assert keys == ["http://default.invalid", "ops", "sales"]


async def test_readers_of_a_removed_agent_s_thread_get_the_names_of_the_others() -> None:
    async with AsyncExitStack() as closers:
        said = (await agents_of(closers, TWO)).words_without("sales")
        assert said.startswith("sales is not one of my agents any more. To ask default or ops, mention me")


async def test_the_log_names_each_of_several_agents_and_tells_its_address_once() -> None:
    lost = AgentUnreachable("nothing answers; check SLACK_BOT_AGENT__CONNECT_TIMEOUT or A2A_AGENT_URL")
    async with AsyncExitStack() as closers:
        agents = await agents_of(closers, TWO)
        assert list(map(agents.label, agents)) == [
            "default at http://default.invalid", "ops at http://ops.invalid",
        ]  # fmt: skip
        assert [each.why(lost) for each in agents] == [
            lost.brief,
            "ops: nothing answers; check SLACK_BOT_AGENTS__OPS__CONNECT_TIMEOUT or agents.ops.url",
        ]
        (only,) = alone = await agents_of(
            closers, AgentTable({"default": AgentEntry(url="http://a.invalid/")})
        )
        assert alone.label(only) == "http://a.invalid"
