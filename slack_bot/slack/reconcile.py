"""A call about a message had no answer: what does the message show?

The stream is stopped first, so that it can no longer change; then it is read back; and what cannot be read is
rewritten as a whole, which may be repeated (delivery contract, section 5).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..observe.facts import DoubtSettled
from .api import REPEAT_PAUSES
from .cards import CardClosing
from .faults import FINAL_FAULTS, CallFailed, CallOk, CallResult, Fault, SurfaceKind
from .model import Batch, SlackMessage
from .readback import Readback, ShownRest, compare_shown, has_open_card, own_stream
from .stream_starts import StreamStart
from .surfaces import PostSurface, StreamSurface
from .turn_client import TurnClient, end_in

_log = logging.getLogger(__name__)

_SWEEP_PAUSES = (0.0, 2.0, 8.0, 30.0)
"""Seconds before each attempt at what is left open. The reader has the answer, so there is time."""

SKEW = 60.0  # seconds our clock may differ from Slack's when a message is looked for by its time
_LOOKS = 2  # looks that found nothing: Slack has had time to show it

_Ending = tuple[SlackMessage, CardClosing]


class Reconciler:
    """Settles the doubts of one turn, and remembers what could not be stopped or closed yet.

    `messages` are those of the turn, kept by `Delivery`.
    """

    def __init__(
        self,
        client: TurnClient,
        streams: StreamSurface,
        posts: PostSurface,
        messages: Sequence[SlackMessage],
    ) -> None:
        self._client, self._streams, self._posts, self._messages = client, streams, posts, messages
        self._log_fields = client.api.log_fields
        self._unfound: list[SlackMessage] = []  # starts without an answer whose stream may appear yet
        self._late: list[Awaitable[None]] = []  # those that did: their removal
        self._open: list[SlackMessage] = []  # streams not stopped, or stopped with a card open
        self._left = 0  # late streams that could not be stopped

    async def reconcile(self, message: SlackMessage) -> tuple[bool, CallFailed | None]:
        """End the doubt about `message`, and its stream.

        Returns whether the text in doubt is shown, and what failed where nothing can be written any more.
        """
        client, now = self._client, self._client.clock.monotonic
        began = now()
        is_shown, failed = await self._reconcile(message)
        client.api.observer(DoubtSettled(now(), client.turn, now() - began, is_shown))
        return is_shown, failed

    async def _reconcile(self, message: SlackMessage) -> tuple[bool, CallFailed | None]:
        if message.ts is None and not await self.find(message):
            _log.warning("start without an answer cannot be looked for", extra=self._log_fields)
        if message.ts is None:
            unfound = replace(message)  # with its doubt, by which it would be known
            self._unfound.append(unfound)
            self._watch(unfound)
            message.doubt = None
            return False, None
        sent = message.doubt or ""
        stopped = await self.end(message)
        if isinstance(stopped, CallFailed) and stopped.fault in FINAL_FAULTS:
            return False, stopped
        if sent and message.doubt is None:
            return False, None  # its cards had to be closed, so it was rewritten as it was confirmed
        message.doubt = None
        is_shown = not sent or await self._is_applied(message, sent, stopped)
        if is_shown:
            message.text += sent
        return is_shown, None

    async def end(self, message: SlackMessage) -> CallResult:
        """The answer goes on below. What is still open then is tried again when the turn ends."""
        ended: CallResult = CallOk({})
        if message.surface is SurfaceKind.STREAM:
            ended = await self._streams.end(message)
        elif message.doubt or message.cards.closing(CardClosing.CONTINUES):
            # what an edit without an answer may show besides the confirmed text goes into the next message
            await self._posts.write(message, Batch(), close=CardClosing.CONTINUES)
        is_final = isinstance(ended, CallFailed) and ended.fault in FINAL_FAULTS
        if not is_final and (message.is_open or message.cards.closing(CardClosing.CONTINUES)):
            self._open.append(message)
        return ended

    async def restore(
        self, message: SlackMessage, found: Mapping[str, Any] | None, *, is_last: bool
    ) -> CallFailed | ShownRest | None:
        """Stop an open message of another process, so that it reads as it was recorded. `found`: as it was
        in the thread.

        What the last one shows beyond that is returned: the answer will tell what it is.
        """
        shown: Mapping[str, Any] | None = None
        if found is not None and found.get("streaming_state") == "completed":
            message.is_open, shown = False, found  # Slack takes few stops a minute
        else:
            stopped = await self.end(message)
            if isinstance(stopped, CallFailed) and stopped.fault in FINAL_FAULTS:
                return stopped
            answered = stopped.data.get("message") if isinstance(stopped, CallOk) else None
            shown = answered if isinstance(answered, dict) else await self._read(message)
        is_read = shown is not None and compare_shown(shown, "", message.text) is Readback.ALL
        if shown is not None and is_read and not has_open_card(shown.get("blocks")):
            return None
        if is_last and not is_read and message.segment is not None:
            return ShownRest.of(shown, message.text, message.segment.state)
        return await self._posts.rewrite(message, message.text, (), CardClosing.CONTINUES)

    async def is_shown(self, message: SlackMessage, sent: str) -> bool:
        """Whether an edited message shows `sent` behind its text. False also if unreadable."""
        shown = await self._read(message)
        if shown is None or compare_shown(shown, message.text, sent) is not Readback.ALL:
            return False
        message.text, message.doubt = message.text + sent, None
        return True

    async def _is_applied(self, message: SlackMessage, sent: str, stopped: CallResult) -> bool:
        """Where it cannot be read whether `sent` is shown, it is written there."""
        shown = stopped.data.get("message") if isinstance(stopped, CallOk) else None
        if not isinstance(shown, dict):
            shown = await self._read(message)
        verdict = Readback.UNREADABLE if shown is None else compare_shown(shown, message.text, sent)
        if verdict is not Readback.UNREADABLE:
            return verdict is Readback.ALL
        text = message.text
        failed = await self._posts.rewrite(message, text + sent, (), CardClosing.CONTINUES)
        message.text = text
        if failed is not None:
            _log.error("text in doubt is sent again", extra=self._log_fields)
        return failed is None

    async def find(self, message: SlackMessage, *, looks: int = _LOOKS) -> bool:
        """Look for the stream that a start without an answer may have opened; sets `ts` if it is there.

        Slack's event or the thread itself names it. False: no event came and the thread cannot be read.
        """
        start = message.start
        if start is None:
            return True  # no stream was asked for
        is_certain = True
        try:
            async with asyncio.timeout(None) as limit:
                start.tell = lambda: end_in(limit, 0.0)
                await asyncio.sleep(0)  # an event that is here already makes the look unnecessary
                is_certain = await self._look(message, start, looks)
        except TimeoutError:
            pass  # the event came
        finally:
            start.tell = None
        if message.ts is None and start.ts is not None:
            message.ts, message.is_open = start.ts, True
        return message.ts is not None or is_certain

    async def _look(self, message: SlackMessage, start: StreamStart, looks: int) -> bool:
        looked, since, sent = 0, message.begun_at - SKEW, message.doubt or ""
        starts, known = self._client.stream_starts, {each.ts for each in self._messages if each.ts}
        messages: list[Mapping[str, Any]] | CallFailed | None = None
        for pause in (*REPEAT_PAUSES, 0.0):
            if start.ts is not None:
                return True
            if not (isinstance(messages, CallFailed) and messages.is_final):
                messages = await self._client.read_thread_once(since)
            if not isinstance(messages, CallFailed):
                others, after = known | {*starts.known(*start.thread)}, max(since, start.after)
                found = own_stream(messages, since=after, sent=sent, known=others)
                if found is not None:
                    message.ts, message.is_open = str(found["ts"]), True
                    starts.settle(start, message.ts)
                    return True
                looked += 1
                if looked >= looks:
                    return True
            await asyncio.sleep(pause)
        return looked > 0

    async def _read(self, message: SlackMessage) -> Mapping[str, Any] | None:
        messages = await self._client.read_thread(float(message.ts or 0) - SKEW)
        if isinstance(messages, CallFailed):
            return None
        return next((each for each in messages if each.get("ts") == message.ts), None)

    def _watch(self, message: SlackMessage) -> None:
        start = message.start
        if start is None:
            return

        def on_appeared() -> None:
            message.ts = start.ts
            _log.info("late stream is deleted", extra=self._log_fields)
            self._late.append(self._client.stream_starts.spawn(self._delete_late(message)))

        start.tell = on_appeared

    async def _delete_late(self, message: SlackMessage) -> None:
        message.is_open = True
        await self._streams.stop(message, CardClosing.DONE, session=self._client.session)
        if message.is_open or not await self._posts.delete(message):
            self._left += 1

    async def close_open(self, how: CardClosing = CardClosing.DONE) -> None:
        """Stop what is open, close the cards, delete late streams. `how`: those of the last message."""
        last = self._messages[-1:]
        endings = [(message, CardClosing.CONTINUES) for message in self._open if message not in last]
        endings += [(message, how) for message in last]
        await self._sweep([each for each in endings if each[0].is_open], self._stop)
        left = sum(message.is_open for message, _ in endings)
        for message, _ in await self._sweep(endings, self._close_cards):
            if message.text.strip() or not await self._posts.delete(message):
                _log.error("message keeps an open card", extra=self._log_fields)
        for message in self._unfound:
            if message.ts is None:
                await self.find(message, looks=1)
                if message.ts is None:
                    self._watch(message)
                else:
                    await self._delete_late(message)
        await asyncio.gather(*self._late)
        if left := left + self._left:
            _log.error("streams not stopped: %d", left, extra=self._log_fields)
        self._open, self._unfound, self._late, self._left = [], [], [], 0

    async def _sweep(
        self, endings: Sequence[_Ending], attempt: Callable[[SlackMessage, CardClosing], Awaitable[bool]]
    ) -> Sequence[_Ending]:
        for pause in _SWEEP_PAUSES:
            if not endings:
                break
            await asyncio.sleep(pause)
            endings = [each for each in endings if not await attempt(*each)]
        return endings

    async def _stop(self, message: SlackMessage, how: CardClosing) -> bool:
        """False: it is open, and Slack may stop it another time."""
        stopped = await self._streams.stop(message, how)
        if isinstance(stopped, CallFailed) and stopped.fault is Fault.GONE:
            message.is_open = False  # a deleted message is no open stream either
        return not message.is_open or isinstance(stopped, CallOk) or stopped.fault in FINAL_FAULTS

    async def _close_cards(self, message: SlackMessage, how: CardClosing) -> bool:
        if message.ts is None or message.is_open or message.is_signed or not message.cards.closing(how):
            return True
        failed = await self._posts.rewrite(message, message.text, (), how)
        return failed is None or failed.fault in FINAL_FAULTS
