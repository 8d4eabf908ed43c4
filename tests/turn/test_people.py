"""What kind of person somebody is."""

from typing import Any

import pytest

from slack_bot.turn.people import Organisation, PersonKind, kind_of

OURS = {"id": "U1", "team_id": "T1"}


@pytest.mark.parametrize(
    ("user", "kind"),
    [
        (OURS, PersonKind.MEMBER),
        ({**OURS, "is_restricted": True}, PersonKind.GUEST),
        ({**OURS, "is_ultra_restricted": True}, PersonKind.GUEST),
        ({**OURS, "is_bot": True}, PersonKind.BOT),
        ({**OURS, "is_stranger": True}, PersonKind.EXTERNAL),
        ({"team_id": "T2", "is_stranger": False}, PersonKind.EXTERNAL),
        ({"team_id": "T2", "is_bot": True}, PersonKind.EXTERNAL),
        ({}, PersonKind.EXTERNAL),
        ({"team_id": None, "enterprise_user": 7}, PersonKind.EXTERNAL),
        ({"team_id": "T2", "enterprise_user": {"enterprise_id": "E1"}}, PersonKind.MEMBER),
        ({"team_id": "T2", "enterprise_user": {"enterprise_id": "E2"}}, PersonKind.EXTERNAL),
    ],
)
def test_the_kind_of_a_person(user: dict[str, Any], kind: PersonKind) -> None:
    assert kind_of(user, Organisation("T1", "E1")) is kind


def test_nobody_belongs_to_an_unknown_workspace() -> None:
    assert not Organisation().has("")
    assert not Organisation("T1").has("", None)
