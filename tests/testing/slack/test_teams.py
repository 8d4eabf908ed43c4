"""Several workspaces behind one address: a token sees its own workspace only."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.testing.slack.teams import EmulatedTeams, new_team, token_of
from slack_bot.testing.slack.workspace import APP_TOKEN, Workspace

NOW = 1_000.0


def teams() -> tuple[EmulatedTeams, list[Workspace]]:
    both = [new_team(1), new_team(2)]
    for number, each in enumerate(both, start=1):
        each.add_channel(f"C{number}")
        each.add_user(f"U{number}")
    return EmulatedTeams(both), both


def error(answer: Any) -> str | None:
    return answer.body.get("error")


@pytest.mark.parametrize(
    ("method", "args", "refusal"),
    [
        ("chat.postMessage", {"channel": "C1", "text": "hi"}, "channel_not_found"),
        ("conversations.info", {"channel": "C1"}, "channel_not_found"),
        ("users.info", {"user": "U1"}, "user_not_found"),
        ("bots.info", {"bot": "B0BOT1"}, "bot_not_found"),
    ],
)
def test_what_is_of_another_workspace_is_not_found(method: str, args: dict[str, Any], refusal: str) -> None:
    both, _ = teams()
    assert error(both.call(method, args, now=NOW, token=token_of(2))) == refusal
    assert both.call(method, args, now=NOW, token=token_of(1)).body["ok"]


def test_a_token_tells_its_workspace_and_its_app() -> None:
    both, _ = teams()
    said = [both.call("auth.test", {}, now=NOW, token=token_of(number)).body for number in (1, 2)]
    assert [each["team_id"] for each in said] == ["T1", "T2"]
    bots = [
        both.call("bots.info", {"bot": each["bot_id"]}, now=NOW, token=token_of(number)).body["bot"]
        for number, each in enumerate(said, start=1)
    ]
    assert {each["app_id"] for each in bots} == {"A0APP"}
    assert both.call("apps.connections.open", {}, now=NOW, token=APP_TOKEN).body["ok"]


def test_a_token_that_was_revoked_and_one_that_never_was() -> None:
    both, (_, second) = teams()
    second.revoke_token()
    assert error(both.call("auth.test", {}, now=NOW, token=token_of(2))) == "token_revoked"
    assert error(both.call("auth.test", {}, now=NOW, token="xoxb-other")) == "invalid_auth"
    assert both.call("auth.test", {}, now=NOW, token=token_of(1)).body["ok"]


def test_what_is_given_out_leads_back_to_its_workspace() -> None:
    both, (first, second) = teams()
    args = {"filename": "a.txt", "length": 1}
    files = [both.call("files.getUploadURLExternal", args, now=NOW, token=token_of(n)).body for n in (1, 2)]
    names = [each["upload_url"].rpartition("/")[2] for each in files]
    assert [both.with_file(name) for name in names] == [first, second]
    assert first.say("U1", "C1", "hi", now=NOW)
    assert second.say("U2", "C2", "hi", now=NOW)
    ids = [{envelope.id for envelope in each.take()} for each in (first, second)]
    assert ids[0].isdisjoint(ids[1])


def test_an_event_names_its_workspace_and_who_is_asked_there() -> None:
    _, (_, second) = teams()
    second.say("U2", "C2", "<@U0BOT2> hello", now=NOW)
    for envelope in second.take():
        (authorization,) = envelope.payload["authorizations"]
        assert (envelope.payload["team_id"], authorization["team_id"]) == ("T2", "T2")
        assert authorization["user_id"] == "U0BOT2"


def test_who_presses_may_be_of_another_workspace_and_a_view_says_whose_it_is() -> None:
    _, (first, _) = teams()
    first.add_user("U9", team="T2")
    message = {"channel": "C1", "text": "hi", "blocks": [_BUTTON]}
    ts = first.call("chat.postMessage", message, now=NOW, token=token_of(1)).body["ts"]
    pressed = first.press("U9", "C1", ts, "go", now=NOW).payload
    assert (pressed["team"]["id"], pressed["message"]["team"]) == ("T2", "T1")
    view = {"type": "modal", "title": {"type": "plain_text", "text": "t"}, "blocks": []}
    args = {"trigger_id": pressed["trigger_id"], "view": view}
    assert first.call("views.open", args, now=NOW, token=token_of(1), is_json=True).body["ok"]
    sent = first.submit("U9", now=NOW).payload
    assert (sent["team"]["id"], sent["view"]["app_installed_team_id"]) == ("T2", "T1")


_BUTTON = {
    "type": "actions",
    "elements": [{"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}],
}
