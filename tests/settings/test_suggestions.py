"""A guess must be near, without the prefix that all names share."""

from __future__ import annotations

import pytest

from slack_bot.settings.suggestions import nearest, remedy, usual_meant

SECTIONS = {
    "agent": ["url", "protocol_version", "turn_timeout"],
    "stream": ["rotate_after", "flush_interval"],
}
USUAL = ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET", "SLACK_API_URL", "A2A_AGENT_URL"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("AGENT__NOSUCH", ""),
        ("AGENT__URLL", "; did you mean SLACK_BOT_AGENT__URL?"),
        ("AGNT__TURN_TIMOUT", "; did you mean SLACK_BOT_AGENT__TURN_TIMEOUT?"),
        ("AGENT__ROTATE_AFTER", "; did you mean SLACK_BOT_STREAM__ROTATE_AFTER?"),
        ("NOSUCH__TURN_TIMEOUT", "; did you mean SLACK_BOT_AGENT__TURN_TIMEOUT?"),
        ("NOSUCH__X", "; the sections are AGENT, STREAM"),
        ("AGENT", ": it is a section; write SLACK_BOT_AGENT__URL or another setting of it"),
        ("AGENT__", ": it is a section; write SLACK_BOT_AGENT__URL or another setting of it"),
        ("FOO", ""),
        ("TOKN", "; did you mean SLACK_BOT_TOKEN?"),
        ("STREAM_FLUSH_INTERVAL", "; did you mean SLACK_BOT_STREAM__FLUSH_INTERVAL?"),
        ("ROTATE_AFTER", "; did you mean SLACK_BOT_STREAM__ROTATE_AFTER?"),
    ],
)
def test_the_remedy_for_a_name_that_is_no_setting(name: str, words: str) -> None:
    assert remedy(f"SLACK_BOT_{name}", SECTIONS, USUAL) == words


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("A2A_AGENT_UR", "A2A_AGENT_URL"),
        ("SLACK_APP_TOKE", "SLACK_APP_TOKEN"),
        ("SLACK_SIGNING_SECRETS", "SLACK_SIGNING_SECRET"),
        ("SLACK_API_TOKEN", None),
        ("SLACK_APP_ID", None),
        ("A2A_AGENT_NAME", None),
        ("SLACK_TOKEN", None),
        ("PATH", None),
    ],
)
def test_a_misspelt_usual_name_is_known_and_other_programs_names_are_not_ours(
    name: str, meant: str | None
) -> None:
    assert usual_meant(name, USUAL) == meant


def test_nothing_is_near_among_nothing() -> None:
    assert nearest("turn_timeout", []) is None
