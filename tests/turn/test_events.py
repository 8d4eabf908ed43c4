"""Events are frozen facts, each with its reason."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import get_args

import pytest

from slack_bot.turn.events import Event, TurnBegun


@pytest.mark.parametrize("kind", get_args(Event))
def test_every_event_carries_its_reason_last(kind: type) -> None:
    assert fields(kind)[-1].name == "reason"
    assert kind.__slots__


def test_an_event_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        TurnBegun().reason = "other"  # type: ignore[misc]  # the point of the test
