"""Settings of traces and of the audit."""

from __future__ import annotations

import pytest

from slack_bot.errors import SettingsError
from slack_bot.settings.load import load


def test_both_are_off_by_default() -> None:
    settings = load({}, None, None)
    assert not settings.traces.enabled and settings.audit.path is None and not settings.audit.text


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("SLACK_BOT_TRACES__ENDPOINT", "collector:4318", "begins with http:// or https://"),
        ("SLACK_BOT_TRACES__ENABLED", "maybe", "true or false"),
        ("SLACK_BOT_AUDIT__DAYS", "0", "greater than 0"),
    ],
)
def test_a_wrong_value_is_named(name: str, value: str, says: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} is '{value}'.*{says}"):
        load({name: value}, None, None)
