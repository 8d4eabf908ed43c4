"""Which agent is asked, and with whose credentials."""

from __future__ import annotations

import pytest

from slack_bot.errors import UnreadableInput
from slack_bot.settings.load import Settings, load
from slack_bot.tools.capture.agent_address import is_address, settings_for

HOME = "https://agent.example/a2a"


def given(**more: str) -> Settings:
    env = {"A2A_AGENT_URL": HOME, "SLACK_BOT_AGENT__BEARER_TOKEN": "token-1", **more}
    return load(env, env_file=None, secrets_dir=None)


def test_the_settings_agent_gets_its_credentials() -> None:
    settings, note = settings_for("https://agent.example/other", given())
    assert settings.agent.url == "https://agent.example/other"
    assert settings.agent.bearer_token is not None
    assert note is None


@pytest.mark.parametrize(
    "url", ["https://elsewhere.example/", "https://agent.example:444/", "http://agent.example/"]
)
def test_another_address_gets_none(url: str) -> None:
    more = {"SLACK_BOT_AGENT__HEADER_NAME": "X-Key", "SLACK_BOT_AGENT__HEADER_VALUE": "v"}
    settings, note = settings_for(
        url, given(**more, SLACK_BOT_AGENT__IDLE_TIMEOUT="99", SLACK_BOT_AGENT__PROTOCOL_VERSION="0.3")
    )
    agent = settings.agent
    assert (agent.bearer_token, agent.header_name, agent.header_value) == (None, None, None)
    assert (agent.idle_timeout, agent.protocol_version) == (99, "0.3")
    assert note is not None
    assert "A2A_AGENT_URL" in note
    assert "token-1" not in note


def test_an_allowed_host_is_the_settings_own() -> None:
    settings, note = settings_for("https://b.example/", given(SLACK_BOT_AGENT__ALLOWED_HOSTS="b.example"))
    assert settings.agent.bearer_token is not None
    assert note is None


def test_without_credentials_there_is_nothing_to_say() -> None:
    settings, note = settings_for("http://127.0.0.1:1/", load({}, env_file=None, secrets_dir=None))
    assert (settings.agent.url, note) == ("http://127.0.0.1:1/", None)


@pytest.mark.parametrize("url", ["ftp://x", "agent.example", "http://", "http://[x"])
def test_what_is_no_address_is_said(url: str) -> None:
    with pytest.raises(UnreadableInput, match="is not an address"):
        settings_for(url, given())


def test_an_address_is_no_file() -> None:
    assert is_address(HOME)
    assert not is_address("http.jsonl")
