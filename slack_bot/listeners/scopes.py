"""PURE. The scopes of `docs/slack-app-manifest.json`, and what the bot cannot do without each.

An installer may leave scopes out, and an app from an older manifest lacks the newer ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

_READS_BACK = "and what became of a call without an answer cannot be looked up"

NEEDED: Mapping[str, str] = {
    "app_mentions:read": "mentions of the bot in channels do not reach it",
    "channels:history": f"replies in public channels do not reach the bot, {_READS_BACK} there",
    "chat:write": "no answer can be written",
    "files:write": "an answer that is too long for messages does not come as a file",
    "groups:history": f"replies in private channels do not reach the bot, {_READS_BACK} there",
    "im:history": f"direct messages do not reach the bot, {_READS_BACK} there",
    "im:write": "who asks where the bot may not write gets no notice",
    "mpim:history": f"messages in group conversations do not reach the bot, {_READS_BACK} there",
    "reactions:write": "a question that waits for the one before it gets no mark",
}
"""Scope to what does not work without it. A warning shows it."""


def missing(granted: Collection[str]) -> Iterator[str]:
    """One sentence with the remedy for each scope that is not `granted`."""
    for scope, lost in NEEDED.items():
        if scope not in granted:
            yield (
                f"the Slack app lacks the scope {scope}: {lost}; add it under OAuth & Permissions in your"
                " Slack app settings and install the app again"
            )
