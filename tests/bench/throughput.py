"""How many events a second go through the pure part: decode, parser, machine, safety, buffer. No I/O."""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable

from slack_bot.agents.parser import EventParser
from slack_bot.agents.wire.frames import Frame, decode
from slack_bot.settings.models import StreamSettings
from slack_bot.text.buffer import StreamBuffer
from slack_bot.text.fit import MessageLimits
from slack_bot.text.ledger import Ledger
from slack_bot.turn.actions import AppendText, FlushText
from slack_bot.turn.events import TurnBegun
from slack_bot.turn.machine import Turn

from .figures import Figure, progress
from .running import done, event

_TEXT = "The quick brown fox jumps over a **lazy** dog, and `code` stays code.\n"
_TOKENS = re.findall(r"\s*\S+\n?", _TEXT)
_SHORT = 2_000
_TOKENS_A_SECOND = 100.0  # the time the events seem to take: what the buffer decides by


def measure(events: int = 100_000, rounds: int = 5) -> list[Figure]:
    """The median of `rounds` answers of `events` events each."""
    raws = [event(_TOKENS[number % len(_TOKENS)]) for number in range(events - 1)] + [done()]
    frames = [decode(raw) for raw in raws]
    core = _rates("parser, machine, buffer", rounds, events, lambda: _one_turn(frames))
    whole = _rates("the same with decoding", rounds, events, lambda: _one_turn([decode(raw) for raw in raws]))
    how = f"one answer of {events:,} events, median of {rounds}"
    early = _rates("parser and machine, a short answer", rounds, _SHORT, lambda: _read(frames[:_SHORT]))
    late = _rates("parser and machine, a long answer", rounds, events, lambda: _read(frames))
    both = f"an answer of {_SHORT:,} and one of {events:,} events, median of {rounds}: no slower where long"
    return [
        Figure("parser + machine + safety + buffer", core, "events/s", how),
        Figure("the same, from decoded JSON on", whole, "events/s", how),
        Figure("parser + machine, a short answer", early, "events/s", both),
        Figure("parser + machine, a long answer", late, "events/s", both),
    ]


def _rates(what: str, rounds: int, events: int, work: Callable[[], None]) -> float:
    rates = []
    for number in range(rounds):
        began = time.perf_counter()
        work()
        rates.append(events / (time.perf_counter() - began))
        progress(f"throughput, {what}: round {number + 1} of {rounds}: {rates[-1]:,.0f} events/s")
    return statistics.median(rates)


def _read(frames: list[Frame]) -> None:
    """What a turn decides, without showing it."""
    parser, machine = EventParser(), Turn()
    machine.handle(TurnBegun())
    for frame in frames:
        for happened in parser.feed(frame):
            machine.handle(happened)


def _one_turn(frames: list[Frame]) -> None:
    """All events of one answer, in the order of the runner, with a Slack that takes every call at once."""
    stream = StreamSettings()
    parser, machine = EventParser(), Turn()
    ledger = Ledger(MessageLimits(max_call_chars=stream.max_call_chars))
    buffer = StreamBuffer(
        ledger, first_flush_delay=stream.first_flush_delay, flush_interval=stream.flush_interval
    )
    machine.handle(TurnBegun())
    for number, frame in enumerate(frames):
        now = number / _TOKENS_A_SECOND
        for happened in parser.feed(frame):
            for action in machine.handle(happened):
                if isinstance(action, AppendText):
                    buffer.push(action.text, now)
                elif isinstance(action, FlushText):
                    buffer.flush()
        deadline = buffer.deadline()
        if deadline is not None and deadline <= now and buffer.release(now):
            ledger.released = ""
            buffer.acknowledge(now)
