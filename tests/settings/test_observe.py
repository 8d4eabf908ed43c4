"""Settings of traces and of the audit."""

from __future__ import annotations

import pytest

from slack_bot.errors import SettingsError
from slack_bot.settings.load import load


def test_both_are_off_by_default() -> None:
    settings = load({}, None, None)
    assert not settings.traces.enabled and settings.audit.path is None and not settings.audit.text


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("SLACK_BOT_TRACES__ENDPOINT", "collector:4318", "begins with http:// or https://"),
        ("SLACK_BOT_TRACES__ENABLED", "maybe", "true or false"),
        ("SLACK_BOT_AUDIT__DAYS", "0", "greater than 0"),
    ],
)
def test_a_wrong_value_is_named(name: str, value: str, says: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} is '{value}'.*{says}"):
        load({name: value}, None, None)


@pytest.mark.parametrize("there", [(), ("opentelemetry",), ("opentelemetry", "opentelemetry.exporter")])
def test_without_the_library_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...]
) -> None:
    def find(module: str) -> object:
        """As `find_spec`, which raises where the parent is missing."""
        parents = module.split(".")[:-1]
        if any(".".join(parents[: n + 1]) not in there for n in range(len(parents))):
            raise ModuleNotFoundError(module)
        return None

    monkeypatch.setattr("slack_bot.installing.find_spec", find)
    with pytest.raises(
        SettingsError, match=r"^SLACK_BOT_TRACES__ENABLED is true, .* pip install .*/otel\.txt$"
    ):
        load({"SLACK_BOT_TRACES__ENABLED": "true"}, None, None)
    assert load({}, None, None)
