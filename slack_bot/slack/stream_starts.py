"""PURE. Slack tells the bot of its own streams: which start does an event belong to?

The event has no text and no mark of ours (facts: Slack 1.8). But a stream is newer than every message that
was known when it was asked for. So an event waits for the answer to the call under way; what that does not
claim goes to the newest start without one.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Coroutine
from dataclasses import dataclass, field
from typing import Any

_MAX_THREADS = 1_000

ThreadName = tuple[str, str]
Spawn = Callable[[Coroutine[Any, Any, None]], Awaitable[None]]


@dataclass(slots=True, eq=False)
class StreamStart:
    """A stream that was asked for, newer than `after` in Slack's seconds. `ts` is the name an event gave it.

    `tell` is called once: while the call is under way when a stream began that may be its own, later when
    `ts` is known.
    """

    thread: ThreadName
    after: float
    ts: str | None = None
    tell: Callable[[], object] | None = None

    def notify(self) -> None:
        tell, self.tell = self.tell, None
        if tell is not None:
            tell()


@dataclass(slots=True)
class _Thread:
    under_way: StreamStart | None = None
    waiting: list[str] = field(default_factory=list)  # events that came while a call was under way
    missing: list[StreamStart] = field(default_factory=list)  # calls without an answer, the oldest first
    known: set[str] = field(default_factory=set)  # streams that belong to a start


class StreamStartTracker:
    """The streams of all turns that Slack has not named yet. `spawn` deals with one that comes late."""

    def __init__(self, spawn: Spawn, max_threads: int = _MAX_THREADS) -> None:
        self.spawn = spawn
        self._threads: OrderedDict[ThreadName, _Thread] = OrderedDict()
        self._max_threads = max_threads

    def expect(self, channel: str, thread_ts: str, after: str) -> StreamStart:
        """A stream is about to be asked for. `after`: the ts of a message that is older."""
        name = (channel, thread_ts)
        thread = self._threads.setdefault(name, _Thread())
        self._threads.move_to_end(name)
        while len(self._threads) > self._max_threads:
            self._threads.popitem(last=False)
        thread.under_way = StreamStart(name, max(map(_seconds, (after, *thread.known))))
        return thread.under_way

    def settle(self, start: StreamStart, ts: str | None = None, *, in_doubt: bool = False) -> None:
        """The call is over. `in_doubt`: an event that came, or the next one, names its stream."""
        thread = self._threads.get(start.thread)
        if thread is None:
            return
        if in_doubt:
            thread.missing.append(start)
        if ts is not None:
            thread.known.add(ts)
            thread.missing = [each for each in thread.missing if each is not start]
        if thread.under_way is start:
            waiting, thread.under_way, thread.waiting = thread.waiting, None, []
            for each in sorted(set(waiting) - thread.known, key=_seconds, reverse=True):
                _give(thread, each)

    def saw(self, channel: str, thread_ts: str, ts: str) -> bool:
        """An event: a stream of the bot began. Whether it may be missing."""
        thread = self._threads.get((channel, thread_ts))
        if thread is None or ts in thread.known or ts in thread.waiting:
            return False
        if thread.under_way is not None and thread.under_way.after < _seconds(ts):
            thread.waiting.append(ts)
            thread.under_way.notify()
            return True
        return _give(thread, ts)

    def known(self, channel: str, thread_ts: str) -> Collection[str]:
        thread = self._threads.get((channel, thread_ts))
        return frozenset() if thread is None else frozenset(thread.known)


def _give(thread: _Thread, ts: str) -> bool:
    for start in reversed(thread.missing):
        if start.after < _seconds(ts):
            thread.missing.remove(start)
            thread.known.add(ts)
            start.ts = ts
            start.notify()
            return True
    return False


def _seconds(ts: str) -> float:
    """A message's time; an invalid one is older than everything."""
    try:
        return float(ts)
    except ValueError:
        return 0.0
