"""A press or a sent modal is read once, whatever its body holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.inbound.read import Press, read_press
from tests.inbound.payloads import ME

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["U1", "view_submission"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
PARTS = ["type", "actions", "user", "channel", "message", "container", "view", "state", "trigger_id"]
ACTIONS = st.lists(st.dictionaries(st.sampled_from(["value", "action_id"]), VALUES), max_size=2)


def body(value: object = "T1:C1:1.0", name: str = "retry", **changes: Any) -> dict[str, Any]:
    return {
        "type": "block_actions",
        "user": {"id": "U1", "team_id": "T1"},
        "team": {"id": "T1"},
        "channel": {"id": "C1"},
        "container": {"type": "message", "message_ts": "2.0", "channel_id": "C7", "thread_ts": "1.0"},
        "message": {"ts": "2.0", "thread_ts": "1.0"},
        "actions": [{"type": "button", "action_id": name, "value": value}],
        "trigger_id": "t1",
        **changes,
    }


def read(value: object = "T1:C1:1.0", name: str = "retry", **changes: Any) -> Press:
    press = read_press(body(value, name, **changes), ME)
    assert press is not None
    return press


def test_a_control_names_its_turn_and_its_place() -> None:
    press = read("negative|T1:C1:1.0", "feedback")
    assert (press.name, press.turn, press.user, press.team) == ("feedback", "T1:C1:1.0", "U1", "T1")
    assert (press.channel, press.thread_ts, press.message_ts, press.trigger) == ("C1", "1.0", "2.0", "t1")
    assert not press.is_modal
    assert press.private_url == ""


def test_a_number_behind_the_name_is_no_part_of_it() -> None:
    assert read(name="form_choose-3").name == "form_choose"


def test_the_place_is_in_the_container_or_the_message() -> None:
    away = read(channel=None, message=None)
    assert (away.channel, away.thread_ts) == ("C7", "1.0")
    assert read(container=None, message={"ts": "2.0"}).thread_ts == "2.0"


@pytest.mark.parametrize("value", ["T1:C2:1.0", "", 7, None, "positive|"])
def test_a_turn_of_another_channel_or_none_is_none(value: object) -> None:
    assert read(value).turn == ""


def test_a_modal_has_no_place() -> None:
    view = {"callback_id": "form_fill", "private_metadata": "h", "state": {"values": {"a": {"a": {}}}}}
    press = read_press({"type": "view_submission", "user": {"id": "U1"}, "view": view}, ME)
    assert press is not None
    assert (press.name, press.value, press.state, press.is_modal) == (
        "form_fill",
        "h",
        {"a": {"a": {}}},
        True,
    )
    assert (press.channel, press.thread_ts) == ("", "")


def test_only_a_private_message_is_changed_at_its_address() -> None:
    url = "https://hooks.slack.com/actions/T1/1/x"
    assert read(response_url=url).private_url == ""
    assert read(response_url=url, container={"is_ephemeral": True}).private_url == url


@pytest.mark.parametrize("user", [None, {}, {"id": 3}])
def test_a_press_of_nobody_is_none(user: object) -> None:
    assert read_press(body(user=user), ME) is None


@given(VALUES | st.dictionaries(st.sampled_from(PARTS), VALUES | ACTIONS))
def test_any_json_is_read(payload: object) -> None:
    assert isinstance(read_press(payload, ME), Press | None)
