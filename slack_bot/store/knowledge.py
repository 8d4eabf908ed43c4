"""PURE. What is kept of threads and of agents: contexts, who is heard, what was said, forms, facts."""

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
    """What is known of a thread with one agent.

    `waits`: each person whose answer the agent waits for, to the id of the task that asked, in this order.
    "" is whoever answers first. `heard`: what was said there that it knows (`turn.quotes`).
    """

    context_id: str | None = None
    waits: Mapping[str, str] = field(default_factory=dict, hash=False)
    heard: Heard = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "waits", MappingProxyType(dict(self.waits)))

    def task_for(self, user: str) -> str | None:
        return self.waits.get(user, self.waits.get(""))

    def asked(self, user: str, task_id: str) -> AgentContext:
        """The same while `task_id` waits for `user`. Of too many people the first is dropped."""
        others = [each for each in self.waits.items() if each[0] != user and each != ("", task_id)]
        return replace(self, waits=dict([*others, (user, task_id)][-MOST_WAITS:]))

    def answered(self, user: str) -> AgentContext:
        who = user if user in self.waits else ""
        return self.without(who)

    def without(self, user: str) -> AgentContext:
        """The same if the agent does not wait for `user`."""
        return replace(self, waits={each: task for each, task in self.waits.items() if each != user})


@dataclass(frozen=True, slots=True)
class KeptWait:
    """An agent waits for a person."""

    agent: str
    thread: ThreadKey
    task_id: str


def workspace_name(team: str) -> str:
    """Stands in the place of an agent's name."""
    return f"workspace {team}"


def _thread_behind(key: Key) -> ThreadKey:
    """The thread in a key, behind the name of an agent."""
    return ThreadKey(*key[1:4])


def _waited_for(key: Key, known: AgentContext) -> Iterable[KeptPerson]:
    return [KeptPerson(user, _thread_behind(key).team) for user in known.waits if user]


CONVERSATIONS = Collection(
    "conversations",
    AgentContext,
    age=lambda ages: ages.conversations,
    thread=lambda key, _: _thread_behind(key),
    people=_waited_for,
    without=lambda known, user: known.without(user),
    is_of_turns=True,
    view=lambda key, known, user: KeptWait(key[0], _thread_behind(key), known.waits[user]),
    label="open questions of an agent",
)
"""By agent and thread. A person is given, or erased, that an agent waits for them."""


async def conversation(store: CollectionStore, agent: str, thread: ThreadKey) -> AgentContext:
    """What is known of a thread. Raises StoreError."""
    return await store.get(CONVERSATIONS, (agent, *thread.parts)) or AgentContext()


async def save_conversation(
    store: CollectionStore, agent: str, thread: ThreadKey, known: AgentContext, now: float
) -> None:
    """Replace what is known of a thread. Raises StoreError."""
    await store.change(CONVERSATIONS, (agent, *thread.parts), lambda _: known, now)


PROFILES: Collection[dict[str, str]] = Collection("profiles", dict[str, str])
"""What was learned about an agent, or a workspace (`workspace_name`): facts by name."""


class Profiles:
    """The profiles of a store. Errors are StoreError."""

    def __init__(self, store: CollectionStore) -> None:
        self._store = store

    async def profile(self, agent: str) -> dict[str, str]:
        """What was learned about `agent`, by name."""
        known = await self._store.get(PROFILES, (agent,))
        return dict(known or {})

    async def save_fact(self, agent: str, name: str, value: str, now: float) -> None:
        """Replace one fact of these."""
        await self._store.change(PROFILES, (agent,), lambda known: (known or {}) | {name: value}, now)


OVERHEARD = Collection(
    "overheard",
    ThreadMessage,
    age=lambda ages: ages.overheard,
    since=lambda said: float(said.ts),
    thread=lambda key, _: ThreadKey(*key[:3]),
    people=lambda key, said: [KeptPerson(said.author, key[0])],
    by_thread=True,
    label="overheard messages",
)
"""What was said in threads with the bot, where it cannot be read later: by thread and `ts`."""


async def overheard(store: CollectionStore, thread: ThreadKey) -> list[ThreadMessage]:
    """What is kept of a thread, the oldest first. Raises StoreError."""
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
    """Keep a message, once. Of more than `most` of a thread the oldest are dropped. Raises StoreError.

    `is_change`: in place of what it was, also if that comes later.
    """

    def put(known: ThreadMessage | None) -> ThreadMessage | None:
        return message if is_change or known is None else None

    changed = await store.change(OVERHEARD, (*thread.parts, message.ts), put, now)
    if changed.before is None:
        surplus = (await overheard(store, thread))[:-most]
        await store.remove(OVERHEARD, *((*thread.parts, each.ts) for each in surplus))


THREADS = Collection(
    "threads",
    ThreadState,
    age=lambda ages: ages.conversations,
    thread=lambda key, _: ThreadKey(*key),
    people=lambda key, state: [KeptPerson(state.asker, key[0])],
    label="threads listened to",
)
"""Whose words in a thread are questions without a mention: by thread."""


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
"""By handle."""


async def open_form(store: CollectionStore, form: OpenForm, now: float) -> None:
    """Store a form, or replace it while it is open (`OpenForm.put`). Raises StoreError."""
    await store.change(FORMS, (form.handle,), lambda known: form if known is None else known.put(form), now)


async def form_of(store: CollectionStore, handle: str) -> OpenForm | None:
    """The form with this handle; None: it is not kept, or no longer. Raises StoreError."""
    return await store.get(FORMS, (handle,))


async def forms_in(store: CollectionStore, thread: ThreadKey) -> list[OpenForm]:
    """Those of a thread, the oldest first. Raises StoreError."""
    return await store.in_thread(FORMS, thread)


async def open_forms_of(store: CollectionStore, user: str, team: str) -> list[OpenForm]:
    """Those without an answer that `user` was asked, the oldest first. Raises StoreError."""
    theirs = await store.of_person(FORMS, KeptPerson(user, team))
    return [form for form in theirs if form.is_open and form.user == user]


async def take_form(store: CollectionStore, handle: str, by: str, user: str, at: float) -> OpenForm | None:
    """End a form, if it is open (`OpenForm.taken`). Returns it as it is then. Raises StoreError."""
    taken = await store.change(FORMS, (handle,), lambda known: known and known.taken(by, user, at), at)
    return taken.after


KNOWLEDGE: Sequence[Collection[Any]] = (CONVERSATIONS, OVERHEARD, FORMS, THREADS, PROFILES)
"""All of these, in the order in which they are counted and given."""
