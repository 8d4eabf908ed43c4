"""PURE. What is kept of a person, given out or erased: loops over all collections."""

from __future__ import annotations

from typing import Any

from .collection import Collection, Key
from .contracts import Count, Erased, PersonalData, PersonRecords


async def records_of(store: PersonalData, user: str, team: str | None) -> PersonRecords:
    """All of it. `team`: only in this workspace. Raises StoreError."""
    turns = await store.turns_of(user, team)
    events = [event for turn in turns for event in await store.events(turn.key)]
    kept = {}
    for collection in store.collections:
        found, view = await _of_person(store, collection, user, team), collection.view
        of_them = tuple(view(*each, user) if view is not None else each[1] for each in found)
        if of_them:
            kept[collection.name] = of_them
    return PersonRecords(tuple(turns), tuple(events), kept)


async def erase(store: PersonalData, user: str, team: str | None) -> Erased:
    """Erase it, except what a running turn still needs. `team`: only in this workspace. Raises StoreError."""
    found = [
        (collection, key)
        for collection in store.collections
        for key, _ in await _of_person(store, collection, user, team)
    ]
    turns, running = await store.erase_turns(user, team)
    numbers: dict[str, int] = {}
    for collection, key in found:
        needed = await store.erase_record(collection, key, user)
        if needed is None:
            numbers[collection.name] = numbers.get(collection.name, 0) + 1
        running += needed or ()
    await store.finish_erasure(user, team)
    return Erased(turns, tuple(dict.fromkeys(running)), numbers)


async def counts_of(store: PersonalData) -> list[Count]:
    """How many records there are of each collection, and of each state of one that has states."""
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
    found = [each async for each in store.records(collection) if collection.is_about(*each, user, team)]
    return sorted(found, key=lambda each: collection.order(*each))
