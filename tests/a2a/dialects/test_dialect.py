"""A dialect is data: exact names, then patterns, then the default."""

from __future__ import annotations

import re

from slack_bot.a2a.dialects.dialect import ArtifactKind, Dialect

TABLE = Dialect(
    name="x",
    default=ArtifactKind.OTHER,
    exact={"plan": ArtifactKind.FINAL},
    patterns=((re.compile("^pl"), ArtifactKind.PLAN),),
    noise=re.compile("^\\.+$"),
    leak=re.compile("secret="),
    announcements=re.compile("^soon"),
    sub_agent_key="by",
    sub_agent_value="other",
)


def test_exact_names_come_before_patterns() -> None:
    assert [TABLE.kind(name) for name in ("plan", "plans", "else")] == [
        ArtifactKind.FINAL,
        ArtifactKind.PLAN,
        ArtifactKind.OTHER,
    ]
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
    signed = Dialect(name="y", default=ArtifactKind.OTHER, signs=("adk_",))
    assert signed.is_signed({"adk_app": 1})
    assert not signed.is_signed({"app": 1})
    assert not TABLE.is_signed({"adk_app": 1})


def test_what_is_remembered_of_names_has_a_bound() -> None:
    table = Dialect(name="z", default=ArtifactKind.ANSWER, patterns=((re.compile("^t"), ArtifactKind.TOOL),))
    for number in range(1_000):
        assert table.kind(f"t{number}") is ArtifactKind.TOOL
        assert table.kind(f"a{number}") is ArtifactKind.ANSWER
    assert len(table._kinds) <= 200


def test_a_name_of_a_megabyte_is_not_remembered() -> None:
    name = "pl" + "x" * 1_000_000
    assert TABLE.kind(name) is ArtifactKind.PLAN
    assert name not in TABLE._kinds
