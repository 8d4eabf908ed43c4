"""PURE. What came of one rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ...settings.slack_rules import RuleValue, SlackRule

RuleVerdict: TypeAlias = Literal["as expected", "differs", "cannot be told"]


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What came of one rule. `value` None: nothing, for `reason`. `detail` is for the terminal only."""

    rule: SlackRule
    value: RuleValue | None = None
    reason: str = ""
    detail: str = ""

    @property
    def verdict(self) -> RuleVerdict:
        """In words."""
        if self.value is None:
            return "cannot be told"
        return "as expected" if self.rule.is_as_expected(self.value) else "differs"
