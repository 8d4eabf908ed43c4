"""What a setting is called, and which name is near another."""

from __future__ import annotations

from slack_bot.settings.names import env_name, nearest


def test_a_setting_is_a_variable_of_its_section() -> None:
    assert env_name(("agent", "url")) == "SLACK_BOT_AGENT__URL"


def test_a_misspelt_name_is_known_if_one_is_near_enough() -> None:
    assert nearest("turn_timout", ["url", "turn_timeout", "turn_deadline"]) == "turn_timeout"
    assert nearest("turn_timout", ["turn_timeout"], 0.99) is None
    assert nearest("turn_timeout", []) is None
