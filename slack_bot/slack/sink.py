"""Carries out one turn in the thread: live while Slack lets it, whole in any case.

While the answer comes, `write` hands its text and cards over and `tend` keeps the clock: what can be shown is
shown, a message that grows too old or too long goes on in the next one. `finish` puts the turn to rest: all
that is missing, the truth about every card, and what stands under an answer, under its last message only.
How the text gets there is `delivery`'s business; what is said around it is decided here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..clock import Clock
from ..sections import StreamSettings
from ..turn.record import Outcome
from ..turn.safety import neutralise
from ..turn.segments import lay_out
from . import blocks, closing
from .api import Failed, SlackApi
from .blocks import Block
from .chunks import Close
from .delivery import Delivery
from .files import Files
from .governor import Rank
from .line import Line
from .orders import Batch, Ending, Place, Written
from .rewrite import rewrite
from .status import StatusLine
from .surface import Memory

STILL_WORKING = "is still working..."
"""Status while a message was ended by its age and nothing new is there to begin another with."""

_CUT_SHORT = "Stopped. The agent had finished; the rest of its answer is not shown."

_BAD_ENDS = frozenset({Outcome.FAILED, Outcome.LOST, Outcome.REFUSED})
_FILE = "answer.md"
_AS_FILE = f"This answer is too long for the thread. All of it is in {_FILE}."


class Sink:
    """One turn's place in Slack. One writer: calls must not overlap (statuses and `hush` apart).

    `memory` is shared by all turns: where streaming was refused lately. All methods but the statuses raise
    `SlackError` where Slack cannot be written to at all.
    """

    def __init__(
        self,
        api: SlackApi,
        place: Place,
        settings: StreamSettings,
        clock: Clock,
        memory: Memory | None = None,
    ) -> None:
        self._api = api = api.for_turn(place.turn)
        self._place, self._settings, self._clock = place, settings, clock
        self._line = Line(api)
        self._status = StatusLine(api, place, settings, clock)
        self._delivery = Delivery(
            self._line, place, settings, clock, memory or Memory(settings.refusal_memory)
        )
        self._files = Files(self._line, place)
        self._whole: list[str] = []
        self._status_at = 0  # messages begun when a status was last shown: the next one clears it
        self._posted = False
        self._finished = False

    @property
    def is_live(self) -> bool:
        """`write` may show text now."""
        return self._delivery.is_live

    @property
    def opened(self) -> bool:
        """A message of the answer stands in the thread, or may."""
        return bool(self._delivery.messages)

    @property
    def is_gone(self) -> bool:
        """Nothing may be written in the thread any more."""
        return self._delivery.is_gone

    @property
    def is_stopped(self) -> bool:
        """The human stopped it: what stands may not be all."""
        return self._line.is_hushed or self._delivery.ended is Written.STOPPED

    @property
    def begins(self) -> bool:
        """The next write begins a message."""
        return self._delivery.begins

    async def show_status(self, text: str) -> None:
        """Show a typing status; "" clears. Returns at once, never fails; ignored while a message is open."""
        if not self._delivery.is_open:
            self._status_at = self._delivery.begun
            self._status.show(text)

    async def keep_status(self) -> None:
        """Send the status again if Slack is about to drop it. Cheap; may be called at any time."""
        if not self._delivery.is_open:
            self._status.keep()

    def may_write(self, rank: Rank, wake: Callable[[], None]) -> bool:
        """Whether `write` would go to Slack at once. If not, `wake` is called when it would; ask again then.

        Ask before taking what is to be written, so that what comes meanwhile goes with it. `rank` is what
        would be written; ask again where it changes.
        """
        method = self._delivery.next_method()
        rank = Rank.START if method == "chat.startStream" else rank
        return self._api.reserve(method, self._place.channel, rank, wake)

    def start_late(self) -> None:
        """No stream could be started in time: the answer becomes an ordinary message, edited as it grows."""
        self._delivery.go_down()

    def hush(self) -> None:
        """The human pressed Stop: a write that waits is dropped, and none is made any more."""
        self._line.hush()

    def pause(self) -> float:
        """Seconds until a write would be shown at once: without streaming, edits keep a distance."""
        return self._delivery.pause(self._clock.monotonic())

    def due(self) -> float | None:
        """Seconds until `tend` has something to do although nothing more is written; None: never."""
        return self._delivery.due(self._clock.monotonic())

    async def write(self, batch: Batch) -> Written:
        """Show a batch: text of at most `max_call_chars`, cards, a plan title.

        Whatever is returned, the batch is the sink's: what is not shown now is shown later, by `finish` at
        the latest.
        """
        self.note(batch)
        return await self.tend()

    def note(self, batch: Batch) -> None:
        """Take a batch without showing it: `finish` tells what became of its cards."""
        self._whole.append(batch.text)
        self._delivery.take(batch)

    async def tend(self) -> Written:
        """Do what the time asks for: show what waits, begin a new message before one grows too old."""
        delivery = self._delivery
        if delivery.ended is None and delivery.is_live:
            if delivery.begins:
                await self._status.close()
            await delivery.advance()
            if delivery.begins and delivery.is_live:
                await self._go_quiet()
        if delivery.ended is not None:
            return delivery.ended
        return Written.HELD if delivery.ledger.waiting.strip() else Written.SHOWN

    async def _go_quiet(self) -> None:
        """No message is open, and the next comes with the next thing to say: until then the status tells."""
        self._status.reopen(forget=self._delivery.begun != self._status_at)
        if self.opened:
            await self.show_status(STILL_WORKING)

    async def finish(self, ending: Ending) -> None:
        """Put the turn to rest: what is missing, the truth about every card, what the reader should know.

        AssertionError if the reader would be left with nothing: whoever has no text gives a note. Called once
        more, after something else broke, it only adds the note.
        """
        await self._status.close()
        delivery = self._delivery
        if delivery.is_gone:
            return
        if self._finished:
            await self._post_note(ending)
            return
        if self._line.is_hushed:
            ending = replace(ending, outcome=Outcome.STOPPED)
        try:
            if delivery.ended is None:
                await self._deliver(ending)
            if delivery.ended is Written.STOPPED:
                await self._tell_truth(ending)
            self._finished = True
        finally:
            self._api.give_back()
            await delivery.settling.sweep(delivery.known())
            if not delivery.is_gone:
                await delivery.streams.rest_session(_session(ending))
            if not self._posted and delivery.begun == self._status_at:
                await self._status.clear()

    async def _deliver(self, ending: Ending) -> None:
        self._delivery.take(Batch("", ending.cards, ending.plan_title))
        if ending.outcome is Outcome.STOPPED:
            await self._stop(ending)
            return
        text = ending.rest if ending.rewrite is None else ending.rewrite
        anew = ending.rewrite is not None and self.opened
        goes_on = not anew and bool("".join(self._whole).strip())
        question = "" if ending.form is None else neutralise(ending.form.as_markdown())
        text = _joined(text, question, goes_on=goes_on)
        assert text or goes_on or ending.note or self.opened, "nothing to show, and no note"
        if anew:
            stands = await self._rewrite(text, ending)
        else:
            stands = await self._show_rest(text, ending)
        if not stands:
            await self._post_note(self._cut_short(ending))

    async def _show_rest(self, text: str, ending: Ending) -> bool:
        """Show what waits and what is missing. False: what stands under an answer stands nowhere yet."""
        delivery, close = self._delivery, _close(ending)
        if ending.rewrite is not None:
            delivery.ledger.retract()
            self._whole = []
        self._whole.append(text)
        delivery.take(Batch(text))
        await delivery.advance(under=self._under(ending), close=close)
        if delivery.overflowed and delivery.ended is None and not self._line.is_hushed:
            if await self._attach("".join(self._whole)):
                ending = replace(ending, note=f"{_AS_FILE} {ending.note}".rstrip())
            else:
                delivery.lift()
                await delivery.advance(under=self._under(ending), close=close)
        return await closing.close(delivery, self._under(self._cut_short(ending)), close, _session(ending))

    def _cut_short(self, ending: Ending) -> Ending:
        """`ending`; or, where the human stopped it while its last part was written, that it is not all."""
        if not (self._line.is_hushed and self._delivery.ledger.waiting.strip()):
            return ending
        return replace(ending, outcome=Outcome.STOPPED, note=ending.note or _CUT_SHORT, form=None)

    async def _rewrite(self, text: str, ending: Ending) -> bool:
        """Make what stands in the thread read `text` instead."""
        delivery, most = self._delivery, self._settings.max_segments
        laid = lay_out(text, delivery.limits())
        if len(laid) <= most:
            return await rewrite(delivery, laid, self._under(ending), _close(ending))
        await rewrite(delivery, laid[:most], (), _close(ending))
        last = delivery.last
        if last is not None and await self._attach(text):
            ending = replace(ending, note=f"{_AS_FILE} {ending.note}".rstrip())
            return await closing.sign(delivery, last, self._under(ending), _close(ending))
        for number, piece in enumerate(laid[most:], start=most + 1):
            await delivery.post(piece, self._under(ending) if number == len(laid) else (), _close(ending))
        return delivery.last is not None and delivery.last.is_signed

    async def _attach(self, text: str) -> bool:
        return await self._files.upload(_FILE, text.encode("utf-8", "replace"))

    async def _stop(self, ending: Ending) -> None:
        """The human stopped the turn: what stands stays, with the truth under it."""
        ending = replace(ending, note=ending.note or "Stopped.", form=None, outcome=Outcome.STOPPED)
        delivery = self._delivery
        if not await closing.close(delivery, self._under(ending), Close.DONE) and delivery.ended is None:
            await self._post_note(ending)

    async def _tell_truth(self, ending: Ending) -> None:
        """The human stopped the stream in Slack: what it shows stays, the truth about it goes under it."""
        ending = replace(ending, outcome=Outcome.STOPPED, note=ending.note or "Stopped.", form=None)
        delivery, last = self._delivery, self._delivery.last
        if last is None or not await closing.sign(delivery, last, self._under(ending), Close.DONE):
            await self._post_note(ending)

    async def _post_note(self, ending: Ending) -> None:
        """The last way to say how a turn ended. SlackError if the reader would be left without it."""
        delivery = self._delivery
        if delivery.is_gone or not (ending.note or ending.form is not None):
            return
        says = ending.note or blocks.ANSWER_HERE
        posted = await delivery.posts.post("", (), self._under(ending), "note", says=says)
        if isinstance(posted, Failed):
            await delivery.refuse(posted)
            return
        self._posted = True

    def _under(self, ending: Ending) -> list[Block]:
        return blocks.tail(ending, self._place.turn, self._place.channel)


def _close(ending: Ending) -> Close:
    """How the turn's end reads on a card that was still running."""
    return Close.FAILED if ending.outcome in _BAD_ENDS else Close.DONE


def _session(ending: Ending) -> str:
    """How the thread's agent session reads afterwards; "" for at rest (facts: Slack 1.9)."""
    return "suspended" if ending.outcome is Outcome.ASKED else ""


def _joined(text: str, question: str, *, goes_on: bool) -> str:
    """The answer and the agent's question as one text. `goes_on`: some of the answer came before."""
    if not question:
        return text
    return f"{text}\n\n{question}" if text.strip() or goes_on else question
