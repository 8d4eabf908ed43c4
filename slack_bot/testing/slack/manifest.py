"""PURE. The scopes and events of the app's manifest: what it may call, and what it gets.

The tables say which scope each method and each event needs (facts: Slack 1, 4, 7, 9, 10; Slack's method
pages). So an app that lacks one finds out here, and not in the first real workspace.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
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


SHIPPED = AppManifest(
    frozenset(
        {
            "app_mentions:read",
            "channels:history",
            "chat:write",
            "files:write",
            "groups:history",
            "im:history",
            "im:read",
            "im:write",
            "mpim:history",
            "reactions:write",
        }
    ),
    frozenset(
        {
            "agent_session_stopped",
            "app_mention",
            "message.channels",
            "message.groups",
            "message.im",
            "message.mpim",
        }
    ),
)
"""What docs/slack-app-manifest.json asks for; a test keeps the two alike."""

FAMILIES: Mapping[str, str] = {"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}
"""What scopes and events call each kind of conversation."""

EVENT_SCOPES: Mapping[str, str] = {
    "app_mention": "app_mentions:read",
    **{f"message.{family}": f"{family}:history" for family in FAMILIES.values()},
}
"""Slack takes no subscription to these events without the scope."""

_TABLE: tuple[tuple[str, str], ...] = (
    ("", "auth.test views.open views.publish views.push views.update"),
    ("chat:write", "agents.sessions.setStatus chat.appendStream chat.delete chat.postEphemeral"),
    ("chat:write", "chat.postMessage chat.startStream chat.stopStream chat.update"),
    ("assistant:write chat:write", "assistant.threads.setStatus"),
    ("assistant:write", "assistant.threads.setSuggestedPrompts assistant.threads.setTitle"),
    ("channels:history groups:history im:history mpim:history", "conversations.history"),
    ("channels:history groups:history im:history mpim:history", "conversations.replies"),
    ("channels:read groups:read im:read mpim:read", "conversations.info"),
    ("im:write", "conversations.open"),
    ("files:write", "files.completeUploadExternal files.getUploadURLExternal"),
    ("reactions:write", "reactions.add reactions.remove"),
    ("users:read", "users.info"),
    ("connections:write", "apps.connections.open"),
)

METHOD_SCOPES: Mapping[str, frozenset[str]] = {
    method: frozenset(scopes.split()) for scopes, methods in _TABLE for method in methods.split()
}
"""Any one of these scopes is enough for the method; no scope: every token may call it."""

_BY_KIND = frozenset({"conversations.history", "conversations.info", "conversations.replies"})

APP_SCOPES = frozenset({"connections:write"})
"""The scopes of the app-level token, which no manifest names."""


def accepted(method: str, kind: str | None) -> Collection[str]:
    """The scopes of which a call of `method` needs one. What reads a conversation needs that of its `kind`,
    where that is known.
    """
    scopes = METHOD_SCOPES[method]
    if kind is None or method not in _BY_KIND:
        return scopes
    return [scope for scope in scopes if scope.startswith(f"{FAMILIES[kind]}:")]


def listed(scopes: Collection[str]) -> str:
    """Scopes as Slack writes them into headers and answers."""
    return ",".join(sorted(scopes))
