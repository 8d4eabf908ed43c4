"""What an answer used, as its agent reported it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of the model, and what they cost in the currency of the settings. `cost` None: not known."""

    input: int = 0
    output: int = 0
    total: int = 0
    cost: float | None = None


class UsageMeter:
    """Counts what one turn uses. This one counts nothing.

    `wants_events`: it has to be given the raw events of the agent.
    """

    wants_events = False

    def take(self, raw: object) -> None:
        """Read one raw event of the agent."""

    @property
    def usage(self) -> Usage | None:
        """What was used so far; None if the agent reported nothing."""
        return None

    def footer(self, seconds: float) -> str:
        """What is shown below the answer; "" for nothing. `seconds`: since the question was accepted."""
        return ""
