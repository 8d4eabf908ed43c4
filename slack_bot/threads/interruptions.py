"""A new message of the asker ends the answer that runs: `busy = interrupt`.

Nothing is sent into a running task: servers drop it silently or begin a second run (facts: A2A 2.6). The task
is cancelled, and the message asked when it has ended. Where the agent does not let that happen, the message
waits as any other.
"""

import asyncio
import logging

from ..agents.agent import Agent
from ..errors import AgentError
from ..text.words import NOT_INTERRUPTED
from ..turn.record import Question
from .notices import Notices
from .thread_lines import RunningTurn, Spawn, ThreadLines

_log = logging.getLogger(__name__)


class Interruptions:
    """`timeout`: seconds for the agent to end its task."""

    def __init__(
        self, agent: Agent, lines: ThreadLines, notices: Notices, timeout: float, spawn: Spawn
    ) -> None:
        self._agent, self._lines, self._notices = agent, lines, notices
        self._timeout, self._spawn = timeout, spawn

    def begin(self, question: Question) -> None:
        """`question` interrupts the answer behind which it waits, if that is its asker's: once."""
        running = self._lines.get(question.thread)
        if running is None or running.question.key == question.key:
            return
        handle, is_theirs = running.handle, question.user == running.question.user != ""
        if is_theirs and handle.interruption is None and not handle.must_exit:
            handle.interruption = self._spawn(self._interrupt(running, question), question)

    async def _interrupt(self, running: RunningTurn, question: Question) -> None:
        handle, fields = running.handle, {"turn": running.turn.key, "thread_ts": question.thread.ts}
        try:
            async with asyncio.timeout(self._timeout):
                task_id = await handle.task_to_cancel()
                if task_id is None:  # it is over
                    return
                agent = self._agent.in_conversation(question.thread)
                task = await agent.task("cancel", task_id)
                if not task.state.is_terminal:
                    await handle.over.wait()
        except (AgentError, TimeoutError) as error:
            why = error.brief if isinstance(error, AgentError) else "no answer in time"
            _log.info("an answer could not be interrupted: %s", why, extra=fields)
            if not handle.over.is_set():
                place = question.thread.channel, question.thread.ts, question.user
                await self._notices.post_ephemeral(*place, NOT_INTERRUPTED)
            return
        self._lines.refer(question.key, question.thread, task_id)
        handle.interrupted_by = question.user
        handle.leave()
