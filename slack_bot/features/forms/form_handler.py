"""The forms of agents, and the turns that answer them: who may answer, that a form is answered only once, and
what its message shows afterwards.

A message in the thread can answer a form too, when its turn begins. The buttons are in `form_presses`.
"""

import asyncio
import logging
from dataclasses import replace
from typing import Any

from ...errors import AgentError, StoreError
from ...observe.facts import FormAnswered
from ...slack import forms
from ...slack.form_messages import write_record
from ...store.knowledge import form_of, forms_in, take_form
from ...text.words import (
    DECIDE_BY_BUTTON,
    FORM_ANSWER_TOO_LATE,
    FORM_EXPIRED,
    FORM_NOT_NEEDED,
    FORM_SIGN_IN_OVER,
    FORM_STOPPED,
    FORM_STOPPED_TASK_GOES_ON,
    NOT_AN_APPROVER,
    NOT_YOURS_TO_ANSWER,
    ONLY_IN_FORM,
    USE_BUTTONS,
)
from ...threads.journal import TurnJournal
from ...threads.ports import CommonParts, FormAnswers
from ...turn.form import FormKind
from ...turn.open_form import OpenForm
from ...turn.people import AskingPerson
from ...turn.progress import Stage
from ...turn.quotes import having_heard
from ...turn.record import Question, ThreadKey

_log = logging.getLogger(__name__)

_DAY = 86_400.0


class FormAccess:
    """Decides who may answer a form, and until when: `form_days` after it was shown."""

    def __init__(self, common: CommonParts) -> None:
        self._policies, self._workspaces = common.policies, common.workspaces
        self._clock, self._days = common.clock, common.settings.store.form_days

    async def refusal(self, form: OpenForm, user: str) -> str | None:
        """Why `user` may not answer; None if they may.

        If a channel has approvers, only they decide approvals.
        """
        if self._clock.wall() - form.opened_at > self._days * _DAY:
            return FORM_EXPIRED
        is_asker = form.user in ("", user)
        approvers = self._policies.of(form.thread.channel, form.thread.team).approvers
        is_approval = form.form.kind is FormKind.APPROVAL
        if form.form.is_auth or not approvers or (is_asker and not is_approval):
            return None if is_asker else NOT_YOURS_TO_ANSWER
        if user in approvers:
            return None
        groups = [each for each in approvers if each.startswith("S")]
        people = self._workspaces.people(form.thread.team)
        members = await asyncio.gather(*map(people.members, groups))
        if any(user in each for each in members if each is not None):
            return None
        return NOT_AN_APPROVER if is_approval else NOT_YOURS_TO_ANSWER

    def has_approvers(self, thread: ThreadKey) -> bool:
        """Whether the channel has approvers, so that an asker may not decide approvals."""
        return bool(self._policies.of(thread.channel, thread.team).approvers)

    async def decides_for_asker(self, form: OpenForm, user: str) -> bool:
        """Whether `user` is an approver, and the form an open approval for another person."""
        is_approval = form.is_open and form.form.kind is FormKind.APPROVAL
        return is_approval and form.user != user and await self.refusal(form, user) is None


class FormHandler(FormAnswers):
    """What forms mean for turns."""

    can_be_answered = True

    def __init__(self, common: CommonParts) -> None:
        self._agents, self._thread_agents = common.agents, common.thread_agents
        self._store, self._notices = common.store, common.notices
        self._access, self._clock = FormAccess(common), common.clock
        self._observer, self._spawn = common.observer, common.background.spawn

    async def before(self, turn: TurnJournal) -> str | None:
        """Called before a turn begins: takes the form that its question answers. Raises StoreError.

        Returns a notice for the asker if the question cannot be the answer, else None.
        """
        question = turn.record.question
        if turn.record.stage is not Stage.ACCEPTED:
            return None
        if (form := await self._form_of(question)) is None:
            return await self._instead_of_press(question)
        if question.answer is None:
            if form.form.has_secrets:
                return ONLY_IN_FORM
            if not form.form.takes_words:
                return USE_BUTTONS
            turn.answers(form)
        taken_by, user = replace(question, attempt=0).key, question.answered_by or question.user
        stored = await take_form(self._store, form.handle, taken_by, user, self._clock.wall())
        if stored is not None and stored.taken_by != taken_by:
            return FORM_ANSWER_TOO_LATE
        self._observer(FormAnswered(self._clock.monotonic(), question.key, stored or form))
        if stored is not None and forms.has_controls(form.form):
            under = forms.record_of(form.form, question.answer, user, stored.ended_at or self._clock.wall())
            self._write(form, under)
        return None

    async def _instead_of_press(self, question: Question) -> str | None:
        """The notice for an approver who writes in the thread while their decision is awaited.

        The agent would get the words in the same context, and might take them for the decision.
        """
        if question.handle or not question.user or not self._access.has_approvers(question.thread):
            return None
        for form in await forms_in(self._store, question.thread):
            if await self._access.decides_for_asker(form, question.user):
                return DECIDE_BY_BUTTON
        return None

    async def words_withheld(self, reply: Question) -> str | None:
        """The notice if `reply` may be the secret that a form asks for; None if not. Raises StoreError.

        Such a reply is marked as one that the agent has got, so that no later question quotes it.
        """
        thread = reply.thread
        if reply.ts == thread.ts or reply.is_stop_word:
            return None
        if not any(_wants_secret(each, reply.user) for each in await forms_in(self._store, thread)):
            return None
        context = await self._thread_agents.context_of(thread, reply.user)
        new_context = replace(context, heard=having_heard(context.heard, (reply.ts,), None))
        await self._thread_agents.save_context(thread, reply.user, new_context)
        return ONLY_IN_FORM

    async def _form_of(self, question: Question) -> OpenForm | None:
        if question.handle:
            return await form_of(self._store, question.handle)
        if question.task_id is None:
            return None
        thread_forms = await forms_in(self._store, question.thread)
        return next(
            (each for each in thread_forms[::-1] if each.is_open and each.task_id == question.task_id), None
        )

    async def is_stop(self, turn: TurnJournal) -> bool:
        """Whether the question is a "stop" that ended a form.

        Only forms with controls can be ended in this way.
        """
        question = turn.record.question
        if (
            question.answer is not None
            or not question.is_stop_word
            or turn.record.stage is not Stage.ACCEPTED
        ):
            return False
        form = await self._form_of(question)
        return (
            form is not None
            and forms.has_controls(form.form)
            and await self._stop(form, question.key, question.user)
        )

    async def stop(self, thread: ThreadKey, user: str) -> bool:
        """End the forms with controls that `user` was asked in the thread.

        True if there were any. Raises StoreError.
        """
        open_forms = [
            each
            for each in await forms_in(self._store, thread)
            if each.is_open and forms.has_controls(each.form)
        ]
        results = [await self._stop(form, "stop", user) for form in open_forms if form.user in ("", user)]
        if any(results):
            context = await self._thread_agents.context_of(thread, user)
            await self._thread_agents.save_context(thread, user, context.answered(user))
        return any(results)

    async def _stop(self, form: OpenForm, taken_by: str, user: str) -> bool:
        stored = await take_form(self._store, form.handle, taken_by, user, self._clock.wall())
        if stored is None or stored.taken_by != taken_by:
            return False
        self._spawn(self._cancel(form))
        return True

    async def _cancel(self, form: OpenForm) -> None:
        note = FORM_STOPPED
        if form.task_id:
            try:
                name = await self._thread_agents.of(form.thread)
                if (agent := self._agents.get(name or self._agents.default.name)) is not None:
                    asker = AskingPerson(form.thread.team, form.user) if form.user else None
                    await agent.in_conversation(form.thread, asker=asker).task("cancel", form.task_id)
            except AgentError as error:
                note = FORM_STOPPED_TASK_GOES_ON
                _log.info("a task was not cancelled: %s", error.brief, extra={"task": form.task_id})
        await self._record(form, forms.note_of_end(note))

    async def close(self, turn: TurnJournal) -> None:
        """Close the form that the turn opened, because it is not needed any more.

        Errors of the store are logged.
        """
        if not turn.form.handle:
            return
        try:
            form = await take_form(self._store, turn.form.handle, turn.record.key, "", self._clock.wall())
        except StoreError as error:
            _log.error("a form was not closed: %s", error, extra={"turn": turn.record.key})
            return
        if form is not None and form.taken_by == turn.record.key:
            is_auth = form.form.is_auth  # then nobody tells the bot whether somebody signed in
            self._write(form, forms.note_of_end(FORM_SIGN_IN_OVER if is_auth else FORM_NOT_NEEDED))

    def _write(self, form: OpenForm, under: list[dict[str, Any]]) -> None:
        self._spawn(self._record(form, under))

    async def _record(self, form: OpenForm, under: list[dict[str, Any]]) -> None:
        if form.message is None:
            return
        question = Question(form.thread, form.message.ts, form.user, form.user_team, "")
        writer = self._notices.writer(question, form.turn)
        if not await writer.carry_out(write_record(writer.calls, form.message, under)):
            _log.warning("a form stands as it was, though it is answered", extra={"turn": form.turn})


def _wants_secret(form: OpenForm, user: str) -> bool:
    return form.is_open and form.form.has_secrets and form.user in ("", user)
