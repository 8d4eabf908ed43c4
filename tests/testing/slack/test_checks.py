"""Does what a call names exist, and may the app touch it?"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slack_bot.testing.slack import checks
from slack_bot.testing.slack.state import Refused

from .scene import Scene

SCENE = Scene()
STATE = SCENE.workspace.state
C1 = STATE.channels["C1"]


@pytest.mark.parametrize(
    ("check", "error"),
    [
        (lambda: checks.channel_of(STATE, "C9"), "channel_not_found"),
        (lambda: checks.bot_channel(STATE, "C3"), "is_archived"),
        (lambda: checks.bot_channel(STATE, "C2"), "not_in_channel"),
        (lambda: checks.root_exists(STATE, C1, ""), "invalid_thread_ts"),
        (lambda: checks.message_of(STATE, C1, "1.2"), "message_not_found"),
        (lambda: checks.own_message(STATE, C1, SCENE.root), "message_not_owned_by_app"),
        (lambda: checks.person_of(STATE, "U9"), "user_not_found"),
        (lambda: checks.recipient(STATE, None, "T1"), "user_not_found"),
        (lambda: checks.recipient(STATE, "U2", "T1"), "user_not_found"),
        (lambda: checks.recipient(STATE, "U3", "T1"), "user_not_found"),
        (lambda: checks.metadata(STATE, {"metadata": {}}), "invalid_metadata_format"),
        (lambda: checks.metadata(STATE, {"metadata": {"event": 1}}), "invalid_metadata_schema"),
        (
            lambda: checks.metadata(STATE, {"metadata": {"event_type": "x" * 8_000, "event_payload": {}}}),
            "metadata_too_large",
        ),
    ],
)
def test_refused(check: Callable[[], object], error: str) -> None:
    with pytest.raises(Refused) as caught:
        check()
    assert caught.value.error == error


def test_what_is_right_passes() -> None:
    assert checks.bot_channel(STATE, "C1") is C1
    assert checks.root_exists(STATE, C1, SCENE.root) == SCENE.root
    assert checks.message_of(STATE, C1, SCENE.root).body == "<@U0BOT> why?"
    assert checks.person_of(STATE, "U1").name == "ada"
    for user, team in ((None, None), ("U1", "T1"), ("U2", "T2"), ("U1", None)):
        checks.recipient(STATE, user, team)
    assert checks.metadata(STATE, {}) is None


def test_an_ephemeral_message_is_no_root_and_no_message() -> None:
    scene = Scene()
    ts = scene.ok("chat.postEphemeral", channel="C1", user="U1", text="psst")["message_ts"]
    state = scene.workspace.state
    with pytest.raises(Refused):
        checks.root_exists(state, state.channels["C1"], ts)
    with pytest.raises(Refused):
        checks.message_of(state, state.channels["C1"], ts)


def test_an_own_message_is_found() -> None:
    scene = Scene()
    ts = scene.post(text="t")
    state = scene.workspace.state
    assert checks.own_message(state, state.channels["C1"], ts).body == "t"
