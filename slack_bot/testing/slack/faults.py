"""PURE. Faults by script: a list for each method, used call by call; its last entry repeats.

    null          no fault
    name          refused with that error of Slack's
    name:N        the same, with Retry-After N (seconds)
    name!         applied, and then answered with that error
    error:name    as name, name:N and name!, for an error that is not known here
    timeout       never applied and never answered
    timeout!      applied and never answered
    connect       no connection comes about: nothing is sent
    cut           the connection breaks before anything is applied
    cut!          applied, and then the connection breaks
    slow:N        the call arrives N seconds late
    slow:N!       applied at once, answered N seconds late
    http:N        HTTP status N (400 to 599) with a page that is not JSON, not applied
    http:N!       the same, applied

A name is one of Slack's errors that are known here (`error_names`); any other one is refused, because a
misspelt fault would test something else than its author meant. Besides the methods of the Web API, `upload`
names the request that carries a file's bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...settings.suggestions import nearest
from .arguments import ARGUMENTS
from .error_names import ERROR_NAMES

UPLOAD = "upload"
METHODS = frozenset({*ARGUMENTS, UPLOAD})
FORMS = (
    "name, name:SECONDS, name!, error:name, timeout, timeout!, connect, cut, cut!, slow:SECONDS,"
    " slow:SECONDS!, http:STATUS or http:STATUS!"
)
_TIMEOUT, _CUT, _CONNECT, _SLOW, _HTTP = _WORDS = ("timeout", "cut", "connect", "slow", "http")
_ENTRY = re.compile(r"(?P<new>error:)?(?P<name>[a-z][a-z0-9_]*)(?::(?P<number>[0-9]{1,6}))?(?P<applied>!)?")
_DEFAULT_RETRY_AFTER = 1
_TOO_OFTEN = 429


@dataclass(frozen=True, slots=True)
class ScriptedFault:
    """One entry of a script. `number` is what stands behind the colon: seconds, or an HTTP status."""

    error: str
    applied: bool = False
    number: int | None = None

    @property
    def silent(self) -> bool:
        """The call is never answered."""
        return self.error == _TIMEOUT

    @property
    def broken(self) -> Literal["", "cut", "connect"]:
        """The connection breaks, or never comes about."""
        if self.error == _CUT:
            return "cut"
        return "connect" if self.error == _CONNECT else ""

    @property
    def delay(self) -> float:
        """Seconds by which a slow call is late, 0 for every other one."""
        return float(self.number or 0) if self.error == _SLOW else 0.0

    @property
    def is_page(self) -> bool:
        """Something in front of Slack answers, not in JSON."""
        return self.error == _HTTP

    @property
    def status(self) -> int:
        """The HTTP status: `ratelimited` has its own, `rate_limited` comes in band (facts: Slack 1.5)."""
        if self.is_page:
            return int(self.number or 0)
        return _TOO_OFTEN if self.error == "ratelimited" else 200

    @property
    def headers(self) -> dict[str, str]:
        """Retry-After, where it belongs."""
        if self.is_page or self.delay:
            return {}
        seconds = self.number
        if seconds is None and self.status == _TOO_OFTEN:
            seconds = _DEFAULT_RETRY_AFTER
        return {} if seconds is None else {"Retry-After": str(seconds)}


def parse(entry: str | None) -> ScriptedFault | None:
    """One entry. ValueError, in one sentence, for something that is not one."""
    if entry is None:
        return None
    found = _ENTRY.fullmatch(entry) if isinstance(entry, str) else None
    if found is None:
        raise ValueError(f"{entry!r} is not a fault; a fault is written {FORMS}")
    name, number = found["name"], None if found["number"] is None else int(found["number"])
    fault = ScriptedFault(name, found["applied"] is not None, number)
    if problem := _unknown(name, entry, is_new=found["new"] is not None) or _problem(fault):
        raise ValueError(f"{entry!r} is not a fault: {problem}")
    return fault


def _unknown(name: str, entry: str, *, is_new: bool) -> str:
    """What is wrong with the name in `entry`, "" where it may stand there. `is_new`: it is said to be new."""
    if is_new:
        return f"{name} is no error of Slack's; leave error: out" if name in _WORDS else ""
    if name in _WORDS or name in ERROR_NAMES:
        return ""
    if name == "error":
        return "error takes a name, as in error:some_new_name"
    near = nearest(name, [*_WORDS, *ERROR_NAMES])
    guess = f" (did you mean {entry.replace(name, near, 1)!r}?)" if near else ""
    return (
        f"it is neither {', '.join(_WORDS[:-1])} or {_WORDS[-1]} nor a known error of Slack's{guess};"
        f" write error:{entry} for one that Slack has added since"
    )


def _problem(fault: ScriptedFault) -> str:
    """What makes no sense about `fault`, "" if it is sound."""
    has_number = fault.number is not None
    if fault.error == _HTTP:
        sound = has_number and 400 <= int(fault.number or 0) <= 599
        return "" if sound else "http takes a status from 400 to 599, as in http:503"
    if fault.error == _SLOW:
        return "" if fault.delay else "slow takes seconds, as in slow:5"
    if fault.error in (_TIMEOUT, _CUT, _CONNECT) and has_number:
        return f"{fault.error} takes no number"
    if fault.error == _CONNECT and fault.applied:
        return "what never reached Slack cannot have been applied; write connect or cut!"
    if has_number and fault.applied:
        return "what Slack wants to see again later was not applied"
    return ""


def method_name(name: str) -> str:
    """`name` as Slack spells it, also where the SDK's spelling is given. ValueError for an unknown one."""
    spelled = name if "." in name else name.replace("_", ".")
    if spelled not in METHODS:
        raise ValueError(f"{name!r} is not a method of the emulated workspace")
    return spelled


class FaultScript:
    """The scripts of all methods. A method may be spelled `chat.appendStream` or `chat_appendStream`.

    ValueError, in one sentence, for a method or an entry that does not exist.
    """

    def __init__(self, scripts: Mapping[str, Sequence[str | None]] | None = None) -> None:
        self._scripts: dict[str, list[ScriptedFault | None]] = {}
        for method, entries in (scripts or {}).items():
            self.set(method, entries)

    def set(self, method: str, entries: Iterable[str | None]) -> None:
        """Replace the script of `method`; an empty one ends its faults."""
        self._scripts[method_name(method)] = [parse(entry) for entry in entries]

    def next(self, method: str) -> ScriptedFault | None:
        """The fault of this call of `method`."""
        script = self._scripts.get(method)
        if not script:
            return None
        return script.pop(0) if len(script) > 1 else script[0]
