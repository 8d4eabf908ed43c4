"""What is done with a form in a replayed thread, by the words on its controls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from slack_bot.errors import UnreadableInput
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.tools.replay.form_play import is_played
from slack_bot.tools.replay.replay import replayed
from tests.form_tapes import ONE, SIX, approval, asking


def played(tape: Tape, act: str) -> dict[str, Any]:
    """The message that the agent got after `act`."""
    done = {
        "kind": "status-update",
        "taskId": "task-1",
        "contextId": "ctx-1",
        "status": {"state": "completed"},
    }
    more = (Moment(2.0, question=act), Moment(2.5, event={**done, "final": True}), Moment(2.6, end="closed"))
    seen = replayed(Tape(tape.head, (*tape.moments, *more)))
    assert seen.said is not None
    message: dict[str, Any] = seen.said["message"]
    return message


@pytest.mark.parametrize(
    ("tape", "act", "held"),
    [
        (asking(ONE), "[form] dev", {"env": "dev"}),
        (asking(SIX), "[form] Fill in: Your name=Ann; Where=prod; How many=3", {"env": "prod", "count": 3}),
        (approval(), "[form] Approve", {"type": "approve"}),
        (approval(), "[form] Reject: reason=no", {"message": "no"}),
    ],
)
def test_a_button_and_what_is_filled_in(tape: Tape, act: str, held: dict[str, Any]) -> None:
    sent = json.dumps(played(tape, act))
    assert all(json.dumps({name: value})[1:-1] in sent for name, value in held.items())


@pytest.mark.parametrize(
    ("act", "why"),
    [
        ("[form] Run", "there is no button 'Run'"),
        ("[form] Fill in: Nobody=1", "no input Nobody"),
        ("[form] Fill in: Your name=Ann", "not complete"),
    ],
)
def test_what_a_person_could_not_do_is_refused(act: str, why: str) -> None:
    with pytest.raises(UnreadableInput, match=why):
        played(asking(SIX), act)


def test_other_words_are_questions() -> None:
    assert not is_played("the [form] is late")
    assert is_played("[form] Fill in: a=b")
