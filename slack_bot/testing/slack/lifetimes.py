"""PURE. A stream's end without anybody's doing: Slack seals it after a time, and says nothing but an event.

From then on an append and a stop are answered with `message_not_in_streaming_state`; the session is active
again (facts: Slack 1.6).
"""

from __future__ import annotations

from . import payloads, streams
from .state import StoredMessage, WorkspaceState


def ends_at(state: WorkspaceState, message: StoredMessage) -> float | None:
    """When Slack will seal an open stream, None: never."""
    if message.state != "streaming":
        return None
    life, idle = state.rules.stream_life, state.rules.stream_idle
    ends = [] if life is None else [message.started_at + life]
    ends += [] if idle is None else [message.touched_at + idle]
    return min(ends, default=None)


def next_end(state: WorkspaceState) -> float | None:
    """When the next stream will be sealed if nothing happens, None: none will."""
    ends = (ends_at(state, message) for message in state.open_streams.values())
    return min((end for end in ends if end is not None), default=None)


def expire(state: WorkspaceState, now: float) -> None:
    """Seal every stream whose time is over at `now`."""
    for message in tuple(state.open_streams.values()):
        end = ends_at(state, message)
        if end is not None and end <= now:
            close(state, message, end)


def close(state: WorkspaceState, message: StoredMessage, now: float) -> None:
    """Slack seals an open stream by itself."""
    message.expired = True
    streams.seal(state, message, now)
    payloads.session(state, message.channel, message.root, "active", now)
