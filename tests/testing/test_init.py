"""The example at the top of the test kit runs as it is printed."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from slack_bot import testing
from slack_bot.testing import harness
from slack_bot.testing.slack import in_process, server, workspace

EXAMPLE = textwrap.dedent("".join(re.findall(r"(?m)^(?: {4}.*)?\n", testing.__doc__ or "")))


def test_the_example_runs() -> None:
    namespace: dict[str, Any] = {}
    exec(compile(EXAMPLE, "example", "exec"), namespace)
    assert "run_bot" in EXAMPLE
    assert namespace["test_a_slow_answer_is_streamed"]() is None


def test_the_example_can_fail() -> None:
    namespace: dict[str, Any] = {}
    exec(compile(EXAMPLE.replace('== ["It takes', '== ["It took'), "example", "exec"), namespace)
    try:
        namespace["test_a_slow_answer_is_streamed"]()
    except AssertionError:
        return
    raise AssertionError("the example asserts nothing")


def test_the_parts_that_are_named_are_there() -> None:
    assert workspace.Workspace.thread and in_process.SlackSession and server.SlackServer
    assert harness.bot_on_network
