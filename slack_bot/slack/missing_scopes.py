"""PURE. The calls that Slack refuses because the app lacks a scope.

A scope comes with a new token, which is read when the process starts. So such a refusal is final, and the
call is not made again. Which scope a conversation's messages need depends on the kind of conversation, which
its id does not tell: there, the refusal counts for that conversation alone.
"""

from __future__ import annotations

from collections import OrderedDict

MISSING_SCOPE = "missing_scope"
"""Slack's name for such a refusal."""

_BY_CHANNEL = "conversations."
_MOST = 1_000  # refusals that are remembered


class MissingScopes:
    """What was refused since the process started."""

    def __init__(self) -> None:
        self._refused: OrderedDict[tuple[str, str], None] = OrderedDict()

    def note(self, method: str, channel: str) -> None:
        """A call of `method` was refused; `channel` is the one it was about, or ""."""
        self._refused[_key(method, channel)] = None
        if len(self._refused) > _MOST:
            self._refused.popitem(last=False)

    def refuses(self, method: str, channel: str) -> bool:
        """Whether the same call would be refused again."""
        return _key(method, channel) in self._refused


def _key(method: str, channel: str) -> tuple[str, str]:
    return method, channel if method.startswith(_BY_CHANNEL) else ""
