"""Whom the bot vouches for: what Slack itself says of a person decides."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from slack_bot.errors import AskerRefused, AskerUnavailable, SlackError
from slack_bot.settings.identity import IdentitySettings
from slack_bot.slack.proven_people import ProvenPeople
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.people import AskingPerson, ProvenPerson
from tests.slack.scene import Scene, workspaces_of

OWN = {"bot_user_id": "U0BOT", "enterprise_id": "E1"}
BOT = AskingPerson("T1", "U0BOT")


def directory(scene: Scene, *trusted: str, own: Mapping[str, Any] | None = None) -> ProvenPeople:
    async def identity() -> Mapping[str, Any]:
        if own is None:
            raise SlackError("the token is no good", error="invalid_auth")
        return own

    state = scene.workspace.state
    state.manifest = dataclasses.replace(
        state.manifest, scopes=state.manifest.scopes | {"users:read", "users:read.email"}
    )
    return ProvenPeople(workspaces_of(scene, identity), IdentitySettings(trusted_teams=trusted))


@on_virtual_time
async def test_a_member_is_vouched_for_with_a_verified_address() -> None:
    scene = Scene()
    scene.workspace.add_user("U3", email="ann@example.org")
    bob_before = scene.workspace.add_user("U4", email="bob@example.org")
    scene.workspace.state.people["U4"] = dataclasses.replace(bob_before, has_confirmed_email=False)
    people = directory(scene, own=OWN)
    ann, bob = AskingPerson("T1", "U3"), AskingPerson("T1", "U4")
    assert await people.proven(ann) == ProvenPerson(ann, "ann@example.org", BOT)
    assert await people.proven(bob) == ProvenPerson(bob, "", BOT)


@pytest.mark.parametrize(
    ("trusted", "email"),
    [((), "eve@example.org"), (("T1",), ""), (("T2",), "eve@example.org"), (("E1",), "eve@example.org")],
)
@on_virtual_time
async def test_only_a_trusted_workspace_s_addresses_are_believed(
    trusted: tuple[str, ...], email: str
) -> None:
    """Eve is of another workspace of the same organisation on Enterprise Grid, which names her home."""
    scene = Scene()
    scene.workspace.add_user("U5", team="T2", enterprise="E1", email="eve@example.org")
    scene.workspace.state.enterprise = "E1"
    found = await directory(scene, *trusted, own=OWN).proven(AskingPerson("T1", "U5"))
    assert found == ProvenPerson(AskingPerson("T2", "U5"), email, BOT)


@pytest.mark.parametrize("about", [{"guest": "multi"}, {"guest": "single"}, {"team": "T9"}, {"is_bot": True}])
@on_virtual_time
async def test_guests_people_of_other_organisations_and_bots_are_not(about: dict[str, Any]) -> None:
    scene = Scene()
    scene.workspace.add_user("U6", email="x@example.org", **about)
    with pytest.raises(AskerRefused) as refused:
        await directory(scene, own=OWN).proven(AskingPerson("T1", "U6"))
    assert "members of this workspace only" in refused.value.safe


@pytest.mark.parametrize("fault", ["ratelimited:3", "slow:3!", "service_unavailable"])
@on_virtual_time
async def test_slack_has_some_seconds_to_say_it(fault: str) -> None:
    """A person who has just signed in waits for it, and has signed in for nothing otherwise."""
    scene = Scene({"users.info": [fault, None]})
    ann = AskingPerson("T1", "U3")
    scene.workspace.add_user("U3", email="ann@example.org")
    assert (await directory(scene, own=OWN).proven(ann)).email == "ann@example.org"


@on_virtual_time
async def test_that_a_quick_look_was_in_vain_does_not_count() -> None:
    scene = Scene({"users.info": ["timeout", None]})
    people = directory(scene, own=OWN)
    assert await people.workspaces.people("T1").user("U1") is None
    assert (await people.proven(AskingPerson("T1", "U1"))).person.user == "U1"


@on_virtual_time
async def test_who_is_unknown_now_may_be_known_later() -> None:
    scene = Scene({"users.info": ["timeout"]})
    for people in (directory(scene, own=OWN), directory(scene)):
        with pytest.raises(AskerUnavailable):
            await people.proven(AskingPerson("T1", "U1"))
