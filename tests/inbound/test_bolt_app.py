"""Bolt reads nothing from the environment, and knows for which of several workspaces something is."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.inbound.authorizer import Identities
from slack_bot.inbound.bolt_app import TeamSorter, new_bolt
from slack_bot.testing.harness import bot_settings


async def test_a_token_in_the_environment_is_neither_used_nor_warned_about(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=None, team_id="T1")

    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-of-the-environment")
    client = AsyncWebClient("xoxb-of-the-settings")
    bolt = new_bolt(client, Identities(authorize), bot_settings().slack)
    assert (bolt.client.token, client.token, caplog.messages) == (None, None, [])
    assert logging.getLogger("slack_bot.bolt").level == logging.WARNING


# -- several workspaces


def several(*teams: str) -> Identities:
    identities = Identities()
    for team in teams:
        identities.add(AuthorizeResult(enterprise_id=None, team_id=team))
    return identities


async def sorted_as(body: dict[str, Any], identities: Identities) -> tuple[int, str | None]:
    """The status of the answer, and the workspace whose installation acts."""
    request = AsyncBoltRequest(body=body, mode="socket_mode")

    async def next_() -> BoltResponse:
        return BoltResponse(status=299)

    response = await TeamSorter(identities).sort(request, next_)
    return response.status, request.context.team_id


PRESS = {
    "type": "block_actions",
    "team": {"id": "T2"},
    "user": {"id": "U9", "team_id": "T2"},
    "message": {"team": "T1", "ts": "1.0"},
    "actions": [{"action_id": "retry", "value": "T1:C1:1.0"}],
}
EVENT = {"type": "event_callback", "team_id": "T2", "event": {"type": "message", "team": "T3", "user": "U1"}}


@pytest.mark.parametrize(
    ("body", "team"),
    [
        (EVENT, "T2"),
        (EVENT | {"authorizations": [{"team_id": "T1"}]}, "T1"),
        (PRESS, "T1"),
        (PRESS | {"message": {}}, "T1"),
        (PRESS | {"message": {}, "actions": [{"value": "handle|of a form"}]}, "T2"),
        (PRESS | {"actions": [{"value": "T2:C2:1.0"}]}, "T1"),
        ({"type": "view_submission", "team": {"id": "T2"}, "view": {"app_installed_team_id": "T1"}}, "T1"),
        ({"type": "view_submission", "team": {"id": "T9"}, "user": {"id": "U1", "team_id": "T1"}}, "T1"),
        ({"command": "/ask", "team_id": "T2"}, "T2"),
    ],
    ids=[
        "event",
        "authorization",
        "message",
        "value",
        "person",
        "value of another",
        "view",
        "user",
        "command",
    ],
)
async def test_the_installation_that_an_event_or_a_press_is_for(body: dict[str, Any], team: str) -> None:
    assert await sorted_as(body, several("T1", "T2")) == (299, team)


async def test_what_is_for_a_workspace_without_a_token_is_acknowledged_and_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    sorter, request = TeamSorter(several("T1")), AsyncBoltRequest(body=EVENT, mode="socket_mode")

    async def next_() -> BoltResponse:
        raise AssertionError("nobody can answer it")

    for _ in range(2):
        assert (await sorter.sort(request, next_)).status == 200
    (line,) = caplog.messages
    assert line.startswith("events of the workspace T2 are left out")


async def test_as_long_as_slack_had_no_answer_for_a_token_slack_is_to_send_it_again() -> None:
    identities = several("T1")
    identities.expect(more=True)
    assert (await sorted_as(EVENT, identities))[0] == 503
    assert (await sorted_as(EVENT | {"team_id": "T1"}, identities))[0] == 299


async def test_slacks_check_of_the_address_is_for_no_workspace() -> None:
    assert (await sorted_as({"type": "url_verification", "challenge": "c"}, several("T1")))[0] == 299
