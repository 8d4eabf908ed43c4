"""PURE. Parts of calls that Slack refused. They are not sent again until the next start: then a new token may
have the scope, or Slack may know the field.
"""

from enum import StrEnum


class CallPart(StrEnum):
    """`NAME`: the name and picture of an agent. `VISIBILITY`: who sees a button."""

    NAME = "name"
    VISIBILITY = "visibility"


class RefusedParts:
    """Those that this process knows of."""

    def __init__(self) -> None:
        self._parts: set[CallPart] = set()

    def __contains__(self, part: CallPart) -> bool:
        return part in self._parts

    def add(self, part: CallPart) -> None:
        self._parts.add(part)
