"""Answers to the forms of agents: who may give them, that they are given once, and what stands there then.

An answer becomes a question whose key is that of the form's message: it is accepted once, by whichever
process, and lives on with the store. What is typed in the thread answers a form as well, when its turn comes.
"""

import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..agents.agent import Agent
from ..clock import Clock
from ..errors import AgentError, StoreError
from ..observe.facts import FormAnswered, Observer
from ..settings.channels import ChannelPolicies
from ..slack import forms
from ..slack.form_messages import send_sign_in, write_record
from ..slack.people import People
from ..store.contracts import Store
from ..store.knowledge import conversation, form_of, forms_in, save_conversation, take_form
from ..text.words import (
    DECIDE_BY_BUTTON,
    FORM_ANSWER_TOO_LATE,
    FORM_ANSWERED,
    FORM_EXPIRED,
    FORM_FORGOTTEN,
    FORM_NOT_NEEDED,
    FORM_NOT_OPENED,
    FORM_SENT_UNCHANGED,
    FORM_STOPPED,
    FORM_STOPPED_TASK_GOES_ON,
    LINK_NOT_SENT,
    NOT_AN_APPROVER,
    NOT_YOURS_TO_ANSWER,
    ONLY_IN_FORM,
    USE_BUTTONS,
)
from ..turn.form import Answer, FormKind, Verdict, answer_of, check
from ..turn.open_form import FormAction, FormPress, OpenForm
from ..turn.progress import Stage
from ..turn.quotes import having_heard
from ..turn.record import Question, ThreadKey
from .journal import TurnJournal
from .notices import Notices

_log = logging.getLogger(__name__)

_DAY = 86_400.0
_Spawn = Callable[[Coroutine[Any, Any, None], Question | None], object]


class FormAccess:
    """Who may answer forms, and how long: for `days` after they were shown."""

    def __init__(self, policies: ChannelPolicies, groups: People, clock: Clock, days: float) -> None:
        self._policies, self._groups, self._clock, self._days = policies, groups, clock, days

    async def refusal(self, form: OpenForm, user: str) -> str | None:
        """Why `user` may not answer; None: they may. Of an approval only approvers, where there are some."""
        if self._clock.wall() - form.opened_at > self._days * _DAY:
            return FORM_EXPIRED
        is_asker = form.user in ("", user)
        approvers = self._policies.of(form.thread.channel).approvers
        is_approval = form.form.kind is FormKind.APPROVAL
        if form.form.is_auth or not approvers or (is_asker and not is_approval):
            return None if is_asker else NOT_YOURS_TO_ANSWER
        if user in approvers:
            return None
        for group in approvers:
            if group.startswith("S") and user in (await self._groups.members(group) or ()):
                return None
        return NOT_AN_APPROVER if is_approval else NOT_YOURS_TO_ANSWER

    async def decides_for_asker(self, form: OpenForm, user: str) -> bool:
        """Whether `user` is an approver of what another person has asked for."""
        is_approval = form.is_open and form.form.kind is FormKind.APPROVAL
        return is_approval and form.user != user and await self.refusal(form, user) is None


@dataclass(frozen=True, slots=True)
class FormReply:
    """What became of a press or a modal. `words` are for the person; `errors` for inputs, by block."""

    words: str | None = None
    errors: Mapping[str, str] | None = None


class FormHandler:
    """Takes answers. `accept` takes a question: the dispatcher's."""

    def __init__(
        self,
        agent: Agent,
        store: Store,
        notices: Notices,
        access: FormAccess,
        clock: Clock,
        observer: Observer,
        accept: Callable[[Question], Awaitable[bool]],
        spawn: _Spawn,
    ) -> None:
        self._agent, self._store, self._notices, self._access = agent, store, notices, access
        self._clock, self._observer, self._accept, self._spawn = clock, observer, accept, spawn

    # -- buttons and modals

    async def channel_of(self, handle: str) -> str:
        """Where the form stands; "": it is not known. Raises StoreError."""
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
        if await self._accept(question):
            try:
                await take_form(self._store, form.handle, question.key, press.user, self._clock.wall())
            except StoreError as error:  # `before` takes it
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

    # -- before a turn, and instead of one

    async def before(self, turn: TurnJournal) -> str | None:
        """The form that the question answers is taken for it. Else what its asker is told: then the question
        is not asked. Raises StoreError.
        """
        asked = turn.record.question
        if turn.record.stage is not Stage.ACCEPTED:
            return None
        if (form := await self._form_of(asked)) is None:
            return await self._instead_of_press(asked)
        if asked.answer is None:
            if form.form.has_secrets:
                return ONLY_IN_FORM
            if not form.form.takes_words:
                return USE_BUTTONS
            turn.answers(form)
        by, user = replace(asked, attempt=0).key, asked.answered_by or asked.user
        taken = await take_form(self._store, form.handle, by, user, self._clock.wall())
        if taken is not None and taken.taken_by != by:
            return FORM_ANSWER_TOO_LATE
        self._observer(FormAnswered(self._clock.monotonic(), asked.key, taken or form))
        if taken is not None and forms.has_controls(form.form):
            under = forms.record_of(form.form, asked.answer, user, taken.ended_at or self._clock.wall())
            self._write(form, under)
        return None

    async def _instead_of_press(self, asked: Question) -> str | None:
        """What an approver is told who writes where their decision is waited for.

        The agent would get the words in the same context, and might take them for the decision.
        """
        if asked.handle or not asked.user:
            return None
        for form in await forms_in(self._store, asked.thread):
            if await self._access.decides_for_asker(form, asked.user):
                return DECIDE_BY_BUTTON
        return None

    async def words_withheld(self, reply: Question) -> str | None:
        """What the person is told who wrote `reply` where a form waits for a secret of them.

        Nothing of it may be stored or sent. None: there is no such form.

        It counts as heard by the agent, so that no later question quotes it. Raises StoreError.
        """
        thread = reply.thread
        if reply.ts == thread.ts or reply.is_stop_word:
            return None
        if not any(_wants_secret(each, reply.user) for each in await forms_in(self._store, thread)):
            return None
        known = await conversation(self._store, self._agent.name, thread)
        told = replace(known, heard=having_heard(known.heard, (reply.ts,), None))
        await save_conversation(self._store, self._agent.name, thread, told, self._clock.wall())
        return ONLY_IN_FORM

    async def _form_of(self, asked: Question) -> OpenForm | None:
        if asked.handle:
            return await form_of(self._store, asked.handle)
        if asked.task_id is None:
            return None
        there = await forms_in(self._store, asked.thread)
        return next((each for each in there[::-1] if each.is_open and each.task_id == asked.task_id), None)

    async def is_stop(self, turn: TurnJournal) -> bool:
        """The asker ends the task that waits, in the word that ends answers."""
        asked = turn.record.question
        if asked.answer is not None or not asked.is_stop_word or turn.record.stage is not Stage.ACCEPTED:
            return False
        form = await self._form_of(asked)
        return (
            form is not None
            and forms.has_controls(form.form)
            and await self._stop(form, asked.key, asked.user)
        )

    async def stop(self, thread: ThreadKey, user: str) -> bool:
        """End the tasks that wait for `user` in a thread where nothing runs. False: there is none."""
        there = [
            each
            for each in await forms_in(self._store, thread)
            if each.is_open and forms.has_controls(each.form)
        ]
        stopped = [await self._stop(form, "stop", user) for form in there if form.user in ("", user)]
        known = await conversation(self._store, self._agent.name, thread)
        if any(stopped):
            await save_conversation(
                self._store, self._agent.name, thread, known.answered(user), self._clock.wall()
            )
        return any(stopped)

    async def _stop(self, form: OpenForm, by: str, user: str) -> bool:
        taken = await take_form(self._store, form.handle, by, user, self._clock.wall())
        if taken is None or taken.taken_by != by:
            return False
        self._spawn(self._cancel(form), None)
        return True

    async def _cancel(self, form: OpenForm) -> None:
        note = FORM_STOPPED
        if form.task_id:
            try:
                await self._agent.in_conversation(form.thread).task("cancel", form.task_id)
            except AgentError as error:
                note = FORM_STOPPED_TASK_GOES_ON
                _log.info("a task was not cancelled: %s", error.brief, extra={"task": form.task_id})
        await self._record(form, forms.note_of_end(note))

    async def close(self, turn: TurnJournal) -> None:
        """The turn that asked has ended, and nobody is to answer any more."""
        if not turn.opened:
            return
        try:
            form = await take_form(self._store, turn.opened, turn.record.key, "", self._clock.wall())
        except StoreError as error:
            _log.error("a form was not closed: %s", error, extra={"turn": turn.record.key})
            return
        if form is not None and form.taken_by == turn.record.key:
            self._write(form, forms.note_of_end(FORM_NOT_NEEDED))

    def _write(self, form: OpenForm, under: list[dict[str, Any]]) -> None:
        self._spawn(self._record(form, under), None)

    async def _record(self, form: OpenForm, under: list[dict[str, Any]]) -> None:
        if form.message is None:
            return
        asked = Question(form.thread, form.message.ts, form.user, form.user_team, "")
        client = self._notices.client(asked)
        client.turn = form.turn
        if not await write_record(client, form.message, under):
            _log.warning("a form stands as it was, though it is answered", extra={"turn": form.turn})


def _wants_secret(form: OpenForm, user: str) -> bool:
    return form.is_open and form.form.has_secrets and form.user in ("", user)


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
    return FORM_ANSWERED.format(who=f" by <@{form.ended_by}>" if form is not None and form.ended_by else "")


def _text(form: OpenForm, answer: Answer) -> str:
    """The answer in words, secrets masked."""
    verdict = {Verdict.APPROVE: ["Approved"], Verdict.REJECT: ["Rejected"], None: []}[answer.verdict]
    lines = [f"{label}: {value}" for label, value in forms.answered_lines(form.form, answer)]
    return "\n".join([*verdict, *lines]) or FORM_SENT_UNCHANGED
