"""Buttons below forms, and the modals that they open: an answer becomes a question, once.

Its key is that of the form's message: it is accepted once, by whichever process, and lives on with the store.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..clock import Clock
from ..errors import StoreError
from ..slack import forms
from ..slack.form_messages import send_sign_in
from ..store.contracts import Store
from ..store.knowledge import form_of, take_form
from ..text.words import (
    FORM_ANSWERED,
    FORM_ANSWERED_BY,
    FORM_APPROVED,
    FORM_FORGOTTEN,
    FORM_NOT_OPENED,
    FORM_REJECTED,
    FORM_SENT_UNCHANGED,
    LINK_NOT_SENT,
)
from ..turn.form import Answer, FormKind, Verdict, answer_of, check
from ..turn.open_form import FormAction, FormPress, OpenForm
from ..turn.record import Question
from .form_handler import FormAccess
from .intake import Intake
from .notices import Notices

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FormReply:
    """What became of a press or a modal. `words` are for the person; `errors` for inputs, by block."""

    words: str | None = None
    errors: Mapping[str, str] | None = None


class FormPresses:
    """Takes what people press and send."""

    def __init__(
        self, store: Store, notices: Notices, access: FormAccess, clock: Clock, intake: Intake
    ) -> None:
        self._store, self._notices, self._access = store, notices, access
        self._clock, self._intake = clock, intake

    async def channel_of(self, handle: str) -> str:
        """The channel of the form; "": it is not known. Raises StoreError."""
        form = await form_of(self._store, handle)
        return "" if form is None else form.thread.channel

    def notice_view(self, words: str) -> dict[str, Any]:
        """The modal that says why another one was not sent."""
        return forms.notice_view(words)

    async def press(self, press: FormPress) -> FormReply:
        """A button below a form, or a modal that was sent. Raises BotError."""
        form = await form_of(self._store, press.handle)
        if form is None or (words := await self._refusal(form, press)) is not None:
            return FormReply(FORM_FORGOTTEN if form is None else words)
        if press.action.opens_modal and not press.is_submission:
            return FormReply(await self._open(form, press))
        if press.action is FormAction.LINK:
            return FormReply(await self._send_link(form, press))
        answer = _answer(form, press)
        if not (faults := check(form.form, answer)):
            return FormReply(await self._give(form, press, answer))
        errors = forms.errors_by_block(form.form, faults) if press.is_submission else {}
        labels = {each.name: each.shown for each in form.form.fields}
        words = "\n".join(f"{labels.get(name, name)}: {why}" for name, why in faults.items())
        return FormReply(errors=errors) if errors else FormReply(words)

    async def _refusal(self, form: OpenForm, press: FormPress) -> str | None:
        is_elsewhere = press.channel not in ("", form.thread.channel)
        is_other = form.message is not None and press.message_ts not in ("", form.message.ts)
        if is_elsewhere or is_other or not _fits(form, press):
            return FORM_FORGOTTEN
        if not form.is_open:
            return _answered(form)
        return await self._access.refusal(form, press.user)

    async def _open(self, form: OpenForm, press: FormPress) -> str | None:
        view = forms.form_view(form.form, form.handle, press.action)
        is_open = await self._notices.open_view(form.turn, press.trigger_id, view)
        return None if is_open else FORM_NOT_OPENED

    async def _send_link(self, form: OpenForm, press: FormPress) -> str | None:
        client = self._notices.client(self._asked(form, press))
        return None if await send_sign_in(client, form.form, press.user) else LINK_NOT_SENT

    async def _give(self, form: OpenForm, press: FormPress, answer: Answer) -> str | None:
        """Accept an answer, once. The question is stored first: what is taken and not asked would be lost."""
        question = self._asked(form, press, answer)
        if await self._intake.accept(question):
            try:
                await take_form(self._store, form.handle, question.key, press.user, self._clock.wall())
            except StoreError as error:  # `FormHandler.before` takes it
                _log.warning("a form is taken later: %s", error, extra={"turn": question.key})
            return None
        return _answered(await form_of(self._store, form.handle))

    def _asked(self, form: OpenForm, press: FormPress, answer: Answer | None = None) -> Question:
        """As the asker's, who may stop it; an answer has the time of the form's message."""
        is_askers = form.user != ""
        return Question(
            form.thread,
            form.message.ts if form.message is not None else press.message_ts or form.thread.ts,
            form.user if is_askers else press.user,
            form.user_team if is_askers else press.user_team,
            "" if answer is None else _text(form, answer),
            context_id=form.context_id,
            task_id=form.task_id or None,
            form=form.form,
            answer=answer,
            handle=form.handle,
            answered_by=press.user,
        )


def _answer(form: OpenForm, press: FormPress) -> Answer:
    match press.action:
        case FormAction.APPROVE:
            return Answer(verdict=Verdict.APPROVE)
        case FormAction.EDIT:
            return Answer(verdict=Verdict.APPROVE, arguments=forms.edited(press.state))
        case FormAction.REJECT:
            return Answer(verdict=Verdict.REJECT, reason=forms.reason_of(press.state).strip())
        case FormAction.CHOOSE:
            return answer_of(form.form, forms.chosen(form.form, press.choice))
        case _:
            return answer_of(form.form, forms.values_of(form.form, press.state))


def _fits(form: OpenForm, press: FormPress) -> bool:
    """The form has such a button."""
    kind, action = form.form.kind, press.action
    if action is FormAction.LINK:
        return kind is FormKind.AUTH
    if action in (FormAction.APPROVE, FormAction.REJECT):
        return kind is FormKind.APPROVAL
    if action is FormAction.EDIT:
        return kind is FormKind.APPROVAL and forms.may_edit(form.form)
    return kind is FormKind.INPUT and bool(form.form.fields)


def _answered(form: OpenForm | None) -> str:
    who = "" if form is None else form.ended_by
    return FORM_ANSWERED_BY.format(who) if who else FORM_ANSWERED


def _text(form: OpenForm, answer: Answer) -> str:
    """The answer in words, secrets masked."""
    verdict = {Verdict.APPROVE: [FORM_APPROVED], Verdict.REJECT: [FORM_REJECTED], None: []}[answer.verdict]
    lines = [f"{label}: {value}" for label, value in forms.answered_lines(form.form, answer)]
    return "\n".join([*verdict, *lines]) or FORM_SENT_UNCHANGED
