"""PURE. One answer in one thread of Slack: what is written next, and when.

The agent's side puts in what it has: text into the `buffer`, everything else into the `news`. The answer
gives orders (`orders`) to its writer, one at a time, and learns what came of each. So what is decided here
needs neither Slack nor a clock: to a test it is a generator that is sent results.

**What waits.** Text waits in the buffer until its line ends or its time has come, then in the ledger until
Slack said ok. Cards, the plan's title and the status wait as they are now: of several changes the last
counts.

**What goes first** (`write`): the ids of the agent's task, which are stored before anything is shown; the
status; a question of the agent that is due; then one batch of text and cards. Between two batches the answer
waits until `deadline`, or until something came that is due earlier.

**Slots.** A call waits in the queue of its rate limit, and what it takes along is decided when its slot has
come, not before. A stream that gets no slot within `start_slot_timeout` becomes an ordinary message. A stop
by a human gives all slots back.

**What becomes of a call** is in `delivery` (the fault table), `reconcile` (calls without an answer) and
`ending` (the end of the turn).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..observe.facts import TextShown, referred
from ..text.buffer import TIMER_TOLERANCE, StreamBuffer
from ..text.compare import contains
from ..text.ledger import SendText
from ..text.words import (
    FORM_HINT_SIGN_IN,
    GOES_ON_AFTER_RESTART,
    NO_ANSWER,
    STILL_WORKING,
    WAITING_FOR_SIGN_IN,
    WRITING,
    WRITING_BUSY,
)
from ..turn.actions import SaveIds, TaskCard
from ..turn.form import Form
from ..turn.progress import MessageRecord
from ..turn.record import WRONG, Outcome
from . import blocks, forms
from .answer_state import AnswerState
from .cards import CardClosing
from .delivery import Delivery
from .ending import AnswerEnding, question_text
from .extras import ExtraSurface
from .faults import CallFailed, CallOk, SurfaceKind
from .features import WorkspaceFeature
from .methods import Priority
from .model import Batch, Ending, WriteResult
from .orders import (
    CloseStatus,
    GiveUpWrites,
    ReopenStatus,
    Report,
    ReportGone,
    ReportStopped,
    ReserveSlot,
    Step,
    StoreForm,
    StoreFormMessage,
    StoreIds,
    StoreMessages,
    Wait,
    Wake,
)
from .turn_calls import TurnCalls
from .visibility import answerers, shown_to


@dataclass(slots=True)
class AnswerNews:
    """What waits beside text. `form`: the agent's question. It is asked at `form_due` on the clock if the
    turn goes on until then and its answer `is_awaited`, else at the end."""

    cards: dict[str, TaskCard] = field(default_factory=dict)
    plan_title: str | None = None
    status: str | None = None
    ids: list[SaveIds] = field(default_factory=list)
    form: Form | None = None
    form_due: float | None = None
    is_awaited: bool = False

    def set_status(self, text: str) -> None:
        self.status = text

    def set_plan_title(self, title: str) -> None:
        self.plan_title = title

    def ask_at(self, form: Form, due: float) -> None:
        """`due`: on the clock in seconds."""
        self.form, self.form_due = form, due

    @property
    def has_cards(self) -> bool:
        return bool(self.cards) or self.plan_title is not None

    def add_card(self, card: TaskCard) -> None:
        self.cards[card.id] = self.cards[card.id].then(card) if card.id in self.cards else card

    def take_cards(self) -> Batch:
        batch = Batch("", tuple(self.cards.values()), self.plan_title)
        self.cards, self.plan_title = {}, None
        return batch

    def take_ids(self) -> list[SaveIds]:
        ids, self.ids = self.ids, []
        return ids

    def take_status(self) -> str | None:
        status, self.status = self.status, None
        return status

    def take_form(self, now: float) -> Form | None:
        """The question, where it is due."""
        if self.form_due is None or now + TIMER_TOLERANCE < self.form_due:
            return None
        self.form_due = None
        return self.form if self.is_awaited else None


class AnswerPace:
    """When the next write of an answer is due, and how urgent it is. Times are on the clock, in seconds.

    `slot_until`: until when a stream that is to begin waits for its slot; None: nothing waits for one.
    `has_given_up`: none came in time, and the answer became an ordinary message. `is_rest_due`: by the last
    `due` there is something to write that does not wait in the buffer.
    """

    def __init__(self, delivery: Delivery, buffer: StreamBuffer, news: AnswerNews) -> None:
        self._state, self._delivery = delivery.state, delivery
        self._buffer, self._news = buffer, news
        self._text_due: float | None = None  # of the text in the buffer, by the last `due`
        self._line_due: float | None = None  # of a part of a line that begins later, where no text waits
        self._known_deadline: float | None = None  # of the text, as the writer knows it
        self.is_rest_due = False
        self.slot_until: float | None = None
        self.has_given_up = False
        self._is_stopped = False

    def stop(self) -> None:
        """Nothing is due any more: what the thread reads is replaced in the end."""
        self._is_stopped = True

    def due(self, now: float) -> float | None:
        """When there is something to write; None: not before more comes. What is not after `now` is due."""
        ledger = self._state.ledger
        is_live = self._state.is_live and not (self._is_stopped or ledger.repeated.has_diverged)
        self._text_due = self._buffer.due(now)
        # text that comes before the next part of a line is due need not wake the writer
        begins = is_live and self._text_due is None
        self._line_due = self._buffer.clock.next_due(now) if begins else None
        rest = self._delivery.due(now, ledger.due(now)) if is_live else None
        self.is_rest_due = rest is not None and rest <= now
        if not is_live:
            return None
        ready = now if self._news.has_cards else self._text_due
        due = None if ready is None else max(ready, now + self._state.surface.pause(now))
        return _soonest(due, rest)

    def deadline(self, due: float | None, now: float) -> float | None:
        """Until when the writer waits; None: until it is woken. `due`: when something is to be written."""
        if self.slot_until is not None and due is not None and due <= now:
            waits_on = self.has_given_up or not self._state.needs_new_message
            due = None if waits_on else max(now, self.slot_until)
        self._known_deadline = self._line_due if self._text_due is None else self._text_due
        return _soonest(due, self._line_due, self._news.form_due)

    def take_slot(self) -> bool:
        """The slot is there. Returns whether it was waited for."""
        is_late, self.slot_until = self.slot_until is not None, None
        return is_late

    def wait_for_slot(self, until: float) -> bool:
        """No slot is free. True: the wait begins, and ends at `until`."""
        begins = self.slot_until is None
        self.slot_until = until if self.slot_until is None else self.slot_until
        return begins

    def gives_up(self, now: float) -> bool:
        """No stream could be started in time. True once."""
        is_over = self.slot_until is not None and now + TIMER_TOLERANCE >= self.slot_until
        gives_up = is_over and self._state.needs_new_message and not self.has_given_up
        self.has_given_up = self.has_given_up or gives_up
        return gives_up

    def is_earlier(self, deadline: float | None) -> bool:
        """The buffer's `deadline` is before the one that the writer knows."""
        known = self._known_deadline
        return deadline is not None and (known is None or deadline < known)

    def priority(self, *, has_reader: bool) -> Priority:
        """Of the next write. `has_reader`: a person waits for it."""
        if not has_reader:
            return Priority.BACKGROUND
        if self._text_due is not None and not self._buffer.clock.begun:
            return Priority.FIRST
        return Priority.CARDS if self._news.has_cards else Priority.LATER


class HandOver:
    """Leaves an answer unfinished: another process goes on with it, or its thread is gone."""

    def __init__(self, calls: TurnCalls, delivery: Delivery, answer_ending: AnswerEnding) -> None:
        self._calls, self._delivery = calls, delivery
        self._state = delivery.state
        self._ending = answer_ending

    def leave(self) -> Step[None]:
        """Write nothing more: another process does. What is open stays open."""
        yield from GiveUpWrites()
        yield from CloseStatus()

    def abandon(self) -> Step[None]:
        """Write nothing more, and stop the streams that are open: the thread is gone."""
        yield from self.leave()
        yield from self._delivery.reconciler.close_open()

    def stop_for_next_process(self, *, is_sure: bool) -> Step[bool]:
        """This process ends, and another one goes on: no stream may stay open until then.

        If it `is_sure` that this process has the lease, the stop of the stream brings along text that waits
        for a slot. Returns whether it did: then there is more to store.
        """
        if self._ending.is_finished:
            return False
        sending = self._next_text() if is_sure else None
        yield from self.leave()
        is_more = sending is not None and (yield from self._stop_with(sending))
        yield from self._delivery.reconciler.close_open(CardClosing.CONTINUES)
        is_seen = self._calls.question.is_addressed or bool(self._state.messages)
        if is_seen and not self._state.is_gone:
            status = blocks.shorten(GOES_ON_AFTER_RESTART, self._calls.settings.status_chars)
            yield from self._calls.set_status(status)
        return is_more

    def _next_text(self) -> SendText | None:
        """What the open stream would show next; None where that cannot go with its stop."""
        state, ledger = self._state, self._state.ledger
        is_open = state.last is not None and state.last.is_open
        if not (is_open and state.is_live) or state.needs_new_message or ledger.in_doubt:
            return None
        sending = ledger.next(self._calls.now)
        return sending if isinstance(sending, SendText) and not (sending.begins or sending.is_table) else None

    def _stop_with(self, sending: SendText) -> Step[bool]:
        """End the last message with its next text. True: Slack shows it."""
        message = self._state.messages[-1]
        stopped = yield from self._delivery.streams.stop(message, CardClosing.CONTINUES, text=sending.text)
        if isinstance(stopped, CallOk):
            self._state.confirm(message)
        return isinstance(stopped, CallOk)


class SlackAnswer:
    """One answer. `shown`: what another process wrote of it; `secrets` must never be shown.

    `replacement`: the whole text that the thread must read in the end, where it is not the one that was
    written. `is_ending`: the end of the turn is known, so what is left is for `finish`.
    """

    def __init__(
        self, calls: TurnCalls, shown: Sequence[MessageRecord] = (), secrets: tuple[str, ...] = ()
    ) -> None:
        self._calls = calls
        settings = calls.settings
        self.delivery = Delivery(calls, shown)
        self.extras = ExtraSurface(calls, self.delivery.posts)
        self.ending = AnswerEnding(calls, self.delivery, self.extras)
        self.news = AnswerNews()
        self.buffer = StreamBuffer(
            self.state.ledger,
            first_flush_delay=settings.first_flush_delay,
            flush_interval=settings.flush_interval,
            unproven_delay=settings.unproven_delay,
            unproven_calls=settings.unproven_calls,
            unproven_interval=settings.unproven_interval,
            secrets=secrets,
        )
        self.replacement: str | None = None
        self.pace = AnswerPace(self.delivery, self.buffer, self.news)
        self.hand_over = HandOver(calls, self.delivery, self.ending)
        self.is_ending = False
        self._slot_timeout = 0.0

    def begin(self, slot_timeout: float) -> None:
        """`slot_timeout`: seconds that a stream may wait for its slot before the answer becomes an ordinary
        message; 0 where another process had begun it, for then it has waited already."""
        self._slot_timeout = slot_timeout

    def end_soon(self) -> None:
        """The end of the turn is known: what is left is for `finish`."""
        self.is_ending = True

    def replace_text(self, text: str, masked: Counter[str]) -> None:
        """In the end the thread must read `text`. `masked`: the secrets in it, by kind."""
        self.buffer.input.text_was_replaced(masked)
        self.replacement = text if text.strip() else NO_ANSWER
        self.pace.stop()

    @property
    def state(self) -> AnswerState:
        return self.delivery.state

    @property
    def workspace(self) -> dict[str, str]:
        """What is known of it by now."""
        return self._calls.workspace

    @property
    def is_stopped(self) -> bool:
        """A human stopped it, so the answer may be cut. After `finish`: the thread says so too."""
        is_cut = self._calls.are_writes_given_up and not self.ending.is_finished
        return is_cut or self.ending.is_stop_shown

    def know_workspace(self, facts: Mapping[str, str], now: float) -> None:
        """Features that this workspace was found to lack are not tried. `now`: on the clock."""
        calls = self._calls
        calls.workspace.update(facts)
        if calls.workspace.lacks(WorkspaceFeature.FILES):
            self.state.allow_more_messages()
        self.state.choose_surface(now)

    # -- the loop

    def write(self) -> Step[None]:
        """Show what waits, one call at a time, until the end of the turn is known or the thread is gone."""
        while True:
            for ids in self.news.take_ids():
                yield from StoreIds(ids.task_id, ids.context_id)
            if (status := self.news.take_status()) is not None:
                yield from self.show_status(status)
            if (form := self.news.take_form(self._calls.now)) is not None:
                yield from self.ask(form, (yield from StoreForm(form)))
                yield from StoreFormMessage(self.ending.form_message)
            due = self.pace.due(now := self._calls.now)
            if due is not None and due <= now:
                if not (yield from self._write_batch(now)):
                    return
                due = self.pace.due(self._calls.now)
            elif self.is_ending:
                return
            yield from Wait(self.pace.deadline(due, self._calls.now), is_over=self.is_ending)

    def _write_batch(self, now: float) -> Step[bool]:
        """One write. False when there will be no more."""
        goes_on, state = not self.is_ending, self.state
        if not (yield from self._reserve_slot()):
            yield from self._wait_for_slot(now)
            return goes_on  # the end takes this place in the queue, with all that is left
        is_late, since = self.pace.take_slot(), self.buffer.waiting_since
        released, cards = self.buffer.release(now, is_late=is_late), self.news.take_cards()
        if not released and cards.is_plain and not self.pace.is_rest_due:
            return goes_on
        written = yield from self.show(cards)
        yield from StoreMessages(state.records)
        if written is WriteResult.GONE:
            yield from ReportGone()
            return False
        if written is WriteResult.STOPPED:
            yield from ReportStopped(self._calls.question.user)
        else:
            self.buffer.acknowledge(self._calls.now)
            if released:
                yield from self._report_shown(since, is_late=is_late)
        return written is WriteResult.SHOWN or not self.is_ending

    def _report_shown(self, since: float | None, *, is_late: bool = False) -> Step[None]:
        if since is not None:
            yield from Report(TextShown(self._calls.now, self._calls.question.key, since, is_late))

    def show(self, batch: Batch) -> Step[WriteResult]:
        """Show a batch, and the text that the ledger may send; begin a new message before one grows too old.

        What is not shown now is shown later, by `finish` at the latest.
        """
        state = self.state
        state.add(batch)
        if state.is_live:
            if state.needs_new_message:
                yield from CloseStatus()
            yield from self.delivery.advance()
            if state.needs_new_message and state.ended is None and not self._calls.are_writes_given_up:
                yield from self._show_idle()
        if state.ended is not None:
            return state.ended
        return WriteResult.HELD if state.ledger.has_more else WriteResult.SHOWN

    # -- slots

    def _reserve_slot(self) -> Step[bool]:
        method = self.state.next_method
        priority = (
            Priority.START
            if method == "chat.startStream"
            else self.pace.priority(has_reader=bool(self._calls.question.user))
        )
        return (yield from ReserveSlot(method, priority, wakes=True))

    def _wait_for_slot(self, now: float) -> Step[None]:
        """Before the stream is started, the status says that Slack's budget is spent."""
        if self.pace.wait_for_slot(now + self._slot_timeout):
            yield from self.show_status(WRITING)
        elif self.pace.gives_up(now):
            yield from Wake()  # the other surface waits for a slot of its own
            yield from self.delivery.downgrade_surface()
            yield from self.show_status(WRITING_BUSY)

    # -- beside the text

    def show_status(self, text: str) -> Step[None]:
        """Unless a message is open, which shows that work goes on."""
        if not self.state.messages or self.state.needs_new_message:
            yield from self._calls.show_status(text)

    def _show_idle(self) -> Step[None]:
        if self.state.is_exhausted:
            yield from self.ending.file.announce()
            return
        yield from ReopenStatus(forget=not self._calls.is_status_latest)
        if self.state.messages:
            yield from self.show_status(STILL_WORKING)

    def ask(self, form: Form, handle: str = "") -> Step[None]:
        """Show a question while the turn goes on, in a post, of which Slack notifies people at once (facts:
        Slack 1.8). Where it is refused, the question comes with the turn's end. `handle`: as in `Ending`.
        """
        state, delivery = self.state, self.delivery
        if not self._calls.are_writes_given_up:
            yield from delivery.start_new_message()
        if state.ended is not None or self._calls.are_writes_given_up:
            return
        yield from CloseStatus()
        text = yield from question_text(form, handle)
        under = forms.form_blocks(form, handle) if handle else []
        under = shown_to(under, answerers(form, self._calls.question.user, self._calls.face.approvers))
        under.append(blocks.context(FORM_HINT_SIGN_IN))
        posted = yield from delivery.posts.post(text, (), under, "question")
        yield from ReopenStatus(forget=True)
        if isinstance(posted, CallFailed):
            yield from delivery.apply_fault(posted)
            return
        self.ending.note_question(form, MessageRecord(posted.ts, SurfaceKind.POST, body=text))
        yield from self.ending.send_link(form)
        if not (yield from delivery.streams.set_session("suspended")):  # a status would set it to busy
            yield from self.show_status(WAITING_FOR_SIGN_IN)

    def announce(self, text: str) -> Step[None]:
        """Post a line of our own, which may mention people."""
        yield from CloseStatus()
        yield from self.delivery.posts.post("", (), (), "note", says=text)
        yield from ReopenStatus(forget=True)

    # -- the end

    def compare_with_shown(self, answer: str, shown: str, outcome: Outcome) -> None:
        """After a takeover the `answer` may differ from what another process showed, or the agent kept only a
        part of it."""
        ledger = self.state.ledger
        is_shorter = (
            outcome is Outcome.ANSWERED and bool(ledger.repeated.rest.strip()) and bool(answer.strip())
        )
        if self.replacement is not None or not (ledger.repeated.has_diverged or is_shorter):
            return
        if outcome is Outcome.ANSWERED and not contains(shown, answer):
            self.replacement = answer
        else:
            ledger.discard()

    def finish(self, ending: Ending) -> Step[Ending]:
        """End the answer with all that waits. Returns how it ended: `ANSWERED` becomes `NO_TEXT` where there
        is nothing to show."""
        since = self.buffer.waiting_since if self.replacement is None else self._calls.now
        self.state.add(self.news.take_cards())
        if ending.outcome is not Outcome.STOPPED and self.replacement is None:
            self.buffer.release_all()
        is_blank = self.replacement is None and not self.buffer.clock.begun and self.extras.is_empty
        if is_blank and ending.outcome is Outcome.ANSWERED and not self._calls.question.is_addressed:
            ending = replace(ending, outcome=Outcome.SILENT)
        if ending.outcome is Outcome.ANSWERED and (is_blank or self.replacement == NO_ANSWER):
            ending = replace(ending, outcome=Outcome.NO_TEXT, offer_retry=True)
        if is_blank and ending.outcome is Outcome.NO_TEXT:
            ending = replace(ending, rest=NO_ANSWER)
        if ending.outcome in WRONG:
            ending = replace(ending, note=referred(ending.note, self._calls.question.key))
        yield from self.ending.finish(replace(ending, rewrite=self.replacement))
        if ending.form is not None:
            yield from StoreFormMessage(self.ending.form_message)
        if ending.outcome is not Outcome.STOPPED and not self.state.is_gone:
            yield from self._report_shown(since)
        return ending


def _soonest(*dues: float | None) -> float | None:
    return min((due for due in dues if due is not None), default=None)
