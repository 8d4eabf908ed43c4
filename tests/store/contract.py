"""What every store promises. `test_memory` and `test_sqlite` each run all of it on their own."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from slack_bot.store.contracts import Conversation, Store
from slack_bot.turn.record import ThreadKey

HOUR = 3600.0
THREAD = ThreadKey("T1", "C1", "111.222")


class StoreContract:
    """Collected only where a subclass gives the `store` fixture (dedupe time: 24 hours)."""

    async def test_a_question_is_accepted_once(self, store: Store) -> None:
        assert await store.accept("T1:C1:1.0", 1000.0)
        assert not await store.accept("T1:C1:1.0", 1001.0)
        assert await store.accept("T1:C1:2.0", 1002.0)

    async def test_of_fifty_at_once_one_is_accepted(self, store: Store) -> None:
        accepted = await asyncio.gather(*(store.accept("T1:C1:1.0", 1000.0) for _ in range(50)))
        assert sum(accepted) == 1

    async def test_a_key_is_forgotten_after_its_hours_and_not_before(self, store: Store) -> None:
        assert await store.accept("old", 1000.0)
        assert not await store.accept("old", 1000.0 + 24 * HOUR - 1)
        assert await store.accept("old", 1000.0 + 24 * HOUR)
        assert not await store.accept("old", 1000.0 + 24 * HOUR + 1)

    async def test_a_released_key_is_accepted_again_once(self, store: Store) -> None:
        assert await store.accept("released", 1000.0)
        assert await store.accept("kept", 1000.0)
        await store.release("released")
        await store.release("never accepted")
        assert await store.accept("released", 1001.0)
        assert not await store.accept("released", 1002.0)
        assert not await store.accept("kept", 1002.0)

    async def test_removing_old_keys_leaves_those_that_still_count(self, store: Store) -> None:
        for number in range(250):
            assert await store.accept(f"key {number}", 1000.0 + number)
        await store.remove_old(1000.0 + 24 * HOUR + 240)
        accepted = [await store.accept(f"key {number}", 1001.0 + number) for number in range(250)]
        assert accepted == [number <= 240 for number in range(250)]

    async def test_a_new_thread_has_no_context(self, store: Store) -> None:
        assert await store.conversation("agent", THREAD) == Conversation()

    async def test_what_is_known_of_a_thread_is_replaced_whole(self, store: Store) -> None:
        await store.save_conversation("agent", THREAD, Conversation("ctx", {"U1": "task"}), 1.0)
        assert await store.conversation("agent", THREAD) == Conversation("ctx", {"U1": "task"})
        await store.save_conversation("agent", THREAD, Conversation("ctx"), 2.0)
        assert await store.conversation("agent", THREAD) == Conversation("ctx")

    async def test_whom_an_agent_waits_for_is_kept_in_the_order_they_were_asked(self, store: Store) -> None:
        waits = {"U2": "two", "U1": "one", "U'3": 'th"r\u2028ee\x00😀'}
        await store.save_conversation("agent", THREAD, Conversation("ctx", waits), 1.0)
        known = await store.conversation("agent", THREAD)
        assert list(known.waits.items()) == list(waits.items())

    async def test_contexts_are_kept_by_agent_team_channel_and_thread(self, store: Store) -> None:
        await store.save_conversation("agent", THREAD, Conversation("ctx"), 1.0)
        assert await store.conversation("other", THREAD) == Conversation()
        for other in ({"team": "T2"}, {"channel": "C2"}, {"ts": "3.0"}):
            assert await store.conversation("agent", replace(THREAD, **other)) == Conversation()

    async def test_a_later_entry_of_the_same_person_replaces_the_earlier(self, store: Store) -> None:
        assert await store.save_feedback("turn", "U1", "positive", 1.0)
        assert await store.save_feedback("turn", "U2", "positive", 2.0)
        assert not await store.save_feedback("turn", "U2", "positive", 2.5)
        assert await store.save_feedback("turn", "U1", "negative", 3.0)
        assert await store.save_feedback("other", "U1", "positive", 4.0)
        assert not await store.save_feedback("turn", "U1", "negative", 5.0)
        assert not await store.save_feedback("turn", "U2", "positive", 5.0)
        assert await store.save_feedback("turn", "U1", "positive", 6.0)

    async def test_facts_about_an_agent_are_kept_by_name(self, store: Store) -> None:
        assert await store.profile("agent") == {}
        await store.save_fact("agent", "wire", "0.3", 1.0)
        await store.save_fact("agent", "wire", "1.0", 2.0)
        await store.save_fact("agent", "answer", "artifact", 2.0)
        await store.save_fact("other", "wire", "0.3", 2.0)
        assert await store.profile("agent") == {"wire": "1.0", "answer": "artifact"}

    async def test_text_of_any_script_and_quotes_are_kept_as_they_are(self, store: Store) -> None:
        odd = ThreadKey("T'1", 'C"1', "1;--\u2028😀")
        await store.save_conversation("a'gent", odd, Conversation("ctx:\x00run"), 1.0)
        assert await store.conversation("a'gent", odd) == Conversation("ctx:\x00run")
