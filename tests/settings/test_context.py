"""The settings of what was said before a question."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from slack_bot.settings.context import ContextSettings


def test_the_defaults_are_those_of_the_documents() -> None:
    settings = ContextSettings()
    assert (settings.messages, settings.message_chars, settings.chars) == (30, 800, 12_000)
    assert (settings.pages, settings.read_timeout, settings.format) == (5, 3.0, "auto")


@pytest.mark.parametrize(
    "wrong", [{"format": "xml"}, {"messages": 0}, {"read_timeout": 0}, {"overheard": -1}]
)
def test_what_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ContextSettings(**wrong)  # type: ignore[arg-type]
