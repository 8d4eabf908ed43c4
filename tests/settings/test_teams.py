"""The list of bot tokens: how it is written, and what is wrong in it, without any token in the sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from slack_bot.errors import SettingsError
from slack_bot.settings.load import Settings, load
from slack_bot.settings.secret_values import secrets_of
from slack_bot.settings.teams import are_several, team_problems, tokens_in

NEEDED = {"SLACK_APP_TOKEN": "xapp-1", "A2A_AGENT_URL": "http://agent"}


def read(tokens: str, **more: str) -> Settings:
    env = {**NEEDED, "SLACK_BOT_TOKENS": tokens, **more}
    return load(env, env_file=None, secrets_dir=None, http=False)


@pytest.mark.parametrize(
    "written",
    [
        "xoxb-1,xoxb-2",
        " xoxb-1 , xoxb-2 ,",
        "xoxb-1\nxoxb-2\n",
        "# our teams\nxoxb-1  # Acme\n\nxoxb-2 # Beta, of Mr. Smith\n",
        "xoxb-1 xoxb-2",
    ],
)
def test_it_is_written_with_commas_or_in_lines(written: str) -> None:
    settings = read(written)
    assert tokens_in(settings.slack.bot_tokens) == ["xoxb-1", "xoxb-2"]
    assert {"xoxb-1", "xoxb-2"} <= {*secrets_of(settings)}
    assert are_several(settings.slack.bot_tokens)


def test_it_can_be_a_file_of_secrets(tmp_path: Path) -> None:
    (tmp_path / "slack_bot_tokens").write_text("xoxb-1 # Acme\nxoxb-2\n")
    settings = load(NEEDED, env_file=None, secrets_dir=tmp_path, http=False)
    assert tokens_in(settings.slack.bot_tokens) == ["xoxb-1", "xoxb-2"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("xoxb-1,xapp-hunter2", "token 2 of 2 is none"),
        ("xoxb-1,xoxb-2,xoxb-1", "token 3 is the same as token 1"),
        ("# nothing yet", "should be bot tokens (xoxb-...), with commas between them"),
    ],
)
def test_what_is_wrong_in_it_is_one_sentence_without_a_token(written: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(written)
    (line,) = str(caught.value).splitlines()
    assert line.startswith("SLACK_BOT_TOKENS: should be ")
    assert said in line
    assert "hunter2" not in line
    assert "xoxb-1" not in line


def test_one_token_and_a_list_are_not_set_together() -> None:
    with pytest.raises(SettingsError, match="SLACK_BOT_TOKEN and SLACK_BOT_TOKENS are both set"):
        read("xoxb-1,xoxb-2", SLACK_BOT_TOKEN="xoxb-3")


def test_without_any_token_the_usual_one_is_asked_for() -> None:
    with pytest.raises(SettingsError, match="SLACK_BOT_TOKEN is not set"):
        load(NEEDED, env_file=None, secrets_dir=None, http=False)


def test_where_there_are_several_what_speaks_by_itself_says_where() -> None:
    several, one = SecretStr("xoxb-1,xoxb-2"), SecretStr("xoxb-1")
    (problem,) = team_problems("schedules.monday", None, several)
    assert problem.startswith("schedules.monday.team is not set: ")
    assert team_problems("schedules.monday", "T1", several) == []
    assert team_problems("schedules.monday", None, one) == team_problems("x", None, None) == []
