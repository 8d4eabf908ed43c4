"""The file of what was measured, and the settings that follow from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.errors import SettingsError
from slack_bot.settings.load import read, value_of
from slack_bot.settings.measured_rules import MeasuredRules, as_file, effects_of, read_measured
from slack_bot.settings.slack_rules import CATALOGUE, RuleValue

AT = "2026-11-29T01:02:03Z"
READY = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "A2A_AGENT_URL": "http://a/"}


def written(folder: Path, values: dict[str, Any]) -> Path:
    file = folder / "rules.json"
    rules = {name: {"expected": 0, "observed": value} for name, value in values.items()}
    file.write_text(json.dumps({"format": 1, "measured_at": AT, "versions": {}, "rules": rules}))
    file.chmod(0o600)
    return file


def settings_with(folder: Path, values: dict[str, Any], **env: str) -> tuple[Any, list[str]]:
    """The settings of a bot that was given this file, and their problems."""
    file = written(folder, values)
    settings, problems, _ = read({**READY, "SLACK_BOT_SLACK__RULES": str(file), **env}, None, None)
    return settings, problems


def test_a_stricter_number_takes_the_place_of_the_default(tmp_path: Path) -> None:
    found = {"stream.life": 120, "stream.bytes": 5_500, "rate.chat.appendStream": 50, "read.table": False}
    settings, problems = settings_with(tmp_path, found)
    assert problems == []
    stream, governor = settings.stream, settings.governor
    assert (stream.life, stream.rotate_after, stream.rotate_grace) == (120, 96, 8)
    assert (stream.rotate_bytes, stream.tables, governor.appends_per_minute) == (4_500, "no", 50)
    assert governor.starts_per_minute == 20, "what was not measured is as it was"


def test_what_is_set_counts_before_what_was_measured(tmp_path: Path) -> None:
    settings, problems = settings_with(
        tmp_path, {"stream.bytes": 5_500}, SLACK_BOT_STREAM__ROTATE_BYTES="3000"
    )
    assert (problems, settings.stream.rotate_bytes) == ([], 3_000)
    _, (problem,) = settings_with(tmp_path, {"stream.life": 120}, SLACK_BOT_STREAM__ROTATE_AFTER="240")
    assert problem.startswith(
        "SLACK_BOT_STREAM__ROTATE_AFTER + SLACK_BOT_STREAM__ROTATE_GRACE (248 s) must be"
    )
    assert "smaller than 120 s" in problem


def test_a_looser_number_counts_only_where_that_is_allowed(tmp_path: Path) -> None:
    found = {"stream.life": 900, "rate.chat.startStream": 60, "burst.chat.postMessage": 20}
    settings, problems = settings_with(tmp_path, found)
    assert (problems, settings.stream.rotate_after, settings.governor.starts_per_minute) == ([], 240, 20)
    settings, problems = settings_with(tmp_path, found, SLACK_BOT_SLACK__RULES_ALLOW_LOOSER="true")
    assert (problems, settings.stream.rotate_after, settings.stream.life) == ([], 720, 900)
    assert (settings.governor.starts_per_minute, settings.governor.post_burst) == (60, 12)


def test_what_is_as_expected_changes_nothing(tmp_path: Path) -> None:
    settings, problems = settings_with(tmp_path, {"stream.life": 306, "rate.chat.update": 52})
    assert (problems, settings.stream.rotate_after, settings.governor.updates_per_minute) == ([], 240, 50)


def test_of_two_rules_about_one_setting_the_smaller_counts() -> None:
    (effect,) = effects_of(MeasuredRules({"card.title_chars": 200, "card.details_chars": 100}))
    assert (effect.rule, effect.value) == ("card.details_chars", 100)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("stream.lif", 3, "stream.lif is no rule; did you mean stream.life?"),
        ("zzz", 3, "zzz is no rule; measure it again"),
        ("stream.life", "long", "stream.life is 'long': should be a number from 1 to 30000 (s)"),
        ("stream.life", True, "should be a number"),
        ("stream.life", 0, "should be a number from 1"),
        ("stream.life", 1e9, "should be a number from 1"),
        ("read.table", "yes", "read.table is 'yes': should be true or false"),
        ("read.heading", "big", "should be plain, bold, marked or other"),
        ("stream.mode", "<@U1>", "should be ok or the name of an error"),
        ("stream.mode", None, "should be ok or the name of an error"),
    ],
)
def test_a_wrong_line_is_named(name: str, value: Any, told: str, tmp_path: Path) -> None:
    settings, (problem,) = settings_with(tmp_path, {name: value, "stream.bytes": 5_500})
    assert problem.startswith("SLACK_BOT_SLACK__RULES: ")
    assert told in problem
    assert settings.stream.rotate_bytes == 9_000, "nothing of such a file counts"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is no JSON"),
        ("[" * 50_000, "is no JSON"),
        ("[]", "is no file of slack-bot rules"),
        ('{"format": 2, "measured_at": "", "versions": {}, "rules": {}}', "or of another version"),
        ('{"format": 1, "measured_at": "now", "versions": {}, "rules": {}}', "is no time in UTC"),
        (
            f'{{"format": 1, "measured_at": "{AT}", "versions": {{}}, "rules": {{"stream.life": 3}}}}',
            "should have",
        ),
    ],
)
def test_what_is_no_such_file_is_one_sentence(content: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    file.write_text(content)
    file.chmod(0o600)
    with pytest.raises(SettingsError, match=told):
        read_measured(file)


def test_the_file_must_be_its_owner_s_alone(tmp_path: Path) -> None:
    file = written(tmp_path, {"stream.life": 120})
    for mode in (0o640, 0o604, 0o620, 0o644):
        file.chmod(mode)
        with pytest.raises(SettingsError, match="chmod 600"):
            read_measured(file)
    with pytest.raises(SettingsError, match="is no file"):
        read_measured(tmp_path)
    with pytest.raises(SettingsError, match="is no file"):
        read_measured(tmp_path / "none.json")


def values_of(name: str) -> st.SearchStrategy[RuleValue]:
    rule = CATALOGUE[name]
    match rule.kind:
        case "flag":
            return st.booleans()
        case "number":
            return st.integers(int(rule.least), int(rule.most))
        case "word":
            return st.sampled_from(rule.words)
    return st.sampled_from(["ok", "internal_error", str(rule.expected)])


@given(
    st.sets(st.sampled_from(list(CATALOGUE))).flatmap(
        lambda names: st.fixed_dictionaries({name: values_of(name) for name in sorted(names)})
    )
)
def test_whatever_was_seen_can_be_read_again_and_the_bot_starts(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, RuleValue]
) -> None:
    file = tmp_path_factory.mktemp("rules") / "rules.json"
    file.write_text(as_file(values, AT, {"slack_sdk": "3"}))
    file.chmod(0o600)
    assert read_measured(file).values == values
    for looser in ("true", "false"):
        env = {"SLACK_BOT_SLACK__RULES": str(file), "SLACK_BOT_SLACK__RULES_ALLOW_LOOSER": looser}
        settings, problems, _ = read({**READY, **env}, None, None)
        assert problems == []
        for effect in effects_of(MeasuredRules(values)):
            if looser == "true" or not effect.is_looser:
                assert value_of(settings, effect.setting) == effect.value
