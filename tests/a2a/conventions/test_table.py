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


def test_signs() -> None:
    signed = Convention(name="y", default=Kind.OTHER, signs=("adk_",))
    assert signed.signed({"adk_app": 1})
    assert not signed.signed({"app": 1})
    assert not TABLE.signed({"adk_app": 1})


def test_what_is_remembered_of_names_has_a_bound() -> None:
    table = Convention(name="z", default=Kind.ANSWER, patterns=((re.compile("^t"), Kind.TOOL),))
    for number in range(1_000):
        assert table.kind(f"t{number}") is Kind.TOOL
        assert table.kind(f"a{number}") is Kind.ANSWER
    assert len(table._kinds) <= 200


def test_a_name_of_a_megabyte_is_not_remembered() -> None:
    name = "pl" + "x" * 1_000_000
    assert TABLE.kind(name) is Kind.PLAN
    assert name not in TABLE._kinds
