"""Which agent a thread belongs to. Its first question decides that, for good and for all replicas."""

from dataclasses import replace

from ..agents.agents import Agents
from ..clock import Clock
from ..store.collection import CollectionStore
from ..store.knowledge import (
    THREAD_AGENTS,
    AgentContext,
    ThreadAgent,
    conversation,
    save_conversation,
)
from ..turn.record import ThreadKey


class ThreadAgents:
    """Where the settings name one agent only, it has all threads, and nothing is stored."""

    def __init__(self, store: CollectionStore, agents: Agents, clock: Clock) -> None:
        self._store, self._agents = store, agents
        self._clock = clock

    async def of(self, thread: ThreadKey) -> str | None:
        """The name of the thread's agent; None before the first question. The settings may not have it any
        more. Raises StoreError.
        """
        default = self._agents.default_name
        if not self._agents.are_several:
            return default
        pinned = await self._store.get(THREAD_AGENTS, thread.parts)
        if pinned is not None:
            return pinned.agent
        # a thread that is older than the other agents
        known = await conversation(self._store, self._agents.key_of(default), thread)
        return default if known.context_id is not None or known.waits else None

    async def context_of(self, thread: ThreadKey, user: str) -> AgentContext:
        """What is known of the thread with its agent, for a question of `user`. Raises StoreError."""
        name = await self.of(thread) or self._agents.default_name
        owner = self._agents.owner_of(name, user)
        return await conversation(self._store, self._agents.key_of(name), thread, owner)

    async def save_context(self, thread: ThreadKey, user: str, agent_context: AgentContext) -> None:
        """Replace what is known of the thread with its agent, for questions of `user`. Raises StoreError."""
        name = await self.of(thread) or self._agents.default_name
        key, owner = self._agents.key_of(name), self._agents.owner_of(name, user)
        await save_conversation(self._store, key, thread, agent_context, self._clock.wall(), owner)

    async def begin_context(self, thread: ThreadKey, user: str, context_id: str) -> None:
        """Questions of `user` in the thread go on in this conversation with its agent, unless they have one.

        Raises StoreError.
        """
        known = await self.context_of(thread, user)
        if known.context_id is None:
            await self.save_context(thread, user, replace(known, context_id=context_id))

    async def move(self, old: ThreadKey, new: ThreadKey, user: str) -> None:
        """What is known of the thread `old` counts for `new`. Raises StoreError."""
        await self.pin(new, await self.of(old))
        await self.save_context(new, user, await self.context_of(old, user))

    async def pin(self, thread: ThreadKey, agent_name: str | None) -> str:
        """The thread's agent from now on: `agent_name`, or the default one, unless it has one already.

        Raises StoreError.
        """
        if not self._agents.are_several:
            return self._agents.default_name
        name = await self.of(thread) or agent_name or self._agents.default_name
        now = self._clock.wall()
        pinned = await self._store.change(
            THREAD_AGENTS, thread.parts, lambda before: before or ThreadAgent(name), now
        )
        return name if pinned.after is None else pinned.after.agent
