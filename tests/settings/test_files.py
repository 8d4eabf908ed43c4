"""The settings of the files of a question."""

from __future__ import annotations

from slack_bot.settings.files import FileSettings


def test_the_defaults_are_those_of_the_documents() -> None:
    settings = FileSettings()
    assert (settings.max_bytes, settings.max_total_bytes, settings.timeout) == (10 * 2**20, 20 * 2**20, 30.0)
