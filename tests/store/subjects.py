"""What tests put into a store and read from it, by subject."""

from __future__ import annotations

from slack_bot.app import COLLECTIONS
from slack_bot.features.feedback import records as feedback_records
from slack_bot.features.feedback.records import due_feedback
from slack_bot.store import knowledge
from slack_bot.store.collection import Ages, Change, CollectionStore
from slack_bot.store.knowledge import (
    THREADS,
    Profiles,
    conversation,
    form_of,
    forms_in,
    open_forms_of,
    overhear,
    overheard,
    save_conversation,
    take_form,
)
from slack_bot.store.outbound import (
    accept_outbound,
    outbound,
    save_outbound,
    unfinished_outbound,
)
from slack_bot.store.personal import erase
from slack_bot.store.personal import records_of as person
from slack_bot.store.stores import StoreOptions
from slack_bot.turn.feedback import FeedbackRecord
from slack_bot.turn.open_form import OpenForm
from slack_bot.turn.record import ThreadKey
from slack_bot.turn.thread_state import ThreadState

__all__ = [
    "accept_outbound",
    "change_feedback",
    "change_thread_state",
    "conversation",
    "due_feedback",
    "erase",
    "form_of",
    "forms_in",
    "open_form",
    "open_forms_of",
    "options",
    "outbound",
    "overhear",
    "overheard",
    "person",
    "profile",
    "save_conversation",
    "save_fact",
    "save_outbound",
    "take_form",
    "thread_state",
    "unfinished_outbound",
]


def options(url: str, ages: Ages | None = None, lock_wait: float = 0.0, **more: float) -> StoreOptions:
    return StoreOptions(url, ages or Ages(), COLLECTIONS, lock_wait, **more)


async def profile(store: CollectionStore, agent: str) -> dict[str, str]:
    return await Profiles(store).profile(agent)


async def save_fact(store: CollectionStore, agent: str, name: str, value: str, now: float) -> None:
    await Profiles(store).save_fact(agent, name, value, now)


async def thread_state(store: CollectionStore, thread: ThreadKey) -> ThreadState | None:
    return await store.get(THREADS, thread.parts)


async def change_thread_state(
    store: CollectionStore, thread: ThreadKey, change: Change[ThreadState], now: float
) -> ThreadState | None:
    return (await store.change(THREADS, thread.parts, change, now)).before


async def change_feedback(
    store: CollectionStore, turn: str, user: str, change: Change[FeedbackRecord]
) -> FeedbackRecord | None:
    return (await feedback_records.change_feedback(store, turn, user, change, 0.0)).before


async def open_form(store: CollectionStore, form: OpenForm) -> None:
    await knowledge.open_form(store, form, form.opened_at)
