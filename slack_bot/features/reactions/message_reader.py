"""Reads the message of a reaction: Slack's event names it, and says nothing else of it."""

import logging

from ...errors import ADD_SCOPE
from ...slack.api import MISSING_SCOPE
from ...slack.faults import CallFailed
from ...slack.workspaces import Workspaces
from ...turn.json_values import Object, text_in

_log = logging.getLogger(__name__)

_PATIENCE = 1.5  # seconds for Slack's limits: Slack waits 3 s for what the reaction led to
_MOST = 10  # messages: the root of the thread comes too


class ReactedMessageReader:
    """Reads single messages."""

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces
        self._lacking: set[str] = set()  # scopes

    async def read(self, team: str, channel: str, ts: str) -> Object | None:
        """The message `ts` of a channel in the workspace `team`, also a reply.

        None: it is gone, or cannot be read, which is logged.
        """
        # `conversations.history` has no replies; here `ts` may be that of a reply (bolt-python#466)
        args = {"channel": channel, "ts": ts, "oldest": ts, "latest": ts, "inclusive": True, "limit": _MOST}
        args["include_all_metadata"] = True
        api = self._workspaces.of(team).api.for_turn("")
        result = await api.call("conversations.replies", args, patience=_PATIENCE)
        if isinstance(result, CallFailed):
            self._note(result)
            return None
        messages, _ = result.page
        return next((each for each in messages if text_in(each, "ts") == ts), None)

    def _note(self, failure: CallFailed) -> None:
        if failure.error != MISSING_SCOPE:
            _log.warning("the message of a reaction was not read: %s", failure.error)
        elif (scope := failure.needed or "*:history") not in self._lacking:
            self._lacking.add(scope)
            _log.warning(
                "the messages of reactions are not read where the Slack app needs the scope %s: %s",
                *(scope, ADD_SCOPE),
            )
