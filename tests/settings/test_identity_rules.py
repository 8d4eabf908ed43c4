"""What is missing or too much for an agent that gets tokens of people."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.errors import SettingsError
from slack_bot.settings.config_file import read_agents
from slack_bot.settings.load import load

SIGNS = {"SLACK_BOT_IDENTITY__ISSUER": "https://bot.example", "SLACK_BOT_IDENTITY__KEYS": "/keys/one.pem"}
BASE = {"A2A_AGENT_URL": "http://a.invalid/"}
SIGNED = {**BASE, **SIGNS, "SLACK_BOT_AGENT__IDENTITY": "signed"}
EXCHANGE = {**BASE, **SIGNS, "SLACK_BOT_AGENT__IDENTITY": "exchange"}
TOKENS = {"SLACK_BOT_AGENT__EXCHANGE__TOKEN_URL": "https://login.example/token"}


def problems(env: dict[str, str]) -> list[str]:
    try:
        load(env, env_file=None, secrets_dir=None)
    except SettingsError as error:
        return str(error).splitlines()
    return []


@pytest.mark.parametrize(
    "env",
    [
        SIGNED,
        {**EXCHANGE, **TOKENS},
        {**SIGNED, "SLACK_BOT_AGENT__BEARER_TOKEN": "t", "SLACK_BOT_AGENT__IDENTITY_HEADER": "X-Asker"},
        {**SIGNED, "SLACK_BOT_AGENT__CLIENT__API_KEY": "k"},
        {**BASE, "SLACK_BOT_AGENT__IDENTITY": "none"},
    ],
)
def test_what_fits_together(env: dict[str, str]) -> None:
    assert problems(env) == []


SET_HEADER = "needs Authorization: set SLACK_BOT_AGENT__IDENTITY_HEADER"


@pytest.mark.parametrize(
    ("env", "sentences"),
    [
        (
            {**BASE, "SLACK_BOT_AGENT__IDENTITY": "signed"},
            ["SLACK_BOT_IDENTITY__ISSUER is not set", "SLACK_BOT_IDENTITY__KEYS is not set"],
        ),
        (EXCHANGE, ["set one of SLACK_BOT_AGENT__EXCHANGE__TOKEN_URL or SLACK_BOT_AGENT__EXCHANGE__ISSUER"]),
        ({**BASE, **TOKENS}, ["SLACK_BOT_AGENT__EXCHANGE__TOKEN_URL need SLACK_BOT_AGENT__IDENTITY"]),
        ({**SIGNED, "SLACK_BOT_AGENT__BEARER_TOKEN": "t"}, [SET_HEADER]),
        ({**SIGNED, "SLACK_BOT_AGENT__CLIENT__TOKEN_FILE": "/token"}, [SET_HEADER]),
        ({**SIGNED, "A2A_AGENT_URL": "http://user:password@a.invalid/"}, [SET_HEADER]),
        (
            {
                **SIGNED,
                "SLACK_BOT_AGENT__HEADER_NAME": "authorization",
                "SLACK_BOT_AGENT__HEADER_VALUE": "Key k",
            },
            [SET_HEADER],
        ),
        (
            {**SIGNED, "SLACK_BOT_AGENT__IDENTITY_HEADER": "Authorization"},
            ["leave it out, or name another header"],
        ),
    ],
)
def test_what_does_not_is_a_sentence_with_the_remedy(env: dict[str, str], sentences: list[str]) -> None:
    found = problems(env)
    assert len(found) == len(sentences), found
    for sentence in sentences:
        assert [each for each in found if sentence in each], found


def test_the_same_counts_for_each_of_several_agents(tmp_path: Path) -> None:
    (file := tmp_path / "slack_bot.toml").write_text(
        '[agents.ops]\nurl = "http://o.invalid/"\nidentity = "exchange"\n'
        '[agents.ops.exchange]\nresource = "http://o.invalid/"\n',
        encoding="utf-8",
    )
    with pytest.raises(SettingsError) as refused:
        read_agents(load({"SLACK_BOT_CONFIG": str(file), **SIGNS}, env_file=None, secrets_dir=None))
    line = "agents.ops.identity is exchange: set one of agents.ops.exchange.token_url or"
    assert f"{line} agents.ops.exchange.issuer" in str(refused.value)
