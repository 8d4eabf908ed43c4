"""How values of settings are written for people."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from slack_bot.features.settings_view.view import channel_of, settings_section, value_text
from slack_bot.settings.channels import ALL, DIRECT


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "yes"),
        (False, "no"),
        ("queue", "queue"),
        ("", "empty"),
        (None, "empty"),
        ((), "empty"),
        (("U1", "S1"), "U1, S1"),
        ({}, "empty"),
        (MappingProxyType({"eyes": "ask"}), "eyes: ask"),
        (0, "0"),
    ],
)
def test_values(value: object, text: str) -> None:
    assert value_text(value) == text


def test_a_select_takes_a_hundred_places_and_names_those_that_slack_named() -> None:
    channels = [f"C{number}" for number in range(200)]
    (_, section) = settings_section(channels, {"C0": "general"})
    options = section["accessory"]["options"]
    assert len(options) == 100
    labels = [each["text"]["text"] for each in options[:4]]
    assert labels == ["Every other channel", "Direct messages", "#general (C0)", "C1"]
    assert [channel_of(each["value"]) for each in options[:3]] == [ALL, DIRECT, "C0"]
