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

from .. import blocks
from ..api import CallFailed, CallOk
from ..blocks import TextForm
from ..faults import Fault
from ..orders import Destination
from ..text_formats import Body, TextForms, shown_or_failed
from ..turn_client import DROPPED, REPEAT_PAUSES, TurnClient, backoff, retry_unknown

_log = logging.getLogger(__name__)

Args = dict[str, Any]

_POST = "chat.postMessage"

_IN_VAIN = frozenset(
    {Fault.STOPPED, Fault.NO_WRITING, Fault.GONE, Fault.DEAD, Fault.NOT_HERE, Fault.NOT_THIS_ONE}
)
"""What no time will change: the turn is over, or the app is not set up for this."""


class Posts:
    """Posts of one turn. `post_retry_timeout`: seconds of pauses, in all, between attempts at one that must
    stand."""

    def __init__(
        self,
        line: TurnClient,
        place: Destination,
        post_retry_timeout: float = 0.0,
        forms: TextForms | None = None,
    ) -> None:
        self._line, self._place, self.post_retry_timeout = line, place, post_retry_timeout
        self._forms = forms or TextForms()
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
    ) -> CallOk | CallFailed:
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
        forms = [
            (form, {**base, **body}) for form, body in self._forms.of(_POST, text, above, under, says=says)
        ]
        result = await self._in_some_form(forms)
        for pause in backoff(self.post_retry_timeout) if insist else ():
            if isinstance(result, CallOk) or result.fault in _IN_VAIN:
                return result
            self._line.waits()
            await self._line.sleep(pause)
            if kind == "answer" and self._line.is_cancelled:
                return CallFailed(Fault.LATER, DROPPED)
            result = await self._again(forms, result)
        return result

    async def _in_some_form(self, forms: Sequence[Body]) -> CallOk | CallFailed:
        """Post the first form, and if that is refused as a form, or not shown, the next.

        What stands there empty is filled, or where no form does that, taken away.
        """
        refused: list[TextForm] = []
        in_doubt, empty = False, ""
        result: CallOk | CallFailed = CallFailed(Fault.WRONG_CALL, "refused")
        for form, args in forms:
            self.is_bare = form is not forms[0][0]
            result = await (self._fill(empty, args) if empty else self._once(args))
            if isinstance(result, CallOk) and form is TextForm.MARKDOWN_TEXT:
                empty = result.ts
                result = shown_or_failed(result, args["markdown_text"], "")
            if isinstance(result, CallOk):
                for each in refused:
                    self._forms.refused(_POST, each)
                return result
            if result.fault is not Fault.WRONG_CALL:
                break
            in_doubt = in_doubt or result.in_doubt
            refused.append(form)
        if empty:
            await retry_unknown(self._line, "chat.delete", {"channel": self._place.channel, "ts": empty})
        return replace(result, in_doubt=True) if isinstance(result, CallFailed) and in_doubt else result

    async def _fill(self, ts: str, args: Args) -> CallOk | CallFailed:
        """Make the message `ts` show what would be posted with `args`."""
        shown = {name: value for name, value in args.items() if name in ("metadata", "text", "blocks")}
        address = {"channel": self._place.channel, "ts": ts}
        result = await retry_unknown(self._line, "chat.update", {**address, **shown})
        return CallOk({**result.data, "ts": ts}) if isinstance(result, CallOk) else result

    async def _again(self, forms: Sequence[Body], before: CallFailed) -> CallOk | CallFailed:
        """Post again, unless an attempt that had no answer stands there."""
        in_doubt = before.in_doubt or before.fault is Fault.UNKNOWN
        if in_doubt and (ts := await self._stands(forms[0][1]["metadata"])) is not None:
            self.is_bare = True  # perhaps: nobody knows which form it was
            return CallOk({"ts": ts})
        result = await self._in_some_form(forms)
        return replace(result, in_doubt=True) if isinstance(result, CallFailed) and in_doubt else result

    async def _once(self, args: Args) -> CallOk | CallFailed:
        """Post, and if the answer stays away, post again unless it stands there."""
        result = await self._line.call(_POST, args)
        for pause in REPEAT_PAUSES:
            if isinstance(result, CallOk) or result.fault is not Fault.UNKNOWN:
                return result
            await asyncio.sleep(pause)
            ts = await self._stands(args["metadata"])
            if ts is not None:
                return CallOk({"ts": ts})
            result = await self._line.call(_POST, args)
            if isinstance(result, CallFailed):
                result = replace(result, in_doubt=result.fault is not Fault.UNKNOWN)
        return result

    async def _stands(self, metadata: Args) -> str | None:
        """The ts of the message with this metadata, if the thread shows it. Not knowing counts as no."""
        for pause in (*REPEAT_PAUSES, 0.0):
            messages = await self._line.thread(self._place)
            if not isinstance(messages, CallFailed):
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
        if isinstance(opened, CallFailed):
            return
        channel = opened.data.get("channel") or {}
        text = f"I may not write in <#{self._place.channel}>, so I cannot answer you there."
        await self._line.call(_POST, {"channel": channel.get("id"), "text": text}, patience=0)
        _log.info("turn %s: no writing in the thread, the asker was told directly", self._place.turn)
