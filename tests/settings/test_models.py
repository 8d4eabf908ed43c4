"""The sections on their own: what one value may be. `test_load` checks how they fit together."""

from __future__ import annotations

import pytest
from pydantic import SecretStr, ValidationError

from slack_bot.settings.load import fields_of, sections
from slack_bot.settings.models import AgentSettings, SlackSettings
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
