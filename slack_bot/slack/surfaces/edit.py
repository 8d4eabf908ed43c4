"""Messages that are written as a whole: posted, then edited while the answer grows; and sealed streams anew.

An edit says what the whole message should read, so it may be repeated safely, and one that failed is made
good by the next. That is why the lower surfaces need no settling, and why it is the last resort of the upper
one.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...settings.models import StreamSettings
from ...turn.actions import TaskCard
from ...turn.fit import MessageLimits
from .. import blocks
from ..api import CallFailed, CallOk
from ..blocks import TextForm
from ..chunks import CardClosing
from ..faults import Fault
from ..message import SlackMessage
from ..orders import Destination
from ..text_formats import Body, TextForms, shown_or_failed
from ..turn_client import REPEAT_PAUSES, TurnClient, retry_unknown
from .fallback import Surface
from .post import Posts

Args = dict[str, Any]


_UPDATE = "chat.update"
_LIFTED = 10_000  # messages where there is no other way to show an answer


def limits_of(settings: StreamSettings, surface: Surface, *, lifted: bool) -> MessageLimits:
    """What a message takes: an edit must hold all of it, and only a stream grows old.

    `lifted`: there may be more messages than an answer should have.
    """
    return MessageLimits(
        rotate_after=settings.rotate_after if surface is Surface.NATIVE else math.inf,
        rotate_grace=settings.rotate_grace,
        rotate_bytes=min(settings.rotate_bytes, settings.max_call_chars),
        max_segments=_LIFTED if lifted else settings.max_segments,
        max_call_chars=settings.max_call_chars,
    )


class Edits:
    """Whole messages of one turn. One writer: calls must not overlap."""

    def __init__(
        self, line: TurnClient, place: Destination, settings: StreamSettings, forms: TextForms | None = None
    ) -> None:
        self._line, self._place, self._settings = line, place, settings
        self._forms = forms or TextForms()
        self.posts = Posts(line, place, settings.post_retry_timeout, self._forms)

    async def show(
        self,
        message: SlackMessage,
        text: str,
        title: str,
        *,
        under: Sequence[Args] = (),
        close: CardClosing | None = None,
        insist: bool = False,
    ) -> CallFailed | None:
        """Make the message read `text`, with all its cards: posted if it is not there yet, else edited.

        None: its text does; `is_signed` tells whether `under` stands below it. `close`: how cards that still
        run read; None: they run on. `insist` as in `Posts.post`.
        """
        cards = message.book.present(close)
        if message.ts is None:
            result = await self.posts.post(text, self._above(cards, title), under, "answer", insist=insist)
            message.ts = result.ts if isinstance(result, CallOk) else None
            is_bare = self.posts.is_bare
        else:
            forms = self._forms.of(_UPDATE, text, self._above(cards, title), under)
            result, refused = await self._in_some_form(message, text, forms)
            is_bare = refused is not None
        if isinstance(result, CallFailed):
            return result
        message.text, message.title = text, title
        message.is_signed = bool(under) and not is_bare
        message.book.confirm(message.book.unsent())
        return None

    async def lay(
        self, message: SlackMessage, text: str, under: Sequence[Args], close: CardClosing
    ) -> tuple[bool, CallFailed | None]:
        """Make a stopped message read `text`, its cards above and `under` below.

        Returns whether that stands, and what was refused: (True, failed) means in its plainest form, the text
        alone, or the cards where there is no text.
        """
        cards = message.book.ended(close)
        above = self._above(cards, message.title)
        forms = self._forms.of(_UPDATE, text, above, under)
        if cards and not text:
            forms.append((TextForm.WHOLE, blocks.body("", above, ())))
        result, refused = await self._in_some_form(message, text, forms)
        if refused is not None and text:
            cards = ()
        if isinstance(result, CallFailed):
            return False, result
        message.text, message.doubt, message.is_open = text, None, False
        message.is_signed = bool(under) and refused is None
        if cards:
            message.book.closed(message.book.closing(close))
        return True, refused

    async def delete(self, message: SlackMessage) -> bool:
        """Take the message away, stopped first where its stream is open. False: it stands."""
        args = {"channel": self._place.channel, "ts": message.ts}
        result = await retry_unknown(self._line, "chat.delete", args, done=Fault.GONE)
        for pause in REPEAT_PAUSES:
            if isinstance(result, CallOk) or result.fault is not Fault.STILL_OPEN:
                break
            await retry_unknown(self._line, "chat.stopStream", args)
            await asyncio.sleep(pause)
            result = await retry_unknown(self._line, "chat.delete", args, done=Fault.GONE)
        return isinstance(result, CallOk) or result.fault is Fault.GONE

    async def _in_some_form(
        self, message: SlackMessage, text: str, forms: Sequence[Body]
    ) -> tuple[CallOk | CallFailed, CallFailed | None]:
        """Edit, in the first form that works. Returns also why the best one did not (None: it did).

        An attempt at a form that was refused may have been made, where it had no answer before: so may the
        edit, then.
        """
        refused: list[tuple[TextForm, CallFailed]] = []
        result: CallOk | CallFailed = CallFailed(Fault.WRONG_CALL, "refused")
        for form, body in forms:
            result = await self._edit(message, body)
            if isinstance(result, CallOk) and form is TextForm.MARKDOWN_TEXT:
                result = shown_or_failed(result, text, message.text)
            if isinstance(result, CallOk):
                for each, _ in refused:
                    self._forms.refused(_UPDATE, each)
                break
            refused.append((form, result))
            if result.fault is not Fault.WRONG_CALL:
                break
        if isinstance(result, CallFailed) and any(failed.in_doubt for _, failed in refused):
            result = replace(result, in_doubt=True)
        return result, refused[0][1] if refused else None

    async def _edit(self, message: SlackMessage, body: Args) -> CallOk | CallFailed:
        address = {"channel": self._place.channel, "ts": message.ts}
        args = {**address, "metadata": blocks.metadata(self._place.turn, "answer"), **body}
        result = await retry_unknown(self._line, _UPDATE, args)
        if isinstance(result, CallFailed) and result.fault is Fault.STILL_OPEN:
            await retry_unknown(self._line, "chat.stopStream", address)
            result = await retry_unknown(self._line, _UPDATE, args)
        return result

    def _above(self, cards: Sequence[TaskCard], title: str) -> list[Args]:
        return blocks.cards(cards, title, self._settings.task_display_mode, self._settings.card_chars)
