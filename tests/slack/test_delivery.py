"""An answer goes on from message to message, on the best surface that is left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from slack_bot.errors import SlackError
from slack_bot.slack.blocks import context
from slack_bot.slack.cards import MAX_CARDS, CardClosing
from slack_bot.slack.delivery import Delivery, MessageEnds
from slack_bot.slack.faults import SurfaceKind
from slack_bot.slack.model import Batch, WriteResult
from slack_bot.testing import virtual_clock
from slack_bot.text.ledger import Segment
from slack_bot.text.words import CARD_CONTINUES
from slack_bot.turn.actions import CardState, TaskCard
from tests.bench.reading import reads_as
from tests.slack.scene import Scene, run

START, APPEND, STOP = "chat.startStream", "chat.appendStream", "chat.stopStream"
POST, UPDATE, DELETE = "chat.postMessage", "chat.update", "chat.delete"
REPLIES = "conversations.replies"
OLD = "".join(f"Old line {number}.\n" for number in range(20))
RUNNING, DONE = CardState.RUNNING, CardState.DONE
UNDER = [context("under")]
Story = Callable[[Scene, Delivery], Coroutine[Any, Any, None]]


def play(story: Story, faults: Any = None, **settings: Any) -> Scene:
    async def go() -> Scene:
        scene = Scene(faults, **settings)
        delivery = Delivery(scene.new_calls())
        await story(scene, delivery)
        return scene

    return virtual_clock.run(go())


async def write(delivery: Delivery, text: str = "", *cards: TaskCard, title: str | None = None) -> None:
    delivery.state.add(Batch(text, cards, title))
    await run(delivery.advance())


def seconds_left(scene: Scene, delivery: Delivery) -> float | None:
    """Until there is something to write although nothing more comes."""
    now = scene.clock.monotonic()
    due = delivery.due(now, delivery.state.ledger.due(now))
    return None if due is None else due - now


async def end(delivery: Delivery, text: str = "") -> None:
    delivery.state.add(Batch(text))
    await run(delivery.advance(footer=UNDER, close=CardClosing.DONE))
    assert await run(MessageEnds(delivery).sign_last_message(UNDER, CardClosing.DONE))


def extras(scene: Scene) -> list[tuple[str, ...]]:
    return [message.extras for message in scene.thread()]


# -- rotation


def test_a_message_ends_before_slack_ends_it_by_the_clock_alone() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One.\n", TaskCard("a", "Search", RUNNING))
        due = seconds_left(scene, delivery)
        assert due == 240.0
        await asyncio.sleep(due)
        await run(delivery.advance())
        assert [message.state for message in scene.thread()] == ["sealed"]
        await write(delivery, "", TaskCard("a", "Search", RUNNING))
        assert seconds_left(scene, delivery) is None
        assert len(scene.thread()) == 1
        await write(delivery, "Two.", TaskCard("a", "Search", DONE))
        await end(delivery)

    scene = play(story)
    first, second = scene.thread()
    assert (first.text, second.text) == ("One.\n", "Two.")
    assert [task.title for task in (*first.tasks, *second.tasks)] == ["Search" + CARD_CONTINUES, "Search"]
    assert extras(scene) == [(), ("under",)]
    sessions = [call.args.get("session_status") for call in scene.workspace.calls if call.method == STOP]
    assert sessions == ["processing", None]


def test_a_card_that_works_on_in_silence_takes_no_messages_of_its_own() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "", TaskCard("a", "Search", RUNNING), title="Plan")
        for _ in range(5):
            await asyncio.sleep(240)
            await run(delivery.advance())
        await end(delivery)

    scene = play(story)
    (task,) = scene.only().tasks
    assert (task.title, task.status) == ("Search", "complete")
    assert (scene.only().plan_title, extras(scene)) == ("Plan", [("under",)])


def test_how_a_card_ended_is_told_where_it_stands_if_nothing_else_follows() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "", TaskCard("a", "Search", RUNNING, details="one "))
        await asyncio.sleep(240)
        await run(delivery.advance())
        delivery.state.add(Batch("", (TaskCard("a", "Search failed", CardState.ERROR, details="two"),)))
        await end(delivery)

    scene = play(story)
    (task,) = scene.only().tasks
    assert (task.title, task.status, task.details) == ("Search failed", "error", "one two")
    assert extras(scene) == [("under",)]


def test_a_card_that_changed_is_news() -> None:
    changed = [
        TaskCard("a", "Search", DONE),
        TaskCard("a", "Search", RUNNING, details="more"),
        TaskCard("b", "B", RUNNING),
    ]
    for card in changed:

        async def story(scene: Scene, delivery: Delivery, card: TaskCard = card) -> None:
            await write(delivery, "", TaskCard("a", "Search", RUNNING, details="one"))
            await asyncio.sleep(240)
            await run(delivery.advance())
            await write(delivery, "", card)
            assert len(scene.thread()) == 2
            await end(delivery)

        first, second = play(story).thread()
        assert [task.title for task in first.tasks] == ["Search" + CARD_CONTINUES]
        assert [task.title for task in second.tasks] == (["Search", "B"] if card.id == "b" else ["Search"])
        assert second.tasks[0].details == card.details


def test_without_anything_open_the_next_message_waits_for_something_to_say() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One.\n")
        await asyncio.sleep(240)
        await run(delivery.advance())
        assert [message.state for message in scene.thread()] == ["sealed"]
        assert seconds_left(scene, delivery) is None
        await end(delivery)

    scene = play(story)
    assert (scene.only().text, extras(scene)) == ("One.\n", [("under",)])


def test_an_answer_of_any_size_is_laid_into_messages() -> None:
    text = "".join(f"Line {number} of a text that goes on.\n" for number in range(100))

    async def story(scene: Scene, delivery: Delivery) -> None:
        for at in range(0, len(text), 50):
            await write(delivery, text[at : at + 50])
        await end(delivery)

    scene = play(story, rotate_bytes=500)
    assert reads_as(scene.texts(), text)
    assert all(len(message.text.encode()) <= 500 for message in scene.thread())
    assert extras(scene) == [()] * (len(scene.thread()) - 1) + [("under",)]
    assert scene.workspace.open_streams() == []


def test_more_cards_than_a_message_holds_go_into_the_next() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        for number in range(MAX_CARDS + 10):
            await write(delivery, "", TaskCard(f"c{number}", f"Step {number}", DONE))
        await end(delivery, "Done.")

    first, second = play(story).thread()
    assert (len(first.tasks), len(second.tasks)) == (MAX_CARDS, 10)
    assert second.text == "Done."


def test_many_cards_at_once_are_sent_in_several_calls() -> None:
    cards = [TaskCard(f"c{number}", "x" * 200, DONE, details="y" * 200) for number in range(30)]

    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "", *cards)
        await end(delivery, "Done.")

    scene = play(story)
    assert sum(len(message.tasks) for message in scene.thread()) == 30
    assert len(scene.thread()) > 1


def test_a_plan_keeps_its_title_in_the_next_message() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One.\n", TaskCard("a", "Search", RUNNING), title="Plan")
        await asyncio.sleep(240)
        await run(delivery.advance())
        await write(delivery, title="Plan, part two")
        await end(delivery, "Two.")

    assert [message.plan_title for message in play(story).thread()] == [
        "Plan (continues below)",
        "Plan, part two",
    ]


def test_with_all_its_messages_used_an_answer_overflows() -> None:
    text = "".join(f"Line {number}.\n" for number in range(100))

    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, text)
        assert delivery.state.is_exhausted
        assert not delivery.state.is_live
        assert len(scene.thread()) == 2
        assert scene.workspace.open_streams() == []
        delivery.state.allow_more_messages()
        await end(delivery)

    scene = play(story, rotate_bytes=300, max_segments=2)
    assert reads_as(scene.texts(), text)


# -- surfaces


def test_edits_keep_their_distance_and_lose_nothing() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        assert delivery.state.next_method == POST
        await write(delivery, "One. ")
        assert delivery.state.next_method == UPDATE
        await write(delivery, "Two. ")
        now = scene.clock.monotonic()
        assert (scene.only().text, delivery.state.surface.pause(now), seconds_left(scene, delivery)) == (
            "One. ",
            3.0,
            3.0,
        )
        await asyncio.sleep(3)
        assert seconds_left(scene, delivery) == 0.0
        await run(delivery.advance())
        assert scene.only().text == "One. Two. "
        await end(delivery, "Three.")

    scene = play(story, can_stream=False)
    assert scene.only().text == "One. Two. Three."
    assert scene.methods() == [POST, UPDATE, UPDATE]


def test_edited_messages_grow_no_older_but_no_larger_either() -> None:
    text = "".join(f"Line {number}.\n" for number in range(100))

    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, text[:200], TaskCard("a", "Search", RUNNING))
        await asyncio.sleep(1_000)
        assert seconds_left(scene, delivery) is None
        await write(delivery, text[200:])
        await end(delivery)

    scene = play(story, can_stream=False, rotate_bytes=400)
    assert reads_as(scene.texts(), text)
    assert ["under" in below for below in extras(scene)] == [False] * (len(scene.thread()) - 1) + [True]
    assert scene.thread()[0].tasks[0].title == "Search" + CARD_CONTINUES
    assert {task.status for message in scene.thread() for task in message.tasks} == {"complete"}


def test_each_refusal_leads_one_surface_down() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        assert delivery.state.surface.kind is SurfaceKind.EDIT
        await asyncio.sleep(3)
        await write(delivery, "Two. ")
        assert delivery.state.surface.kind is SurfaceKind.POST
        assert delivery.state.next_method == POST
        await end(delivery, "Three.")

    scene = play(story, {START: ["channel_type_not_supported"], UPDATE: ["cant_update_message"]})
    assert scene.texts() == ["One. ", "Two. Three."]
    assert extras(scene) == [(), ("under",)]


def test_no_slot_in_time_leads_down_once_and_only_before_anything_stands() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await run(delivery.downgrade_surface())
        await run(delivery.downgrade_surface())
        assert delivery.state.surface.kind is SurfaceKind.EDIT
        await write(delivery, "One. ")
        await end(delivery)

    assert play(story).texts() == ["One. "]


def test_where_nothing_can_be_posted_it_is_an_error() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        await run(delivery.advance(footer=UNDER, close=CardClosing.DONE))
        assert delivery.state.is_exhausted
        assert delivery.state.messages == []
        with pytest.raises(SlackError, match="missing_scope"):
            delivery.state.allow_more_messages()

    play(story, {START: ["missing_scope"], POST: ["missing_scope"]})


@pytest.mark.parametrize("refused", ["invalid_blocks", "internal_error", "service_unavailable"])
def test_the_last_surface_is_insisted_on(refused: str) -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        assert delivery.state.surface.kind is SurfaceKind.POST
        await end(delivery, "Two.")

    faults = {START: ["missing_scope"], POST: ["invalid_blocks", "invalid_blocks", *[refused] * 9, None]}
    scene = play(story, faults)
    assert scene.texts() == ["One. Two."]
    assert extras(scene) == [("under",)]


def test_an_edit_without_an_answer_is_made_good_by_the_next() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        await asyncio.sleep(3)
        await write(delivery, "Two. ")
        assert delivery.state.surface.kind is SurfaceKind.EDIT
        await asyncio.sleep(3)
        await end(delivery, "Three.")

    for entry in ("internal_error", "internal_error!"):
        assert play(story, {UPDATE: [*[entry] * 4, None]}, can_stream=False).texts() == ["One. Two. Three."]


def test_an_edit_that_was_applied_and_then_refused_is_not_shown_twice() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        await asyncio.sleep(3)
        await write(delivery, "Two. ")
        await asyncio.sleep(3)
        await end(delivery, "Three.")

    for entries in (["internal_error!", "invalid_blocks"], ["internal_error", "invalid_blocks"]):
        scene = play(story, {UPDATE: [*entries, None]}, can_stream=False)
        assert "".join(scene.texts()) == "One. Two. Three."


def test_an_edited_message_whose_card_could_not_be_closed_is_closed_at_the_end() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "", TaskCard("a", "A", RUNNING))
        await asyncio.sleep(3)
        await write(delivery, "", TaskCard("a", "A", DONE))
        await end(delivery, "One.")
        await run(delivery.reconciler.close_open())

    scene = play(story, {UPDATE: ["invalid_blocks", "invalid_blocks", None]}, can_stream=False)
    assert "".join(scene.texts()) == "One."
    assert {task.status for message in scene.thread() for task in message.tasks} == {"complete"}


@pytest.mark.parametrize("entry", ["internal_error", "internal_error!"])
def test_edits_that_never_have_an_answer_are_looked_at_and_given_up(entry: str) -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        delivery.state.add(Batch("Two."))
        await run(delivery.advance(footer=UNDER, close=CardClosing.DONE))
        await run(MessageEnds(delivery).sign_last_message(UNDER, CardClosing.DONE))

    scene = play(story, {UPDATE: [entry]}, can_stream=False)
    assert "".join(scene.texts()) == "One. Two."


# -- doubts


def test_after_many_calls_without_an_answer_streaming_is_given_up() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        for number in range(12):
            await write(delivery, f"Line {number}.\n")
            await asyncio.sleep(3)
        assert delivery.state.surface.kind is SurfaceKind.EDIT
        await end(delivery)

    for entry in ("internal_error", "internal_error!"):
        scene = play(story, {APPEND: [entry]})
        assert reads_as(scene.texts(), "".join(f"Line {number}.\n" for number in range(12)))
        assert scene.methods().count(APPEND) == 4
        assert scene.workspace.open_streams() == []


def test_a_start_in_doubt_keeps_its_cards() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One.", TaskCard("a", "Search", DONE, details="found"))
        await end(delivery)

    for entry in ("timeout", "timeout!"):
        (message,) = play(story, {START: [entry, None]}).thread()
        assert message.text == "One."
        assert [(task.title, task.status, task.details) for task in message.tasks] == [
            ("Search", "complete", "found")
        ]


def test_a_write_that_was_cancelled_is_settled_before_anything_else() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await write(delivery, "Two. ")
        assert delivery.state.ledger.in_doubt
        await end(delivery, "Three.")

    for entry in ("timeout", "timeout!"):
        scene = play(story, {APPEND: [entry, None]})
        assert "".join(scene.texts()) == "One. Two. Three."


def test_a_start_that_was_cancelled_is_found_and_signed() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await write(delivery, "One. ")
        assert await run(MessageEnds(delivery).sign_last_message(UNDER, CardClosing.DONE)) == (
            len(scene.thread()) == 1
        )

    scene = play(story, {START: ["timeout!"]})
    assert (scene.texts(), extras(scene)) == (["One. "], [("under",)])
    assert play(story, {START: ["timeout"]}).thread() == []


# -- ends


def test_a_card_that_is_refused_costs_the_cards_and_not_the_text() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ", TaskCard("a", "Search", RUNNING), title="Plan")
        await write(delivery, "Two.", TaskCard("a", "Search", DONE))
        await end(delivery)

    message = play(story, {START: ["invalid_chunks", None]}).only()
    assert (message.text, message.tasks) == ("One. Two.", ())


@pytest.mark.parametrize(
    ("error", "ended"),
    [
        ("stopped_by_user", WriteResult.STOPPED),
        ("message_not_found", WriteResult.GONE),
        ("is_archived", WriteResult.GONE),
    ],
)
def test_some_refusals_end_the_answer(error: str, ended: WriteResult) -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        await write(delivery, "Two. ")
        assert delivery.state.ended is ended
        assert delivery.state.is_gone == (ended is WriteResult.GONE)
        assert seconds_left(scene, delivery) is None
        await write(delivery, "Three. ")

    scene = play(story, {APPEND: [error]})
    assert scene.texts() == ["One. "]
    assert scene.methods()[:2] == [START, APPEND]
    assert scene.methods().count(APPEND) == 1


def test_a_dead_token_is_an_error_and_the_end() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        with pytest.raises(SlackError, match="token"):
            await write(delivery, "One. ")
        assert delivery.state.is_gone

    play(story, {START: ["token_revoked"]})


def test_a_stop_that_slack_refuses_for_the_asker_costs_no_text() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        await end(delivery, "Two.")

    scene = play(story, {STOP: ["user_not_found", None]})
    assert "".join(scene.texts()) == "One. Two."
    assert extras(scene)[-1] == ("under",)
    assert scene.workspace.open_streams() == []


# -- the end -------------------------------------------------------------------------------------------------

CARD = TaskCard("a", "Search", CardState.RUNNING)


def test_what_belongs_under_it_goes_with_the_stop() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ", CARD)
        assert await run(MessageEnds(delivery).sign_last_message(UNDER, CardClosing.FAILED, "suspended"))
        assert await run(MessageEnds(delivery).sign_last_message(UNDER, CardClosing.FAILED))

    scene = play(story)
    assert scene.methods() == [START, STOP]
    assert (scene.only().extras, scene.only().tasks[0].status) == (("under",), "error")
    assert scene.workspace.session("C1", scene.root) == "suspended"


def test_there_is_nothing_to_put_to_rest() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        assert not await run(MessageEnds(delivery).sign_last_message(UNDER, CardClosing.DONE))

    assert play(story).methods() == []


def test_a_stream_that_is_over_is_written_anew() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ", CARD)
        assert await run(MessageEnds(delivery).sign_last_message(UNDER, CardClosing.DONE))

    for error in ("message_not_in_streaming_state", "invalid_blocks"):
        scene = play(story, {STOP: [error, None]})
        assert (scene.only().text, scene.only().extras) == ("One. ", ("under",))
        assert scene.only().tasks[0].status == "complete"


def test_refused_everywhere_it_stands_nowhere() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        assert not await run(MessageEnds(delivery).sign_last_message(UNDER, CardClosing.DONE))

    assert play(story, {STOP: ["invalid_blocks", None], UPDATE: ["cant_update_message"]}).texts() == ["One. "]


def test_a_message_that_is_gone_is_left_alone() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        assert not await run(MessageEnds(delivery).sign_last_message(UNDER, CardClosing.DONE))
        assert delivery.state.is_gone
        assert not await run(MessageEnds(delivery).sign_last_message(UNDER, CardClosing.DONE))

    assert play(story, {STOP: ["message_not_found"]}).methods() == [START, STOP]


def test_a_start_in_doubt_is_settled_first() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await write(delivery, "One. ")
        assert await run(MessageEnds(delivery).sign_last_message(UNDER, CardClosing.DONE)) == bool(
            scene.thread()
        )

    assert play(story, {START: ["timeout"]}).thread() == []
    assert play(story, {START: ["timeout!"]}).only().extras == ("under",)


def test_text_in_doubt_is_settled_before_it_is_written_anew() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await write(delivery, "Two.")
        assert await run(MessageEnds(delivery).sign_last_message(UNDER, CardClosing.DONE))

    faults = {APPEND: ["timeout!"], STOP: ["message_not_in_streaming_state", None]}
    scene = play(story, faults)
    assert (scene.only().text, scene.only().extras) == ("One. Two.", ("under",))


def test_an_edited_message_is_edited_once_more() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ", CARD)
        assert await run(MessageEnds(delivery).sign_last_message(UNDER, CardClosing.DONE))

    message = play(story, can_stream=False).only()
    assert (message.text, message.extras[-1], message.tasks[0].status) == ("One. ", "under", "complete")


def test_at_rest_nothing_that_waits_is_shown() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        await write(delivery, "Two. ")
        delivery.state.add(Batch("Three."))
        assert await run(
            MessageEnds(delivery).rewrite_messages([Segment(0.0, body="Four.")], UNDER, CardClosing.DONE)
        )
        assert not delivery.state.ledger.released

    for faults in ({}, {APPEND: ["timeout!"]}, {STOP: ["internal_error!", None]}):
        scene = play(story, faults)
        assert scene.texts() == ["Four."]
        assert scene.workspace.open_streams() == []


# -- another answer in place of what is shown


def rewritten(*laid: str, faults: Any = None) -> tuple[bool, Scene]:
    """Three messages stand, of which the last is open; they are made to read `laid`."""

    async def go() -> tuple[bool, Scene]:
        scene = Scene(faults, rotate_bytes=120)
        delivery = Delivery(scene.new_calls())
        delivery.state.add(Batch(OLD))
        await run(delivery.advance())
        delivery.state.add(Batch("Never shown."))
        assert len(scene.thread()) == 3
        segments = [Segment(0.0, body=text) for text in laid]
        stands = await run(MessageEnds(delivery).rewrite_messages(segments, UNDER, CardClosing.DONE))
        return stands, scene

    return virtual_clock.run(go())


@pytest.mark.parametrize("laid", [("A.",), ("A.", "B.", "C."), ("A.", "B.", "C.", "D.", "E.")])
@pytest.mark.parametrize("entry", [None, "timeout", "timeout!", "ratelimited:2"])
def test_there_are_as_many_messages_as_it_needs(laid: tuple[str, ...], entry: str | None) -> None:
    silent = [entry, None]
    stands, scene = rewritten(*laid, faults={STOP: silent, POST: silent, UPDATE: silent, DELETE: silent})
    assert stands
    assert scene.texts() == list(laid)
    assert [message.extras for message in scene.thread()] == [()] * (len(laid) - 1) + [("under",)]
    assert scene.workspace.open_streams() == []


def test_from_the_first_that_is_refused_on_the_answer_is_posted() -> None:
    stands, scene = rewritten("A.", "B.", "C.", faults={UPDATE: [None, "cant_update_message", None]})
    assert stands
    assert scene.texts() == ["A.", "B.", "C."]


def test_a_thread_that_goes_meanwhile_is_left_alone() -> None:
    stands, scene = rewritten("A.", "B.", faults={UPDATE: ["message_not_found"]})
    assert not stands
    assert POST not in scene.methods()


def test_an_answer_that_can_stand_nowhere_is_left_to_another_way_and_nothing_stands_behind_the_gap() -> None:
    refused = [None, *["cant_update_message"] * 4, None]
    stands, scene = rewritten("A.", "B.", "C.", faults={UPDATE: refused, POST: ["missing_scope"]})
    assert not stands
    assert scene.texts()[0] == "A."
    assert "C." not in scene.texts()


# -- taken over


LEFT = "The first sentence is here. The second one begins like "
ANSWER = f"{LEFT}this, and ends. The third is the last."


def taken_over(faults: Any = None, **settings: Any) -> Scene:
    """Another process showed `LEFT`, and had recorded less of it."""

    async def go() -> Scene:
        scene = Scene(faults, **settings)
        before = Delivery(scene.new_calls())
        await write(before, LEFT)
        (record,) = before.state.records
        record = replace(record, body=LEFT[:40])
        for _ in range(2):  # the first one dies before the answer comes again
            delivery = Delivery(scene.new_calls(), [record])
            await run(delivery.take_over(0.0, ()))
            (record,) = delivery.state.records
            assert record.is_open
        calls = len(scene.workspace.calls)
        await write(delivery, ANSWER[:45], TaskCard("1", "Search", DONE))
        assert seconds_left(scene, delivery) is None
        assert len(scene.workspace.calls) == calls
        assert scene.texts() == [LEFT]
        await end(delivery, ANSWER[45:])
        return scene

    return virtual_clock.run(go())


def test_an_answer_goes_on_behind_what_its_reader_saw() -> None:
    scene = taken_over()
    assert scene.texts() == [LEFT, "this, and ends. The third is the last."]
    assert UPDATE not in scene.methods()


def test_a_message_that_cannot_be_read_goes_on_to_the_end_of_its_sentence() -> None:
    faults = {STOP: ["timeout!"] * 9 + [None], REPLIES: ["missing_scope"] * 9}
    assert taken_over(faults).texts() == [f"{LEFT}this, and ends. ", "The third is the last."]


@pytest.mark.parametrize("more", ["", LEFT[40:]])
def test_a_card_that_was_not_recorded_does_not_stay_open(more: str) -> None:
    async def go() -> Scene:
        scene = Scene()
        before = Delivery(scene.new_calls())
        await write(before, LEFT[:40])
        records = before.state.records
        await write(before, more, TaskCard("1", "Search", RUNNING))
        delivery = Delivery(scene.new_calls(), records)
        await run(delivery.take_over(0.0, ()))
        await end(delivery, ANSWER)
        return scene

    scene = virtual_clock.run(go())
    assert "".join(" ".join(scene.texts()).split()) == "".join(ANSWER.split())
    assert scene.texts()[0].strip() == (LEFT[:40] + more).strip()
    assert [task.status for message in scene.thread() for task in message.tasks] == []


def test_a_post_without_an_answer_is_not_taken_for_one_of_the_process_before() -> None:
    async def go() -> Scene:
        scene = Scene({START: ["missing_scope"] * 9, POST: [None, "internal_error", None]})
        before = Delivery(scene.new_calls())
        await write(before, LEFT)
        delivery = Delivery(scene.new_calls(), before.state.records)
        await run(delivery.take_over(0.0, ()))
        await end(delivery, ANSWER)
        return scene

    scene = virtual_clock.run(go())
    assert scene.methods().count(POST) == 3
    assert "".join(scene.texts()) == ANSWER


def test_a_thread_that_goes_away_meanwhile_ends_the_answer() -> None:
    faults = {STOP: ["timeout!"] * 9 + [None], REPLIES: ["missing_scope"] * 9, UPDATE: ["thread_not_found"]}

    async def go() -> None:
        scene = Scene(faults)
        before = Delivery(scene.new_calls())
        await write(before, LEFT)
        (record,) = before.state.records
        delivery = Delivery(scene.new_calls(), [replace(record, body=LEFT[:40])])
        await run(delivery.take_over(0.0, ()))
        await write(delivery, ANSWER)
        assert delivery.state.is_gone

    virtual_clock.run(go())
