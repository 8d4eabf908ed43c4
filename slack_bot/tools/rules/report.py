"""What came of the rules: as a table, and as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from ...settings.slack_rules import RuleValue, SlackRule
from ..tables import plain_table, printable
from .result import RuleResult, RuleVerdict

_WIDTH = 110
_HEADS: Mapping[RuleVerdict, tuple[str, ...]] = {
    "differs": ("", "rule", "expected", "seen", ""),
    "as expected": ("", "rule", "as expected", "", ""),
}
_SIGNS: Mapping[RuleVerdict, str] = {"as expected": "ok", "differs": "differs", "cannot be told": "unknown"}


def as_text(results: Sequence[RuleResult]) -> Iterator[str]:
    """The lines: a table of what differs, what cannot be told by its reasons, and a table of the rest."""
    reasons: dict[str, list[str]] = {}
    for each in results:
        if each.value is None:
            reasons.setdefault(printable(each.reason), []).append(each.rule.id)
    yield from _table(results, "differs")
    for reason, rules in reasons.items():
        words = f"{_SIGNS['cannot be told']}  {reason}: {', '.join(rules)}"
        yield from (f"{line}\n" for line in textwrap.wrap(words, _WIDTH, subsequent_indent="    "))
    if reasons:
        yield "\n"
    yield from _table(results, "as expected")


def _table(results: Sequence[RuleResult], verdict: RuleVerdict) -> Iterator[str]:
    rows = [
        (
            _SIGNS[verdict],
            each.rule.id,
            in_words(each.rule.expected, each.rule),
            in_words(each.value, each.rule) if verdict == "differs" and each.value is not None else "",
            printable(each.detail if verdict == "differs" else ""),
        )
        for each in results
        if each.verdict == verdict
    ]
    if rows:
        yield from (f"{line}\n" for line in plain_table(_HEADS[verdict], rows))
        yield "\n"


def summary(results: Sequence[RuleResult]) -> str:
    """How many of each."""
    counts = [(sum(each.verdict == verdict for each in results), verdict) for verdict in _SIGNS]
    told = ", ".join(f"{count} {verdict}" for count, verdict in counts if count)
    return f"{len(results)} rules: {told}\n"


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
