"""The manifest of the Slack app: Slack's limits, and each scope with what it is for."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from slack_bot.manifest import PERMISSIONS, Wants, install_link, manifest_of, missing, wanted

# docs.slack.dev/reference/app-manifest, and github.com/slackapi/manifest-schema (v1): the fields we use
STRINGS = {
    "display_information.name": 35,
    "display_information.description": 140,
    "features.agent_view.agent_description": 300,
    "features.bot_user.display_name": 80,
    "settings.event_subscriptions.request_url": 3_000,
    "settings.interactivity.request_url": 3_000,
}
FLAGS = {
    "features.app_home.home_tab_enabled", "features.app_home.messages_tab_enabled",
    "features.app_home.messages_tab_read_only_enabled", "features.bot_user.always_online",
    "settings.interactivity.is_enabled", "settings.org_deploy_enabled", "settings.socket_mode_enabled",
    "settings.token_rotation_enabled",
}  # fmt: skip
LISTS = {
    "oauth_config.scopes.bot": 255,
    "oauth_config.scopes.bot_optional": 255,
    "settings.event_subscriptions.bot_events": 100,
}


def leaves(value: Any, at: str = "") -> list[tuple[str, Any]]:
    if not isinstance(value, dict):
        return [(at, value)]
    return [each for key, inner in value.items() for each in leaves(inner, f"{at}.{key}".lstrip("."))]


@pytest.mark.parametrize("public_url", [None, "https://bot.example.com/"])
@pytest.mark.parametrize("name", ["slack_bot", "x" * 35])
def test_every_field_is_one_that_slack_knows_within_its_limit(name: str, public_url: str | None) -> None:
    manifest = manifest_of(wanted(Wants(gives_emails=True)), name=name, public_url=public_url)
    for at, value in leaves(manifest):
        if isinstance(value, str):
            assert 0 < len(value) <= STRINGS[at], at
        elif isinstance(value, bool):
            assert at in FLAGS
        else:
            assert len(set(value)) == len(value) <= LISTS[at], at
    assert json.loads(json.dumps(manifest)) == manifest


def test_over_http_slack_gets_the_address_of_events_and_buttons() -> None:
    settings = manifest_of(wanted(), public_url="https://bot.example.com/")["settings"]
    assert settings["socket_mode_enabled"] is False
    addresses = {settings[each]["request_url"] for each in ("event_subscriptions", "interactivity")}
    assert addresses == {"https://bot.example.com/slack/events"}
    assert manifest_of(wanted())["settings"]["socket_mode_enabled"] is True


def test_a_feature_that_is_off_wants_nothing() -> None:
    def said(**values: set[Any]) -> Wants:
        usual = {"respond": {"auto"}, "context": {"thread"}, "identity": {"id"}, "reactions": {()}} | values
        return Wants.by(usual.__getitem__)

    def scopes(wants: Wants) -> set[str]:
        return {each.scope for each in wanted(wants)}

    channels = {"channels:history", "groups:history", "mpim:history"}
    assert said() == Wants()
    assert scopes(said(respond={"mention"}, context={"none"})) == scopes(Wants()) - channels
    assert scopes(said(respond={"mention"})) == scopes(said(context={"none"})) == scopes(Wants())
    assert scopes(said(respond={"mention", "thread"}, context={"none"})) == scopes(Wants())
    assert scopes(said(identity={"id", "email"})) == scopes(Wants()) | {"users:read.email"}
    heard = said(reactions={(), (("robot_face", "ask"),)})
    assert scopes(heard) == scopes(Wants()) | {"reactions:read"}
    assert "reaction_added" in manifest_of(wanted(heard))["settings"]["event_subscriptions"]["bot_events"]
    assert scopes(
        said(reactions={(("robot_face", "ask"),)}, respond={"mention"}, context={"none"})
    ) == scopes(heard)
    assert scopes(Wants(has_agents=True)) == scopes(Wants()) | {"chat:write.customize"}
    quiet = manifest_of(wanted(said(respond={"mention"}, context={"none"})))
    events = quiet["settings"]["event_subscriptions"]["bot_events"]
    assert events == [
        "agent_session_stopped",
        "app_context_changed",
        "app_home_opened",
        "app_mention",
        "message.im",
    ]


def test_no_scope_is_both_needed_and_optional() -> None:
    scopes = manifest_of(wanted())["oauth_config"]["scopes"]
    assert {"app_mentions:read", "chat:write", "im:history"} == set(scopes["bot"])
    assert set(scopes["bot"]).isdisjoint(scopes["bot_optional"])


def test_each_scope_that_is_missing_is_one_sentence_with_what_is_lost_and_the_remedy() -> None:
    everything = {each.scope for each in PERMISSIONS}
    (sentence,) = missing(everything - {"channels:history"}, wanted())
    assert sentence == (
        "the Slack app lacks the scope channels:history: replies in public channels do not reach the bot, and"
        " what became of a call without an answer cannot be looked up there; add it under OAuth & Permissions"
        " in your Slack app settings and install the app again"
    )
    assert list(missing(everything, wanted())) == []
    assert len(list(missing((), PERMISSIONS))) == len(PERMISSIONS)


def test_the_link_holds_the_manifest() -> None:
    address = urlsplit(install_link(manifest := manifest_of(wanted())))
    assert (address.scheme, address.netloc, address.path) == ("https", "api.slack.com", "/apps")
    given = parse_qs(address.query)
    assert given["new_app"] == ["1"] and json.loads(given["manifest_json"][0]) == manifest
