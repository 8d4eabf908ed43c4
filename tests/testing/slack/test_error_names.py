"""One table of Slack's error names, for everybody who writes a fault."""

from __future__ import annotations

import ast
from pathlib import Path

from slack_bot.slack.faults import _CLASSES
from slack_bot.testing.slack import faults
from slack_bot.testing.slack.error_names import ERROR_NAMES

OURS = {"connect_failed", "connection_lost", "timeout", "unreadable"}
"""Names that the bot gives to calls without an answer of Slack's."""


def test_every_error_that_the_workspace_answers_is_in_it() -> None:
    folder = Path(faults.__file__).parent
    raised = {
        each.args[0].value
        for path in folder.glob("*.py")
        for each in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(each, ast.Call) and ast.unparse(each.func) == "Refused" and each.args
        if isinstance(each.args[0], ast.Constant)
    }
    assert len(raised) > 30
    assert raised <= ERROR_NAMES


def test_every_error_that_the_bot_knows_is_in_it() -> None:
    known = {name for _, names in _CLASSES for name in names.split()}
    assert known - OURS <= ERROR_NAMES
    assert not OURS & ERROR_NAMES
