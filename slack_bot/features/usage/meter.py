"""PURE. Counts what one turn uses, and says it below the answer."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...agents.content.usage import TokenUsage
from ...text.feature_words import FOOTER_COST, FOOTER_MINUTES, FOOTER_SECONDS, FOOTER_TIME, FOOTER_TOKENS
from ...turn.usage import Usage, UsageMeter


@dataclass(frozen=True, slots=True)
class Prices:
    """Money for a million tokens; None: not known. `currency`: as it is shown."""

    input: float | None = None
    output: float | None = None
    currency: str = "USD"

    def cost_of(self, tokens_in: int, tokens_out: int) -> float | None:
        """None where a price is missing."""
        if self.input is None or self.output is None:
            return None
        return (tokens_in * self.input + tokens_out * self.output) / 1_000_000


class TurnMeter(UsageMeter):
    """`shows`: what is shown below the answer: none, time, tokens or cost. `is_limited`: it is counted."""

    def __init__(self, prices: Prices, shows: str, *, is_limited: bool) -> None:
        self._prices, self._shows = prices, shows
        self.wants_events = is_limited or shows in ("tokens", "cost")
        self._tokens = TokenUsage()

    def take(self, raw: object) -> None:
        if isinstance(raw, Mapping):
            self._tokens.take(raw)

    @property
    def usage(self) -> Usage | None:
        tokens = self._tokens
        if not tokens.calls and tokens.cost is None:
            return None
        sums = tokens.as_json()
        cost = tokens.cost
        if cost is None:
            cost = self._prices.cost_of(sums["input"], sums["output"])
        return Usage(sums["input"], sums["output"], sums["total"], cost)

    def footer(self, seconds: float) -> str:
        if self._shows == "time":
            return FOOTER_TIME.format(_time(seconds))
        usage = self.usage
        if usage is None or self._shows == "none":
            return ""
        tokens = FOOTER_TOKENS.format(usage.total, usage.input, usage.output) if usage.total else ""
        if self._shows == "tokens" or usage.cost is None:
            return tokens
        cost = FOOTER_COST.format(money(usage.cost), self._prices.currency)
        return f"{cost} · {tokens}" if tokens else cost


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return FOOTER_MINUTES.format(minutes, rest) if minutes else FOOTER_SECONDS.format(rest)


def money(amount: float) -> str:
    """An amount of money: small ones to the tenth of a thousandth, others to the hundredth."""
    return f"{amount:,.4f}" if 0 < abs(amount) < 1 else f"{amount:,.2f}"
