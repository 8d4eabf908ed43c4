"""Carries out one turn in the thread: live while Slack lets it, whole in any case.

While the answer comes, `write` shows it in a streamed message. The first refusal that cannot be waited out
ends that: from then on the text is held, and `finish` puts what is missing where it belongs. What that is
follows from what is known of the streamed message:

- nothing was opened: the text is posted;
- it took no more (sealed, full, refused): what it shows stays, the rest is posted below it;
- a call about it had no answer: it is stopped and written anew as a whole, which may be repeated safely;
- the human stopped it: nothing more of the answer appears, only the truth about the stop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..clock import Clock
from ..errors import SlackError
from ..sections import StreamSettings
from ..turn.record import Outcome
from ..turn.safety import neutralise
from . import blocks
from .api import Failed, SlackApi
from .blocks import Block
from .faults import Fault
from .governor import Rank
from .orders import Batch, Ending, Place, Written
from .posts import Posts
from .status import StatusLine
from .stream import LiveMessage
from .surface import Memory, Surface, next_surface

_BAD_ENDS = frozenset({Outcome.FAILED, Outcome.LOST, Outcome.REFUSED})


class Sink:
    """One turn's place in Slack. One writer: calls must not overlap (statuses apart).

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
        self._memory = memory or Memory()
        self._status = StatusLine(api, place, settings, clock)
        self._live = LiveMessage(api, place, settings, clock)
        self._posts = Posts(api, place)
        self._posted = False
        self._finished = False
        self._ended: Written | None = None
        refused = self._memory.refuses(place.user_team, place.channel, clock.monotonic())
        self._surface = Surface.NATIVE if place.can_stream and not refused else Surface.POST

    @property
    def is_live(self) -> bool:
        """`write` may show text now. Not after a write that was cancelled: nobody knows what became of it."""
        return self._surface is Surface.NATIVE and not self._live.doubt

    @property
    def opened(self) -> bool:
        """A stream is or was open, or may be."""
        return self._live.ts is not None or self._live.doubt

    async def show_status(self, text: str) -> None:
        """Show a typing status; "" clears. Returns at once, never fails; ignored once a stream was opened."""
        if not self.opened:
            self._status.show(text)

    async def keep_status(self) -> None:
        """Send the status again if Slack is about to drop it. Cheap; may be called at any time."""
        if not self.opened:
            self._status.keep()

    def may_write(self, rank: Rank, wake: Callable[[], None]) -> bool:
        """Whether `write` would go to Slack at once. If not, `wake` is called when it would; ask again then.

        Ask before taking what is to be written, so that what comes meanwhile goes with it. `rank` is what
        would be written; ask again where it changes.
        """
        if self._live.ts is None:
            return self._api.reserve("chat.startStream", self._place.channel, Rank.START, wake)
        return self._api.reserve("chat.appendStream", self._place.channel, rank, wake)

    def start_late(self) -> None:
        """No stream could be started in time: the answer becomes an ordinary message."""
        if not self.opened:
            self._surface = next_surface(self._surface, Fault.LATER)
            self._api.give_back()

    def hush(self) -> None:
        """Nothing more will be written but the end: slots that were asked for are others' now."""
        self._api.give_back()

    async def write(self, batch: Batch) -> Written:
        """Show a batch: text of at most `max_call_chars`, cards, a plan title."""
        if self._ended is not None:
            return self._ended
        if not self.is_live:
            self._live.want(batch)
            return Written.HELD
        failed = await self._send(batch)
        if failed is None:
            return Written.SHOWN
        return self._ended or Written.HELD

    async def _send(self, batch: Batch) -> Failed | None:
        if not self.opened:
            await self._status.close()
        failed = await self._live.send(batch)
        if failed is not None:
            await self._take(failed)
        return failed

    async def _take(self, failed: Failed) -> None:
        """Draw the conclusions from a call that failed for good."""
        self._surface = next_surface(self._surface, failed.fault)
        match failed.fault:
            case Fault.STOPPED:
                self._ended = Written.STOPPED
            case Fault.GONE:
                await self._leave()
            case Fault.NO_WRITING:
                await self._leave()
                await self._posts.tell_asker()
            case Fault.DEAD:
                await self._leave()
                raise SlackError(
                    f"Slack no longer accepts the bot token ({failed.error}).", error=failed.error
                )
            case Fault.NOT_HERE:
                self._memory.remember(self._place.user_team, self._place.channel, self._clock.monotonic())
            case _:
                pass

    async def _leave(self) -> None:
        self._ended = Written.GONE
        await self._status.close()

    async def finish(self, ending: Ending) -> None:
        """Put the turn to rest: what is missing, the truth about every card, what the reader should know.

        AssertionError if the reader would be left with nothing: whoever has no text gives a note. Called once
        more, after something else broke, it only adds the note.
        """
        await self._status.close()
        if not self.opened and self.is_live and not self.may_write(Rank.START, lambda: None):
            self.start_late()  # whole before its stream could start: one post
        if self._ended is Written.GONE:
            return
        if self._finished:
            await self._post_note(ending)
            return
        if ending.outcome is Outcome.STOPPED:
            ending = replace(ending, rest="", rewrite=None, form=None)
        try:
            if self._ended is None:
                await self._deliver(ending)
            if self._ended is Written.STOPPED:
                await self._tell_truth(ending)
            self._finished = True
        finally:
            self._api.give_back()
            if not self._posted and self._live.ts is None:
                await self._status.clear()

    async def _deliver(self, ending: Ending) -> None:
        live = self._live
        anew = ending.rewrite is not None and (live.doubt or bool(live.confirmed))
        text = ending.rest if ending.rewrite is None else ending.rewrite
        question = "" if ending.form is None else neutralise(ending.form.as_markdown())
        assert text or question or ending.note or live.is_visible or live.doubt, (
            "nothing to show, and no note"
        )
        whole = _joined(text, question, goes_on=bool(live.confirmed) and not anew)
        left = whole if anew else await self._stream(whole)
        if self._ended is None and live.doubt and live.ts is None:
            await live.find()
        if self._ended is not None:
            return
        if live.ts is None:
            await self._post_apart(text, question, ending)
        elif anew or live.doubt:
            await self._close_stream((), ending)
            await self._write_anew(left if anew else live.confirmed + left, ending, missing=left)
        else:
            await self._end_stream(left, ending)

    async def _stream(self, text: str) -> str:
        """Show `text` as long as the stream takes it; returns what is left of it."""
        while self.is_live and text.strip():
            piece = blocks.first_piece(text, self._settings.max_call_chars)
            if await self._send(Batch(piece)) is not None:
                break
            text = text[len(piece) :]
        return text if text.strip() else ""

    async def _end_stream(self, left: str, ending: Ending) -> None:
        """The stream shows what it shows: stop it, and post what is `left` below it."""
        live = self._live
        stands = await self._close_stream(() if left else self._under(ending), ending)
        if self._ended is not None:
            return
        if not left and not stands:
            await self._write_anew(live.confirmed, ending, missing="")
        if left and not stands and live.has_open_cards(failed=_is_bad(ending)):
            await self._lay(blocks.first_piece(live.confirmed, self._settings.max_call_chars), (), ending)
        if left:
            await self._post([(left, "answer")], ending)

    async def _close_stream(self, under: Sequence[Block], ending: Ending) -> bool:
        """Stop the stream. False: `under` does not stand there, or some card may still be open."""
        if self._live.sealed:
            return False
        asked = ending.outcome is Outcome.ASKED
        failed = await self._live.stop(under, failed=_is_bad(ending), asked=asked)
        if failed is not None:
            await self._take(failed)
        return failed is None

    async def _write_anew(self, text: str, ending: Ending, *, missing: str) -> None:
        """Make the stopped message read `text`, further messages what has no room in it.

        `missing` is what must be posted if the message cannot be written anew.
        """
        if self._ended is not None:
            return
        first = blocks.first_piece(text, self._settings.max_call_chars)
        beyond = text[len(first) :]
        under = self._under(ending)
        stands, whole = await self._lay(first, () if beyond.strip() else under, ending)
        if self._ended is not None:
            return
        if beyond.strip() and stands:
            await self._post([(beyond, "answer")], ending)
        elif missing and not stands:
            await self._post([(missing, "answer")], ending)
        elif not whole:
            await self._post_note(ending)

    async def _lay(self, text: str, under: Sequence[Block], ending: Ending) -> tuple[bool, bool]:
        """Write the message anew: does its text stand, and do its blocks?"""
        stands, failed = await self._live.lay(text, under, failed=_is_bad(ending))
        if failed is not None:
            await self._take(failed)
        return stands, failed is None

    async def _tell_truth(self, ending: Ending) -> None:
        """The human stopped the stream in Slack: what it shows stays, the truth about it goes under it."""
        ending = replace(ending, outcome=Outcome.STOPPED, note=ending.note or "Stopped.", form=None)
        confirmed = self._live.confirmed
        whole = False
        if self._live.ts is not None and len(confirmed) <= self._settings.max_call_chars:
            _, whole = await self._lay(confirmed, self._under(ending), ending)
        if not whole:
            await self._post_note(ending)

    async def _post_apart(self, text: str, question: str, ending: Ending) -> None:
        """Nothing was streamed: the answer and the agent's question become posts of their own."""
        parts = [(text, "answer"), (question, "question")]
        if text.strip() or question:
            await self._post(parts, ending)
        else:
            await self._post_note(ending)

    async def _post(self, parts: Sequence[tuple[str, str]], ending: Ending) -> None:
        """Post texts, each in as many messages as it needs; the blocks under the answer go under the last."""
        limit = self._settings.max_call_chars
        pieces = [
            (piece, kind) for text, kind in parts for piece in blocks.split(text, limit) if piece.strip()
        ]
        for number, (piece, kind) in enumerate(pieces, start=1):
            under = self._under(ending) if number == len(pieces) else ()
            if not await self._posted_ok(await self._posts.post(piece, under, kind)):
                return

    async def _post_note(self, ending: Ending) -> None:
        if self._ended is not Written.GONE and (ending.note or ending.form is not None):
            says = ending.note or blocks.ANSWER_HERE
            await self._posted_ok(await self._posts.post("", self._under(ending), "note", says=says))

    async def _posted_ok(self, failed: Failed | None) -> bool:
        """SlackError if a post failed and the thread is still there: the reader would be left without it."""
        if failed is None:
            self._posted = True
            return True
        await self._take(failed)
        if self._ended is not Written.GONE:
            raise SlackError(f"Slack refused a message: {failed.error}.", error=failed.error)
        return False

    def _under(self, ending: Ending) -> list[Block]:
        return blocks.tail(ending, self._place.turn, self._place.channel)


def _is_bad(ending: Ending) -> bool:
    """How the turn's end reads on a card that was still running."""
    return ending.outcome in _BAD_ENDS


def _joined(text: str, question: str, *, goes_on: bool) -> str:
    """The answer and the agent's question as one text. `goes_on`: some of the answer stands already."""
    if not question:
        return text
    return f"{text}\n\n{question}" if text or goes_on else question
