"""PURE. What a workspace offers, as `doctor --probe` or an answer of Slack's showed; kept in the store.

An operator may change the app or the workspace. So after a while a finding counts as not known, and the bot
tries again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

DAY = 86_400.0  # seconds

_EVERYWHERE = frozenset({"feature_disabled", "missing_scope", "unknown_method", "method_deprecated"})
"""Refusals that do not depend on the conversation or the moment."""


class WorkspaceFeature(StrEnum):
    """What is not there in every workspace. The values are the names in the store."""

    STREAMS = "streams"
    TABLES = "tables"  # Markdown tables are drawn in streams
    SESSIONS = "sessions"  # of agents, with a status
    FILES = "files"  # the bot may upload them
    NAMES = "names"  # streams show the name of their agent


@dataclass(frozen=True, slots=True)
class FeatureFinding:
    """`found_at`: seconds since 1970. `error`: Slack's, where it was refused."""

    works: bool
    found_at: float
    error: str = ""

    @classmethod
    def parse(cls, text: str | None) -> FeatureFinding | None:
        """None: it is not one, or of a version that kept no time."""
        works, _, rest = (text or "").partition(" ")
        found_at, _, error = rest.partition(" ")
        if works not in ("yes", "no") or not found_at.isdecimal():
            return None
        return cls(works == "yes", float(found_at), error)

    @classmethod
    def refused(cls, error: str, now: float) -> FeatureFinding | None:
        """None: elsewhere, or later, it may work."""
        return cls(False, now, error) if error in _EVERYWHERE else None

    def __str__(self) -> str:
        return f"{'yes' if self.works else 'no'} {self.found_at:.0f} {self.error}".rstrip()

    def is_good(self, now: float, days: float) -> bool:
        """It is not older than `days`."""
        return now - self.found_at < days * DAY


class WorkspaceFacts(dict[str, str]):
    """As the store has them, by name. `days`: after so many a finding counts as not known."""

    def __init__(self, wall: Callable[[], float], days: float) -> None:
        super().__init__()
        self._wall, self._days = wall, days

    def known(self, feature: WorkspaceFeature) -> FeatureFinding | None:
        """None: it is to be found out."""
        found = FeatureFinding.parse(self.get(feature))
        return found if found is not None and found.is_good(self._wall(), self._days) else None

    def lacks(self, feature: WorkspaceFeature) -> FeatureFinding | None:
        """Why it is not to be tried. None: it may work."""
        found = self.known(feature)
        return None if found is None or found.works else found

    def learn(self, feature: WorkspaceFeature, *, works: bool) -> None:
        """Only what is news is stored, so the time is that of the first such answer."""
        known = self.known(feature)
        if known is None or known.works is not works:
            self[feature] = str(FeatureFinding(works, self._wall()))
