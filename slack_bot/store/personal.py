"""PURE. Exports and erases what is kept of a person, in loops over all collections."""

from __future__ import annotations

from typing import Any

from .collection import Collection, Key
from .contracts import Count, ErasureResult, PersonalData, PersonRecords


async def records_of(store: PersonalData, user: str, team: str | None) -> PersonRecords:
    """All that is kept of `user`; with `team`, only in that workspace. Raises StoreError."""
    turns = await store.turns_of(user, team)
    events = [event for turn in turns for event in await store.events(turn.key)]
    records = {}
    for collection in store.collections:
        entries, view = await _of_person(store, collection, user, team), collection.view
        views = tuple(view(*each, user) if view is not None else each[1] for each in entries)
        if views:
            records[collection.name] = views
    return PersonRecords(tuple(turns), tuple(events), records)


async def erase(store: PersonalData, user: str, team: str | None) -> ErasureResult:
    """Erase what is kept of `user`, except what a running turn still needs.

    With `team`, only in that workspace. Raises StoreError.
    """
    entries = [
        (collection, key)
        for collection in store.collections
        for key, _ in await _of_person(store, collection, user, team)
    ]
    turns, running = await store.erase_turns(user, team)
    counts: dict[str, int] = {}
    for collection, key in entries:
        keys_in_use = await store.erase_record(collection, key, user)
        if keys_in_use is None:
            counts[collection.name] = counts.get(collection.name, 0) + 1
        running += keys_in_use or ()
    await store.finish_erasure(user, team)
    return ErasureResult(turns, tuple(dict.fromkeys(running)), counts)


async def counts_of(store: PersonalData) -> list[Count]:
    """Count the records of each collection; by state, if the collection has states. Raises StoreError."""
    counts = []
    for collection in store.collections:
        if collection.state is None:
            counts.append(await store.count(collection))
            continue
        times: dict[str, list[float]] = {}
        async for _, record in store.records(collection):
            times.setdefault(collection.state(record), []).append(collection.time(record) or 0.0)
        counts += [
            Count(f"{collection.name}: {state}", len(each), min(each), max(each))
            for state, each in sorted(times.items())
        ]
    return counts


async def _of_person(
    store: PersonalData, collection: Collection[Any], user: str, team: str | None
) -> list[tuple[Key, Any]]:
    entries = [each async for each in store.records(collection) if collection.is_about(*each, user, team)]
    return sorted(entries, key=lambda each: collection.order(*each))
