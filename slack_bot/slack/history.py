"""What people wrote, read back from Slack in the background: live answers go first.

Slack refuses an app that reads too often. Then nothing more is read, because a call that is live could need
the next one.
"""

import logging

from ..errors import ADD_SCOPE, SlackError
from ..turn.record import ThreadKey
from .api import MISSING_SCOPE, SlackApi, repeat_until_answered
from .faults import CallFailed, Fault
from .methods import Priority
from .orders import Messages

_log = logging.getLogger(__name__)

_NOTHING_MORE = frozenset({Fault.LATER, Fault.UNKNOWN, Fault.DEAD})
_LIMITED = (
    "Slack lets the app read no more now (if it may read once a minute only, set"
    " SLACK_BOT_GOVERNOR__READS_PER_MINUTE=1)"
)


class History:
    """Messages between two times, in seconds since 1970.

    None: this conversation cannot be read. Raises SlackError when nothing can be read for now.
    """

    def __init__(self, api: SlackApi) -> None:
        self._api = api.for_turn("", priority=Priority.BACKGROUND)
        self._lacking: set[str] = set()  # scopes

    async def read(self, place: ThreadKey, oldest: float, latest: float) -> Messages | None:
        """The replies of a thread, and its root whenever that was; without a `ts` the roots of a channel."""
        method = "conversations.replies" if place.ts else "conversations.history"
        args = {"channel": place.channel, "oldest": f"{oldest:.6f}", "latest": f"{latest:.6f}"}
        args |= {"ts": place.ts} if place.ts else {}
        found = await repeat_until_answered(lambda: self._api.read(method, args, patience=0.0))
        if not isinstance(found, CallFailed):
            return found
        if found.fault in _NOTHING_MORE:
            is_limit = found.fault is Fault.LATER and found.retry_after is not None
            problem = _LIMITED if is_limit else f"{method} failed: {found.error}"
            raise SlackError(problem, error=found.error)
        if found.error == MISSING_SCOPE and found.needed not in ("", *self._lacking):
            self._lacking.add(found.needed)
            _log.warning(
                "questions asked while the bot was away are not found where the Slack app needs the scope"
                " %s: %s",
                found.needed,
                ADD_SCOPE,
                extra=self._api.log_fields,
            )
        return None
