"""Settings by the names that a test or a scenario gives them."""

from __future__ import annotations

import pytest

from slack_bot.errors import SettingsError
from slack_bot.settings.load import Settings, fields_of, load, sections, value_of
from slack_bot.settings.names import dotted
from slack_bot.settings.secret_values import secrets_of
from slack_bot.settings.section import SettingsSection
from slack_bot.testing.overrides import with_overrides

READY = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "A2A_AGENT_URL": "http://agent"}


def test_a_leaf_is_named_flat() -> None:
    settings = with_overrides(
        load(READY, None, None), {"rotate_after": 60, "answer_source": "artifact", "allowed_hosts": ["a"]}
    )
    assert (settings.stream.rotate_after, settings.agent.answer_source) == (60.0, "artifact")
    assert settings.agent.allowed_hosts == ("a",)
    assert secrets_of(settings) == ("xoxb-1", "xapp-1")


@pytest.mark.parametrize("section,model", list(sections()))
def test_every_setting_can_be_named_with_its_section(section: str, model: type[SettingsSection]) -> None:
    settings = load({}, env_file=None, secrets_dir=None)
    for leaf, field in fields_of(model).items():
        same = with_overrides(
            settings, {dotted((section, leaf)): field.get_default(call_default_factory=True)}
        )
        assert value_of(same, (section, leaf)) == field.get_default(call_default_factory=True)


def test_a_section_within_another_gives_way_to_the_name_as_tapes_have_it() -> None:
    settings = load({}, env_file=None, secrets_dir=None)
    assert with_overrides(settings, {"audience": "everyone"}).channel.audience == "everyone"
    changed = with_overrides(settings, {"agent.client.audience": "https://agent.example"})
    assert changed.agent.client.audience == "https://agent.example"


def test_a_setting_keeps_to_its_section_where_two_have_the_name() -> None:
    changed = with_overrides(Settings(), {"slack.write_timeout": 3, "agent.write_timeout": 4})
    assert (changed.slack.write_timeout, changed.agent.write_timeout) == (3, 4)
    with pytest.raises(SettingsError, match=r"write one of slack\.write_timeout or agent\.write_timeout"):
        with_overrides(Settings(), {"write_timeout": 3})


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        ({"rotate_aftr": 1}, "rotate_aftr is not a setting; did you mean rotate_after?"),
        ({"rotate_after": -1}, "rotate_after is -1: should be a finite number of seconds, greater than 0"),
        ({"turn_timeout": 10}, "SLACK_BOT_AGENT__TURN_TIMEOUT (10 s) must be larger than"),
    ],
)
def test_a_wrong_override_is_one_line(overrides: dict[str, object], line: str) -> None:
    with pytest.raises(SettingsError) as caught:
        with_overrides(Settings(), overrides)
    assert str(caught.value).startswith(line)


def test_all_that_is_wrong_is_said_at_once() -> None:
    """As for variables: a value that is refused, and a contradiction of the others."""
    with pytest.raises(SettingsError) as caught:
        with_overrides(Settings(), {"rotate_after": -1, "turn_timeout": 10, "header_name": "X-Key"})
    assert [line.split(" ")[0] for line in str(caught.value).splitlines()] == [
        "rotate_after",
        "SLACK_BOT_AGENT__TURN_TIMEOUT",
        "SLACK_BOT_AGENT__HEADER_NAME",
    ]
