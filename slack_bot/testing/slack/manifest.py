"""PURE. The scopes and events of the app's manifest: an app that lacks one finds out here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class AppManifest:
    """The part of an app's manifest that Slack enforces: bot scopes, and the events it subscribes to."""

    scopes: frozenset[str]
    events: frozenset[str]

    @classmethod
    def from_json(cls, manifest: Mapping[str, Any]) -> Self:
        """Read a manifest as Slack takes it. KeyError for one without bot scopes or bot events."""
        scopes = manifest["oauth_config"]["scopes"]["bot"]
        return cls(frozenset(scopes), frozenset(manifest["settings"]["event_subscriptions"]["bot_events"]))

    def is_told(self, event: str) -> bool:
        """Whether the app gets events of this name, such as `message.channels`."""
        needed = EVENT_SCOPES.get(event)
        return event in self.events and (needed is None or needed in self.scopes)


_SCOPES = (
    "app_mentions:read channels:history chat:write files:write groups:history im:history im:read im:write"
    " mpim:history reactions:write"
)
_EVENTS = "agent_session_stopped app_mention message.channels message.groups message.im message.mpim"
SHIPPED = AppManifest(frozenset(_SCOPES.split()), frozenset(_EVENTS.split()))
"""What docs/slack-app-manifest.json asks for; a test keeps the two alike."""

FAMILIES: Mapping[str, str] = {"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}
"""What scopes and events call each kind of conversation."""

EVENT_SCOPES: Mapping[str, str] = {
    "app_mention": "app_mentions:read",
    **{f"message.{family}": f"{family}:history" for family in FAMILIES.values()},
}
"""Slack takes no subscription to these events without the scope."""
