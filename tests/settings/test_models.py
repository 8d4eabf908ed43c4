"""The sections on their own: what one value may be. `test_load` checks how they fit together."""

from __future__ import annotations

import pytest
from pydantic import SecretStr, ValidationError

from slack_bot.settings.load import expected, fields_of, sections
from slack_bot.settings.models import (
    AgentSettings,
    GovernorSettings,
    PushSettings,
    ReferenceSettings,
    SlackSettings,
    StoreSettings,
)
from slack_bot.settings.section import SettingsSection

MODELS = [model for _, model in sections()]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_setting_says_what_it_is(model: type[SettingsSection]) -> None:
    for name, field in fields_of(model).items():
        assert field.description and field.description.rstrip().endswith((".", ")", "]")), name


def test_an_unknown_leaf_is_refused() -> None:
    with pytest.raises(ValidationError, match="conect_timeout"):
        AgentSettings.model_validate({"conect_timeout": 3})


@pytest.mark.parametrize("url", ["agent.example", "ftp://agent.example", "http://", "https:// x"])
def test_an_address_must_be_one_of_the_web(url: str) -> None:
    with pytest.raises(ValidationError, match="http:// or https://"):
        AgentSettings(url=url)


@pytest.mark.parametrize("number", ["inf", "-inf", "nan", float("inf")])
def test_a_number_is_finite(number: object) -> None:
    """A budget without end nests in nothing, and `nan` compares with nothing."""
    for settings in ({"turn_timeout": number}, {"poll_intervals": [number]}):
        with pytest.raises(ValidationError, match="finite number"):
            AgentSettings.model_validate(settings)


def test_a_secret_does_not_show_itself() -> None:
    assert "xoxb-1" not in repr(SlackSettings(bot_token=SecretStr("xoxb-1")))


def test_a_section_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        SlackSettings().timeout = 3.0  # type: ignore[misc]  # the very thing that must fail


# -- what a setting may be --------------------------------------------------------------------------------


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
