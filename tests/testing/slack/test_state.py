"""Timestamps, ids and order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slack_bot.testing.slack.state import Change, Refused, StoredMessage, ts_key

from .scene import NOW, Scene


def test_timestamps_never_repeat_and_never_go_back() -> None:
    state = Scene().workspace.state
    made = []
    for now in (NOW, NOW, NOW, NOW - 10, NOW + 1):
        state.now = now
        made.append(state.next_ts())
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
    assert heard == [Change("thread", "C1", scene.root), Change("envelope"), Change("call")]
    forget()
    scene.post(text="t")
    assert len(heard) == 3


SCENE = Scene()
STATE = SCENE.workspace.state
C1 = STATE.channels["C1"]


@pytest.mark.parametrize(
    ("check", "error"),
    [
        (lambda: STATE.channel_of("C9"), "channel_not_found"),
        (lambda: STATE.bot_channel("C3"), "is_archived"),
        (lambda: STATE.bot_channel("C2"), "not_in_channel"),
        (lambda: STATE.root_exists(C1, ""), "invalid_thread_ts"),
        (lambda: STATE.message_of(C1, "1.2"), "message_not_found"),
        (lambda: STATE.person_of("U9"), "user_not_found"),
        (lambda: STATE.metadata_of({"metadata": {}}), "invalid_metadata_format"),
        (lambda: STATE.metadata_of({"metadata": {"event": 1}}), "invalid_metadata_schema"),
        (
            lambda: STATE.metadata_of({"metadata": {"event_type": "x" * 8_000} | {"event_payload": {}}}),
            "metadata_too_large",
        ),
    ],
)
def test_refused(check: Callable[[], object], error: str) -> None:
    with pytest.raises(Refused) as caught:
        check()
    assert caught.value.error == error


def test_what_is_right_passes() -> None:
    assert STATE.bot_channel("C1") is C1
    assert STATE.root_exists(C1, SCENE.root) == SCENE.root
    assert STATE.message_of(C1, SCENE.root).body == "<@U0BOT> why?"
    assert STATE.person_of("U1").name == "ada"
    assert STATE.metadata_of({}) is None


def test_an_ephemeral_message_is_no_root_and_no_message() -> None:
    scene = Scene()
    ts = scene.ok("chat.postEphemeral", channel="C1", user="U1", text="psst")["message_ts"]
    state = scene.workspace.state
    with pytest.raises(Refused):
        state.root_exists(state.channels["C1"], ts)
    with pytest.raises(Refused):
        state.message_of(state.channels["C1"], ts)
