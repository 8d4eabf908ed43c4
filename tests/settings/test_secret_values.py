"""The secrets of the settings: each value, and each part of one that is a secret by itself."""

from __future__ import annotations

import base64

from slack_bot.settings.load import Settings, load
from slack_bot.settings.secret_values import secrets_of


def read(env: dict[str, str]) -> Settings:
    return load(env, None, None)


def test_the_key_in_a_header_and_the_password_in_an_address_are_secrets_by_themselves() -> None:
    env = {
        "SLACK_BOT_AGENT__HEADER_NAME": "Authorization",
        "SLACK_BOT_AGENT__HEADER_VALUE": "ApiKey hunter2-hunter2",
        "A2A_AGENT_URL": "https://bot:s%40cret-s%40cret@agent.example/",
    }
    secrets = secrets_of(read(env))
    sent = base64.b64encode(b"bot:s@cret-s@cret").decode()
    assert secrets[:2] == ("ApiKey hunter2-hunter2", "hunter2-hunter2")
    assert secrets[2:] == ("s%40cret-s%40cret", "s@cret-s@cret", sent)
    short = base64.b64encode(b"bot:test").decode()
    assert secrets_of(read({"A2A_AGENT_URL": "https://bot:test@agent.example/"})) == (short,)
    assert secrets_of(read({"A2A_AGENT_URL": "https://bot@agent.example/"})) == ()
    store = {"SLACK_BOT_STORE__URL": "redis://:an%20old%20one@redis:6379/0"}
    assert secrets_of(read(store))[:2] == ("an%20old%20one", "an old one")
    sentinels = "redis+sentinel://:at%20redis@[::1]:1,two:2/name?sentinel_password=at%20sentinels"
    told = secrets_of(read({"SLACK_BOT_STORE__URL": sentinels}))
    assert {"at%20redis", "at redis", "at sentinels", "at%20sentinels"} <= set(told)
    assert secrets_of(read({"A2A_AGENT_URL": "https://[bad"})) == ()
