"""What came of the rules: as a table, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ...settings.slack_rules import RuleValue, SlackRule
from ..tables import plain_table, printable
from .result import RuleResult

_HEADS = ("", "rule", "expected", "seen", "")
_SIGNS = {"as expected": "ok", "differs": "differs", "cannot be told": "unknown"}


def as_text(results: Sequence[RuleResult]) -> Iterator[str]:
    """The lines of a table: first what differs, then what cannot be told, then the rest."""
    order = list(_SIGNS)[1:] + list(_SIGNS)[:1]
    rows = [
        (
            _SIGNS[each.verdict],
            each.rule.id,
            in_words(each.rule.expected, each.rule),
            in_words(each.value, each.rule) if each.value is not None and each.verdict == "differs" else "",
            printable(each.reason or (each.detail if each.verdict == "differs" else "")),
        )
        for each in sorted(results, key=lambda each: order.index(each.verdict))
    ]
    yield from (f"{line}\n" for line in plain_table(_HEADS, rows))


def summary(results: Sequence[RuleResult]) -> str:
    """How many of each."""
    counts = [(sum(each.verdict == verdict for each in results), verdict) for verdict in _SIGNS]
    told = ", ".join(f"{count} {verdict}" for count, verdict in counts if count)
    return f"\n{len(results)} rules: {told}\n"


def in_words(value: RuleValue, rule: SlackRule) -> str:
    """A value as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return f"{value:,} {rule.unit}".rstrip()


def as_json(results: Sequence[RuleResult]) -> str:
    """One JSON object."""
    rows = [
        {
            "rule": each.rule.id,
            "verdict": each.verdict,
            "expected": each.rule.expected,
            "seen": each.value,
            "source": each.rule.source,
            "documented": each.rule.is_documented,
            **({"reason": each.reason} if each.reason else {}),
        }
        for each in results
    ]
    return json.dumps({"ok": all(each.verdict != "differs" for each in results), "rules": rows}) + "\n"
