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
from .api import Done, Failed
from .faults import Fault
from .line import REPEAT_PAUSES, Line
from .orders import Place

_log = logging.getLogger(__name__)

Args = dict[str, Any]


class Posts:
    """Posts of one turn."""

    def __init__(self, line: Line, place: Place) -> None:
        self._line, self._place = line, place
        self._count = 0

    async def post(
        self, text: str, above: Sequence[Args], under: Sequence[Args], kind: str, *, says: str = ""
    ) -> Done | Failed:
        """Post Markdown `text` between the blocks `above` and `under`. Done: it stands, and has that `ts`.

        A form that is refused is followed by another one, of the text alone. `kind` is "answer" or "note";
        `says` is what a notification reads where there is no text.
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
        full = {**base, **blocks.body(text, above, under, says=says)}
        other: Args = {"markdown_text": text or says}
        if other.items() <= full.items():
            other = {"text": blocks.fallback(text or says), "blocks": [blocks.markdown(text or says)]}
        result = await self._once(full)
        if isinstance(result, Failed) and result.fault is Fault.WRONG_CALL and (text or says):
            result = await self._once({**base, **other})
        return result

    async def _once(self, args: Args) -> Done | Failed:
        """Post, and if the answer stays away, post again unless it stands there."""
        result = await self._line.call("chat.postMessage", args)
        for pause in REPEAT_PAUSES:
            if isinstance(result, Done) or result.fault is not Fault.UNKNOWN:
                return result
            await asyncio.sleep(pause)
            ts = await self._stands(args["metadata"])
            if ts is not None:
                return Done({"ts": ts})
            result = await self._line.call("chat.postMessage", args)
        return result

    async def _stands(self, metadata: Args) -> str | None:
        """The ts of the message with this metadata, if the thread shows it. Not knowing counts as no."""
        for pause in (*REPEAT_PAUSES, 0.0):
            messages = await self._line.thread(self._place)
            if messages is not None:
                return next(
                    (str(each["ts"]) for each in messages if blocks.is_ours(each.get("metadata"), metadata)),
                    None,
                )
            await asyncio.sleep(pause)
        return None

    async def tell_asker(self) -> None:
        """Say in a direct message that the thread cannot be written to. Tried once, never fails."""
        opened = await self._line.call("conversations.open", {"users": self._place.user}, patience=0)
        if isinstance(opened, Failed):
            return
        channel = opened.data.get("channel") or {}
        text = f"I may not write in <#{self._place.channel}>, so I cannot answer you there."
        await self._line.call("chat.postMessage", {"channel": channel.get("id"), "text": text}, patience=0)
        _log.info("turn %s: no writing in the thread, the asker was told directly", self._place.turn)
