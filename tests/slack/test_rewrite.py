"""Another answer is laid over what stands."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.slack.blocks import context
from slack_bot.slack.cards import CardClosing
from slack_bot.slack.delivery import Delivery
from slack_bot.slack.orders import Batch
from slack_bot.slack.rewrite import rewrite
from slack_bot.slack.surfaces.fallback import StreamingRefusalCache
from slack_bot.testing import virtual_clock
from slack_bot.turn.ledger import Segment
from tests.slack.scene import Scene

STOP, POST, UPDATE, DELETE = "chat.stopStream", "chat.postMessage", "chat.update", "chat.delete"
OLD = "".join(f"Old line {number}.\n" for number in range(20))


def rewritten(*laid: str, faults: Any = None) -> tuple[bool, Scene]:
    """Three messages stand, of which the last is open; they are made to read `laid`."""

    async def go() -> tuple[bool, Scene]:
        scene = Scene(faults, rotate_bytes=120)
        delivery = Delivery(scene.turn_client(), scene.settings, scene.clock, StreamingRefusalCache())
        delivery.add(Batch(OLD))
        await delivery.advance()
        delivery.add(Batch("Never shown."))
        assert len(scene.thread()) == 3
        stands = await rewrite(
            delivery, [Segment(0.0, body=text) for text in laid], [context("under")], CardClosing.DONE
        )
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
