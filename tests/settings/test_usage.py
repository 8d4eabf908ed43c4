"""When what answers use is limited."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from slack_bot.settings.usage import UsageSettings


@pytest.mark.parametrize("name", sorted(name for name in UsageSettings.model_fields if "_" in name))
def test_each_number_is_a_limit_but_that_of_the_warning(name: str) -> None:
    settings = UsageSettings.model_validate({name: 1})
    assert settings.has_limits == (name != "warn_at")
    assert settings.has_token_limits == name.endswith("_tokens")


def test_without_one_nothing_is_limited() -> None:
    assert not UsageSettings().has_limits


@pytest.mark.parametrize("wrong", [{"warn_at": 0}, {"warn_at": 1.1}, {"person_tokens": -1}, {"currency": ""}])
def test_what_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        UsageSettings.model_validate(wrong)
