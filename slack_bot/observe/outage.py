"""Logs once that Redis does not answer, and once that it answers again."""

import logging

from ..clock import Clock, system_clock

_log = logging.getLogger(__name__)

_SETTLED = 5.0
"""Seconds with answers before it counts as back, so that a Redis that is slow now and then is logged once."""
_AWAY = (
    "Redis does not answer (%s): new questions are not acknowledged meanwhile, and Slack brings them again;"
    " answers under way go on, longer ones in the message that they have, with an even part of Slack's"
    " budgets, and are stored later; a Stop takes effect only at the replica that it is for"
)


class Outage:
    """Receives the results of all calls of Redis, of the store and of the rate limiter."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._now = (clock or system_clock()).monotonic
        self._began: float | None = None  # None: it answers
        self._failed_at = 0.0

    def failed(self, problem: str) -> None:
        self._failed_at = self._now()
        if self._began is None:
            self._began = self._failed_at
            _log.error(_AWAY, problem)

    def passed(self) -> None:
        if self._began is not None and (now := self._now()) - self._failed_at >= _SETTLED:
            _log.warning("Redis answers again, after %.0f s: all of that works as before", now - self._began)
            self._began = None
