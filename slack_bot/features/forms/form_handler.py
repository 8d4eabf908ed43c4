"""The forms of agents and the turns that answer them: who may, that it is done once, what stands there then.

What is typed in the thread answers a form as well, when its turn comes. Buttons are in `form_presses`.
"""

import asyncio
import logging
from dataclasses import replace
from typing import Any

from ...errors import AgentError, StoreError
from ...observe.facts import FormAnswered
from ...slack import forms
from ...slack.form_messages import write_record
from ...store.knowledge import conversation, form_of, forms_in, save_conversation, take_form
from ...text.words import (
    DECIDE_BY_BUTTON,
    FORM_ANSWER_TOO_LATE,
    FORM_EXPIRED,
    FORM_NOT_NEEDED,
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
from ...turn.progress import Stage
from ...turn.quotes import having_heard
from ...turn.record import Question, ThreadKey

_log = logging.getLogger(__name__)

_DAY = 86_400.0


class FormAccess:
    """Who may answer forms, and how long: for `days` after they were shown."""

    def __init__(self, common: CommonParts) -> None:
        self._policies, self._groups = common.policies, common.people
        self._clock, self._days = common.clock, common.settings.store.form_days

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
        groups = [each for each in approvers if each.startswith("S")]
        members = await asyncio.gather(*map(self._groups.members, groups))
        if any(user in each for each in members if each is not None):
            return None
        return NOT_AN_APPROVER if is_approval else NOT_YOURS_TO_ANSWER

    def has_approvers(self, thread: ThreadKey) -> bool:
        """Approvals are not their askers' alone to decide in its channel."""
        return bool(self._policies.of(thread.channel).approvers)

    async def decides_for_asker(self, form: OpenForm, user: str) -> bool:
        """Whether `user` is an approver of what another person has asked for."""
        is_approval = form.is_open and form.form.kind is FormKind.APPROVAL
        return is_approval and form.user != user and await self.refusal(form, user) is None


class FormHandler(FormAnswers):
    """What forms mean for turns."""

    can_be_answered = True

    def __init__(self, common: CommonParts) -> None:
        self._agent, self._store, self._notices = common.agent, common.store, common.notices
        self._access, self._clock = FormAccess(common), common.clock
        self._observer, self._spawn = common.observer, common.background.spawn

    async def before(self, turn: TurnJournal) -> str | None:
        """The form that the question answers is taken for it. Raises StoreError."""
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
        if asked.handle or not asked.user or not self._access.has_approvers(asked.thread):
            return None
        for form in await forms_in(self._store, asked.thread):
            if await self._access.decides_for_asker(form, asked.user):
                return DECIDE_BY_BUTTON
        return None

    async def words_withheld(self, reply: Question) -> str | None:
        """It counts as heard by the agent, so that no later question quotes it. Raises StoreError."""
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
        """Only where there is something to press: else the word is an answer as any other."""
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
        """Raises StoreError."""
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
        self._spawn(self._cancel(form))
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
        """What the store does is only logged."""
        if not turn.form.handle:
            return
        try:
            form = await take_form(self._store, turn.form.handle, turn.record.key, "", self._clock.wall())
        except StoreError as error:
            _log.error("a form was not closed: %s", error, extra={"turn": turn.record.key})
            return
        if form is not None and form.taken_by == turn.record.key:
            self._write(form, forms.note_of_end(FORM_NOT_NEEDED))

    def _write(self, form: OpenForm, under: list[dict[str, Any]]) -> None:
        self._spawn(self._record(form, under))

    async def _record(self, form: OpenForm, under: list[dict[str, Any]]) -> None:
        if form.message is None:
            return
        asked = Question(form.thread, form.message.ts, form.user, form.user_team, "")
        writer = self._notices.writer(asked, form.turn)
        if not await writer.carry_out(write_record(writer.calls, form.message, under)):
            _log.warning("a form stands as it was, though it is answered", extra={"turn": form.turn})


def _wants_secret(form: OpenForm, user: str) -> bool:
    return form.is_open and form.form.has_secrets and form.user in ("", user)
