"""What a setting is for is known by its exact name."""

from __future__ import annotations

import pytest

from slack_bot.playground.reference.named_settings import meaning_of_setting, setting_in
from slack_bot.settings.load import ALIASES, FIELDS
from slack_bot.settings.names import env_name


@pytest.mark.parametrize(
    "question",
    [
        "what is SLACK_BOT_STORE__URL for",
        "SLACK_BOT_STORE__URL?",
        "What does `SLACK_BOT_STORE__URL` do?",
        "what's the default of SLACK_BOT_STORE__URL",
        "what does the setting SLACK_BOT_STORE__URL mean?",
    ],
)
def test_a_question_about_one_setting(question: str) -> None:
    assert setting_in(question) == "SLACK_BOT_STORE__URL"


@pytest.mark.parametrize(
    "question",
    [
        "what is SLACK_BOT_NONSENSE for",
        "A2A_AGENT_URL is not set",
        "KeyError: 'SLACK_BOT_TOKEN'",
        "what is the difference between SLACK_BOT_TOKEN and SLACK_APP_TOKEN",
        "where do I set A2A_AGENT_URL on kubernetes?",
        "what is a setting",
        "",
    ],
)
def test_any_other_question(question: str) -> None:
    assert setting_in(question) == ""


def test_what_it_is_for_and_its_default() -> None:
    assert meaning_of_setting("SLACK_BOT_STORE__URL").startswith(
        "`SLACK_BOT_STORE__URL`: `sqlite:///relative"
    )
    assert "By default it is `20`." in meaning_of_setting("SLACK_BOT_STREAM__MAX_SEGMENTS")
    assert "By default it is" not in meaning_of_setting("SLACK_BOT_TOKEN")


@pytest.mark.parametrize("name", [*map(env_name, FIELDS), *ALIASES])
def test_each_setting_is_known(name: str) -> None:
    assert setting_in(f"what is {name}?") == name
    assert len(meaning_of_setting(name)) > len(name) + 20
