"""What is said of a value that a setting cannot have."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from slack_bot.settings.load import FIELDS, fields_of, sections
from slack_bot.settings.models import AgentSettings, GovernorSettings, ReferenceSettings, SlackSettings
from slack_bot.settings.push import PushSettings
from slack_bot.settings.refusals import expected, refusal_line
from slack_bot.settings.section import SettingsSection
from slack_bot.settings.store import StoreSettings


def message(model: type[SettingsSection], leaf: str, value: object) -> str:
    with pytest.raises(ValidationError) as caught:
        model.model_validate({leaf: value})
    return expected(model.model_fields[leaf], caught.value.errors()[0]["msg"])


@pytest.mark.parametrize(
    ("model", "leaf", "value", "words"),
    [
        (AgentSettings, "use_configured_url", "maybe", "should be true or false"),
        (AgentSettings, "connect_retries", "many", "should be a whole number, at least 0"),
        (AgentSettings, "connect_retries", "1.5", "should be a whole number, at least 0"),
        (SlackSettings, "http_port", "70000", "should be a whole number, at least 0 and at most 65535"),
        (AgentSettings, "turn_timeout", "inf", "should be a finite number of seconds, greater than 0"),
        (AgentSettings, "poll_jitter", "1", "should be a finite number, at least 0 and less than 1"),
        (StoreSettings, "dedupe_hours", "0", "should be a finite number of hours, greater than 0"),
        (
            GovernorSettings,
            "rate_utilization",
            "x",
            "should be a finite number, greater than 0 and at most 1",
        ),
        (PushSettings, "jwks", "http://a/b", "should be a file, or an address that begins with https://"),
        (ReferenceSettings, "response_mode", "x", "should be hybrid, marker or structured"),
        (AgentSettings, "url", "agent", "should be an address that begins with http:// or https://"),
        (AgentSettings, "extensions", [1], 'should be a list of texts: write a,b or ["a","b"]'),
        (
            AgentSettings,
            "poll_intervals",
            ["a"],
            "should be one or more numbers of seconds, greater than 0, with commas between them",
        ),
    ],
)
def test_what_is_expected(model: type[SettingsSection], leaf: str, value: object, words: str) -> None:
    assert message(model, leaf, value) == words


ALL = [(model, leaf) for _, model in sections() for leaf in fields_of(model)]


@pytest.mark.parametrize(("model", "leaf"), ALL, ids=lambda each: str(each))
def test_no_setting_is_refused_in_the_validator_s_words(model: type[SettingsSection], leaf: str) -> None:
    assert message(model, leaf, {"no": "such"}).startswith("should be ")


def test_the_value_of_a_secret_is_not_shown_and_nor_is_what_looks_like_one() -> None:
    token, address = FIELDS["agent", "bearer_token"], FIELDS["agent", "url"]
    assert refusal_line("X", token, "hunter2", "Value error, should be a text") == "X: should be a text"
    assert refusal_line("X", address, "xoxb-1", "Value error, should be a URL") == "X: should be a URL"
    assert refusal_line("X", address, "a", "Value error, should be a URL") == "X is 'a': should be a URL"
