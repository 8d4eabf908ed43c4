"""PURE. Faults by script: a list for each method, used call by call; its last entry repeats.

`null` no fault, `name` refused, `name:N` refused with Retry-After N, `name!` applied and then answered with
that error, `timeout` never applied and never answered, `timeout!` applied and never answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TIMEOUT = "timeout"
_DEFAULT_RETRY_AFTER = 1


@dataclass(frozen=True, slots=True)
class Fault:
    """One entry of a script. `retry_after` is in seconds."""

    error: str
    applied: bool = False
    retry_after: int | None = None

    @property
    def silent(self) -> bool:
        """The call is never answered."""
        return self.error == TIMEOUT

    @property
    def status(self) -> int:
        """The HTTP status: `ratelimited` has its own, `rate_limited` comes in band (facts: Slack 1.5)."""
        return 429 if self.error == "ratelimited" else 200

    @property
    def headers(self) -> dict[str, str]:
        """Retry-After, where it belongs."""
        seconds = self.retry_after
        if seconds is None and self.status == 429:
            seconds = _DEFAULT_RETRY_AFTER
        return {} if seconds is None else {"Retry-After": str(seconds)}


def parse(entry: str | None) -> Fault | None:
    """One entry. ValueError for something that is not one."""
    if entry is None:
        return None
    applied = entry.endswith("!")
    name, colon, seconds = entry.removesuffix("!").partition(":")
    if not name.replace("_", "").isalnum() or (colon and not (seconds.isascii() and seconds.isdigit())):
        raise ValueError(f"not a fault: {entry!r}")
    return Fault(name, applied, int(seconds) if colon else None)


class FaultScript:
    """The scripts of all methods. A method may be spelled `chat.appendStream` or `chat_appendStream`."""

    def __init__(self, scripts: Mapping[str, Sequence[str | None]] | None = None) -> None:
        self._scripts: dict[str, list[Fault | None]] = {}
        for method, entries in (scripts or {}).items():
            self.set(method, entries)

    def set(self, method: str, entries: Sequence[str | None]) -> None:
        """Replace the script of `method`; an empty one ends its faults."""
        self._scripts[method.replace("_", ".")] = [parse(entry) for entry in entries]

    def next(self, method: str) -> Fault | None:
        """The fault of this call of `method`."""
        script = self._scripts.get(method)
        if not script:
            return None
        return script.pop(0) if len(script) > 1 else script[0]
