"""Carries out one turn in the thread: `delivery` brings the text there, the rest is decided here.

An answer that has no room in messages comes as a file in the end. Where Slack takes no file, the answer goes
on in more messages.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from typing import TypeVar

from ..errors import SlackError
from ..text.ledger import SendText, split_into_segments
from ..text.sanitize import sanitize_slices
from ..text.words import (
    FORM_HINT_SIGN_IN,
    GOES_ON_AFTER_RESTART,
    STILL_WORKING,
    STOPPED,
    TRYING_AGAIN,
    WAITING_FOR_SIGN_IN,
)
from ..turn.form import Form
from ..turn.progress import MessageRecord
from ..turn.record import Outcome, is_direct
from ..turn.thread_state import ListensTo
from . import blocks, forms
from .blocks import Block
from .cards import CardClosing
from .delivery import Delivery, refused
from .extras import ExtraSurface, groups
from .faults import CallFailed, CallOk, SurfaceKind
from .features import WorkspaceFeature
from .file_fallback import FileFallback
from .footer import footer_blocks, footer_text
from .form_messages import send_sign_in
from .methods import Priority
from .model import Batch, Ending, WriteResult
from .status import TypingStatus
from .turn_client import TurnClient

_log = logging.getLogger(__name__)

T = TypeVar("T")
_TITLE = 80  # characters of a session's title; Slack takes 200
_NOT_WHOLE = frozenset({Outcome.STOPPED, Outcome.WATCHED})  # more comes, or nothing is wanted


class Sink:
    """One turn's place in Slack. One writer: calls must not overlap (statuses and `cancel_writes` apart).

    `shown`: what another process wrote of the answer. `listens_to`: who can go on without a mention; None: it
    is not known. `SlackError`: Slack cannot be written to at all.
    """

    def __init__(
        self,
        client: TurnClient,
        shown: Sequence[MessageRecord] = (),
        listens_to: Callable[[], Awaitable[ListensTo | None]] | None = None,
    ) -> None:
        self._client = client
        client.on_wait = lambda: self._show_again(TRYING_AGAIN)
        self.delivery = Delivery(client, shown)
        self.extras = ExtraSurface(client, self.delivery.posts)
        self._status = TypingStatus(client)
        self._ending: Ending | None = None  # of the first call of `finish`
        self._status_at = 0  # messages begun when a status was last shown: the next one clears it
        self._is_rest_added = self._is_note_posted = self._is_finished = self._is_stop_shown = False
        self._asked: Form | None = None
        self._who_listens = listens_to
        self.form_message: MessageRecord | None = None  # below which the form stands

    @cached_property
    def _file(self) -> FileFallback:
        return FileFallback(self._client, self.delivery, self._show_again)

    # -- while the answer comes ------------------------------------------------------------------------------

    @property
    def is_stopped(self) -> bool:
        """The human stopped it, so the answer may be cut; after `finish`: and the thread says so."""
        is_stopped = self._is_stop_shown if self._is_finished else self._client.is_cancelled
        return is_stopped or self.delivery.ended is WriteResult.STOPPED

    @property
    def workspace(self) -> dict[str, str]:
        """What is known of it by now."""
        return self._client.workspace

    def know_workspace(self, facts: Mapping[str, str]) -> None:
        """What of it does not work is not tried."""
        client = self._client
        client.workspace.update(facts)
        client.can_stream = client.can_stream and not client.workspace.lacks(WorkspaceFeature.STREAMS)
        if client.workspace.lacks(WorkspaceFeature.FILES):
            self.delivery.raise_limit()
        self.delivery.choose_surface()

    def set_task(self, task_id: str | None) -> None:
        if task_id is not None:
            self._client.api.log_fields["task"] = task_id

    def waits_since(self, at: float) -> None:
        """The reader has seen nothing of the answer, and waits since `at` on the clock."""
        self._client.api.waits_since(at)

    def cancel_writes(self) -> None:
        self._client.cancel_writes()

    async def show_status(self, text: str) -> None:
        if not self.delivery.messages or self.delivery.begins:
            self._status_at = self.delivery.begun
            self._status.show(text)

    async def write(self, batch: Batch) -> WriteResult:
        """Show a batch, and the text that the ledger may send; begin a new message before one grows too old.

        What is not shown now is shown later, by `finish` at the latest.
        """
        delivery = self.delivery
        delivery.add(batch)
        if delivery.is_live:
            if delivery.begins:
                await self._status.close()
            await delivery.advance()
            if delivery.begins and delivery.ended is None and not self._client.is_cancelled:
                await self._show_idle()
        if delivery.ended is not None:
            return delivery.ended
        return WriteResult.HELD if delivery.ledger.has_more else WriteResult.SHOWN

    async def ask(self, form: Form, handle: str = "") -> None:
        """Show a question while the turn goes on, in a post, of which Slack notifies people at once (facts:
        Slack 1.8). Where it is refused, the question comes with the turn's end. `handle`: as in `Ending`.
        """
        delivery = self.delivery
        if not self._client.is_cancelled:
            await delivery.start_new_message()
        if delivery.ended is not None or self._client.is_cancelled:
            return
        await self._status.close()
        text, under = await _question(form, handle), forms.form_blocks(form, handle) if handle else []
        under.append(blocks.context(FORM_HINT_SIGN_IN))
        posted = await delivery.posts.post(text, (), under, "question")
        self._status.reopen(forget=True)
        if isinstance(posted, CallFailed):
            await delivery.apply_fault(posted)
            return
        self._asked = form
        self.form_message = MessageRecord(posted.ts, SurfaceKind.POST, body=text)
        await self._send_link(form)
        if not await delivery.stream.set_session("suspended"):  # a status would set it to busy
            await self.show_status(WAITING_FOR_SIGN_IN)

    async def _send_link(self, form: Form) -> None:
        if form.url and (user := self._client.question.user):
            await send_sign_in(self._client, form, user)

    async def _show_idle(self) -> None:
        if self.delivery.is_exhausted:
            await self._file.announce()
            return
        self._status.reopen(forget=self.delivery.begun != self._status_at)
        if self.delivery.messages:
            await self.show_status(STILL_WORKING)

    def _show_again(self, text: str) -> None:
        self._status_at = self.delivery.begun
        self._status.reopen(forget=True)
        self._status.show(text)

    # -- the end ---------------------------------------------------------------------------------------------

    async def announce(self, text: str) -> None:
        """Post a line of our own, which may mention people."""
        await self._status.close()
        await self.delivery.posts.post("", (), (), "note", says=text)
        self._status.reopen(forget=True)

    async def leave(self) -> None:
        """Another process writes here now."""
        self._client.cancel_writes()
        await self._status.close()

    async def hand_over(self) -> bool:
        """This process ends, and another one goes on: no stream may stay open until then. True: the stop has
        brought text that waited for its slot.
        """
        if self._is_finished:
            return False
        step = self._next_text()
        await self.leave()
        is_more = step is not None and await self._stop_with(step)
        await self.delivery.reconciler.close_open(CardClosing.CONTINUES)
        if not self.delivery.is_gone:
            status = blocks.shorten(GOES_ON_AFTER_RESTART, self._client.settings.status_chars)
            await self._client.set_status(status)
        return is_more

    def _next_text(self) -> SendText | None:
        """What the stream that is open would show next."""
        delivery, ledger, last = self.delivery, self.delivery.ledger, self.delivery.last
        is_open = last is not None and last.is_open and not delivery.begins and not ledger.in_doubt
        if not (is_open and delivery.is_live and self._client.api.is_sure()):
            return None
        step = ledger.next(self._client.clock.monotonic())
        return step if isinstance(step, SendText) and not (step.begins or step.is_table) else None

    async def _stop_with(self, step: SendText) -> bool:
        """End the last message with its next text. True: Slack shows it."""
        delivery, message = self.delivery, self.delivery.messages[-1]
        stopped = await delivery.stream.stop(message, CardClosing.CONTINUES, text=step.text)
        if isinstance(stopped, CallOk):
            delivery.ledger.confirmed()
            message.segment = delivery.ledger.present
        return isinstance(stopped, CallOk)

    async def abandon(self) -> None:
        await self.leave()
        await self.delivery.reconciler.close_open()

    async def finish(self, ending: Ending) -> None:
        """End the turn: what is missing, how every card ended, what the reader should know.

        Called once more after something broke, it ends the turn as the first call asked, and only where that
        cannot be done it says `ending`. AssertionError if the reader would be left with nothing.
        """
        await self._status.close()
        if self.delivery.is_gone:
            await self.abandon()
            return
        if self._is_finished:
            return
        if self._client.is_cancelled:
            ending = replace(ending, outcome=Outcome.STOPPED)
        if ending.form == self._asked:
            ending = replace(ending, form=None)
        if self._ending is None and ending.outcome.has_completed:
            ending = replace(ending, listens_to=await self._listens_to())
        first, self._ending = self._ending, self._ending or self._with_extras(ending)
        if first is not None:  # it broke; posts are not repeated for long any more
            self.delivery.posts.retry_timeout = 0.0
            self.delivery.try_again()
        try:
            try:
                await self._finish(self._ending)
            except SlackError as error:
                if first is None:
                    raise
                _log.error("answer stays unfinished: %s", error, extra=self._client.api.log_fields)
                await self._post_note(ending)
            self._is_finished = True
            if ending.form is not None and self.delivery.records:
                self.form_message = self.delivery.records[-1]
                await self._send_link(ending.form)
        finally:
            await self._clean_up(ending)

    def _with_extras(self, ending: Ending) -> Ending:
        if ending.outcome in _NOT_WHOLE:
            return ending
        text = self.delivery.ledger.text if ending.rewrite is None else ending.rewrite
        extras, sources = (*ending.extras, *self.extras.whole(text)), tuple(self.extras.sources)
        return replace(ending, extras=extras, sources=sources)

    async def _finish(self, ending: Ending) -> None:
        delivery = self.delivery
        if delivery.ended is None:
            await (self._stop if ending.outcome is Outcome.STOPPED else self._deliver)(ending)
        if delivery.ended is WriteResult.STOPPED:  # in Slack: what the stream shows stays
            ending = ending.stopped()
            if not await delivery.attach_footer(self._footer(ending), CardClosing.STOPPED):
                await self._post_note(ending)

    async def _clean_up(self, ending: Ending) -> None:
        delivery = self.delivery
        self._client.api.give_back()
        await self._status.close()
        await delivery.reconciler.close_open(ending.card_closing)
        if not self._is_note_posted and delivery.begun == self._status_at:
            await self._status.clear()
        if not delivery.is_gone:
            await delivery.stream.rest_session(ending.session)
            await self._name_session()

    async def _name_session(self) -> None:
        """Slack lists the threads of a direct message by the titles of their sessions (facts: Slack 1.9)."""
        asked, client = self._client.question, self._client
        is_new = is_direct(client.channel) and asked.ts == client.thread_ts
        if client.session and is_new and not client.workspace.lacks(WorkspaceFeature.SESSIONS):
            place = {"channel_id": client.channel, "thread_ts": client.thread_ts}
            args = {**place, "title": blocks.shorten(blocks.fallback(asked.title), _TITLE)}
            api = client.api.for_turn(client.turn, client.thread_ts, Priority.BACKGROUND)
            await api.call("agents.sessions.rename", args, patience=0.0)

    async def _deliver(self, ending: Ending) -> None:
        text = ending.rest if ending.rewrite is None else ending.rewrite
        is_rewrite = ending.rewrite is not None and bool(self.delivery.messages)
        goes_on = not is_rewrite and bool(self.delivery.ledger.text.strip())
        if ending.form is not None and (question := await _question(ending.form, ending.handle)):
            text = f"{text}\n\n{question}" if text.strip() or goes_on else question
        shows = text or goes_on or ending.note or self.delivery.messages or self._asked is not None
        assert shows or ending.extras, "nothing to show, and no note"
        ending = await (self._rewrite if is_rewrite else self._show_rest)(text, ending)
        if ending.extras and self.delivery.ended is None:
            await self._show_extras(ending)

    async def _show_extras(self, ending: Ending) -> None:
        """Below the text, what is under an answer below them."""
        delivery, is_signed = self.delivery, False
        footer = self._footer(replace(ending, extras=())) if ending.form is None else []
        waiting = groups(ending.extras)
        group = next(waiting, None)
        while group is not None:
            if self._client.is_cancelled:
                await self._stop(ending)
                return
            following = next(waiting, None)
            if following is not None and self.extras.is_full:
                rest = chain(group, following, chain.from_iterable(waiting))
                result, following = await self.extras.show_rest(rest, footer), None
            else:
                result = await self.extras.show(group, footer if following is None else ())
            await delivery.apply_fault(result)
            if delivery.ended is not None:
                return
            is_signed = isinstance(result, CallOk) and not result.is_fallback
            group = following
        if footer and not is_signed:
            await delivery.posts.post("", (), footer, "note", says=footer_text(ending))

    async def _show_rest(self, text: str, ending: Ending) -> Ending:
        delivery, close = self.delivery, ending.card_closing
        if not self._is_rest_added:
            if ending.rewrite is not None:
                delivery.ledger.discard()
            delivery.ledger.waiting.clear()  # what was not released is not to be shown
            delivery.add(Batch(text))
            self._is_rest_added = True
        await delivery.advance(footer=self._footer(ending), close=close)
        attached: Ending | None = None
        if delivery.is_exhausted and delivery.ended is None and not self._client.is_cancelled:
            attached = await self._attach_file(delivery.ledger.text, ending)
            if attached is None:
                await self._file.withdraw()
                delivery.raise_limit()
                await delivery.advance(footer=self._footer(ending), close=close)
            ending = attached or ending
        is_signed = delivery.last is not None and delivery.last.is_signed  # a stop comes too late then
        if self._client.is_cancelled and delivery.ended is None and not is_signed:
            shown = ending if attached is None else replace(ending, note=f"{STOPPED} {ending.note}")
            ending = shown.stopped()
            await self._stop(ending)
        elif not await delivery.finish(self._footer(ending), close, ending.session):
            await self._post_note(ending, must=attached is None)
        return ending

    async def _rewrite(self, text: str, ending: Ending) -> Ending:
        delivery, limit, close = self.delivery, self._client.settings.max_segments, ending.card_closing
        pieces = split_into_segments(text, delivery.limits())
        first = await _in_steps(islice(pieces, limit + 1))
        fits = len(first) <= limit
        is_signed = await delivery.rewrite(first[:limit], self._footer(ending) if fits else (), close)
        attached: Ending | None = None
        if delivery.ended is None and (not fits or delivery.is_exhausted):
            attached = await self._attach_file(text, ending)
            if attached is None:
                delivery.raise_limit()
                first += await _in_steps(pieces)
                is_signed = await delivery.rewrite(first, self._footer(ending), close, start=limit)
            else:
                ending = attached
                is_signed = await delivery.attach_footer(self._footer(ending), close)
        if not is_signed and self._client.is_cancelled and delivery.ended is None:
            ending = ending.stopped()
            await self._stop(ending)
        elif not is_signed:
            await self._post_note(ending, must=attached is None)
        return ending

    async def _attach_file(self, text: str, ending: Ending) -> Ending | None:
        try:
            return await self._file.attach(text, ending)
        finally:
            await self._status.close()

    async def _stop(self, ending: Ending) -> None:
        delivery, ending, self._is_stop_shown = self.delivery, ending.stopped(), True
        is_signed = await delivery.finish(self._footer(ending), CardClosing.STOPPED)
        if not is_signed and delivery.ended is None:
            await self._post_note(ending)

    async def _post_note(self, ending: Ending, *, must: bool = True) -> None:
        """The last way to say how a turn ended. SlackError if it `must` be said and cannot be."""
        delivery = self.delivery
        says = footer_text(ending)
        if delivery.is_gone or (ending.extras and ending.form is None) or not says:
            return
        posted = await delivery.posts.post("", (), self._footer(ending), "note", says=says, persist=must)
        if isinstance(posted, CallFailed) and must:
            await delivery.apply_fault(posted)
            if not delivery.is_gone:
                raise refused(posted)
        self._is_note_posted = isinstance(posted, CallOk)

    async def _listens_to(self) -> ListensTo | None:
        asked = self._client.question
        if is_direct(self._client.channel):
            return ListensTo.EVERYBODY if asked.thread.ts in ("", asked.ts) else None
        return ListensTo.NOBODY if self._who_listens is None else await self._who_listens()

    def _footer(self, ending: Ending) -> list[Block]:
        """Extras have it under them. A form stands under its question."""
        return [] if ending.extras and ending.form is None else footer_blocks(ending, self._client.turn)


async def _question(form: Form, handle: str) -> str:
    """Sanitized as a whole: its parts together may form a mention."""
    shown = forms.without_fields(form) if handle else form
    return "".join(await _in_steps(sanitize_slices(shown.as_markdown())))


async def _in_steps(work: Iterable[T]) -> list[T]:
    """The loop runs in between, for each piece may take some milliseconds."""
    done: list[T] = []
    for piece in work:
        if done:
            await asyncio.sleep(0)
        done.append(piece)
    return done
