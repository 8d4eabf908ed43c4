"""The tokens of a Slack app: which are needed, and one sentence for each that cannot be one."""

from __future__ import annotations

import pytest

from slack_bot.settings.slack_tokens import (
    APP_TOKEN,
    BOT_TOKEN,
    SIGNING_SECRET,
    SlackToken,
    has_quotes,
    needed,
)


@pytest.mark.parametrize(
    ("http", "has_several", "expected"),
    [
        (False, False, [BOT_TOKEN, APP_TOKEN]),
        (True, False, [BOT_TOKEN, SIGNING_SECRET]),
        (False, True, [APP_TOKEN]),
        (True, True, [SIGNING_SECRET]),
    ],
)
def test_which_are_needed(http: bool, has_several: bool, expected: list[SlackToken]) -> None:
    assert list(needed(http=http, has_several=has_several)) == expected


@pytest.mark.parametrize(
    ("token", "value", "problem"),
    [
        (BOT_TOKEN, "xoxb-1", None),
        (APP_TOKEN, "xapp-1", None),
        (SIGNING_SECRET, "0123", None),
        (
            BOT_TOKEN,
            "",
            "SLACK_BOT_TOKEN is not set: copy it from your Slack app's page OAuth & Permissions (xoxb-...)",
        ),
        (
            SIGNING_SECRET,
            "",
            "SLACK_SIGNING_SECRET is not set: copy it from your Slack app's Basic Information page",
        ),
        (
            BOT_TOKEN,
            "xoxp-1",
            "SLACK_BOT_TOKEN is not a bot token: it must begin with xoxb- (your Slack app's page OAuth &"
            " Permissions)",
        ),
        (
            APP_TOKEN,
            "xoxb-1",
            "SLACK_APP_TOKEN is not an app-level token: it must begin with xapp- (your Slack app's page Basic"
            " Information > App-Level Tokens), and begins with xoxb-; swap the two",
        ),
    ],
)
def test_one_sentence_for_each_that_cannot_be(token: SlackToken, value: str, problem: str | None) -> None:
    assert token.problem(value) == problem


def test_quotes_around_a_token_are_named_and_the_token_is_not() -> None:
    problem = BOT_TOKEN.problem("'xoxb-secret'")
    assert problem is not None and "has quotes around it" in problem and "secret" not in problem
    assert [has_quotes(each) for each in ("'a'", '"a"', "'a\"", "'", "a")] == [
        True,
        True,
        False,
        False,
        False,
    ]
