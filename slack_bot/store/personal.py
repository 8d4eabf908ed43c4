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
    for kind in store.collections:
        found, view = await _of_person(store, kind, user, team), kind.view
        of_them = tuple(view(*each, user) if view is not None else each[1] for each in found)
        if of_them:
            kept[kind.name] = of_them
    return PersonRecords(tuple(turns), tuple(events), kept)


async def erase(store: PersonalData, user: str, team: str | None) -> Erased:
    """Erase it, except what a running turn still needs. `team`: only in this workspace. Raises StoreError."""
    found = [
        (kind, key) for kind in store.collections for key, _ in await _of_person(store, kind, user, team)
    ]
    turns, running = await store.erase_turns(user, team)
    numbers: dict[str, int] = {}
    for kind, key in found:
        needed = await store.erase_record(kind, key, user)
        if needed is None:
            numbers[kind.name] = numbers.get(kind.name, 0) + 1
        running += needed or ()
    return Erased(turns, tuple(dict.fromkeys(running)), numbers)


async def counts_of(store: PersonalData) -> list[Count]:
    """How many records there are of each collection, and of each state of one that has states."""
    counts = []
    for kind in store.collections:
        if kind.state is None:
            counts.append(await store.count(kind))
            continue
        times: dict[str, list[float]] = {}
        async for _, record in store.records(kind):
            times.setdefault(kind.state(record), []).append(kind.time(record) or 0.0)
        counts += [
            Count(f"{kind.name}: {state}", len(each), min(each), max(each))
            for state, each in sorted(times.items())
        ]
    return counts


async def _of_person(
    store: PersonalData, kind: Collection[Any], user: str, team: str | None
) -> list[tuple[Key, Any]]:
    found = [each async for each in store.records(kind) if kind.is_about(*each, user, team)]
    return sorted(found, key=lambda each: kind.order(*each))
