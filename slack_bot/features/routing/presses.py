"""The buttons by which an asker chooses the agent of a question."""

import logging
from collections.abc import Iterator
from functools import partial

from ...errors import StoreError
from ...inbound.access import HourlyQuestions
from ...inbound.buttons import Afterwards, Button, PressReply
from ...inbound.read import Press
from ...text.words import CHOICE_IS_OVER, CHOICE_WAS_MADE, NOT_YOURS_TO_CHOOSE, PRESS_NOT_TAKEN
from ...threads.threads import Threads
from ...turn.buttons import TurnButton
from ...turn.record import Question
from .choices import AgentChoices, OpenChoice
from .choose import Reason
from .router import Router

_log = logging.getLogger(__name__)


class ChoicePresses:
    """Handles a press on the name of an agent. `hourly` limits how many questions are asked."""

    def __init__(self, router: Router, threads: Threads, hourly: HourlyQuestions) -> None:
        self._router, self._threads = router, threads
        self._hourly = hourly
        self._choices: AgentChoices = router.choices

    def buttons(self) -> Iterator[Button]:
        yield Button(
            TurnButton.CHOOSE_AGENT,
            self.press,
            failure="a chosen agent was not asked: %s",
            sorry=PRESS_NOT_TAKEN,
        )

    async def press(self, press: Press) -> PressReply:
        """Ask the agent, if the press is its asker's and the first. Raises BotError."""
        agent = press.value.rpartition("|")[0]
        choice = await self._choices.find(press.turn) if press.turn else None
        if choice is None or agent not in choice.agents:
            return PressReply(CHOICE_IS_OVER)
        question = choice.question
        if not question.is_of(press.user):
            return PressReply(NOT_YOURS_TO_CHOOSE)
        if (words := await self._router.why_not(question, agent)) is not None:
            return PressReply(words)
        limit = await self._hourly.refusal(
            question.user, question.thread.channel, question.thread.team, question.key
        )
        if limit is not None:
            return PressReply(limit.words)
        is_new = await ask_agent(self._threads, question, agent, Reason.ASKER)
        return PressReply(
            None if is_new else CHOICE_WAS_MADE,
            afterwards=Afterwards(
                partial(self._close, choice, agent), failure="a choice still shows its buttons: %s"
            ),
        )

    async def _close(self, choice: OpenChoice, agent: str) -> bool:
        await self._choices.close(choice, agent)
        return False


async def ask_agent(threads: Threads, question: Question, agent: str, reason: Reason) -> bool:
    """Ask `agent`, which a person has chosen. False: the question was asked before. Raises BotError."""
    is_new = await threads.intake.accept(question, agent, reason)
    extra = {"turn": question.key, "thread_ts": question.thread.ts}
    if is_new:
        _log.info("the question is for %s: %s", agent, reason, extra=extra)
    try:
        await threads.follow.taken(question, is_mention=True, is_awaited=False)
    except StoreError as error:
        _log.log(error.log_level, "that a thread goes on was not stored: %s", error, extra=extra)
    return is_new
