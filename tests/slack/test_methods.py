"""One row for each method of Slack: it agrees with Slack's rules and with the app's manifest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from slack_bot.manifest import PERMISSIONS
from slack_bot.slack.methods import METHODS, Body, Priority
from slack_bot.testing.slack import rules

PACKAGE = Path(__file__).parents[2] / "slack_bot"


def test_calls_without_a_priority_end_something_unless_they_begin_it() -> None:
    assert METHODS["chat.startStream"].priority is Priority.START
    assert METHODS["assistant.threads.setStatus"].priority is Priority.STATUS
    assert METHODS["chat.stopStream"].priority is METHODS["chat.appendStream"].priority is Priority.STOP
    assert METHODS["chat.postEphemeral"].priority is Priority.STOP


@pytest.mark.parametrize("name", METHODS)
def test_a_row_agrees_with_slacks_rules(name: str) -> None:
    ours, theirs = METHODS[name], rules.METHODS[name]
    assert ours.body is not Body.JSON or not theirs.form_only
    assert ours.scope in {"", *theirs.scopes}
    assert ours.scope in {"", *(each.scope for each in PERMISSIONS)}


def test_each_row_is_a_method_that_the_bot_calls() -> None:
    source = "\n".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py") if path.name != "methods.py")
    assert [name for name in METHODS if f'"{name}"' not in source] == []


def test_a_method_that_takes_no_json_has_a_row() -> None:
    lab = ("testing", "tools", "playground")
    bot = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in lab]
    called = set(re.findall(r'"([a-z]+(?:\.[a-zA-Z]+)+)"', "\n".join(map(Path.read_text, bot))))
    form_only = {name for name, method in rules.METHODS.items() if method.form_only}
    assert called & form_only - METHODS.keys() == set()
