"""Slack's own Stop button. Slack has closed the stream by the time this comes; the agent still works."""

from __future__ import annotations

import logging
from typing import Any, assert_never

from ..dispatch import TurnDispatcher
from .inbound import Ignored, StopRequest, read_stop

log = logging.getLogger(__name__)


class StopListener:
    """Ends turns of `desk`."""

    def __init__(self, dispatcher: TurnDispatcher) -> None:
        self._dispatcher = dispatcher

    async def stopped(self, body: dict[str, Any]) -> None:
        """The listener of `agent_session_stopped`."""
        match read_stop(body):
            case Ignored(reason=reason):
                log.warning("ignored: %s", reason)
            case StopRequest(thread=thread, user=user):
                became = self._dispatcher.stop(thread, user, stream_closed=True)
                log.info("stop pressed: %s", became, extra={"thread_ts": thread.ts})
            case unknown:
                assert_never(unknown)
