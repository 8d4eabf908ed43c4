"""The buttons below forms, and the modals that they open. An answer becomes a question, once.

The key of that question is made from the form's message. So one process accepts it, once, and it outlives a
restart.
"""

import logging
from collections.abc import Iterator
from dataclasses import replace

from ...errors import StoreError
from ...inbound.buttons import Button, PressReply
from ...inbound.read import Press
from ...slack import forms
from ...slack.form_messages import send_sign_in
from ...store.knowledge import form_of, take_form
from ...text.words import (
    FORM_ANSWER_NOT_STORED,
    FORM_ANSWERED,
    FORM_ANSWERED_BY,
    FORM_APPROVED,
    FORM_FORGOTTEN,
    FORM_NOT_OPENED,
    FORM_REJECTED,
    FORM_SENT_UNCHANGED,
    LINK_NOT_SENT,
    SIGN_IN_LINK_OPENED,
)
from ...threads.intake import Intake
from ...threads.ports import CommonParts, ThreadPorts
from ...turn.form import Answer, FormKind, Verdict, answer_of, check
from ...turn.open_form import FormAction, FormPress, OpenForm
from ...turn.record import Question
from ..feature import BotParts, Feature, FeatureWork
from .form_handler import FormAccess, FormHandler

_log = logging.getLogger(__name__)

_OPEN_MODALS = [action for action in FormAction if action.opens_modal]


class FormPresses:
    """Handles presses on forms, and modals that people send."""

    def __init__(self, common: CommonParts, intake: Intake) -> None:
        self._store, self._notices, self._clock = common.store, common.notices, common.clock
        self._access, self._intake = FormAccess(common), intake

    def buttons(self) -> Iterator[Button]:
        """All buttons of forms, and all modals that they open; a modal has the name of its button."""
        for action in FormAction:
            yield Button(
                action,
                self.press,
                failure="an answer to a form was not stored: %s",
                sorry=FORM_ANSWER_NOT_STORED,
                opens_modal=action in _OPEN_MODALS,
                is_offer=action is FormAction.OPENED,
                channel_of=self._channel_of,
            )

    async def _channel_of(self, press: Press) -> str:
        """The channel of the form; "" if the form is not stored any more. Raises StoreError."""
        form = await form_of(self._store, press.value.partition("|")[0])
        return "" if form is None else form.thread.channel

    async def press(self, press: Press) -> PressReply:
        """Handle a button below a form, or a modal. Raises BotError."""
        form_press = form_press_of(press)
        if form_press is None:
            _log.warning("ignored: a form's button or modal without a handle")
            return PressReply()
        if form_press.action is FormAction.OPENED:  # no button is left of a sign-in that may be over soon
            return PressReply(SIGN_IN_LINK_OPENED if press.private_url else None)
        return await self._take(form_press)

    async def _take(self, press: FormPress) -> PressReply:
        form = await form_of(self._store, press.handle)
        if form is None or (words := await self._refusal(form, press)) is not None:
            return PressReply(FORM_FORGOTTEN if form is None else words)
        if press.action.opens_modal and not press.is_submission:
            return PressReply(await self._open(form, press))
        if press.action is FormAction.LINK:
            return PressReply(await self._send_link(form, press))
        answer = _answer(form, press)
        if not (faults := check(form.form, answer)):
            return PressReply(await self._give(form, press, answer))
        errors = forms.errors_by_block(form.form, faults) if press.is_submission else {}
        labels = {each.name: each.shown for each in form.form.fields}
        words = "\n".join(f"{labels.get(name, name)}: {why}" for name, why in faults.items())
        return PressReply(errors=errors) if errors else PressReply(words)

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
        is_open = await self._notices.open_view(form.thread.team, form.turn, press.trigger_id, view)
        return None if is_open else FORM_NOT_OPENED

    async def _send_link(self, form: OpenForm, press: FormPress) -> str | None:
        writer = self._notices.writer(self._asked(form, press))
        is_sent = await writer.carry_out(send_sign_in(writer.calls, form.form, press.user))
        return None if is_sent else LINK_NOT_SENT

    async def _give(self, form: OpenForm, press: FormPress, answer: Answer) -> str | None:
        """Accept an answer once.

        The question is stored first: a form that is taken without a question would be lost.
        """
        question = self._asked(form, press, answer)
        if await self._intake.accept(question):
            try:
                await take_form(self._store, form.handle, question.key, press.user, self._clock.wall())
            except StoreError as error:  # `FormHandler.before` takes it
                _log.warning("a form is taken later: %s", error, extra={"turn": question.key})
            return None
        return _answered(await form_of(self._store, form.handle))

    def _asked(self, form: OpenForm, press: FormPress, answer: Answer | None = None) -> Question:
        """The answer as a question of the asker, who may stop it. It has the `ts` of the form's message."""
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
    """Whether the form has such a button."""
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
    """The answer in words, with its secrets masked."""
    verdict = {Verdict.APPROVE: [FORM_APPROVED], Verdict.REJECT: [FORM_REJECTED], None: []}[answer.verdict]
    lines = [f"{label}: {value}" for label, value in forms.answered_lines(form.form, answer)]
    return "\n".join([*verdict, *lines]) or FORM_SENT_UNCHANGED


def form_press_of(press: Press) -> FormPress | None:
    """Read a press on a form; None if it names no form."""
    handle, _, choice = press.value.partition("|")
    if press.name not in set(FormAction) or not handle:
        return None
    return FormPress(
        action=FormAction(press.name),
        handle=handle,
        user=press.user,
        user_team=press.team,
        channel=press.channel,
        thread_ts=press.thread_ts,
        message_ts=press.message_ts,
        trigger_id=press.trigger,
        choice=choice,
        state=press.state,
        is_submission=press.is_modal,
    )


def serve_threads(common: CommonParts, ports: ThreadPorts) -> ThreadPorts:
    """Add buttons to the forms of agents, and let messages in the thread answer them."""
    return replace(ports, forms=FormHandler(common))


def start(bot: BotParts) -> FeatureWork:
    """Handle presses and modals of forms."""
    return FeatureWork(tuple(FormPresses(bot.common, bot.threads.intake).buttons()))


FEATURE = Feature("forms", start, serve_threads)
