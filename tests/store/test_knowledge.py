"""What is known of a thread."""

from __future__ import annotations

import pytest

from slack_bot.store.knowledge import MOST_WAITS, Conversation


def test_a_new_conversation_knows_nothing() -> None:
    assert Conversation() == Conversation(None, {})


def test_each_person_is_waited_for_apart() -> None:
    both = Conversation("c").asked("U1", "a").asked("U2", "b")
    assert both == Conversation("c", {"U1": "a", "U2": "b"})
    assert both.answered("U1") == Conversation("c", {"U2": "b"})
    assert both.answered("U3") == both


def test_who_is_asked_again_stands_last_with_the_new_task() -> None:
    again = Conversation("c", {"U1": "a", "U2": "b"}).asked("U1", "d")
    assert list(again.waits.items()) == [("U2", "b"), ("U1", "d")]


def test_what_nobody_in_particular_was_asked_anybody_may_answer() -> None:
    known = Conversation("c").asked("", "a").asked("U1", "b")
    assert (known.task_for("U1"), known.task_for("U2")) == ("b", "a")
    assert known.answered("U1") == Conversation("c", {"": "a"})
    assert known.answered("U2") == Conversation("c", {"U1": "b"})
    assert Conversation("c").asked("", "a").asked("U1", "a") == Conversation("c", {"U1": "a"})
    assert Conversation("c", {"U1": "b"}).task_for("U2") is None


def test_of_too_many_people_the_first_is_let_go() -> None:
    known = Conversation("c")
    for number in range(MOST_WAITS + 1):
        known = known.asked(f"U{number}", "task")
    assert list(known.waits) == [f"U{number}" for number in range(1, MOST_WAITS + 1)]
    assert len(known.asked("U7", "another").waits) == MOST_WAITS


def test_whom_an_agent_waits_for_cannot_be_changed_from_outside() -> None:
    given = {"U1": "a"}
    known = Conversation("c", given)
    given["U2"] = "b"
    with pytest.raises(TypeError):
        known.waits["U3"] = "c"  # type: ignore[index]
    assert known == Conversation("c", {"U1": "a"})
    assert hash(known) == hash(Conversation("c", {"U1": "a"}))
