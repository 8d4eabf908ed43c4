"""Ordinary messages in the thread, and the one direct message where the bot may not write.

A post has no key that would make it safe to repeat. So each carries metadata that no other message has, and
one whose call had no answer is looked for in the thread before it is posted again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from . import blocks
from .api import Done, Failed, SlackApi
from .faults import Fault
from .orders import Place
from .stream import REPEAT_PAUSES

_log = logging.getLogger(__name__)

Args = dict[str, Any]


class Posts:
    """Posts of one turn."""

    def __init__(self, api: SlackApi, place: Place) -> None:
        self._api, self._place = api, place
        self._count = 0

    async def post(self, text: str, under: Sequence[Args], kind: str, *, says: str = "") -> Failed | None:
        """Post Markdown `text` with the blocks `under` it. None: it stands in the thread.

        `kind` is "answer", "question" or "note"; `says` is what a notification reads where there is no text.
        """
        self._count += 1
        place = self._place
        base: Args = {
            "channel": place.channel,
            "thread_ts": place.thread_ts,
            "metadata": blocks.metadata(place.turn, kind, self._count),
            "unfurl_links": False,
            "unfurl_media": False,
        }
        body = [*([blocks.markdown(text)] if text else []), *under]
        result = await self._once({**base, "text": blocks.fallback(text or says), "blocks": body})
        if isinstance(result, Failed) and result.fault is Fault.WRONG_CALL:
            result = await self._once({**base, "markdown_text": text or says})
        return result if isinstance(result, Failed) else None

    async def _once(self, args: Args) -> Done | Failed:
        """Post, and if the answer stays away, post again unless it stands there."""
        result = await self._api.call("chat.postMessage", args)
        for pause in REPEAT_PAUSES:
            if isinstance(result, Done) or result.fault is not Fault.UNKNOWN:
                return result
            await asyncio.sleep(pause)
            if await self._stands(args["metadata"]):
                return Done({})
            result = await self._api.call("chat.postMessage", args)
        return result

    async def _stands(self, metadata: Args) -> bool:
        """Whether the thread shows the message with this metadata. Not knowing counts as no."""
        place, cursor = self._place, ""
        while True:
            args: Args = {
                "channel": place.channel,
                "ts": place.thread_ts,
                "limit": 200,
                "include_all_metadata": True,
            }
            result = await self._api.call("conversations.replies", {**args, "cursor": cursor or None})
            if isinstance(result, Failed):
                return False
            messages = result.data.get("messages") or []
            if any(blocks.is_ours(message.get("metadata"), metadata) for message in messages):
                return True
            cursor = (result.data.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return False

    async def tell_asker(self) -> None:
        """Say in a direct message that the thread cannot be written to. Tried once, never fails."""
        opened = await self._api.call("conversations.open", {"users": self._place.user}, patience=0)
        if isinstance(opened, Failed):
            return
        channel = opened.data.get("channel") or {}
        text = f"I may not write in <#{self._place.channel}>, so I cannot answer you there."
        await self._api.call("chat.postMessage", {"channel": channel.get("id"), "text": text}, patience=0)
        _log.info("turn %s: no writing in the thread, the asker was told directly", self._place.turn)
