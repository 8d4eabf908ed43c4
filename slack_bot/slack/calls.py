"""What came of a call to Slack, and how a call is repeated.

Each outcome is a value. A call without an answer may have been applied.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .faults import Fault

REPEAT_PAUSES = (1.0, 3.0, 9.0)
"""Seconds before each repetition of a call that had no answer."""

NO_ANSWER = frozenset({Fault.UNKNOWN})
NOT_REFUSED = frozenset({Fault.UNKNOWN, Fault.LATER})

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class CallOk:
    """Slack said ok, with the body `data`. `is_fallback`: the text alone went, without blocks."""

    data: Mapping[str, Any]
    is_fallback: bool = False

    @property
    def ts(self) -> str:
        """Empty where the answer names no message."""
        return str(self.data.get("ts") or "")


@dataclass(frozen=True, slots=True)
class CallFailed:
    """The call failed for good. `error` is Slack's name for it, or ours (see `faults.classify`).

    `retry_after` is the pause in seconds that Slack asked for. `in_doubt`: an earlier attempt had no answer.
    `needed`: the scope that is missing.
    """

    fault: Fault
    error: str
    retry_after: float | None = None
    in_doubt: bool = False
    needed: str = ""

    @property
    def is_final(self) -> bool:
        """The same call would be refused again."""
        return self.fault not in NOT_REFUSED


CallResult = CallOk | CallFailed


def backoff(first: float, longest: float, total: float = math.inf) -> Iterator[float]:
    """Pauses that double from `first` up to `longest`; their sum is `total`."""
    pause = first
    while total > 0:
        yield min(pause, total)
        total -= pause
        pause = min(2 * pause, longest)


async def call_until_known(
    call: Callable[[], Awaitable[_T | CallFailed]],
    verify: Callable[[], Awaitable[_T | None]] | None = None,
    *,
    repeat_on: Set[Fault] = NO_ANSWER,
) -> _T | CallFailed:
    """Call until the outcome is known, at most four times.

    `verify` runs before each repetition, and returns the outcome if it finds an earlier attempt applied.
    """
    result = await call()
    for pause in REPEAT_PAUSES:
        if not isinstance(result, CallFailed) or result.fault not in repeat_on:
            break
        await asyncio.sleep(pause)
        if verify is not None and (found := await verify()) is not None:
            return found
        result = await call()
        if isinstance(result, CallFailed):
            result = replace(result, in_doubt=result.fault is not Fault.UNKNOWN)
    return result
