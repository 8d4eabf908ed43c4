"""When a cron expression is due, in a time zone, on both sides of a change of the clocks.

An expression that names hours runs once a day at these hours: at a change of the clocks, what falls into the
hour that is left out runs right after it, and what falls into the hour that comes twice runs in the first
one. One that has `*` for the hours runs by the time that has passed.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_FIELDS = 5
_MOST_STEPS = 2_000  # occurrences that are looked through one by one
_DAY = 86_400.0


class CronRule:
    """A checked expression. Raises ValueError with a sentence if it cannot be read, or is never due."""

    def __init__(self, expression: str, zone: str = "UTC") -> None:
        from cronsim import CronSim, CronSimError

        fields = expression.split()
        if len(fields) != _FIELDS:
            raise ValueError(
                "should be five fields of cron: minute, hour, day of the month, month, day of the week"
            )
        # cronsim takes a job for one of each hour if its minutes begin with `*`
        if fields[0].startswith("*") and not fields[1].startswith("*"):
            fields[0] = f"0-59{fields[0][1:]}"
        self._expression, self._zone = " ".join(fields), zone_of(zone)
        self._sim = CronSim
        try:
            next(CronSim(self._expression, datetime(2024, 1, 1, tzinfo=UTC)))
        except CronSimError as error:
            field = str(error).removeprefix("Bad ")
            raise ValueError(f"should be five fields of cron: the field {field} cannot be read") from None
        except StopIteration:
            raise ValueError("should be five fields of cron: this date never comes") from None

    def next_after(self, at: float) -> float:
        """When it is due for the first time after `at`, in seconds since 1970."""
        return next(self._due_after(at))

    def latest(self, since: float, now: float) -> float | None:
        """When it was due for the last time after `since` and not after `now`; None: it was not."""
        last = None
        for step, due in enumerate(self._due_after(since)):
            if due > now:
                return last
            if step == _MOST_STEPS and due < now - _DAY:  # it is due often
                return self.latest(now - _DAY, now) or due
            last = due
        return last

    def _due_after(self, at: float) -> Iterator[float]:
        before = at
        for each in self._sim(self._expression, datetime.fromtimestamp(int(at), self._zone)):
            due = each.timestamp()
            if due > before:  # in the hour that is left out, several become one
                yield due
                before = due


def zone_of(name: str) -> tzinfo:
    """A time zone by its name, as `Europe/Berlin`. Raises ValueError with a sentence."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("should be a time zone such as Europe/Berlin or UTC") from None
