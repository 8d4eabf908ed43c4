"""PURE. How an answer ends in its thread: the rest of it, what comes below it, and what a reader should know.

An answer that has no room in messages comes as a file in the end. Where Slack takes no file, the answer goes
on in more messages. If something breaks meanwhile, `finish` is called once more, with an ending that says so.
Then the ending of the first call is tried again; only if that breaks too, the note of the second is posted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TypeVar

from ..errors import SlackError
from ..text.feature_words import SHARE_LABEL
from ..text.ledger import split_into_segments
from ..text.sanitize import sanitize_slices
from ..text.words import ANOTHER_AGENT_LABEL, ANSWER_OF, STOPPED
from ..turn.buttons import TurnButton
from ..turn.form import Form
from ..turn.progress import MessageRecord
from ..turn.record import WRONG, Outcome, is_direct
from ..turn.thread_state import ListensTo
from . import blocks, forms
from .answer_state import refused
from .blocks import Block
from .cards import CardClosing
from .delivery import Delivery, MessageEnds
from .extras import ExtraSurface, groups
from .faults import CallFailed, CallOk
from .features import WorkspaceFeature
from .file_fallback import FileFallback
from .form_messages import send_sign_in
from .methods import Priority
from .model import Batch, Ending, WriteResult
from .orders import (
    AskWhoListens,
    CallSlack,
    ClearStatus,
    CloseStatus,
    GiveUpWrites,
    LetOthersRun,
    Log,
    ReturnSlots,
    Step,
)
from .turn_calls import TurnCalls
from .visibility import answerers, shown_to

T = TypeVar("T")
_TITLE = 80  # characters of a session's title; Slack takes 200
_NOT_WHOLE = frozenset({Outcome.STOPPED, Outcome.WATCHED})  # more comes, or nothing is wanted


class AnswerEnding:
    """Ends the answer that `delivery` wrote. `extras` come below it. `form_message`: what a form is under."""

    def __init__(self, calls: TurnCalls, delivery: Delivery, extras: ExtraSurface) -> None:
        self._calls, self._delivery = calls, delivery
        self._extras = extras
        self._ends = MessageEnds(delivery)
        self.file = FileFallback(calls, delivery.state, self._ends)
        self._first: Ending | None = None  # of the first call of `finish`
        self._is_rest_added = self._is_note_posted = self._is_stop_shown = False
        self.is_finished = False
        self.asked: Form | None = None  # already shown, while the turn went on
        self.form_message: MessageRecord | None = None

    def note_question(self, form: Form, message: MessageRecord) -> None:
        """`form` was asked while the turn went on, below `message`."""
        self.asked, self.form_message = form, message

    @property
    def is_stop_shown(self) -> bool:
        """The thread says that the answer was stopped."""
        return self._is_stop_shown or self._delivery.state.ended is WriteResult.STOPPED

    def finish(self, ending: Ending) -> Step[None]:
        """End the turn: what is missing, how every card ended, what the reader should know.

        AssertionError if the reader would be left with nothing.
        """
        state = self._delivery.state
        yield from CloseStatus()
        if state.is_gone:
            yield from GiveUpWrites()
            yield from self._delivery.reconciler.close_open()
            return
        if self.is_finished:
            return
        if ending.outcome is Outcome.SILENT or self._is_told_elsewhere(ending):
            self.is_finished = True
            yield from self._clean_up(ending)
            return
        if self._calls.are_writes_given_up:
            ending = replace(ending, outcome=Outcome.STOPPED)
        if ending.form == self.asked:
            ending = replace(ending, form=None)
        if self._first is None and ending.outcome.has_completed:
            ending = replace(ending, listens_to=(yield from self._listens_to()))
        first, self._first = self._first, self._first or self._with_extras(ending)
        if first is not None:  # it broke; posts are not repeated for long any more
            self._delivery.posts.stop_retrying()
            state.try_again()
        try:
            yield from self._show(self._first, ending, is_again=first is not None)
            self.is_finished = True
            if ending.form is not None and state.records:
                self.form_message = state.records[-1]
                yield from self.send_link(ending.form)
        finally:
            yield from self._clean_up(ending)

    def _is_told_elsewhere(self, ending: Ending) -> bool:
        """It failed before there was anything to show, and its thread need not begin for that."""
        is_hidden = self._calls.lacks_thread and self._calls.question.hides_failure
        return is_hidden and ending.outcome in WRONG and not self._delivery.state.ledger.text.strip()

    def _with_extras(self, ending: Ending) -> Ending:
        if ending.outcome in _NOT_WHOLE:
            return ending
        text = self._delivery.state.ledger.text if ending.rewrite is None else ending.rewrite
        extras, sources = (*ending.extras, *self._extras.whole(text)), tuple(self._extras.sources)
        following = self._extras.next_questions
        return replace(ending, extras=extras, sources=sources, next_questions=following)

    def _show(self, ending: Ending, last_words: Ending, *, is_again: bool) -> Step[None]:
        """`is_again`: it broke before. If it breaks once more, the note of `last_words` is posted."""
        try:
            yield from self._show_ending(ending)
        except SlackError as error:
            if not is_again:
                raise
            yield from Log("error", "answer stays unfinished: %s", (error,))
            yield from self._post_note(last_words)

    def _show_ending(self, ending: Ending) -> Step[None]:
        state = self._delivery.state
        if state.ended is None:
            is_stop = ending.outcome is Outcome.STOPPED
            yield from (self._show_stop(ending) if is_stop else self._deliver(ending))
        if state.ended is WriteResult.STOPPED:  # in Slack: the text of the stream stays
            ending = ending.stopped()
            if not (yield from self._ends.attach_footer(self._footer(ending), CardClosing.STOPPED)):
                yield from self._post_note(ending)

    def _clean_up(self, ending: Ending) -> Step[None]:
        delivery = self._delivery
        yield from ReturnSlots()
        yield from CloseStatus()
        yield from delivery.reconciler.close_open(ending.card_closing)
        if not self._is_note_posted and self._calls.is_status_latest:
            yield from ClearStatus()
        if not delivery.state.is_gone:
            yield from delivery.streams.rest_session(ending.session)
            yield from self._name_session()

    def _name_session(self) -> Step[None]:
        """Slack lists the threads of a direct message by the titles of their sessions (facts: Slack 1.9)."""
        calls = self._calls
        question = calls.question
        is_new = is_direct(calls.channel) and question.ts == calls.thread_ts
        if calls.session and is_new and not calls.workspace.lacks(WorkspaceFeature.SESSIONS):
            place = {"channel_id": calls.channel, "thread_ts": calls.thread_ts}
            args = {**place, "title": blocks.shorten(blocks.fallback(question.title), _TITLE)}
            yield from CallSlack("agents.sessions.rename", args, patience=0.0, priority=Priority.BACKGROUND)

    # -- the text

    def _deliver(self, ending: Ending) -> Step[None]:
        state, text = self._delivery.state, ending.rest if ending.rewrite is None else ending.rewrite
        is_rewrite = ending.rewrite is not None and bool(state.messages)
        goes_on = not is_rewrite and bool(state.ledger.text.strip())
        if ending.form is not None and (question := (yield from question_text(ending.form, ending.handle))):
            text = f"{text}\n\n{question}" if text.strip() or goes_on else question
        shows = text or goes_on or ending.note or state.messages or self.asked is not None
        assert shows or ending.extras, "nothing to show, and no note"
        ending = yield from (self._rewrite(text, ending) if is_rewrite else self._show_rest(text, ending))
        if ending.extras and state.ended is None:
            yield from self._show_extras(ending)

    def _show_rest(self, text: str, ending: Ending) -> Step[Ending]:
        delivery, state = self._delivery, self._delivery.state
        close = ending.card_closing
        if not self._is_rest_added:
            if ending.rewrite is not None:
                state.ledger.discard()
            state.ledger.waiting.clear()  # what was not released is not to be shown
            state.add(Batch(text))
            self._is_rest_added = True
        yield from delivery.advance(footer=self._footer(ending), close=close)
        attached: Ending | None = None
        if state.is_exhausted and state.ended is None and not self._calls.are_writes_given_up:
            attached = yield from self._attach_file(state.ledger.text, ending)
            if attached is None:
                yield from self.file.withdraw()
                state.allow_more_messages()
                yield from delivery.advance(footer=self._footer(ending), close=close)
            ending = attached or ending
        is_signed = state.last is not None and state.last.is_signed  # a stop comes too late then
        if self._calls.are_writes_given_up and state.ended is None and not is_signed:
            stopped = ending if attached is None else replace(ending, note=f"{STOPPED} {ending.note}")
            ending = stopped.stopped()
            yield from self._show_stop(ending)
            return ending
        is_signed = yield from self._ends.sign_last_message(self._footer(ending), close, ending.session)
        if not is_signed and state.ended is None:
            yield from self._post_note(ending, must=attached is None)
        return ending

    def _rewrite(self, text: str, ending: Ending) -> Step[Ending]:
        state, close = self._delivery.state, ending.card_closing
        most = self._calls.settings.max_segments
        pieces = split_into_segments(text, state.surface.limits())
        segments = yield from _in_steps(islice(pieces, most + 1))
        fits = len(segments) <= most
        footer = self._footer(ending) if fits else ()
        is_signed = yield from self._ends.rewrite_messages(segments[:most], footer, close)
        attached: Ending | None = None
        if state.ended is None and (not fits or state.is_exhausted):
            attached = yield from self._attach_file(text, ending)
            if attached is None:
                state.allow_more_messages()
                segments += yield from _in_steps(pieces)
                is_signed = yield from self._ends.rewrite_messages(
                    segments, self._footer(ending), close, start=most
                )
            else:
                ending = attached
                is_signed = yield from self._ends.attach_footer(self._footer(ending), close)
        if is_signed or state.ended is not None:
            return ending
        if self._calls.are_writes_given_up:
            ending = ending.stopped()
            yield from self._show_stop(ending)
        else:
            yield from self._post_note(ending, must=attached is None)
        return ending

    def _attach_file(self, text: str, ending: Ending) -> Step[Ending | None]:
        try:
            return (yield from self.file.attach(text, ending))
        finally:
            yield from CloseStatus()

    # -- below it

    def _show_extras(self, ending: Ending) -> Step[None]:
        """Below the text; what is under an answer comes below them."""
        delivery, is_signed = self._delivery, False
        footer = self._footer(replace(ending, extras=())) if ending.form is None else []
        waiting = groups(ending.extras)
        group = next(waiting, None)
        while group is not None:
            if self._calls.are_writes_given_up:
                yield from self._show_stop(ending)
                return
            following = next(waiting, None)
            if following is not None and self._extras.is_full:
                rest = chain(group, following, chain.from_iterable(waiting))
                result = yield from self._extras.show_rest(rest, footer)
                following = None
            else:
                result = yield from self._extras.show(group, footer if following is None else ())
            yield from delivery.apply_fault(result)
            if delivery.state.ended is not None:
                return
            is_signed = isinstance(result, CallOk) and not result.is_fallback
            group = following
        if footer and not is_signed:
            yield from delivery.posts.post("", (), footer, "note", says=footer_text(ending))

    def _show_stop(self, ending: Ending) -> Step[None]:
        ending, self._is_stop_shown = ending.stopped(), True
        is_signed = yield from self._ends.sign_last_message(self._footer(ending), CardClosing.STOPPED)
        if not is_signed and self._delivery.state.ended is None:
            yield from self._post_note(ending)

    def _post_note(self, ending: Ending, *, must: bool = True) -> Step[None]:
        """Say how the turn ended in a message of its own, as the footer is nowhere else. SlackError if it
        `must` be said and cannot be."""
        delivery, says = self._delivery, footer_text(ending)
        if delivery.state.is_gone or (ending.extras and ending.form is None) or not says:
            return
        posted = yield from delivery.posts.post("", (), self._footer(ending), "note", says=says, persist=must)
        if isinstance(posted, CallFailed) and must:
            yield from delivery.apply_fault(posted)
            if not delivery.state.is_gone:
                raise refused(posted)
        self._is_note_posted = isinstance(posted, CallOk)

    def send_link(self, form: Form) -> Step[None]:
        """The private link of a sign-in."""
        if form.url and (user := self._calls.question.user):
            yield from send_sign_in(self._calls, form, user)

    def _listens_to(self) -> Step[ListensTo | None]:
        question = self._calls.question
        if is_direct(self._calls.channel):
            return ListensTo.EVERYBODY if question.thread.ts in ("", question.ts) else None
        return (yield from AskWhoListens())

    def _footer(self, ending: Ending) -> Sequence[Block]:
        """None where extras come below the text: it is under those. But a form has its question above."""
        if ending.extras and ending.form is None:
            return []
        calls, form = self._calls, ending.form
        face = calls.face
        asker, name = calls.question.user, face.name_below(calls.workspace)
        who = () if form is None else answerers(form, asker, face.approvers)
        rules = FooterRules(
            name,
            face.look is not None,
            asker,
            who,
            can_share=face.can_share,
            suggestions=0 if calls.question.asker_is_bot else face.suggestions,
        )
        return footer_blocks(ending, calls.turn, rules)


def question_text(form: Form, handle: str) -> Step[str]:
    """Sanitized as a whole: its parts together may form a mention."""
    asked = forms.without_fields(form) if handle else form
    return "".join((yield from _in_steps(sanitize_slices(asked.as_markdown()))))


def _in_steps(work: Iterable[T]) -> Step[list[T]]:
    """The loop runs in between, for each piece may take some milliseconds."""
    done: list[T] = []
    for piece in work:
        if done:
            yield from LetOthersRun()
        done.append(piece)
    return done


@dataclass(frozen=True, slots=True)
class FooterRules:
    """What a footer depends on besides the ending. `name`: of the agent, where nothing else says it.

    `offers_another`: other agents may be asked the same. `asker`, `answerers`: who may stop or repeat the
    turn, and who may answer its form; empty: everybody sees these buttons. `can_share`: the asker may send
    the answer to the channel. `suggestions`: how many next questions are offered at most.
    """

    name: str = ""
    offers_another: bool = False
    asker: str = ""
    answerers: tuple[str, ...] = ()
    can_share: bool = False
    suggestions: int = 0


_FOR_ALL = FooterRules()


def footer_blocks(ending: Ending, turn: str, rules: FooterRules = _FOR_ALL) -> list[Block]:
    """All that is under the last message of a turn."""
    has_words = ending.outcome.has_completed or ending.form is not None
    under = [blocks.context(ANSWER_OF.format(rules.name))] if rules.name and has_words else []
    under += [blocks.sources_block(ending.sources)] if ending.sources else []
    if ending.note and ending.stopped_by:
        under.append(blocks.context_of_stop(ending.note, ending.stopped_by))
    elif ending.note:
        under.append(blocks.context(ending.note))
    under += [blocks.context(ending.used)] if ending.used and has_words else []
    if ending.offer_retry:
        again = blocks.buttons(turn, can_stop=ending.outcome is Outcome.WATCHED)
        under += shown_to([again], [rules.asker] if rules.asker else [])
    if ending.form is not None:
        form, has_controls = ending.form, bool(ending.handle)
        under += shown_to(forms.form_blocks(form, ending.handle) if has_controls else [], rules.answerers)
        under += [forms.hint_block(form, has_controls=has_controls, answerers=rules.answerers)]
    offered = ending.next_questions[: rules.suggestions] if ending.outcome is Outcome.ANSWERED else ()
    if offered:
        under += shown_to([blocks.suggestions(offered, turn)], [rules.asker] if rules.asker else [])
    if ending.outcome.has_completed:
        under.append(blocks.feedback(turn))
        if rules.offers_another and ending.listens_to is not None:  # once in a thread, as who is heard there
            under.append(blocks.actions({TurnButton.ANOTHER_AGENT: ANOTHER_AGENT_LABEL}, turn))
        if rules.can_share and rules.asker and ending.outcome is Outcome.ANSWERED:
            under += shown_to([blocks.actions({TurnButton.SHARE: SHARE_LABEL}, turn)], [rules.asker])
        under += [blocks.footer(ending.listens_to)] if ending.listens_to is not None else []
    return under


def footer_text(ending: Ending) -> str:
    """What must be read of the footer, as text."""
    note = ending.note or ("" if ending.form is None else forms.words_of(ending.form))
    return "\n\n".join(filter(None, [note, blocks.sources_text(ending.sources)]))
