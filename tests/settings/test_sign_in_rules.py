"""What is missing for an agent for which people sign in, or too much."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from slack_bot.settings.models import AgentSettings
from slack_bot.settings.sign_in import SignInSettings
from slack_bot.settings.sign_in_rules import sign_in_contradictions

READY: dict[str, Any] = {
    "base_url": "https://bot.example",
    "keys": base64.b64encode(b"k" * 32).decode(),
}
OAUTH: dict[str, Any] = {"issuer": "https://login.example", "id": "bot"}


def problems(identity: str = "oauth", sign_in: dict[str, Any] = READY, **oauth: Any) -> list[str]:
    agent = AgentSettings.model_validate({"identity": identity, "oauth": oauth})
    return list(sign_in_contradictions(agent, SignInSettings.model_validate(sign_in), lambda path: path))


def test_all_that_is_needed_is_set() -> None:
    assert problems(**OAUTH) == []
    assert problems("email") == []
    assert problems(sign_in={"keys": READY["keys"]}, **OAUTH, device_flow=True) == []


@pytest.mark.parametrize(
    ("found", "name"),
    [
        (problems(id="bot"), "oauth.issuer is not set"),
        (problems(issuer="https://login.example"), "oauth.id is not set"),
        (problems(sign_in={"keys": READY["keys"]}, **OAUTH), "SLACK_BOT_SIGN_IN__BASE_URL is not set"),
        (
            problems(sign_in={"base_url": "https://bot.example"}, **OAUTH),
            "SLACK_BOT_SIGN_IN__KEYS is not set",
        ),
        (problems("email", **OAUTH), "oauth.issuer needs identity = oauth"),
        (problems(**OAUTH, token_url="https://login.example/token"), "oauth.token_url has no effect"),
    ],
)
def test_each_problem_is_one_line_that_names_the_setting(found: list[str], name: str) -> None:
    (line,) = found
    assert name in line


REGISTERS: dict[str, Any] = {"issuer": "https://login.example", "register_client": True}


def test_a_bot_that_registers_itself_needs_no_id() -> None:
    assert problems(**REGISTERS, registration_token="t") == []


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (problems(**REGISTERS, id="bot"), "oauth.register_client is set, and so is oauth.id: leave one"),
        (problems(**REGISTERS, secret="s"), "oauth.register_client is set, and so is oauth.secret"),
        (problems(**REGISTERS, method="private_key_jwt"), "oauth.method cannot be private_key_jwt"),
        (problems(**OAUTH, registration_token="t"), "oauth.registration_token has no effect: set"),
        (problems("email", register_client=True), "oauth.register_client needs identity = oauth"),
    ],
)
def test_what_does_not_fit_a_registration(found: list[str], words: str) -> None:
    (line,) = found
    assert words in line
