"""Which agent a thread belongs to: the first to ask decides it, for all replicas."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.agents import Agents
from slack_bot.observe.health import Health
from slack_bot.settings.agents import AgentEntry, AgentTable
from slack_bot.store.knowledge import THREAD_AGENTS, AgentContext, Profiles, conversation, save_conversation
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.virtual_clock import new_clock, on_virtual_time
from slack_bot.threads.thread_agents import ThreadAgents
from slack_bot.turn.record import ThreadKey
from tests.agents_of import only

THREAD = ThreadKey("T1", "C1", "1.0")
NAMES = ("default", "ops", "research")
TWO = AgentTable({name: AgentEntry(url=f"http://{name}.invalid") for name in NAMES}, are_listed=True)


def at(store: MemoryStore, settings: AgentTable = TWO) -> ThreadAgents:
    """One process."""
    clock = new_clock()
    return ThreadAgents(store, Agents(settings, clock, Health(), Profiles(store)), clock)


@on_virtual_time
async def test_the_first_question_decides_also_for_another_process() -> None:
    store = MemoryStore()
    assert await at(store).of(THREAD) is None
    assert await at(store).pin(THREAD, "ops") == "ops"
    assert await at(store).pin(THREAD, "research") == "ops"
    assert await at(store).of(THREAD) == "ops"
    await at(store).save_context(THREAD, "U1", AgentContext("ctx"))
    assert await conversation(store, "ops", THREAD) == AgentContext("ctx")
    assert await at(store).context_of(THREAD, "U2") == AgentContext("ctx")


@on_virtual_time
async def test_an_agent_that_is_gone_from_the_settings_keeps_its_thread() -> None:
    store = MemoryStore()
    await at(store).pin(THREAD, "ops")
    rest = AgentTable({name: TWO.entries[name] for name in ("default", "research")}, are_listed=True)
    assert await at(store, rest).of(THREAD) == "ops"
    assert await at(store, rest).pin(THREAD, "research") == "ops"


@on_virtual_time
async def test_a_thread_that_the_default_agent_knows_is_its_own() -> None:
    store = MemoryStore()
    await save_conversation(store, "http://default.invalid", THREAD, AgentContext("ctx-1"), 0.0)
    assert await at(store).of(THREAD) == "default"
    assert await at(store).pin(THREAD, "ops") == "default"


@on_virtual_time
async def test_with_one_agent_nothing_is_stored() -> None:
    store = MemoryStore()
    alone = at(store, only("http://default.invalid"))
    assert await alone.pin(THREAD, None) == await alone.of(THREAD) == "default"
    await alone.save_context(THREAD, "U1", AgentContext("ctx"))
    assert await conversation(store, "http://default.invalid", THREAD) == AgentContext("ctx")
    assert await store.get(THREAD_AGENTS, THREAD.parts) is None


@given(st.lists(st.tuples(st.sampled_from("12"), st.sampled_from([None, *NAMES])), min_size=1))
@pytest.mark.parametrize("processes", [2])
def test_whoever_asks_in_whatever_order_a_thread_has_one_agent(
    processes: int, asked: list[tuple[str, str | None]]
) -> None:
    @on_virtual_time
    async def told() -> None:
        store = MemoryStore()
        each = {str(number + 1): at(store) for number in range(processes)}
        answers = [await each[process].pin(THREAD, name) for process, name in asked]
        assert set(answers) == {asked[0][1] or "default"}

    told()


@pytest.mark.parametrize(("is_shared", "of_other"), [(False, AgentContext()), (True, AgentContext("ctx"))])
@on_virtual_time
async def test_where_an_agent_is_told_who_asks_each_person_has_a_conversation(
    is_shared: bool, of_other: AgentContext
) -> None:
    entry = AgentEntry(url="http://default.invalid", identity="signed", shared_context=is_shared)
    alone = at(MemoryStore(), AgentTable({"default": entry}))
    await alone.save_context(THREAD, "U1", AgentContext("ctx"))
    assert await alone.context_of(THREAD, "U1") == AgentContext("ctx")
    assert await alone.context_of(THREAD, "U2") == of_other
