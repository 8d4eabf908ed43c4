"""Into which conversations what an agent wrote may go."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.features.agent_acts.places import why_not_there

PUBLIC = {"is_channel": True, "is_private": False, "is_ext_shared": False, "is_shared": False}
PRIVATE = {**PUBLIC, "is_private": True}
OF_GRID = {**PUBLIC, "is_shared": True, "is_org_shared": True}
SHARED, INVITED = {**PUBLIC, "is_ext_shared": True}, {**PUBLIC, "is_pending_ext_shared": True}
LISTED, REVEALS = False, True


@pytest.mark.parametrize(
    ("source", "target", "may_reveal", "end"),
    [
        (PUBLIC, PUBLIC, LISTED, ""),
        (PUBLIC, PRIVATE, LISTED, ""),
        (PUBLIC, OF_GRID, LISTED, ""),
        (PRIVATE, PRIVATE, LISTED, ""),
        (None, PRIVATE, LISTED, ""),
        (PRIVATE, PUBLIC, LISTED, "everybody can read <#C2>"),
        (None, PUBLIC, LISTED, "everybody can read <#C2>"),
        ({}, PUBLIC, LISTED, "everybody can read <#C2>"),
        (PRIVATE, PUBLIC, REVEALS, ""),
        (None, PUBLIC, REVEALS, ""),
        (PUBLIC, SHARED, LISTED, "other organisations can read <#C2>"),
        (PUBLIC, SHARED, REVEALS, "other organisations can read <#C2>"),
        (PUBLIC, INVITED, REVEALS, "other organisations can read <#C2>"),
        (PUBLIC, {**PUBLIC, "pending_shared": ["T2"]}, REVEALS, "other organisations can read <#C2>"),
        (PUBLIC, {**PUBLIC, "is_shared": True}, REVEALS, "other organisations can read <#C2>"),
        (PUBLIC, {}, REVEALS, "other organisations can read <#C2>"),
    ],
)
def test_where_it_may_go(source: Any, target: Any, may_reveal: bool, end: str) -> None:
    reason = why_not_there(source, target, "C2", may_reveal=may_reveal)
    assert reason.endswith(end) and bool(reason) is bool(end)


FLAGS = ("is_private", "is_im", "is_mpim", "is_group", "is_ext_shared", "is_pending_ext_shared", "is_shared")
CHANNELS = st.fixed_dictionaries({}, optional=dict.fromkeys(FLAGS, st.sampled_from([True, False, None])))


@given(st.none() | CHANNELS, CHANNELS, st.booleans())
def test_nothing_goes_to_others_and_nothing_private_becomes_public_by_itself(
    source: dict[str, Any] | None, target: dict[str, Any], may_reveal: bool
) -> None:
    if why_not_there(source, target, "C2", may_reveal=may_reveal):
        return
    assert target["is_ext_shared"] is False and not target.get("is_pending_ext_shared")
    if target.get("is_private") is not True and not may_reveal:
        assert source is not None and source["is_private"] is False and not source.get("is_im")
