"""PURE. What the bot keeps of threads and agents: contexts, overheard messages, forms, learned facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from ..turn.open_form import OpenForm
from ..turn.quotes import Heard, ThreadMessage
from ..turn.record import ThreadKey
from ..turn.thread_state import ThreadState
from .collection import Collection, CollectionStore, KeptPerson, Key

MOST_WAITS = 20


@dataclass(frozen=True, slots=True)
class AgentContext:
    """What the bot knows of one thread with one agent.

    `context_id` is A2A's. `waits` maps each person from whom the agent wants an answer to the id of the task
    that asked, the oldest first; the person "" means that anyone may answer. `heard`: which messages of the
    thread the agent has got (`turn/quotes.py`).
    """

    context_id: str | None = None
    waits: Mapping[str, str] = field(default_factory=dict, hash=False)
    heard: Heard = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "waits", MappingProxyType(dict(self.waits)))

    def task_for(self, user: str) -> str | None:
        return self.waits.get(user, self.waits.get(""))

    def asked(self, user: str, task_id: str) -> AgentContext:
        """A copy in which `task_id` waits for `user`. Above `MOST_WAITS` people the oldest is dropped."""
        others = [each for each in self.waits.items() if each[0] != user and each != ("", task_id)]
        return replace(self, waits=dict([*others, (user, task_id)][-MOST_WAITS:]))

    def answered(self, user: str) -> AgentContext:
        who = user if user in self.waits else ""
        return self.without(who)

    def without(self, user: str) -> AgentContext:
        """A copy in which the agent does not wait for `user`."""
        return replace(self, waits={each: task for each, task in self.waits.items() if each != user})


@dataclass(frozen=True, slots=True)
class KeptWait:
    """The record in a person's export that says: this agent waits for an answer of this person."""

    agent: str
    thread: ThreadKey
    task_id: str


def workspace_name(team: str) -> str:
    """The key of a workspace's facts in `PROFILES`, where an agent has its name."""
    return f"workspace {team}"


def _thread_behind(key: Key) -> ThreadKey:
    """The thread of a key that begins with the name of an agent."""
    return ThreadKey(*key[1:4])


def _waited_for(key: Key, agent_context: AgentContext) -> Iterable[KeptPerson]:
    return [KeptPerson(user, _thread_behind(key).team) for user in agent_context.waits if user]


CONVERSATIONS = Collection(
    "conversations",
    AgentContext,
    age=lambda ages: ages.conversations,
    thread=lambda key, _: _thread_behind(key),
    people=_waited_for,
    without=lambda context, user: context.without(user),
    is_of_turns=True,
    view=lambda key, context, user: KeptWait(key[0], _thread_behind(key), context.waits[user]),
    label="open questions of an agent",
)
"""By agent and thread. A person can export or erase only that an agent waits for them."""


OWN_CONVERSATIONS = Collection(
    "own_conversations",
    AgentContext,
    age=lambda ages: ages.conversations,
    thread=lambda key, _: _thread_behind(key),
    people=lambda key, _: [KeptPerson(key[4], key[1])],
    is_of_turns=True,
    label="conversations with an agent that must know who asks",
)
"""By agent, thread and person: where an agent gets tokens of people, each has a conversation of their own."""


async def conversation(
    store: CollectionStore, agent: str, thread: ThreadKey, owner: str = ""
) -> AgentContext:
    """Read what is known of a thread with `agent`; empty if that is nothing. Raises StoreError.

    `owner`: the person whose conversation it is, if not all who ask there have the same one.
    """
    collection, key = _place_of(agent, thread, owner)
    return await store.get(collection, key) or AgentContext()


async def save_conversation(
    store: CollectionStore,
    agent: str,
    thread: ThreadKey,
    agent_context: AgentContext,
    now: float,
    owner: str = "",
) -> None:
    """Replace what is known of a thread with `agent`. Raises StoreError."""
    collection, key = _place_of(agent, thread, owner)
    await store.change(collection, key, lambda _: agent_context, now)


def _place_of(agent: str, thread: ThreadKey, owner: str) -> tuple[Collection[AgentContext], Key]:
    key = agent, *thread.parts
    return (OWN_CONVERSATIONS, (*key, owner)) if owner else (CONVERSATIONS, key)


PROFILES: Collection[dict[str, str]] = Collection(
    "profiles", dict[str, str], label="what was learned of agents and workspaces"
)
"""Facts by name that were learned about an agent, or about a workspace (`workspace_name`)."""


class Profiles:
    """Reads and writes the learned facts in a store. Methods raise StoreError."""

    def __init__(self, store: CollectionStore) -> None:
        self._store = store

    async def profile(self, agent: str) -> dict[str, str]:
        """All facts that were learned about `agent`, by name."""
        facts = await self._store.get(PROFILES, (agent,))
        return dict(facts or {})

    async def save_fact(self, agent: str, name: str, value: str, now: float) -> None:
        """Store one fact about `agent` in place of an older one."""
        await self._store.change(PROFILES, (agent,), lambda facts: (facts or {}) | {name: value}, now)


OVERHEARD = Collection(
    "overheard",
    ThreadMessage,
    age=lambda ages: ages.overheard,
    since=lambda message: float(message.ts),
    thread=lambda key, _: ThreadKey(*key[:3]),
    people=lambda key, message: [KeptPerson(message.author, key[0])],
    by_thread=True,
    label="overheard messages",
)
"""Messages in threads with the bot, of channels that the bot cannot read later: by thread and `ts`."""


async def overheard(store: CollectionStore, thread: ThreadKey) -> list[ThreadMessage]:
    """The kept messages of a thread, the oldest first. Raises StoreError."""
    return await store.in_thread(OVERHEARD, thread)


async def overhear(
    store: CollectionStore,
    thread: ThreadKey,
    message: ThreadMessage,
    most: int,
    now: float,
    *,
    is_change: bool = False,
) -> None:
    """Keep a message of a thread once. Above `most` messages the oldest are dropped. Raises StoreError.

    `is_change`: the message was edited, so it replaces the kept one. An original that arrives after its edit
    is ignored.
    """

    def put(kept_message: ThreadMessage | None) -> ThreadMessage | None:
        return message if is_change or kept_message is None else None

    result = await store.change(OVERHEARD, (*thread.parts, message.ts), put, now)
    if result.before is None:
        surplus = (await overheard(store, thread))[:-most]
        await store.remove(OVERHEARD, *((*thread.parts, each.ts) for each in surplus))


def _thread_of_key(key: Key, _record: object) -> ThreadKey:
    return ThreadKey(*key)


@dataclass(frozen=True, slots=True)
class ThreadAgent:
    """The name of the agent to which a thread belongs."""

    agent: str


THREAD_AGENTS = Collection(
    "thread_agents",
    ThreadAgent,
    age=lambda ages: ages.conversations,
    thread=_thread_of_key,
    label="threads that belong to one of several agents",
)
"""By thread, where a bot has several agents."""


THREADS = Collection(
    "threads",
    ThreadState,
    age=lambda ages: ages.conversations,
    thread=_thread_of_key,
    people=lambda key, state: [KeptPerson(state.asker, key[0])],
    label="threads listened to",
)
"""Threads in which the bot answers without a mention, and the person it answers there: by thread."""


def _people_of_form(_: Key, form: OpenForm) -> list[KeptPerson]:
    return [KeptPerson(user, form.thread.team) for user in (form.user, form.ended_by) if user]


FORMS = Collection(
    "forms",
    OpenForm,
    age=lambda ages: ages.forms,
    since=lambda form: form.opened_at,
    thread=lambda _, form: form.thread,
    people=_people_of_form,
    by_thread=True,
    by_person=True,
    label="forms",
)
"""The forms that agents asked for: by handle."""


async def open_form(store: CollectionStore, form: OpenForm, now: float) -> None:
    """Store a form, or replace it while it is open (`OpenForm.put`). Raises StoreError."""
    await store.change(
        FORMS, (form.handle,), lambda stored: form if stored is None else stored.put(form), now
    )


async def form_of(store: CollectionStore, handle: str) -> OpenForm | None:
    """The form with this handle; None if it was never stored or has expired. Raises StoreError."""
    return await store.get(FORMS, (handle,))


async def forms_in(store: CollectionStore, thread: ThreadKey) -> list[OpenForm]:
    """The forms of a thread, the oldest first. Raises StoreError."""
    return await store.in_thread(FORMS, thread)


async def open_forms_of(store: CollectionStore, user: str, team: str) -> list[OpenForm]:
    """The forms that `user` was asked to fill in and that are still open, the oldest first.

    Raises StoreError.
    """
    forms = await store.of_person(FORMS, KeptPerson(user, team))
    return [form for form in forms if form.is_open and form.user == user]


async def take_form(
    store: CollectionStore, handle: str, taken_by: str, user: str, now: float
) -> OpenForm | None:
    """End a form if it is open (`OpenForm.taken`). Returns the stored form, or None if there is none.

    `taken_by`: the key of the question that answers it or of the turn that no longer needs it, or "stop".
    `user`: who ended it. `now`: seconds since 1970. Raises StoreError.
    """
    result = await store.change(FORMS, (handle,), lambda form: form and form.taken(taken_by, user, now), now)
    return result.after


KNOWLEDGE: Sequence[Collection[Any]] = (
    CONVERSATIONS,
    OWN_CONVERSATIONS,
    OVERHEARD,
    FORMS,
    THREADS,
    THREAD_AGENTS,
    PROFILES,
)
"""These collections, in the order in which they are counted and exported."""
