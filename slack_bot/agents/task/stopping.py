"""Ending a task, of which its reader is told the truth; and the next question where the agent works on.

Agents acknowledge a cancel and go on, answer it only when the task is over (fasta2a), or know no cancel
(facts: A2A 2.7). The turn waits for none of that. Where the next question of the conversation is refused for
it, it is asked once more when that task has ended (D5: it was not taken).
"""

import asyncio
from collections.abc import Mapping
from itertools import chain, repeat

from ... import errors
from ...settings.models import AgentSettings
from ...text.words import STOP_NOT_OFFERED, STOPPED, STOPPED_AFTER_END, STOPPED_GOES_ON, STOPPED_MAY_GO_ON
from ..agent import Agent
from ..recovery_policy import NOT_CANCELABLE, NOT_OFFERED, TASK_NOT_FOUND
from .stream_consumer import TurnHandle

_REFUSED: Mapping[int, str] = {
    NOT_CANCELABLE: STOPPED_AFTER_END,
    TASK_NOT_FOUND: STOPPED,  # an agent that was restarted does not work on it any more
    **dict.fromkeys(NOT_OFFERED, STOP_NOT_OFFERED),
}
_INTERNAL = -32603
_BUSY = frozenset({408, 409, 423, 425, 429, 503})
"""HTTP: the question was not taken, for now."""


class StoppedTasks:
    """Cancels the tasks of one conversation, and knows the one that works on."""

    def __init__(self, agent: Agent, settings: AgentSettings, handle: TurnHandle) -> None:
        self._agent, self._conversation = agent, agent.conversation.key
        self._settings, self._handle = settings, handle

    async def cancel(self, task_id: str) -> tuple[str, str | errors.AgentError]:
        """Ask the agent to end it. What the reader is told, and why."""
        is_repeated = self._agent.stopped.task_of(self._conversation) == task_id
        self._agent.stopped.note(self._conversation, task_id)
        try:
            async with asyncio.timeout(self._settings.cancel_wait):
                task = await self._agent.task("cancel", task_id)
        except TimeoutError:
            return STOPPED_GOES_ON, "the agent did not answer the stop in time"
        except errors.AgentError as error:
            code = error.code if isinstance(error, errors.AgentFailed) else None
            if code in (NOT_CANCELABLE, TASK_NOT_FOUND):
                self._agent.stopped.note(self._conversation, None)
            if code == NOT_CANCELABLE and is_repeated:
                return STOPPED, "the agent has stopped since it was asked to"
            return STOPPED_MAY_GO_ON if code is None else _REFUSED.get(code, STOPPED_MAY_GO_ON), error
        if not task.state.is_terminal:
            return STOPPED_GOES_ON, f"the agent was asked to stop, and its task is {task.state}"
        self._agent.stopped.note(self._conversation, None)
        return STOPPED, "the agent stopped"

    async def cancel_early(self, task_id: str) -> None:
        """Ask the agent to end it now. `cancel` follows, and finds a task that has ended for this."""
        note, _ = await self.cancel(task_id)
        if note == STOPPED:
            self._agent.stopped.note(self._conversation, task_id)

    def is_refused_for_it(self, error: errors.AgentError) -> bool:
        """A question was not taken, while a stopped task may work on."""
        if self._agent.stopped.task_of(self._conversation) is None:
            return False
        match error:
            case errors.AgentRefused(status=status):
                return status in _BUSY
            case errors.AgentFailed(code=code):
                return code != _INTERNAL  # which may be the end of what had begun
            case _:
                return False

    async def works_on(self) -> bool:
        """Ask for the stopped task, if there is one. It is forgotten once it does not work any more."""
        task_id = self._agent.stopped.task_of(self._conversation)
        if task_id is None:
            return False
        try:
            task = await self._handle.race(self._agent.task("get", task_id))
        except errors.AgentError:
            task = None  # nobody can tell
        if task is None or task.state.is_terminal or task.state.is_asking:
            self._agent.stopped.note(self._conversation, None)
            return False
        return True

    async def wait(self) -> None:
        """Return when it has ended, or the turn is left."""
        steps = self._settings.poll_intervals
        pauses = chain(steps, repeat(steps[-1]))
        while not self._handle.must_exit and await self.works_on():
            await self._handle.race(asyncio.sleep(next(pauses)))
