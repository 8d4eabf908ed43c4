"""PURE. Slack tells the bot of its own streams: which start does an event belong to?

A start whose answer never came may have opened a stream. Slack sends an event for every stream that begins,
so its name is learned from there, sooner than by reading the thread and also where that may not be read. The
event carries no text and no mark of ours (facts: Slack 1.8). What is certain is the order: a stream is newer
than every message that was known when it was asked for, and one that Slack's answer named is nobody else's.
So an event waits for the answer to the call that is under way; what that call does not claim goes to the
newest start that is still missing a stream. Events that no start misses are left alone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Coroutine
from dataclasses import dataclass, field
from typing import Any

_THREADS_KEPT = 1_000

ThreadName = tuple[str, str]
Errand = Callable[[Coroutine[Any, Any, None]], Awaitable[None]]


@dataclass(slots=True, eq=False)
class StreamStart:
    """A stream that was asked for in `thread` (channel, thread_ts). `ts` is the name that an event gave it.

    `after` is a time on Slack's clock, in seconds: its stream is newer. `tell` is called once: while the call
    is under way when any stream began that may be its own, later when `ts` is known.
    """

    thread: ThreadName
    after: float
    ts: str | None = None
    tell: Callable[[], None] | None = None

    def told(self) -> None:
        """An event came."""
        tell, self.tell = self.tell, None
        if tell is not None:
            tell()


@dataclass(slots=True)
class _Thread:
    under_way: StreamStart | None = None
    waiting: list[str] = field(default_factory=list)  # events that came while a call was under way
    missing: list[StreamStart] = field(default_factory=list)  # calls without an answer, the oldest first
    known: set[str] = field(default_factory=set)  # streams that belong to somebody


class StreamStartTracker:
    """The streams of all turns that Slack has not named yet. One call at a time in a thread.

    `errand` begins what must be done about a stream that came late, maybe after its turn was over. What was
    known of the threads that were used longest ago is forgotten.
    """

    def __init__(self, errand: Errand, threads_kept: int = _THREADS_KEPT) -> None:
        self.errand = errand
        self._threads: OrderedDict[ThreadName, _Thread] = OrderedDict()
        self._kept = threads_kept

    def expect(self, channel: str, thread_ts: str, after: str) -> StreamStart:
        """A stream is about to be asked for. `after`: the ts of a message that stood there before."""
        name = (channel, thread_ts)
        thread = self._threads.setdefault(name, _Thread())
        self._threads.move_to_end(name)
        while len(self._threads) > self._kept:
            self._threads.popitem(last=False)
        thread.under_way = StreamStart(name, max(map(_seconds, (after, *thread.known))))
        return thread.under_way

    def named(self, start: StreamStart, ts: str) -> None:
        """Slack's answer, or the thread itself, named its stream."""
        self._over(start, ts)

    def refused(self, start: StreamStart) -> None:
        """Slack's answer was that there is none."""
        self._over(start)

    def doubted(self, start: StreamStart) -> None:
        """The call has no answer: an event that came, or the next one, names its stream."""
        if (thread := self._threads.get(start.thread)) is not None:
            thread.missing.append(start)
            self._over(start)

    def saw(self, channel: str, thread_ts: str, ts: str) -> bool:
        """An event: a stream of the bot's began. Whether that may be one that is missing."""
        thread = self._threads.get((channel, thread_ts))
        if thread is None or ts in thread.known or ts in thread.waiting:
            return False
        if thread.under_way is not None and thread.under_way.after < _seconds(ts):
            thread.waiting.append(ts)
            thread.under_way.told()
            return True
        return _give(thread, ts)

    def known(self, channel: str, thread_ts: str) -> Collection[str]:
        """The streams of a thread that belong to somebody."""
        thread = self._threads.get((channel, thread_ts))
        return frozenset() if thread is None else frozenset(thread.known)

    def _over(self, start: StreamStart, ts: str | None = None) -> None:
        thread = self._threads.get(start.thread)
        if thread is None:
            return
        if ts is not None:
            thread.known.add(ts)
            thread.missing = [each for each in thread.missing if each is not start]
        if thread.under_way is start:
            waiting, thread.under_way, thread.waiting = thread.waiting, None, []
            for each in sorted(set(waiting) - thread.known, key=_seconds, reverse=True):
                _give(thread, each)


def _give(thread: _Thread, ts: str) -> bool:
    """The newest start that misses a stream takes this one."""
    for start in reversed(thread.missing):
        if start.after < _seconds(ts):
            thread.missing.remove(start)
            thread.known.add(ts)
            start.ts = ts
            start.told()
            return True
    return False


def _seconds(ts: str) -> float:
    """A message's time; what is no time is older than everything."""
    try:
        return float(ts)
    except ValueError:
        return 0.0
