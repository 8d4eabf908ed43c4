"""Ids of channels and people, and the line above a message."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from slack_bot.settings.places import Channel, Headline, Person


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Channel, ["C0123456", "D1", "G1", None], ["U1", "general", "C-1", ""]),
        (Person, ["U0123456", "W1", None], ["C1", "anna", "@U1"]),
        (Headline, ["", "One line", "x" * 300], ["two\nlines", "x" * 301]),
    ],
)
def test_what_is_taken(kind: object, good: list[str | None], bad: list[str]) -> None:
    adapter: TypeAdapter[str | None] = TypeAdapter(kind)
    assert [adapter.validate_python(each) for each in good] == good
    for each in bad:
        with pytest.raises(ValidationError):
            adapter.validate_python(each)
