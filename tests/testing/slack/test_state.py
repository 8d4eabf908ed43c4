"""Timestamps, ids and order."""

from __future__ import annotations

import pytest

from slack_bot.testing.slack.state import Change, StoredMessage, ts_key

from .scene import NOW, Scene


def test_timestamps_never_repeat_and_never_go_back() -> None:
    state = Scene().workspace.state
    made = [state.next_ts(NOW) for _ in range(3)] + [state.next_ts(NOW - 10), state.next_ts(NOW + 1)]
    assert made == sorted(set(made), key=ts_key)
    assert made[-1] == "1700000001.000000"


@pytest.mark.parametrize(
    ("early", "late"),
    [("9.9", "10.1"), ("1.000002", "1.000010"), ("111.222", "1700000000.000000"), ("0", "0.000001")],
)
def test_order_of_time(early: str, late: str) -> None:
    assert ts_key(early) < ts_key(late)


def test_ids_count_up_by_kind() -> None:
    state = Scene().workspace.state
    assert [state.next_id("x"), state.next_id("x"), state.next_id("y")] == ["x000001", "x000002", "y000001"]


def test_a_message_knows_its_thread() -> None:
    assert StoredMessage("C1", "1.2", "U1", "T1").root == "1.2"
    assert StoredMessage("C1", "1.3", "U1", "T1", thread_ts="1.2").root == "1.2"


def test_listeners_hear_of_threads_and_envelopes_until_they_stop() -> None:
    scene = Scene()
    heard: list[Change] = []
    forget = scene.workspace.listen(heard.append)
    scene.post(text="t")
    assert heard == [Change("thread", "C1", scene.root), Change("envelope")]
    forget()
    scene.post(text="t")
    assert len(heard) == 2
