"""What every store promises. The tests of each store run all of it on their own."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

from slack_bot.store.collection import CollectionStore
from slack_bot.store.contracts import (
    ErasureResult,
    KeptEvent,
    PersonalData,
    PersonRecords,
    Signal,
    Store,
    StoreAdmin,
)
from slack_bot.store.knowledge import AgentContext
from slack_bot.turn.actions import CardState, TaskCard
from slack_bot.turn.feedback import FeedbackRecord
from slack_bot.turn.form import Choice, Field, FieldKind, Form, ReplyFormat, answer_of
from slack_bot.turn.open_form import OpenForm
from slack_bot.turn.outbound import OutboundMessage, OutboundRecord
from slack_bot.turn.people import PersonKind
from slack_bot.turn.progress import MessageRecord, Stage, TurnRecord
from slack_bot.turn.quotes import ThreadMessage
from slack_bot.turn.record import Outcome, Question, ThreadKey
from slack_bot.turn.thread_state import ThreadState

from . import subjects

HOUR, DAY = 3600.0, 86_400.0
THREAD = ThreadKey("T1", "C1", "111.222")


def turn(ts: str, at: float, *, thread: str = THREAD.ts, text: str = "hi") -> TurnRecord:
    return TurnRecord(Question(replace(THREAD, ts=thread), ts, "U1", "T1", text), at)


def message(ts: str, body: str, **more: Any) -> MessageRecord:
    return MessageRecord(ts, "stream", body=body, **more)


def overheard(at: int, user: str = "U1") -> ThreadMessage:
    return ThreadMessage(f"{at}.000000", user, PersonKind.MEMBER, "words", ("a.txt",), "Pager")


def opened(handle: str, at: float = 1000.0, *, user: str = "U1", thread: ThreadKey = THREAD) -> OpenForm:
    field = Field("env", "Where?", FieldKind.SELECT, (Choice("p", "Prod"),), default="p", most=3.0)
    more = (
        Field("n", kind=FieldKind.NUMBER, default=2.5),
        Field("on", default=True),
        Field("l", default=("a",)),
    )
    form = Form("Which? 😀", (field, *more), reply=ReplyFormat("adk", '{"id": 1}'))
    return OpenForm(handle, "T1:C1:1.0", thread, user, "T1", "task", form, at)


async def pressed(store: CollectionStore, key: str, user: str, value: str, at: float) -> bool:
    """Somebody rates an answer. False: as before."""
    said = FeedbackRecord(key, user, value, at)
    before = await subjects.change_feedback(
        store, key, user, lambda known: known if known and known.value == value else said
    )
    return before is None or before.value != value


def erased(turns: int, running: tuple[str, ...] = (), **records: int) -> ErasureResult:
    return ErasureResult(turns, running, records)


class StoreContract:
    """Collected only where a subclass gives the `store` fixture (dedupe time: 24 hours)."""

    async def test_what_was_heard_of_a_thread_is_kept_with_its_context(self, store: Store) -> None:
        known = AgentContext("ctx", {"U1": "task"}, ("1.0", "2.0"))
        await subjects.save_conversation(store, "agent", THREAD, known, 1.0)
        assert await subjects.conversation(store, "agent", THREAD) == known
        assert (await subjects.conversation(store, "other", THREAD)).heard == ()

    async def test_a_turn_is_given_back_with_what_its_agent_will_have_heard(self, store: Store) -> None:
        kept = turn("1.0", 1000.0)
        assert await store.accept(kept)
        for heard in (("1.0", "2.0"), (), None):
            await store.save((replace(kept, heard=heard), 0))
            assert await store.turn(kept.key) == replace(kept, heard=heard)

    async def test_of_an_answer_all_but_its_secrets_is_given_back(self, store: Store) -> None:
        fields = (
            Field("size", "Size", FieldKind.SELECT, (Choice("s", "Small"),)),
            Field("key", is_secret=True),
        )
        form = Form("Which?", fields, reply=ReplyFormat("strands", '["i1"]'))
        given = answer_of(form, {"size": "s", "key": "hunter2"})
        kept = turn("1.0", 1000.0)
        kept = replace(kept, question=replace(kept.question, form=form, answer=given))
        assert await store.accept(kept)
        await store.save((replace(kept, task_id="t"), 0))
        found = await store.turn(kept.key)
        assert found is not None and found.question.answer is not None
        assert found.question.form == form
        assert replace(found.question.answer, secrets=given.secrets) == given
        assert found.question.answer.has_lost_secrets or not store.is_durable

    async def test_what_was_overheard_is_changed_also_if_it_comes_after_the_change(
        self, store: Store
    ) -> None:
        edited, gone = replace(overheard(1001), text="no"), replace(overheard(1002), text="")
        for is_change, said in (
            (False, overheard(1001)),
            (True, edited),
            (False, overheard(1001)),
            (True, gone),
            (False, overheard(1002)),
        ):
            await subjects.overhear(store, THREAD, said, 3, 1005.0, is_change=is_change)
        assert sorted(await subjects.overheard(store, THREAD), key=lambda each: each.ts) == [edited, gone]

    async def test_what_is_overheard_is_kept_once_and_only_the_newest(self, store: Store) -> None:
        other = replace(THREAD, ts="9.0")
        for at in (1001, 1003, 1002, 1003, 1004):
            await subjects.overhear(store, THREAD, overheard(at), 3, 1005.0)
        await subjects.overhear(store, other, overheard(1001), 3, 1005.0)
        found = await subjects.overheard(store, THREAD)
        assert sorted(found, key=lambda each: each.ts) == [overheard(at) for at in (1002, 1003, 1004)]
        assert await subjects.overheard(store, other) == [overheard(1001)]
        assert await subjects.overheard(store, replace(THREAD, channel="C9")) == []

    async def test_a_form_is_given_back_as_it_was_stored(self, store: Store) -> None:
        form = opened("h1")
        await subjects.open_form(store, form)
        shown = replace(form, message=message("5.1", "Which?", is_open=True))
        await subjects.open_form(store, shown)
        assert await subjects.form_of(store, "h1") == shown
        assert await subjects.form_of(store, "h2") is None

    async def test_the_forms_of_a_thread_are_known_in_their_order(self, store: Store) -> None:
        elsewhere = replace(THREAD, ts="9.0")
        forms = [opened("h3", 1.0), opened("h1", 2.0), opened("h2", 3.0)]
        for form in (*forms[::-1], opened("h4", thread=elsewhere)):
            await subjects.open_form(store, form)
        assert await subjects.forms_in(store, THREAD) == forms
        assert await subjects.forms_in(store, replace(THREAD, channel="C9")) == []

    async def test_the_forms_that_a_person_is_asked_are_known_until_they_are_answered(
        self, store: Store
    ) -> None:
        elsewhere, of_others = replace(THREAD, channel="C9"), replace(opened("h5"), user="U2")
        forms = [opened("h3", 1.0), opened("h1", 2.0, thread=elsewhere), opened("h2", 3.0)]
        for form in (*forms[::-1], of_others, opened("h4", thread=replace(THREAD, team="T2"))):
            await subjects.open_form(store, form)
        assert await subjects.open_forms_of(store, "U1", THREAD.team) == forms
        await subjects.take_form(store, "h1", "key", "U2", 1001.0)
        assert await subjects.open_forms_of(store, "U1", THREAD.team) == [forms[0], forms[2]]
        assert await subjects.open_forms_of(store, "U2", THREAD.team) == [of_others]
        assert await subjects.open_forms_of(store, "U3", THREAD.team) == []

    async def test_a_form_is_taken_once_and_stays_so(self, store: Store) -> None:
        form = opened("h1")
        await subjects.open_form(store, form)
        takers = [(f"key-{number}", f"U{number}") for number in range(20)]
        found = await asyncio.gather(*(subjects.take_form(store, "h1", *each, 1001.0) for each in takers))
        assert len(set(found)) == 1
        assert (found[0] and found[0].taken_by, found[0] and found[0].ended_by) in takers
        await subjects.open_form(store, replace(form, message=message("5.1", "late")))
        assert await subjects.form_of(store, "h1") == found[0]
        assert await subjects.forms_in(store, THREAD) == [found[0]]
        assert await subjects.take_form(store, "h9", "key", "U1", 1002.0) is None

    async def test_a_question_is_accepted_once(self, store: Store) -> None:
        assert await store.accept(turn("1.0", 1000.0))
        assert not await store.accept(turn("1.0", 1001.0))
        assert await store.accept(turn("2.0", 1002.0))

    async def test_of_fifty_at_once_one_is_accepted(self, store: Store) -> None:
        accepted = await asyncio.gather(*(store.accept(turn("1.0", 1000.0)) for _ in range(50)))
        assert sum(accepted) == 1

    async def test_three_hundred_at_once_are_all_accepted(self, store: Store) -> None:
        many = [turn(f"{number}.0", 1000.0) for number in range(300)]
        assert all(await asyncio.gather(*map(store.accept, many)))

    async def test_a_question_is_forgotten_after_its_hours_and_not_before(self, store: Store) -> None:
        assert await store.accept(turn("1.0", 1000.0))
        assert not await store.accept(turn("1.0", 1000.0 + 24 * HOUR - 1))
        assert await store.accept(turn("1.0", 1000.0 + 24 * HOUR))
        assert not await store.accept(turn("1.0", 1000.0 + 24 * HOUR + 1))

    async def test_a_question_that_is_withdrawn_is_accepted_again_once(self, store: Store) -> None:
        assert await store.accept(turn("1.0", 1000.0))
        assert await store.accept(turn("2.0", 1000.0))
        await store.withdraw("T1:C1:1.0")
        await store.withdraw("never accepted")
        assert await store.accept(turn("1.0", 1001.0))
        assert not await store.accept(turn("1.0", 1002.0))
        assert not await store.accept(turn("2.0", 1002.0))

    async def test_a_turn_is_given_back_as_it_was_saved(self, store: Store) -> None:
        accepted = turn("1.0", 1000.0, text="What's \x00 \u2028 😀?")
        assert await store.accept(accepted)
        assert await store.turn(accepted.key) == accepted
        asked = replace(accepted.question, context_id="ctx", task_id="before")
        shown = message("5.1", "One ", opening="```\n", cards=(TaskCard("a", "A", CardState.RUNNING, "d"),))
        sent = replace(accepted, question=asked, stage=Stage.SENT, sent_at=1001.0, messages=(shown,))
        await store.save((sent, 0))
        assert await store.turn(accepted.key) == sent
        ended = replace(sent, stage=Stage.ENDED, ended_at=1002.0, outcome=Outcome.ANSWERED, takeovers=2)
        await store.save((ended, 1))
        assert await store.turn(accepted.key) == ended
        assert await store.turn("another") is None

    async def test_messages_that_did_not_change_need_not_be_saved_again(self, store: Store) -> None:
        kept = turn("1.0", 1000.0)
        assert await store.accept(kept)
        for unchanged, texts in (
            (0, ["a"]),
            (0, ["ab"]),
            (1, ["ab", "c"]),
            (1, ["ab", "cd", "e"]),
            (0, ["x"]),
        ):
            messages = tuple(message(f"5.{at}", text) for at, text in enumerate(texts))
            await store.save((replace(kept, messages=messages), unchanged))
            assert (known := await store.turn(kept.key)) is not None
            assert known.messages == messages

    async def test_what_is_to_be_said_is_kept_once_until_it_is_old(self, store: Store) -> None:
        message = OutboundMessage("hi \u2028 😀", user="U1", headline="H", is_question=True)
        first, other = (OutboundRecord(key, message, at) for key, at in (("b", 1.0), ("a", 2.0)))
        for each in (first, other):
            assert await subjects.accept_outbound(store, each) == each
        assert (
            await subjects.accept_outbound(store, replace(first, message=replace(message, text="ho")))
            == first
        )
        assert await subjects.unfinished_outbound(store) == [first, other]
        ended = replace(first, is_begun=True, posted=("1.0",), turn="T1:C1:1.0", link="l", ended_at=10.0)
        await subjects.save_outbound(store, ended)
        assert await subjects.outbound(store, "b") == ended
        assert await subjects.unfinished_outbound(store) == [other]

    async def test_of_two_that_say_with_one_key_at_once_one_is_stored(self, store: Store) -> None:
        said = [OutboundRecord("k", OutboundMessage(str(number)), 1.0) for number in range(20)]
        assert (
            len(
                {
                    stored.message
                    for stored in await asyncio.gather(
                        *(subjects.accept_outbound(store, each) for each in said)
                    )
                }
            )
            == 1
        )

    async def test_a_turn_that_is_not_stored_stays_so(self, store: Store) -> None:
        await store.save((replace(turn("1.0", 1000.0), messages=(message("5.0", "x"),)), 0))
        assert await store.turn("T1:C1:1.0") is None
        assert await store.messages_in(THREAD) == {}

    async def test_several_turns_are_saved_at_once(self, store: Store) -> None:
        first, second = turn("1.0", 1000.0), turn("2.0", 1000.0)
        assert await store.accept(first)
        assert await store.accept(second)
        await store.save((replace(first, task_id="a"), 0), (replace(second, task_id="b"), 0))
        assert [each.task_id for each in await store.unfinished()] == ["a", "b"]

    async def test_what_has_not_ended_is_unfinished_in_the_order_of_acceptance(self, store: Store) -> None:
        turns = [turn(f"{ts}.0", 1000.0 + at) for at, ts in enumerate((3, 1, 2, 5))]
        for each in turns:
            assert await store.accept(each)
        await store.save((replace(turns[1], stage=Stage.ENDED, ended_at=1.0), 0))
        assert await store.unfinished() == [turns[0], turns[2], turns[3]]

    async def test_a_turn_is_found_by_where_its_agent_posts_until_it_ends(self, store: Store) -> None:
        accepted, other = turn("1.0", 1000.0), turn("2.0", 1000.0)
        for each in (accepted, other):
            assert await store.accept(each)
        watched = replace(accepted, stage=Stage.WATCHED, push_id="id", push_hash="hash")
        await store.save((watched, 0))
        assert await store.watched("id") == watched
        assert await store.watched("another") is None
        await store.save((replace(watched, stage=Stage.ENDED, ended_at=1001.0), 0))
        assert await store.watched("id") is None

    async def test_the_messages_of_a_thread_are_known(self, store: Store) -> None:
        first, second, other = turn("1.0", 1.0), turn("2.0", 1.0), turn("3.0", 1.0, thread="9.9")
        for at, each in enumerate((first, second, other)):
            assert await store.accept(each)
            await store.save((replace(each, messages=(message(f"7.{at}", "x"),)), 0))
        assert await store.messages_in(THREAD) == {"7.0": first.key, "7.1": second.key}

    async def test_active_threads_are_named_with_their_last_question(self, store: Store) -> None:
        for ts, at, thread in (("1.0", 10.0, "a"), ("2.0", 30.0, "b"), ("3.0", 40.0, "a"), ("4.0", 5.0, "c")):
            assert await store.accept(turn(ts, at, thread=thread))
        a, b = (replace(THREAD, ts=ts) for ts in "ab")
        assert await store.active_threads(10.0) == [(a, "3.0"), (b, "2.0")]

    async def test_the_turns_that_were_accepted_since_a_time(self, store: Store) -> None:
        made = [
            turn(ts, at, thread=thread)
            for ts, at, thread in (
                ("1.0", 10.0, "a"),
                ("2.0", 30.0, "b"),
                ("3.0", 40.0, "a"),
                ("4.0", 5.0, "c"),
            )
        ]
        for each in made:
            assert await store.accept(each)
        found = await store.accepted_since(20.0)
        assert sorted(each.question.ts for each in found) == ["2.0", "3.0"]
        assert found[0] in made
        assert await store.accepted_since(50.0) == []

    async def test_removing_old_turns_leaves_those_that_still_count(self, store: Store) -> None:
        for number in range(250):
            each = turn(f"{number}.0", 1000.0 + number)
            assert await store.accept(each)
            if number:
                ended = replace(each, ended_at=1000.0 + number, messages=(message("5.0", "x"),))
                await store.save((ended, 0))
        await store.remove_old(1000.0 + 7 * 24 * HOUR + 240)
        left = [number for number in range(250) if await store.turn(f"T1:C1:{number}.0") is not None]
        assert left == [0, *range(241, 250)]
        assert await store.accept(turn("1.0", 1000.0))
        assert await store.turn("T1:C1:1.0") == turn("1.0", 1000.0)

    async def test_an_accepted_question_is_claimed_by_its_process_and_its_thread_held(
        self, store: Store
    ) -> None:
        first, second = turn("1.0", 1000.0), turn("2.0", 1000.0)
        for each in (first, second):
            assert await store.accept(each)
            assert await store.claim(each)
        assert await store.renew() == frozenset()
        await store.save((replace(first, stage=Stage.ENDED, ended_at=1.0), 0))
        await store.let_go(THREAD)
        await store.let_go(replace(THREAD, ts="never held"))
        assert await store.claim(second)

    async def test_where_no_other_process_holds_a_thread_nobody_is_told(self, store: Store) -> None:
        held = turn("1.0", 1000.0)
        assert await store.accept(held)
        assert await store.claim(held)
        assert not await store.signal(Signal(THREAD, "stop", {"user": "U1"}))

    async def test_a_new_thread_has_no_context(self, store: Store) -> None:
        assert await subjects.conversation(store, "agent", THREAD) == AgentContext()

    async def test_what_is_known_of_a_thread_is_replaced_whole(self, store: Store) -> None:
        await subjects.save_conversation(store, "agent", THREAD, AgentContext("ctx", {"U1": "task"}), 1.0)
        assert await subjects.conversation(store, "agent", THREAD) == AgentContext("ctx", {"U1": "task"})
        await subjects.save_conversation(store, "agent", THREAD, AgentContext("ctx"), 2.0)
        assert await subjects.conversation(store, "agent", THREAD) == AgentContext("ctx")

    async def test_whom_an_agent_waits_for_is_kept_in_the_order_they_were_asked(self, store: Store) -> None:
        waits = {"U2": "two", "U1": "one", "U'3": 'th"r\u2028ee\x00😀'}
        await subjects.save_conversation(store, "agent", THREAD, AgentContext("ctx", waits), 1.0)
        known = await subjects.conversation(store, "agent", THREAD)
        assert list(known.waits.items()) == list(waits.items())

    async def test_contexts_are_kept_by_agent_team_channel_and_thread(self, store: Store) -> None:
        await subjects.save_conversation(store, "agent", THREAD, AgentContext("ctx"), 1.0)
        assert await subjects.conversation(store, "other", THREAD) == AgentContext()
        for other in ({"team": "T2"}, {"channel": "C2"}, {"ts": "3.0"}):
            assert await subjects.conversation(store, "agent", replace(THREAD, **other)) == AgentContext()

    async def test_the_state_of_a_thread_is_changed_in_one_step(self, store: Store) -> None:
        new = ThreadState("U1", 1.0, 1.0)
        assert await subjects.thread_state(store, THREAD) is None
        assert await subjects.change_thread_state(store, THREAD, lambda before: before, 1.0) is None
        assert await subjects.change_thread_state(store, THREAD, lambda before: new, 1.0) is None
        assert await subjects.thread_state(store, THREAD) == new
        assert await subjects.thread_state(store, replace(THREAD, team="T2")) is None

        def later(state: ThreadState | None) -> ThreadState:
            assert state is not None
            return replace(state, active_at=state.active_at + 1.0)

        before = await asyncio.gather(
            *(subjects.change_thread_state(store, THREAD, later, 2.0) for _ in range(10))
        )
        assert sorted(each.active_at for each in before if each) == [1.0 + n for n in range(10)]
        assert await subjects.thread_state(store, THREAD) == replace(new, active_at=11.0)
        assert await subjects.change_thread_state(store, THREAD, lambda before: None, 3.0) is not None
        assert await subjects.thread_state(store, THREAD) is not None

    async def test_a_later_entry_of_the_same_person_replaces_the_earlier(self, store: Store) -> None:
        assert await pressed(store, "turn", "U1", "positive", 1.0)
        assert await pressed(store, "turn", "U2", "positive", 2.0)
        assert not await pressed(store, "turn", "U2", "positive", 2.5)
        assert await pressed(store, "turn", "U1", "negative", 3.0)
        assert await pressed(store, "other", "U1", "positive", 4.0)
        assert not await pressed(store, "turn", "U1", "negative", 5.0)
        assert not await pressed(store, "turn", "U2", "positive", 5.0)
        assert await pressed(store, "turn", "U1", "positive", 6.0)

    async def test_feedback_is_kept_whole_and_changed_as_it_stands(self, store: Store) -> None:
        ids = "task", "ctx", "trace"
        whole = FeedbackRecord("turn", "U1", "negative", 1.0, ("Wrong", "Too long"), "no 😀", *ids)
        seen = list[FeedbackRecord | None]()

        def change(known: FeedbackRecord | None) -> FeedbackRecord | None:
            seen.append(known)
            return whole if known is None else None

        assert await subjects.change_feedback(store, "turn", "U1", change) is None
        assert await subjects.change_feedback(store, "turn", "U1", change) == whole
        assert await subjects.change_feedback(store, "turn", "U2", lambda _: None) is None
        assert await subjects.change_feedback(store, "turn", "U1", change) == whole
        assert (seen[0], seen[-1]) == (None, whole)

    async def test_what_is_to_be_sent_is_found_when_it_is_due(self, store: Store) -> None:
        said = [FeedbackRecord(f"turn{at}", "U1", "positive", float(at)) for at in range(4)]
        for each in said[1:]:
            await subjects.change_feedback(
                store, each.turn, "U1", lambda _, each=each: each.to_send(("webhook",))
            )  # type: ignore[misc]
        await subjects.change_feedback(store, "turn0", "U1", lambda _: said[0].to_send(()))
        due = [each.to_send(("webhook",)) for each in said]
        assert await subjects.due_feedback(store, 0.5, 10) == []
        assert await subjects.due_feedback(store, 2.0, 10) == due[1:3]
        assert await subjects.due_feedback(store, 9.0, 2) == due[1:3]
        held = due[1].held(3.0, 60.0)
        await subjects.change_feedback(store, "turn1", "U1", lambda _: held)
        assert await subjects.due_feedback(store, 9.0, 10) == due[2:]
        assert await subjects.due_feedback(store, 63.0, 10) == [*due[2:], held]
        await subjects.change_feedback(store, "turn2", "U1", lambda _: replace(said[2], due=None))
        assert await subjects.due_feedback(store, 9.0, 10) == due[3:]

    async def test_facts_about_an_agent_are_kept_by_name(self, store: Store) -> None:
        assert await subjects.profile(store, "agent") == {}
        await subjects.save_fact(store, "agent", "wire", "0.3", 1.0)
        await subjects.save_fact(store, "agent", "wire", "1.0", 2.0)
        await subjects.save_fact(store, "agent", "answer", "artifact", 2.0)
        await subjects.save_fact(store, "other", "wire", "0.3", 2.0)
        assert await subjects.profile(store, "agent") == {"wire": "1.0", "answer": "artifact"}

    async def test_events_are_kept_in_their_order_as_long_as_their_turn(self, store: Store) -> None:
        kept, other = turn("1.0", 1000.0), turn("2.0", 1000.0)
        for each in (kept, other):
            assert await store.accept(each)
        first, second, third = (
            KeptEvent(kept.key, 1000.123457 + at, json.dumps({"n": at, "text": "\u2028 😀"}))
            for at in range(3)
        )
        await store.save_events(first, KeptEvent(other.key, 1.0, "{}"), second)
        await store.save_events(third, KeptEvent("not stored", 1.0, "{}"))
        assert await store.events(kept.key) == [first, second, third]
        assert await store.events("not stored") == []
        await store.save((replace(kept, stage=Stage.ENDED, ended_at=1002.0), 0))
        assert len(await store.events(kept.key)) == 3
        await store.remove_old(1002.0 + 7 * DAY)
        assert await store.events(kept.key) == []
        assert await store.events(other.key) == [KeptEvent(other.key, 1.0, "{}")]

    async def test_text_of_any_script_and_quotes_are_kept_as_they_are(self, store: Store) -> None:
        odd = ThreadKey("T'1", 'C"1', "1;--\u2028😀")
        await subjects.save_conversation(store, "a'gent", odd, AgentContext("ctx:\x00run"), 1.0)
        assert await subjects.conversation(store, "a'gent", odd) == AgentContext("ctx:\x00run")


class AgesContract:
    """Collected only where a subclass gives the `store` fixture: it believes the time that it is told."""

    async def test_a_context_is_kept_until_its_thread_was_not_used_for_its_days(self, store: Store) -> None:
        used, other = replace(THREAD, ts="1"), replace(THREAD, ts="2")
        for thread, at in ((used, 0.0), (other, 0.0), (used, 20 * DAY)):
            await subjects.save_conversation(store, "agent", thread, AgentContext("ctx"), at)

        async def known(now: float) -> list[bool]:
            await store.remove_old(now)
            found = [await subjects.conversation(store, "agent", each) for each in (used, other)]
            return [each != AgentContext() for each in found]

        assert await known(30 * DAY - 1) == [True, True]
        assert await known(30 * DAY) == [True, False]
        assert await known(50 * DAY - 1) == [True, False]
        assert await known(50 * DAY) == [False, False]

    async def test_what_was_said_is_kept_for_the_days_of_turns_from_its_end(self, store: Store) -> None:
        for key, ended_at in (("said", 10.0), ("waits", None)):
            new = OutboundRecord(key, OutboundMessage("hi", user="U1"), 1.0, ended_at=ended_at)
            await subjects.accept_outbound(store, new)
        await store.remove_old(10.0 + 7 * DAY - 1)
        assert await subjects.outbound(store, "said") is not None
        await store.remove_old(10.0 + 7 * DAY)
        assert await subjects.outbound(store, "said") is None
        assert await subjects.outbound(store, "waits") is not None

    async def test_the_state_of_a_thread_is_kept_as_long_as_a_context(self, store: Store) -> None:
        await subjects.change_thread_state(store, THREAD, lambda _: ThreadState("U1", 0.0, 0.0), 0.0)
        await store.remove_old(30 * DAY - 1)
        assert await subjects.thread_state(store, THREAD) is not None
        await store.remove_old(30 * DAY)
        assert await subjects.thread_state(store, THREAD) is None

    async def test_feedback_is_kept_for_its_days(self, store: Store) -> None:
        assert await pressed(store, "turn", "U1", "positive", 0.0)
        await store.remove_old(90 * DAY - 1)
        assert not await pressed(store, "turn", "U1", "positive", 1.0)
        await store.remove_old(90 * DAY)
        assert await pressed(store, "turn", "U1", "positive", 1.0)

    async def test_what_is_overheard_is_forgotten_after_its_hours(self, store: Store) -> None:
        for at in (1000, 2000):
            await subjects.overhear(store, THREAD, overheard(at), 9, 2000.0)
        await store.remove_old(1000.0 + 24 * HOUR - 1)
        assert len(await subjects.overheard(store, THREAD)) == 2
        await store.remove_old(1000.0 + 24 * HOUR)
        assert await subjects.overheard(store, THREAD) == [overheard(2000)]

    async def test_forms_are_kept_for_their_days_answered_or_not(self, store: Store) -> None:
        for handle, at in (("old", 1000.0), ("taken", 1000.0), ("new", 1001.0)):
            await subjects.open_form(store, opened(handle, at))
        await subjects.take_form(store, "taken", "key", "U1", 1000.0 + 3 * DAY)
        await store.remove_old(1000.0 + 7 * DAY)
        assert [form.handle for form in await subjects.forms_in(store, THREAD)] == ["new"]


class PersonalDataContract:
    """Collected only where a subclass gives the fixtures `store` and `people`, the same data."""

    async def fill(self, store: Store) -> None:
        """U1 has asked twice in T1, once in T2, U2 once; both gave feedback; agents wait for both. Both were
        written to once, and are to be written to once more."""
        for number, (team, user) in enumerate((("T1", "U1"), ("T2", "U1"), ("T1", "U2"), ("T1", "U1")), 1):
            thread = ThreadKey(team, "C1", f"{number}.0")
            asked = Question(thread, f"{number}.0", user, team, f"question {number}")
            assert await store.accept(TurnRecord(asked, float(number)))
            shown = (message(f"{number}.5", f"answer {number}"),)
            ended = TurnRecord(asked, float(number), Stage.ENDED, messages=shown, ended_at=number + 0.5)
            await store.save((ended, 0))
            await store.save_events(KeptEvent(ended.key, number + 0.2, f'"event {number}"'))
            await pressed(store, ended.key, "U1", "positive", float(number))
            await pressed(store, ended.key, "U2", "negative", float(number))
            waits = {"U2": f"task {number}", user: f"task {number}"}
            await subjects.save_conversation(
                store, "agent", thread, AgentContext("ctx", waits), float(number)
            )
            state = ThreadState(user, float(number), float(number))
            await subjects.change_thread_state(store, thread, lambda _, state=state: state, float(number))  # type: ignore[misc]
        for user in ("U1", "U2"):
            hello = OutboundRecord(f"hello {user}", OutboundMessage("hello", user=user), 1.0)
            await subjects.accept_outbound(store, hello)
            await subjects.save_outbound(store, replace(hello, ended_at=2.0))
        await subjects.accept_outbound(
            store, OutboundRecord("news", OutboundMessage("news", channel="C1"), 3.0, ended_at=4.0)
        )

    async def test_all_of_a_person_is_given(self, store: Store, people: PersonalData) -> None:
        await self.fill(store)
        found = await subjects.person(people, "U1", None)
        assert [(each.question.text, each.text) for each in found.turns] == [
            (f"question {number}", f"answer {number}") for number in (1, 2, 4)
        ]
        assert [(each.turn, each.value, each.at) for each in found.records["feedback"]] == [
            ("T1:C1:1.0", "positive", 1.0),
            ("T2:C1:2.0", "positive", 2.0),
            ("T1:C1:3.0", "positive", 3.0),
            ("T1:C1:4.0", "positive", 4.0),
        ]
        assert {(each.agent, each.thread.ts, each.task_id) for each in found.records["conversations"]} == {
            ("agent", f"{number}.0", f"task {number}") for number in (1, 2, 4)
        }
        assert [(each.turn, each.data) for each in found.events] == [
            ("T1:C1:1.0", '"event 1"'),
            ("T2:C1:2.0", '"event 2"'),
            ("T1:C1:4.0", '"event 4"'),
        ]
        assert [each.key for each in found.records["outbound"]] == ["hello U1"]
        assert sorted(each.since for each in found.records["threads"]) == [1.0, 2.0, 4.0]
        assert await subjects.person(people, "U9", None) == PersonRecords()

    async def test_only_of_one_workspace(self, store: Store, people: PersonalData) -> None:
        await self.fill(store)
        found = await subjects.person(people, "U1", "T2")
        assert [each.key for each in found.turns] == ["T2:C1:2.0"]
        assert [each.turn for each in found.records["feedback"]] == ["T2:C1:2.0"]
        assert [each.thread.ts for each in found.records["conversations"]] == ["2.0"]
        assert [each.data for each in found.events] == ['"event 2"']
        assert await subjects.erase(people, "U1", "T2") == erased(
            1, feedback=1, conversations=1, outbound=1, threads=1
        )
        assert len((await subjects.person(people, "U1", None)).turns) == 2
        assert await subjects.person(people, "U1", "T2") == PersonRecords()

    async def test_what_was_overheard_of_a_person_is_given_and_erased(
        self, store: Store, people: PersonalData
    ) -> None:
        other = replace(THREAD, team="T2")
        await subjects.save_conversation(
            store, "agent", THREAD, AgentContext("ctx", {"U1": "task"}, ("1.0",)), 1.0
        )
        for thread in (THREAD, other):
            for at, user in ((1001, "U1"), (1002, "U2")):
                await subjects.overhear(store, thread, overheard(at, user), 9, 1003.0)
        assert (await subjects.person(people, "U1", None)).records["overheard"] == (
            overheard(1001),
            overheard(1001),
        )
        assert (await subjects.person(people, "U1", "T2")).records["overheard"] == (overheard(1001),)
        assert (await subjects.erase(people, "U1", "T2")).records["overheard"] == 1
        assert await subjects.overheard(store, other) == [overheard(1002, "U2")]
        assert len(await subjects.overheard(store, THREAD)) == 2
        assert (await subjects.erase(people, "U1", None)).records["overheard"] == 1
        assert await subjects.overheard(store, THREAD) == [overheard(1002, "U2")]
        assert (await subjects.conversation(store, "agent", THREAD)).heard == ("1.0",)

    async def test_the_forms_that_a_person_was_shown_or_answered_are_given_and_erased(
        self, store: Store, people: PersonalData
    ) -> None:
        other = replace(THREAD, team="T2")
        for form in (
            opened("a"),
            opened("b", user="U2"),
            opened("c", thread=other),
            opened("d", user="U2"),
        ):
            await subjects.open_form(store, form)
        taken = await subjects.take_form(store, "b", "key", "U1", 1001.0)
        found = {form.handle: form for form in (await subjects.person(people, "U1", None)).records["forms"]}
        assert found == {"a": opened("a"), "b": taken, "c": opened("c", thread=other)}
        assert (await subjects.erase(people, "U1", "T2")).records["forms"] == 1
        assert (await subjects.erase(people, "U1", None)).records["forms"] == 2
        assert [await subjects.form_of(store, handle) for handle in "abc"] == [None, None, None]
        assert await subjects.form_of(store, "d") == opened("d", user="U2")

    async def test_who_is_erased_is_gone_and_nobody_else(self, store: Store, people: PersonalData) -> None:
        await self.fill(store)
        before = await subjects.person(people, "U2", None)
        assert await subjects.erase(people, "U1", None) == erased(
            3, feedback=4, conversations=3, outbound=1, threads=3
        )
        assert await subjects.person(people, "U1", None) == PersonRecords()
        assert await subjects.person(people, "U2", None) == before
        for number, team in ((1, "T1"), (2, "T2"), (4, "T1")):
            assert await store.turn(f"{team}:C1:{number}.0") is None
            assert await store.events(f"{team}:C1:{number}.0") == []
            assert await store.messages_in(ThreadKey(team, "C1", f"{number}.0")) == {}
        assert [thread.ts for thread, _ in await store.active_threads(0.0)] == ["3.0"]
        known = await subjects.conversation(store, "agent", ThreadKey("T1", "C1", "1.0"))
        assert known == AgentContext("ctx", {"U2": "task 1"})
        assert await subjects.erase(people, "U1", None) == erased(0)

    async def test_what_is_still_to_be_said_to_the_person_is_named_and_left(
        self, store: Store, people: PersonalData
    ) -> None:
        for key, user, ended_at in (("a", "U1", 2.0), ("b", "U2", 2.0), ("c", "U1", None)):
            await subjects.accept_outbound(
                store, OutboundRecord(key, OutboundMessage("hi", user=user), 1.0, ended_at=ended_at)
            )
        assert await subjects.erase(people, "U1", None) == erased(0, ("c",), outbound=1)
        assert [key for key in "abc" if await subjects.outbound(store, key) is None] == ["a"]

    async def test_an_event_that_comes_after_the_erasure_is_not_kept(
        self, store: Store, people: PersonalData
    ) -> None:
        await self.fill(store)
        await subjects.erase(people, "U1", None)
        await store.save_events(KeptEvent("T1:C1:1.0", 9.0, '"late"'), KeptEvent("T1:C1:3.0", 9.0, '"U2"'))
        assert await store.events("T1:C1:1.0") == []
        assert [each.data for each in await store.events("T1:C1:3.0")] == ['"event 3"', '"U2"']

    async def test_the_others_that_an_agent_waits_for_keep_their_order(
        self, store: Store, people: PersonalData
    ) -> None:
        waits = {"U9": "a", "U1": "b", "U10": "c", "U2": "d"}
        await subjects.save_conversation(store, "agent", THREAD, AgentContext("ctx", waits), 1.0)
        assert (await subjects.erase(people, "U1", None)).records["conversations"] == 1
        known = await subjects.conversation(store, "agent", THREAD)
        assert list(known.waits) == ["U9", "U10", "U2"]
        assert known.context_id == "ctx"

    async def test_what_was_erased_is_not_asked_again(self, store: Store, people: PersonalData) -> None:
        await self.fill(store)
        await subjects.erase(people, "U1", None)
        asked = Question(ThreadKey("T1", "C1", "1.0"), "1.0", "U1", "T1", "question 1")
        assert not await store.accept(TurnRecord(asked, 2.0))
        await store.remove_old(1.0 + 24 * HOUR - 1)
        assert not await store.accept(TurnRecord(asked, 24 * HOUR))
        assert await store.accept(TurnRecord(asked, 1.0 + 24 * HOUR))
        assert [each.key for each in (await subjects.person(people, "U1", None)).turns] == [asked.key]

    async def test_a_running_turn_is_named_and_left(self, store: Store, people: PersonalData) -> None:
        await self.fill(store)
        own = Question(ThreadKey("T1", "C1", "7.0"), "7.0", "U1", "T1", "running")
        other = Question(ThreadKey("T1", "C1", "1.0"), "8.0", "U3", "T1", "where an agent waits for U1")
        for number, each in enumerate((own, other)):
            assert await store.accept(TurnRecord(each, 100.0 + number))
        assert await subjects.erase(people, "U1", None) == erased(
            3, (own.key, other.key), feedback=4, conversations=2, outbound=1, threads=3
        )
        left = await subjects.person(people, "U1", None)
        assert [each.key for each in left.turns] == [own.key]
        assert [each.thread.ts for each in left.records["conversations"]] == ["1.0"]
        await store.save(
            *((replace(each, stage=Stage.ENDED, ended_at=200.0), 0) for each in await store.unfinished())
        )
        assert await subjects.erase(people, "U1", None) == erased(1, conversations=1)


class AdminContract(PersonalDataContract):
    """Collected only where a subclass gives the fixtures `store` and `people`, a StoreAdmin."""

    async def test_the_summary_counts_what_is_there(self, store: Store, people: StoreAdmin) -> None:
        for number in range(4):
            assert await store.accept(turn(f"{number}.0", 10.0 + number))
        asked = Question(ThreadKey("T1", "C1", "9.0"), "9.0", "U9", "T1", "to be erased")
        assert await store.accept(TurnRecord(asked, 9.0))
        for each in (turn("0.0", 10.0), TurnRecord(asked, 9.0)):
            await store.save((replace(each, stage=Stage.ENDED, ended_at=20.0), 0))
        await subjects.erase(people, "U9", None)
        await store.save((replace(turn("1.0", 11.0), stage=Stage.SENT, task_id="task"), 0))
        await subjects.save_conversation(store, "agent", THREAD, AgentContext("ctx"), 30.0)
        await pressed(store, "T1:C1:0.0", "U1", "positive", 31.0)
        await pressed(store, "T1:C1:0.0", "U2", "positive", 31.0)
        await store.save_events(KeptEvent("T1:C1:0.0", 12.0, "{}"), KeptEvent("T1:C1:0.0", 13.0, "{}"))
        for number in range(25):
            said = OutboundRecord(f"k{number}", OutboundMessage("hi", channel="C1"), 40.0 + number)
            await subjects.accept_outbound(store, said)
            if number > 1:
                error = "refused" if number == 24 else None
                await subjects.save_outbound(store, replace(said, ended_at=50.0 + number, error=error))
        found = await people.summary()
        by_kind = {each.kind: (each.number, each.oldest, each.newest) for each in found.counts}
        assert {kind: each for kind, each in by_kind.items() if kind.startswith(("turns", "outbound"))} == {
            "turns: accepted": (2, 12.0, 13.0),
            "turns: ended": (1, 10.0, 10.0),
            "turns: keys only": (1, 9.0, 9.0),
            "turns: sent": (1, 11.0, 11.0),
            "outbound: failed": (1, 64.0, 64.0),
            "outbound: sent": (22, 42.0, 63.0),
            "outbound_series": (0, None, None),
            "outbound: waiting": (2, 40.0, 41.0),
        }
        others = ("conversations", "feedback", "events")
        assert [by_kind[kind][0] for kind in others] == [1, 2, 2]
        assert [(each.key, each.task_id) for each in found.unfinished] == [
            ("T1:C1:1.0", "task"),
            ("T1:C1:2.0", None),
            ("T1:C1:3.0", None),
        ]
        assert {f"T1:C1:{number}.0" for number in range(4)} <= set(await people.keys())

    async def test_an_empty_store_is_counted_too(self, store: Store, people: StoreAdmin) -> None:
        found = await people.summary()
        assert {each.number for each in found.counts} == {0}
        assert (found.unfinished, await people.keys()) == ((), [])
