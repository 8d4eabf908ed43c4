"""The settings of feedback."""

from __future__ import annotations

import pytest

from slack_bot.errors import SettingsError
from slack_bot.settings.load import load
from slack_bot.settings.secret_values import secrets_of

PREFIX = "SLACK_BOT_FEEDBACK__"


def test_nothing_is_sent_as_things_come() -> None:
    settings = load({}, None, None).feedback
    assert (settings.webhook_url, settings.langfuse_public_key) == (None, None)
    assert settings.reasons[0] == "Wrong"


def test_the_secrets_are_known() -> None:
    given = {"WEBHOOK_URL": "https://ada:hunter2hunter2@hooks.example/", "WEBHOOK_SECRET": "signing-it"}
    given |= {"LANGFUSE_PUBLIC_KEY": "pk-lf-1", "LANGFUSE_SECRET_KEY": "sk-lf-1"}
    settings = load({PREFIX + name: value for name, value in given.items()}, None, None)
    assert {"signing-it", "sk-lf-1", "hunter2hunter2"} <= set(secrets_of(settings))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("WEBHOOK_URL", "https://hooks.example/", "belong together"),
        ("LANGFUSE_SECRET_KEY", "sk-lf-1", "belong together"),
        ("REASONS", ",".join("abcdefghijk"), "should be at most 10 reasons"),
        ("REASONS", "x" * 76, "should be at most 10 reasons, 75 characters each"),
    ],
)
def test_what_cannot_be_is_refused(name: str, value: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        load({PREFIX + name: value}, None, None)
