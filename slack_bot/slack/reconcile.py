"""A call about a streamed message had no answer: what does the message show?

Nothing else may go to it before that is known, or text is lost or stands there twice. The stream is stopped
first, so that what is read afterwards can no longer change; then it is read back; and what cannot be read is
written anew as a whole, which may be repeated (delivery contract, section 5).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import replace

from .api import CallFailed, CallOk
from .chunks import CardClosing
from .faults import Fault
from .message import SlackMessage
from .readback import Readback, compare_shown
from .surfaces.edit import Edits
from .surfaces.stream import Streams

_log = logging.getLogger(__name__)

_ENDS = frozenset({Fault.GONE, Fault.DEAD, Fault.NO_WRITING})
_SWEEP_PAUSES = (2.0, 8.0, 30.0)
"""Seconds before a stream is stopped again that could not be stopped when the turn ended: the reader has the
answer, so there is time."""


class Reconciler:
    """Settles the doubts of one turn, and remembers the streams that nobody could stop yet."""

    def __init__(self, streams: Streams, edits: Edits, turn: str) -> None:
        self._streams, self._edits, self._turn = streams, edits, turn
        self._unfound: list[SlackMessage] = []  # starts without an answer whose stream may appear yet
        self._late: list[Awaitable[None]] = []  # those that did, on their way out
        self._unstopped: list[SlackMessage] = []
        self._left = 0  # that nobody could stop
        self._unhealed: list[SlackMessage] = []  # ended with a card open, and not written anew yet

    async def reconcile(self, message: SlackMessage, known: Sequence[str]) -> tuple[bool, CallFailed | None]:
        """End the doubt about `message`, and its stream. `known`: the ts of the turn's other messages.

        Returns whether the text in doubt stands, and what failed where nothing can be written any more.
        Afterwards the message's `text` is what it shows, as far as that can be known.
        """
        if message.ts is None and not await self._is_found(message, known):
            message.doubt = None
            return False, None
        sent = message.doubt or ""
        stopped = await self.stop(message)
        if isinstance(stopped, CallFailed) and stopped.fault in _ENDS:
            return False, stopped
        if sent and message.doubt is None:
            return False, None  # its cards had to be healed, so it was written anew, as it was confirmed
        message.doubt = None
        if not sent or await self._stands(message, sent, stopped):
            message.text += sent
            return True, None
        return False, None

    async def stop(self, message: SlackMessage) -> CallOk | CallFailed:
        """Stop a stream that goes on in another message. One that cannot be stopped now is remembered.

        A stream that Slack has ended itself keeps its open cards: it is written anew, with them closed.
        """
        stopped: CallOk | CallFailed = CallFailed(Fault.SEALED, "not open")
        if message.is_open:
            stopped = await self._streams.stop(message, CardClosing.CONTINUES, session="processing")
        if isinstance(stopped, CallOk) or stopped.fault in _ENDS:
            return stopped
        if message.is_open:
            self._unstopped.append(message)
        elif message.book.closing(CardClosing.CONTINUES) and not await self._is_healed(message):
            self.heal_later(message)
        return stopped

    def heal_later(self, message: SlackMessage) -> None:
        """Its cards could not be closed now: `sweep` tries again."""
        if message.book.closing(CardClosing.CONTINUES):
            self._unhealed.append(message)

    async def _is_healed(self, message: SlackMessage) -> bool:
        """Write a message anew whose cards Slack left open."""
        await self._edits.lay(message, message.text, (), CardClosing.CONTINUES)
        return not message.book.closing(CardClosing.CONTINUES)

    async def _heal_all(self, messages: Sequence[tuple[SlackMessage, CardClosing]]) -> None:
        """The turn ends: close the cards that stand open, again while Slack refuses that.

        A message of cards alone is taken away where nothing else helps: nobody should watch it for ever.
        """
        for pause in (0.0, *_SWEEP_PAUSES):
            messages = [each for each in messages if _has_open_cards(*each)]
            if not messages:
                return
            await asyncio.sleep(pause)
            messages = [each for each in messages if not await self._is_laid(*each)]
        for message, _ in messages:
            if message.text.strip() or not await self._edits.delete(message):
                _log.error("turn %s: a message keeps a card that Slack left open", self._turn)

    async def _is_laid(self, message: SlackMessage, how: CardClosing) -> bool:
        """Write it anew with its cards closed, or where those are refused, without them."""
        stands, refused = await self._edits.lay(message, message.text, (), how)
        return stands or (refused is not None and refused.fault in _ENDS)

    async def is_shown(self, message: SlackMessage, sent: str) -> bool:
        """Whether an edited message, read back, shows `sent` behind its text. Not knowing counts as no."""
        shown = await self._streams.read(message)
        if shown is None or compare_shown(shown, message.text, sent) is not Readback.ALL:
            return False
        message.text += sent
        return True

    async def _is_found(self, message: SlackMessage, known: Sequence[str]) -> bool:
        certain = await self._streams.find(message, known)
        if message.ts is None:
            unfound = replace(message)  # with its doubt, which is how it would be known
            self._unfound.append(unfound)
            self._watch(unfound)
        if not certain:
            _log.warning("turn %s: a start without an answer could not be looked for", self._turn)
        return message.ts is not None

    def _watch(self, message: SlackMessage) -> None:
        """Its stream may appear yet, even when the turn is over: Slack tells of it."""
        start = message.start
        if start is None:
            return

        def appeared() -> None:
            message.ts = start.ts
            _log.info("turn %s: a stream came late and is taken away", self._turn)
            self._late.append(self._streams.sightings.errand(self._take_away(message)))

        start.tell = appeared

    async def _take_away(self, message: SlackMessage) -> None:
        """Stop a stream whose text stands elsewhere, and delete it."""
        message.is_open = True
        await self._streams.stop(message, CardClosing.DONE, session=self._streams.session)
        if message.is_open or not await self._edits.delete(message):
            self._left += 1

    async def _stands(self, message: SlackMessage, sent: str, stopped: CallOk | CallFailed) -> bool:
        """Whether `sent` stands behind what was confirmed; where it cannot be read, it is made to."""
        shown = stopped.data.get("message") if isinstance(stopped, CallOk) else None
        if not isinstance(shown, dict):
            shown = await self._streams.read(message)
        verdict = Readback.UNREADABLE if shown is None else compare_shown(shown, message.text, sent)
        if verdict is not Readback.UNREADABLE:
            return verdict is Readback.ALL
        text = message.text
        stands, _ = await self._edits.lay(message, text + sent, (), CardClosing.CONTINUES)
        if not stands:
            _log.error("turn %s: text without an answer could not be settled and is sent again", self._turn)
        message.text = text
        return stands

    async def close_open(
        self, known: Sequence[str], last: SlackMessage | None = None, how: CardClosing = CardClosing.DONE
    ) -> int:
        """The turn ends: stop what is still open, take away what came late. Returns how many are left.

        `last` is the message that stands last, and `how` its cards ended. Shows nothing new.
        """
        ends = [(message, CardClosing.CONTINUES) for message in self._unstopped if message is not last]
        self._left += await self._stop_all([*ends, *([(last, how)] if last is not None else [])])
        closings = [(message, CardClosing.CONTINUES) for message in self._unhealed if message is not last]
        await self._heal_all([*closings, *([(last, how)] if last is not None else [])])
        for message in self._unfound:
            if message.ts is None:
                await self._look_again(message, known)
        await asyncio.gather(*self._late)
        if self._left:
            _log.error("turn %s: %d streams could not be stopped", self._turn, self._left)
        self._unstopped, self._unfound, self._unhealed, self._late = [], [], [], []
        left, self._left = self._left, 0
        return left

    async def _stop_all(self, messages: Sequence[tuple[SlackMessage, CardClosing]]) -> int:
        """Stop them, again while Slack refuses that. Returns how many stay open."""
        open_ones = [each for each in messages if each[0].is_open]
        for pause in (0.0, *_SWEEP_PAUSES):
            if not open_ones:
                break
            await asyncio.sleep(pause)
            open_ones = [each for each in open_ones if await self._may_be_stopped_yet(*each)]
        return sum(message.is_open for message, _ in messages)

    async def _may_be_stopped_yet(self, message: SlackMessage, how: CardClosing) -> bool:
        """Stop it. True: it is open, and another time Slack may stop it."""
        stopped = await self._streams.stop(message, how)
        if isinstance(stopped, CallFailed) and stopped.fault is Fault.GONE:
            message.is_open = False  # a message that is not there is no open stream either
        return message.is_open and isinstance(stopped, CallFailed) and stopped.fault not in _ENDS

    async def _look_again(self, message: SlackMessage, known: Sequence[str]) -> None:
        await self._streams.find(message, known, looks=1)
        if message.ts is not None:
            await self._take_away(message)
        else:
            self._watch(message)


def _has_open_cards(message: SlackMessage, how: CardClosing) -> bool:
    """It stands there, is no stream any more, and some card in it still runs."""
    is_unsigned = message.ts is not None and not message.is_open and not message.is_signed
    return is_unsigned and bool(message.book.closing(how))
