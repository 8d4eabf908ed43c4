"""How an agent learns who asks."""

from __future__ import annotations

from typing import get_args

import pytest

from slack_bot.errors import SettingsError
from slack_bot.settings.identity import CLAIMS, PERSONAL, Identity
from slack_bot.settings.load import load
from slack_bot.settings.models import AgentSettings


@pytest.mark.parametrize("identity", get_args(Identity))
def test_whoever_gets_tokens_is_told_more_than_claims(identity: Identity) -> None:
    agent = AgentSettings(identity=identity)
    assert agent.knows_people == (identity not in CLAIMS)
    assert agent.is_personal == (identity in PERSONAL)
    assert agent.knows_people or not agent.is_personal


def test_by_default_an_agent_learns_what_the_channel_says() -> None:
    assert AgentSettings().identity == CLAIMS[-1]


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("KEYS", "a.pem,b.pem,c.pem", "should be one file or two: the key that signs, and the one before or"),
        ("TRUSTED_TEAMS", "U1", "should be ids of workspaces or organisations (T0123456 or E0123456)"),
        ("ISSUER", "http://bot.example", "should be an address that begins with https://"),
    ],
)
def test_what_cannot_be_is_one_sentence(name: str, value: str, sentence: str) -> None:
    env = {"A2A_AGENT_URL": "http://a.invalid/", f"SLACK_BOT_IDENTITY__{name}": value}
    with pytest.raises(SettingsError) as refused:
        load(env, env_file=None, secrets_dir=None)
    assert sentence in str(refused.value)
