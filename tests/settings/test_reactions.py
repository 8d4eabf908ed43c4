"""What reactions mean: by their names in Slack, in a table of the file or a variable."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from slack_bot.settings.channels import ChannelPolicies, ChannelSettings
from slack_bot.settings.config_file import read_config
from slack_bot.settings.load import load
from slack_bot.settings.reactions import ReactionUse, emoji_of

SAID = '[channel]\nreactions = { robot_face = "ask", "+1" = "good", ":thumbsdown:" = "bad" }\n'


def test_the_table_of_the_file(tmp_path: Path) -> None:
    (file := tmp_path / "bot.toml").write_text(f"{SAID}[channels.C1]\nreactions = {{}}\n", encoding="utf-8")
    policies = ChannelPolicies(ChannelSettings(), lambda: read_config(str(file)))
    everywhere = policies.of("C2")
    assert everywhere.use_of("robot_face") is ReactionUse.ASK
    assert everywhere.use_of("+1::skin-tone-3") is ReactionUse.GOOD
    assert everywhere.use_of("-1") is ReactionUse.BAD
    assert everywhere.use_of("eyes") is None
    assert policies.of("C1").use_of("robot_face") is None
    assert () in policies.values("reactions")


@pytest.mark.parametrize("text", ["robot_face=ask, repeat=again", '{"robot_face": "ask", "repeat": "again"}'])
def test_a_variable(text: str) -> None:
    env = {"SLACK_BOT_TOKEN": "xoxb-1", "A2A_AGENT_URL": "http://a.invalid"}
    env["SLACK_BOT_CHANNEL__REACTIONS"] = text
    settings = load(env, env_file=None, secrets_dir=None)
    assert settings.channel.reactions == (("robot_face", ReactionUse.ASK), ("repeat", ReactionUse.AGAIN))


@pytest.mark.parametrize(
    "wrong",
    [{"robot_face": "approve"}, {"": "ask"}, {"a b": "ask"}, "robot_face", "{", ["ask"], 3, {"x": ["ask"]},
     {str(number): "ask" for number in range(51)}],
)  # fmt: skip
def test_what_is_wrong_is_named(wrong: object) -> None:
    with pytest.raises(ValidationError, match="should be names of emoji, each with one of ask, stop, again"):
        ChannelSettings.model_validate({"reactions": wrong})


def test_names_that_people_see_for_the_same_emoji() -> None:
    assert {emoji_of(name) for name in ("thumbsup", ":+1:", "+1::skin-tone-2", " THUMBSUP ")} == {"+1"}
