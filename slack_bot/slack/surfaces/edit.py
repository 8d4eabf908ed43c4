"""Messages that are written as a whole: edited while the answer grows, or posted once at the end.

An edit says what the whole message should read, so it may be repeated, and the next one makes good one that
failed. So the lower surfaces need no reconciling, and a stream that cannot be read back is rewritten by an
edit.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any

from ...clock import Clock
from ...settings.models import StreamSettings
from ...turn.actions import TaskCard
from ...turn.buffer import TIMER_TOLERANCE
from .. import blocks
from ..blocks import TextForm
from ..calls import REPEAT_PAUSES, CallFailed, CallOk
from ..cards import CardClosing
from ..faults import Fault
from ..message import MessageWrite, SlackMessage
from ..turn_client import TurnClient
from .post import Body, Posts, TextForms

Args = dict[str, Any]

_POST, _UPDATE = "chat.postMessage", "chat.update"


class Edits:
    """Whole messages of one turn. One writer: calls must not overlap."""

    def __init__(self, client: TurnClient, settings: StreamSettings, forms: TextForms | None = None) -> None:
        self._client, self._settings = client, settings
        self._forms = forms or TextForms()
        self.posts = Posts(client, settings.post_retry_timeout, self._forms)

    async def show(
        self,
        message: SlackMessage,
        text: str,
        title: str,
        *,
        footer: Sequence[Args] = (),
        close: CardClosing | None = None,
        persist: bool = False,
    ) -> CallFailed | None:
        """Make the message read `text`, with all its cards: posted if it is not there yet, else edited.

        None: it does, and `is_signed` tells whether `footer` is under it. `close`: how cards that still run
        read; None: they run on. `persist` as in `Posts.post`.
        """
        above = self._card_blocks(message.cards.whole(close), title)
        if message.ts is None:
            result = await self.posts.post(text, above, footer, "answer", persist=persist)
            message.ts = result.ts if isinstance(result, CallOk) else None
        else:
            result = await self._edit(message, self._forms.of(_UPDATE, text, above, footer))
        if isinstance(result, CallFailed):
            return result
        message.text, message.title = text, title
        message.is_signed = bool(footer) and not result.is_fallback
        message.cards.confirm(message.cards.unsent())
        if close is CardClosing.CONTINUES and not (result.is_fallback and text):  # it gets nothing more
            message.cards.confirm_closed(message.cards.closing(close))
        return None

    async def rewrite(
        self, message: SlackMessage, text: str, footer: Sequence[Args], close: CardClosing
    ) -> CallFailed | None:
        """Make a stopped message read `text`, with the cards it shows above and `footer` under it.

        None: it does, perhaps in its plainest form: the text alone, or the cards where there is no text.
        """
        cards = message.cards.closed(close)
        above = self._card_blocks(cards, message.title)
        forms = self._forms.of(_UPDATE, text, above, footer)
        if cards and not text:
            forms.append((TextForm.WHOLE, blocks.body("", above, ())))
        result = await self._edit(message, forms)
        if isinstance(result, CallFailed):
            return result
        message.text, message.doubt, message.is_open = text, None, False
        message.is_signed = bool(footer) and not result.is_fallback
        if cards and not (result.is_fallback and text):
            message.cards.confirm_closed(message.cards.closing(close))
        return None

    async def delete(self, message: SlackMessage) -> bool:
        """Delete the message, stopped first where its stream is open. False: it is still there."""
        client, args = self._client, self._address(message)
        result = await client.call_until_known("chat.delete", args, applied_as=Fault.GONE)
        for pause in REPEAT_PAUSES:
            if isinstance(result, CallOk) or result.fault is not Fault.STILL_OPEN:
                break
            await client.call_until_known("chat.stopStream", args)
            await asyncio.sleep(pause)
            result = await client.call_until_known("chat.delete", args, applied_as=Fault.GONE)
        return isinstance(result, CallOk) or result.fault is Fault.GONE

    async def _edit(self, message: SlackMessage, forms: Sequence[Body]) -> CallOk | CallFailed:
        address, turn = self._address(message), self._client.place.turn

        async def call(body: Args) -> CallOk | CallFailed:
            args = {**address, "metadata": blocks.metadata(turn, "answer"), **body}
            result = await self._client.call_until_known(_UPDATE, args)
            if isinstance(result, CallFailed) and result.fault is Fault.STILL_OPEN:
                await self._client.call_until_known("chat.stopStream", address)
                result = await self._client.call_until_known(_UPDATE, args)
            return result

        return await self._forms.send(_UPDATE, forms, message.text, call)

    def _address(self, message: SlackMessage) -> Args:
        return {"channel": self._client.place.channel, "ts": message.ts}

    def _card_blocks(self, cards: Sequence[TaskCard], title: str) -> list[Args]:
        return blocks.cards(cards, title, self._settings.task_display_mode, self._settings.card_chars)


class PostSurface:
    """One post when the answer is whole. There is no surface below it, so it persists."""

    begin_method, write_method = _POST, _UPDATE
    _persists = True

    def __init__(self, edits: Edits) -> None:
        self._edits = edits

    def pause(self, now: float) -> float:
        return 0.0

    async def write(
        self,
        message: SlackMessage,
        write: MessageWrite,
        footer: Sequence[Args] = (),
        close: CardClosing | None = None,
    ) -> CallFailed | None:
        text, title = message.text + write.text, write.title or message.title
        return await self._edits.show(
            message, text, title, footer=footer, close=close, persist=self._persists
        )

    async def end(self, message: SlackMessage) -> CallOk | CallFailed:
        """As in `Surface`. A failure is made good when the turn ends."""
        if message.cards.closing(CardClosing.CONTINUES):
            await self._edits.show(message, message.text, message.title, close=CardClosing.CONTINUES)
        return CallOk({})

    async def attach_footer(
        self, message: SlackMessage, footer: Sequence[Args], close: CardClosing
    ) -> CallFailed | None:
        return await self._edits.show(message, message.text, message.title, footer=footer, close=close)


class EditSurface(PostSurface):
    """Posted at once, then edited while the answer grows, `edit_interval` seconds apart."""

    _persists = False

    def __init__(self, edits: Edits, settings: StreamSettings, clock: Clock) -> None:
        super().__init__(edits)
        self._interval, self._clock = settings.edit_interval, clock
        self._edited_at = -math.inf

    def pause(self, now: float) -> float:
        left = self._edited_at + self._interval - now
        return left if left > TIMER_TOLERANCE else 0.0

    async def write(
        self,
        message: SlackMessage,
        write: MessageWrite,
        footer: Sequence[Args] = (),
        close: CardClosing | None = None,
    ) -> CallFailed | None:
        failed = await super().write(message, write, footer, close)
        self._edited_at = self._clock.monotonic()
        return failed
