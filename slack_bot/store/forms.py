"""PURE. Forms of agents in threads. They are kept until they are old, answered or not."""

from __future__ import annotations

from ..turn.open_form import OpenForm
from ..turn.record import ThreadKey
from .collection import Collection, CollectionStore, KeptPerson, Key


def _people(_: Key, form: OpenForm) -> list[KeptPerson]:
    return [KeptPerson(user, form.thread.team) for user in (form.user, form.ended_by) if user]


FORMS = Collection(
    "forms",
    OpenForm,
    age=lambda ages: ages.forms,
    since=lambda form: form.opened_at,
    thread=lambda _, form: form.thread,
    people=_people,
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
