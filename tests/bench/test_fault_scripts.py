"""The fault scripts: every way is a fault the workspace knows, and as many as were asked for."""

from __future__ import annotations

from random import Random

from slack_bot.testing.slack.faults import FaultScript, parse

from .fault_scripts import dead, scripts, ways


def test_every_way_is_a_fault_of_the_emulated_workspace() -> None:
    assert all(parse(way) is not None for way in ways())
    assert {"ratelimited:3", "rate_limited", "timeout!", "cut", "connect", "http:503!", "slow:5"} <= ways()
    assert {"message_not_in_streaming_state", "msg_too_long", "invalid_blocks", "missing_scope"} <= ways()


def test_one_call_in_ten_fails_and_none_without_faults() -> None:
    drawn = [entry for script in scripts(Random(1), 0.1).values() for entry in script]
    share = sum(entry is not None for entry in drawn) / len(drawn)
    assert 0.08 < share < 0.12
    assert not any(entry for script in scripts(Random(1), 0.0).values() for entry in script)


def test_the_same_seed_gives_the_same_faults() -> None:
    assert scripts(Random("1:2"), 0.1) == scripts(Random("1:2"), 0.1)
    assert scripts(Random("1:2"), 0.1) != scripts(Random("1:3"), 0.1)


def test_the_workspace_takes_the_scripts() -> None:
    assert FaultScript(scripts(Random(5), 0.5))
    assert FaultScript(dead()).next("chat.postMessage") == parse("token_revoked")
