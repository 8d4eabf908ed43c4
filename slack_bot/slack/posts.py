"""Ordinary messages in the thread, and the one direct message where the bot may not write.

A post has no key that would make it safe to repeat. So each carries metadata that no other message has, and
one whose call had no answer is looked for in the thread before it is posted again.

A post is the last surface there is: what it refuses, nobody will read. So one that must stand is insisted on,
with longer and longer pauses, for what Slack refuses now it may take a minute later.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from . import blocks
from .api import Done, Failed
from .faults import Fault
from .line import DROPPED, REPEAT_PAUSES, Line, growing
from .orders import Place

_log = logging.getLogger(__name__)

Args = dict[str, Any]

_IN_VAIN = frozenset(
    {Fault.STOPPED, Fault.NO_WRITING, Fault.GONE, Fault.DEAD, Fault.NOT_HERE, Fault.NOT_THIS_ONE}
)
"""What no time will change: the turn is over, or the app is not set up for this."""


class Posts:
    """Posts of one turn. `insist_for`: seconds of pauses, in all, between attempts at one that must stand."""

    def __init__(self, line: Line, place: Place, insist_for: float = 0.0) -> None:
        self._line, self._place, self.insist_for = line, place, insist_for
        self._count = 0
        self.is_bare = False
        """What was posted last stands as its text alone."""

    async def post(
        self,
        text: str,
        above: Sequence[Args],
        under: Sequence[Args],
        kind: str,
        *,
        says: str = "",
        insist: bool = False,
    ) -> Done | Failed:
        """Post Markdown `text` between the blocks `above` and `under`. Done: it stands, and has that `ts`.

        A form that is refused is followed by another one, of the text alone. `kind` is "answer" or "note";
        `says` is what a notification reads where there is no text. `insist`: there is no other way to show
        it. An answer that is insisted on ends with `DROPPED` where the human stops the turn meanwhile.
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
        forms = (full, {**base, **blocks.other_body(full, text or says)}) if text or says else (full,)
        result = await self._in_some_form(forms)
        for pause in growing(self.insist_for) if insist else ():
            if isinstance(result, Done) or result.fault in _IN_VAIN:
                return result
            self._line.waits()
            await self._line.rest(pause)
            if kind == "answer" and self._line.is_hushed:
                return Failed(Fault.LATER, DROPPED)
            result = await self._again(forms, result)
        return result

    async def _in_some_form(self, forms: Sequence[Args]) -> Done | Failed:
        """Post the first form, and if that is refused as a form, the next."""
        in_doubt = False
        result: Done | Failed = Failed(Fault.WRONG_CALL, "refused")
        for form in forms:
            self.is_bare = form is not forms[0]
            result = await self._once(form)
            if isinstance(result, Done) or result.fault is not Fault.WRONG_CALL:
                break
            in_doubt = in_doubt or result.in_doubt
        return replace(result, in_doubt=True) if isinstance(result, Failed) and in_doubt else result

    async def _again(self, forms: Sequence[Args], before: Failed) -> Done | Failed:
        """Post again, unless an attempt that had no answer stands there."""
        in_doubt = before.in_doubt or before.fault is Fault.UNKNOWN
        if in_doubt and (ts := await self._stands(forms[0]["metadata"])) is not None:
            self.is_bare = True  # perhaps: nobody knows which form it was
            return Done({"ts": ts})
        result = await self._in_some_form(forms)
        return replace(result, in_doubt=True) if isinstance(result, Failed) and in_doubt else result

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
            if isinstance(result, Failed):
                result = replace(result, in_doubt=result.fault is not Fault.UNKNOWN)
        return result

    async def _stands(self, metadata: Args) -> str | None:
        """The ts of the message with this metadata, if the thread shows it. Not knowing counts as no."""
        for pause in (*REPEAT_PAUSES, 0.0):
            messages = await self._line.thread(self._place)
            if not isinstance(messages, Failed):
                return next(
                    (str(each["ts"]) for each in messages if blocks.is_ours(each.get("metadata"), metadata)),
                    None,
                )
            if messages.is_final:
                break
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
