"""One streamed message: opened, fed, stopped, and where it must be, written anew.

It knows what Slack has confirmed of it and whether a call about it had no answer. What to do about that is
the sink's to say; here stands only how it is done, each call first in its full form, then in plainer ones,
because an answer without its buttons is worth more than none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..clock import Clock
from ..sections import StreamSettings
from . import blocks
from .api import Done, Failed, SlackApi
from .chunks import CardBook, batch_chunks, task_chunk, text_chunk
from .faults import Fault
from .orders import Batch, Place

Args = dict[str, Any]

REPEAT_PAUSES = (1.0, 3.0, 9.0)
"""Seconds before a call is repeated whose answer never came and which may be repeated safely."""

_SKEW = 60.0  # seconds our clock may differ from Slack's when a message is looked for by its time
_READ_LIMIT = 200


class LiveMessage:
    """A message that is streamed into a thread. One writer: its calls must not overlap.

    `ts` is None until Slack has named it. `confirmed` is the text Slack said ok to. `doubt`: the last call
    about it had no answer, so it may read more than that. `sealed`: it takes no more text, and not by our
    stop.
    """

    def __init__(self, api: SlackApi, place: Place, settings: StreamSettings, clock: Clock) -> None:
        self._api, self._place, self._settings, self._clock = api, place, settings, clock
        self._cards = CardBook()
        self._no_cards = False
        self._plan_title = ""
        self._started_at = 0.0
        self._shows_cards = False
        self.ts: str | None = None
        self.confirmed = ""
        self.doubt = False
        self.sealed = False

    @property
    def is_visible(self) -> bool:
        """Something stands in the thread, as far as is known."""
        return bool(self.confirmed) or self._shows_cards

    def has_open_cards(self, *, failed: bool) -> bool:
        """Some card does not read yet as it should in the end."""
        return bool(self._cards.closing(failed=failed))

    def want(self, batch: Batch) -> None:
        """Note what the cards should read, although the batch is not sent."""
        self._cards.want(batch.cards)

    async def send(self, batch: Batch) -> Failed | None:
        """Open the stream with `batch`, or append it. None: it is shown, at least its text is."""
        admitted = self._cards.want(batch.cards)
        if self._no_cards:
            admitted, batch = (), Batch(batch.text)
        full = batch_chunks(batch, admitted, self._settings.card_chars)
        if not full:
            return None
        failed = await self._feed(full, batch.text, is_plain=False)
        if failed is None:
            self._cards.confirm(admitted)
            self._shows_cards = self._shows_cards or bool(admitted)
            self._plan_title = batch.plan_title or self._plan_title
            return None
        if failed.fault is not Fault.WRONG_CALL:
            return failed
        self._no_cards = True
        return await self._feed([text_chunk(batch.text)], batch.text, is_plain=True) if batch.text else None

    async def _feed(self, chunks: list[Args], text: str, *, is_plain: bool) -> Failed | None:
        self.doubt = True  # until there is an answer: a call that is cancelled stays in doubt
        if self.ts is None:
            self._started_at = self._clock.wall()
            result = await self._api.call("chat.startStream", self._start(chunks, is_plain=is_plain))
        else:
            result = await self._api.call("chat.appendStream", {**self._address(), "chunks": chunks})
        if isinstance(result, Done) and self.ts is None and not result.ts:
            result = Failed(Fault.UNKNOWN, "unreadable")
        if isinstance(result, Failed):
            self.doubt = result.fault is Fault.UNKNOWN
            self.sealed = result.fault is Fault.SEALED
            return result
        self.doubt = False
        self.ts = self.ts or result.ts
        self.confirmed += text
        return None

    def _start(self, chunks: list[Args], *, is_plain: bool) -> Args:
        place = self._place
        args: Args = {
            "channel": place.channel,
            "thread_ts": place.thread_ts,
            "recipient_user_id": place.user,
            "recipient_team_id": place.user_team,
        }
        if not is_plain:
            args["task_display_mode"] = self._settings.task_display_mode
        return {**args, "chunks": chunks}

    def _address(self) -> Args:
        return {"channel": self._place.channel, "ts": self.ts}

    async def find(self) -> None:
        """Look in the thread for a stream whose start had no answer. Sets `ts` if it is there."""
        args: Args = {
            "channel": self._place.channel,
            "ts": self._place.thread_ts,
            "oldest": f"{self._started_at - _SKEW:.6f}",
            "limit": _READ_LIMIT,
            "include_all_metadata": True,
        }
        result = await self._api.call("conversations.replies", args)
        if isinstance(result, Done):
            found = [message for message in result.data.get("messages") or [] if self._may_be_mine(message)]
            self.ts = str(found[-1]["ts"]) if found else None

    def _may_be_mine(self, message: Mapping[str, Any]) -> bool:
        """A stream of a bot, begun since, and not one that a turn has signed when it stopped it."""
        begun = float(message.get("ts") or 0) >= self._started_at - _SKEW
        return bool(begun and message.get("bot_id") and message.get("streaming_state")) and not message.get(
            "metadata"
        )

    async def stop(self, under: Sequence[Args], *, failed: bool, asked: bool) -> Failed | None:
        """Close the cards and stop the stream, with the blocks `under` it. None: all of that stands."""
        closing = self._cards.closing(failed=failed)
        chunks = [task_chunk(card, self._settings.card_chars) for card in closing]
        cards: Args = {**self._address(), **({"chunks": chunks} if chunks else {})}
        full: Args = {**cards, "metadata": blocks.metadata(self._place.turn, "answer")}
        if under:
            full["blocks"] = list(under)
        if asked:
            full["session_status"] = "suspended"
        refused: Failed | None = None
        for args in _distinct(full, cards, self._address()):
            result = await self._settle("chat.stopStream", args)
            if isinstance(result, Done):
                return refused
            refused = refused or result
            if result.fault is not Fault.WRONG_CALL:
                return result
        return refused

    async def lay(self, text: str, under: Sequence[Args], *, failed: bool) -> tuple[bool, Failed | None]:
        """Make the stopped message read `text`, its cards above and `under` below. May be repeated safely.

        Returns whether the text stands, and what was refused: (True, failed) means without cards and `under`.
        """
        above = self._cards.ended(failed=failed)
        settings = self._settings
        shown = blocks.cards(above, self._plan_title, settings.task_display_mode, settings.card_chars)
        body = [*shown, *([blocks.markdown(text)] if text else []), *under]
        signed = {"metadata": blocks.metadata(self._place.turn, "answer")}
        full = {**self._address(), **signed, "text": blocks.fallback(text) or "…", "blocks": body}
        result = refused = await self._update(full)
        if isinstance(result, Failed) and result.fault is Fault.WRONG_CALL and text:
            result = await self._update({**self._address(), **signed, "markdown_text": text})
        if isinstance(result, Failed):
            return False, result
        self.confirmed, self.doubt, self.sealed = text, False, True
        return True, refused if isinstance(refused, Failed) else None

    async def _update(self, args: Args) -> Done | Failed:
        result = await self._settle("chat.update", args)
        if isinstance(result, Failed) and result.fault is Fault.STILL_OPEN:
            await self._settle("chat.stopStream", self._address())
            result = await self._settle("chat.update", args)
        return result

    async def _settle(self, method: str, args: Args) -> Done | Failed:
        """Call what may be repeated, until it has an answer. A stop that then is too late was applied."""
        result = await self._api.call(method, args)
        for pause in REPEAT_PAUSES:
            if isinstance(result, Done) or result.fault is not Fault.UNKNOWN:
                return result
            await asyncio.sleep(pause)
            result = await self._api.call(method, args)
            if isinstance(result, Failed) and result.fault is Fault.SEALED:
                return Done({})
        return result


def _distinct(*forms: Args) -> Iterator[Args]:
    """The forms in order, without those that equal the one before."""
    before: Args | None = None
    for form in forms:
        if form != before:
            yield form
        before = form
