"""What the store has of a running turn: transitions at once, text once a second."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

import pytest

from slack_bot.agents.agents import Agents
from slack_bot.errors import StoreError
from slack_bot.observe.facts import ToAll
from slack_bot.observe.health import Health
from slack_bot.store.knowledge import AgentContext, Profiles
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.virtual_clock import new_clock, on_virtual_time
from slack_bot.threads.journal import Journal, TurnJournal
from slack_bot.threads.leases import Leases
from slack_bot.turn.progress import MessageRecord, Stage, TurnRecord
from slack_bot.turn.record import Outcome, Question, ThreadKey
from tests.agents_of import only
from tests.store import subjects

THREAD = ThreadKey("T1", "C1", "1.0")
QUESTION = Question(THREAD, "1.0", "U1", "T1", "q")
KEY = QUESTION.key


class CountingStore(MemoryStore):
    """Notes how many of a turn's messages each call of `save` leaves as they are."""

    def __init__(self) -> None:
        super().__init__()
        self.unchanged: list[int] = []
        self.is_broken = False

    async def save(self, *changes: tuple[TurnRecord, int]) -> None:
        if self.is_broken:
            raise StoreError("The disk is full.")
        self.unchanged += [unchanged for _, unchanged in changes]
        await super().save(*changes)


def new_journal(store: MemoryStore, interval: float = 1.0) -> Journal:
    clock = new_clock()
    agents = Agents(only("http://agent.invalid"), clock, Health(), Profiles(store))
    return Journal(store, agents, clock, interval, Leases(store, clock.wall), ToAll())


async def begin(store: MemoryStore, turn: TurnRecord | None = None, interval: float = 1.0) -> TurnJournal:
    turn = turn or TurnRecord(QUESTION, 0.0)
    await store.accept(turn)
    return await new_journal(store, interval).begin(turn, opens_forms=True)


def message(ts: str, body: str) -> MessageRecord:
    return MessageRecord(ts, "stream", body=body)


async def stored(store: MemoryStore) -> TurnRecord:
    turn = await store.turn(KEY)
    assert turn is not None
    return turn


@pytest.mark.parametrize(
    ("before", "task_id", "outcome", "context_id", "awaiting", "after"),
    [
        (AgentContext(), None, Outcome.ANSWERED, "c", None, AgentContext("c")),
        (AgentContext("c"), None, Outcome.REFUSED, None, None, AgentContext("c")),
        (AgentContext("c"), None, Outcome.ASKED, None, "t", AgentContext("c", {"U1": "t"})),
        (AgentContext("c", {"U1": "t"}), "t", Outcome.ANSWERED, None, None, AgentContext("c")),
        (
            AgentContext("c", {"U1": "t"}),
            "t",
            Outcome.ASKED,
            None,
            "v",
            AgentContext("c", {"U1": "v"}),
        ),
        (
            AgentContext("c", {"U1": "t"}),
            "t",
            Outcome.REFUSED,
            "d",
            None,
            AgentContext("d", {"U1": "t"}),
        ),
        (
            AgentContext("c", {"U2": "t"}),
            None,
            Outcome.ANSWERED,
            None,
            None,
            AgentContext("c", {"U2": "t"}),
        ),
        (
            AgentContext("c", {"U2": "t"}),
            None,
            Outcome.ASKED,
            None,
            "v",
            AgentContext("c", {"U2": "t", "U1": "v"}),
        ),
        (
            AgentContext("c", {"U1": "v", "U2": "t"}),
            "v",
            Outcome.ANSWERED,
            None,
            None,
            AgentContext("c", {"U2": "t"}),
        ),
    ],
)
@on_virtual_time
async def test_what_is_known_of_the_thread_after_a_turn(
    before: AgentContext,
    task_id: str | None,
    outcome: Outcome,
    context_id: str | None,
    awaiting: str | None,
    after: AgentContext,
) -> None:
    store = MemoryStore()
    await subjects.save_conversation(store, "http://agent.invalid", THREAD, before, 0.0)
    journal = await begin(store)
    assert journal.question.task_id == task_id
    await journal.task_known(None, context_id)
    await journal.end(outcome, awaiting)
    assert await subjects.conversation(store, "http://agent.invalid", THREAD) == after


@on_virtual_time
async def test_a_question_is_marked_before_the_agent_is_asked() -> None:
    store = MemoryStore()
    await subjects.save_conversation(
        store, "http://agent.invalid", THREAD, AgentContext("ctx", {"U1": "task"}), 0.0
    )
    journal = await begin(store)
    assert not journal.is_takeover
    assert (await stored(store)).stage is Stage.ACCEPTED
    await journal.sending()
    turn = await stored(store)
    assert (turn.stage, turn.question.context_id, turn.question.task_id) == (Stage.SENT, "ctx", "task")
    again = await begin(MemoryStore(), turn)
    assert again.is_takeover
    assert again.record == replace(turn, takeovers=1)


@on_virtual_time
async def test_a_task_is_stored_at_once_and_once() -> None:
    store = CountingStore()
    journal = await begin(store)
    for task, context in (("t", None), ("t", None), (None, "c"), ("t", "c")):
        await journal.task_known(task, context)
    turn = await stored(store)
    assert (turn.task_id, turn.context_id) == ("t", "c")
    assert len(store.unchanged) == 2


@on_virtual_time
async def test_a_new_message_is_stored_at_once_and_its_text_within_the_interval() -> None:
    store = CountingStore()
    journal = await begin(store)
    await journal.shown((message("5.0", "One "),))
    assert (await stored(store)).text == "One "
    for count in range(1, 11):
        await journal.shown((message("5.0", "One " + "two " * count),))
        assert (await stored(store)).text == "One "
    await asyncio.sleep(1.001)
    assert (await stored(store)).text == "One " + "two " * 10
    assert len(store.unchanged) == 2


@on_virtual_time
async def test_only_messages_that_changed_are_stored_again() -> None:
    store = CountingStore()
    journal = await begin(store)
    first = message("5.0", "One ")
    await journal.shown((first,))
    await journal.shown((first, message("6.0", "two ")))
    await journal.shown((first, message("6.0", "two three ")))
    await asyncio.sleep(1.001)
    assert store.unchanged == [0, 1, 1]
    assert (await stored(store)).text == "One two three "


@on_virtual_time
async def test_what_the_store_could_not_take_is_in_the_next_write(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    store = CountingStore()
    journal = await begin(store)
    await journal.shown((message("5.0", "One "),))
    store.is_broken = True
    await journal.task_known("t", None)
    await journal.shown((message("5.0", "One "), message("6.0", "two")))
    said = [each.levelname for each in caplog.records if "a turn was not stored" in each.message]
    assert said == ["ERROR", "DEBUG"], "once, as long as it lasts"
    assert "was not stored: The disk is full." in caplog.text
    assert (await stored(store)).task_id is None
    store.is_broken = False
    await journal.end(Outcome.ANSWERED)
    turn = await stored(store)
    assert (turn.task_id, turn.text, turn.stage, turn.outcome) == (
        "t",
        "One two",
        Stage.ENDED,
        Outcome.ANSWERED,
    )


@on_virtual_time
async def test_what_was_not_written_yet_is_when_the_journal_is_closed() -> None:
    store = MemoryStore()
    journal = new_journal(store)
    await store.accept(TurnRecord(QUESTION, 0.0))
    turn = await journal.begin(TurnRecord(QUESTION, 0.0), opens_forms=True)
    await turn.shown((message("5.0", "One "),))
    await turn.shown((message("5.0", "One two "),))
    await journal.close()
    assert (await stored(store)).text == "One two "


@on_virtual_time
async def test_a_turn_that_was_broken_off_is_not_unfinished_again_by_text_that_waited() -> None:
    store = MemoryStore()
    journal = new_journal(store)
    await store.accept(TurnRecord(QUESTION, 0.0))
    turn = await journal.begin(TurnRecord(QUESTION, 0.0), opens_forms=True)
    await turn.sending()
    await turn.shown((message("5.0", "One "),))
    await turn.shown((message("5.0", "One two "),))
    await journal.end(turn.record, Outcome.LOST)
    await asyncio.sleep(2)
    assert (await stored(store)).stage is Stage.ENDED
    assert await store.unfinished() == []
