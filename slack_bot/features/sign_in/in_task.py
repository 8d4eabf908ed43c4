"""Has people sign in whose agent wants it in the middle of a task (`auth-required`), by a scheme that the
settings know.

The agent gets the new token with a message into its task. That is a question of the asker: it waits until
they have signed in, as each question for this agent does, and is asked once, whichever replica is left.
"""

from __future__ import annotations

import logging

from ...errors import BotError
from ...observe.facts import Fact, FormShown
from ...text.sign_in_words import SIGN_IN_REPLY
from ...threads.background import TaskSet
from ...threads.intake import Intake
from ...turn.open_form import OpenForm
from ...turn.record import Question

_log = logging.getLogger(__name__)


class SignInsInTasks:
    """An observer: asks as soon as the agent's request is in the thread."""

    wants_details = False

    def __init__(self, intake: Intake, background: TaskSet) -> None:
        self._intake, self._background = intake, background

    def __call__(self, fact: Fact) -> None:
        if isinstance(fact, FormShown) and fact.form.form.schemes and fact.form.user:
            self._background.spawn(self._ask(fact.form), fact.turn)

    async def _ask(self, form: OpenForm) -> None:
        if form.message is None:
            return
        reply = Question(
            form.thread,
            form.message.ts,
            form.user,
            form.user_team,
            SIGN_IN_REPLY,
            context_id=form.context_id,
            task_id=form.task_id or None,
            form=form.form,
            handle=form.handle,
        )
        try:
            await self._intake.accept(reply)
        except BotError as error:
            _log.error("nobody was asked to sign in for a task: %s", error, extra={"turn": form.turn})
