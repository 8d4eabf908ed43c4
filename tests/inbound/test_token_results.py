"""What is said of a token that works and cannot be used; the rest is in `tests/test_workspace_tokens.py`."""

from __future__ import annotations

import pytest
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.inbound.token_results import TokenResult, app_of, judged


def result(number: int, team: str, app: str = "A1", *, is_org: bool = False) -> TokenResult:
    identity = AuthorizeResult(enterprise_id=None, team_id=team, team=f"team of {team}")
    identity["is_enterprise_install"] = is_org
    return TokenResult(number, AsyncWebClient(), identity, app=app)


def test_two_tokens_of_one_workspace_the_first_counts() -> None:
    first, second, third = judged([result(1, "T1"), result(2, "T2"), result(3, "T1")], "")
    assert (first.team, second.team, third.identity) == ("T1", "T2", None)
    assert third.problem == (
        "token 3 of SLACK_BOT_TOKENS is of team of T1 (T1), as token 1 is, which counts: take one of them out"
        " of the list."
    )


def test_a_later_look_knows_the_workspaces_that_work() -> None:
    (late,) = judged([result(3, "T1")], "", [result(1, "T1")])
    assert "as token 1 is" in late.problem


@pytest.mark.parametrize(("app", "left_out"), [("", [3]), ("A1", [3]), ("A2", [1, 2])])
def test_a_token_of_another_app_gets_no_events_here(app: str, left_out: list[int]) -> None:
    """`app`: the one whose app-level token there is; without it, that of most tokens."""
    results = judged([result(1, "T1"), result(2, "T2"), result(3, "T3", "A2")], app)
    assert [each.number for each in results if each.identity is None] == left_out
    assert all("of another app" in each.problem for each in results if each.identity is None)


def test_what_nobody_knows_of_an_app_is_no_reason() -> None:
    assert not any(each.problem for each in judged([result(1, "T1", ""), result(2, "T2")], "A2")[:1])


def test_an_install_of_a_whole_organisation_is_not_carried() -> None:
    (refused,) = judged([result(1, "E1", is_org=True)], "")
    assert refused.identity is None
    assert "Enterprise Grid" in refused.problem


@pytest.mark.parametrize(
    ("token", "app"), [("xapp-1-A0123ABC-456-abc", "A0123ABC"), ("xapp-of-a-test", ""), ("", "")]
)
def test_an_app_level_token_names_its_app(token: str, app: str) -> None:
    assert app_of(token) == app
