"""Takes away what was written: streams, messages, files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .port import CannotTell, SlackPort


async def tidy(slack: SlackPort, bot_user: str) -> int:
    """End our streams and delete our messages, each thread from its end. Returns how many are left."""
    left = 0
    for channel, root in reversed(slack.roots):
        for message in reversed(await thread_of(slack, channel, root)):
            if message.get("user") != bot_user and message.get("bot_id") is None:
                continue
            at = {"channel": channel, "ts": str(message.get("ts"))}
            if message.get("streaming_state") == "in_progress":
                await _tried(slack, "chat.stopStream", **at)
            for file in message.get("files") or ():
                await _tried(slack, "files.delete", file=str(file.get("id")))
            left += not await _tried(slack, "chat.delete", **at)
    return left


async def thread_of(slack: SlackPort, channel: str, root: str) -> list[Mapping[str, Any]]:
    """All messages of a thread, its root first, as far as they may be read."""
    found: list[Mapping[str, Any]] = []
    cursor = ""
    try:
        while True:
            asked: dict[str, Any] = {"channel": channel, "ts": root, "limit": 100}
            asked |= {"cursor": cursor} if cursor else {}
            page = await slack.ok("conversations.replies", **asked)
            found += page.get("messages") or ()
            cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                return found
    except CannotTell:  # without the scope to read, what is known is deleted
        return found or [{"ts": root, "bot_id": ""}]


async def _tried(slack: SlackPort, method: str, **args: str) -> bool:
    try:
        return await slack.takes(method, **args)
    except CannotTell:
        return False
