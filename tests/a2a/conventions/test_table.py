"""A dialect is data: exact names, then patterns, then the default."""

from __future__ import annotations

import re

from slack_bot.a2a.conventions.table import Convention, Kind

TABLE = Convention(
    name="x",
    default=Kind.OTHER,
    exact={"plan": Kind.FINAL},
    patterns=((re.compile("^pl"), Kind.PLAN),),
    noise=re.compile("^\\.+$"),
    leak=re.compile("secret="),
    announcements=re.compile("^soon"),
    sub_agent_key="by",
    sub_agent_value="other",
)


def test_exact_names_come_before_patterns() -> None:
    assert [TABLE.kind(name) for name in ("plan", "plans", "else")] == [Kind.FINAL, Kind.PLAN, Kind.OTHER]
    assert TABLE.knows("plan")
    assert TABLE.knows("plans")
    assert not TABLE.knows("else")


def test_the_other_columns() -> None:
    assert TABLE.is_noise("...")
    assert TABLE.is_leak("a secret=1")
    assert TABLE.is_announcement("sooner")
    assert TABLE.is_sub_agent({"by": "other"})
    assert not TABLE.is_sub_agent({})
