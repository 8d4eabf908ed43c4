"""The buttons below an answer with the next questions that its agent suggests.

A press asks that question as the person who pressed, in the same thread. The question is in the button, so
nothing is kept for it; that it is asked once follows from its key.
"""

import hashlib
from collections.abc import Iterator

from ...inbound.access import HourlyQuestions
from ...inbound.buttons import Button, PressReply
from ...inbound.read import Press
from ...store.contracts import TurnStore
from ...text.words import NEXT_QUESTION_ASKED, NOT_YOURS_TO_ASK_NEXT, PRESS_NOT_TAKEN, QUESTION_FORGOTTEN
from ...threads.threads import Threads
from ...turn.buttons import TurnButton
from ...turn.progress import TurnRecord
from ...turn.record import Question, QuestionOrigin
from ..feature import BotParts, Feature, FeatureWork


class NextQuestions:
    """Handles the buttons. `hourly` limits how many questions are asked."""

    def __init__(self, store: TurnStore, threads: Threads, hourly: HourlyQuestions) -> None:
        self._store, self._threads, self._hourly = store, threads, hourly

    def buttons(self) -> Iterator[Button]:
        yield Button(
            TurnButton.NEXT_QUESTION,
            self.press,
            failure="a suggested question was not asked: %s",
            sorry=PRESS_NOT_TAKEN,
        )

    async def press(self, press: Press) -> PressReply:
        """Ask the question of the button, once, if its turn's asker pressed. Raises BotError."""
        number, _, rest = press.value.partition("|")
        text = rest.rpartition("|")[0]
        turn = await self._store.turn(press.turn) if press.turn else None
        if turn is None or not text:
            return PressReply(QUESTION_FORGOTTEN)
        if not turn.question.is_of(press.user):
            return PressReply(NOT_YOURS_TO_ASK_NEXT)
        question = next_question(turn, number, text, press.user, press.team)
        limit = await self._hourly.refusal(
            press.user, question.thread.channel, question.thread.team, question.key
        )
        if limit is not None:
            return PressReply(limit.words)
        is_new = await self._threads.intake.accept(question, turn.agent, turn.agent_reason)
        return PressReply(None if is_new else NEXT_QUESTION_ASKED)


def next_question(turn: TurnRecord, number: str, text: str, user: str, team: str) -> Question:
    """The question of `user`, who pressed the button with this number below the answer of `turn`.

    `team`: the person's workspace. Its key is the same at each press, and another one below each answer.
    """
    asked = turn.question
    digest = hashlib.sha256(turn.key.encode()).hexdigest()[:12]
    return Question(
        thread=asked.thread_in_slack,
        ts=asked.root or asked.ts,
        user=user,
        user_team=asked.user_team if asked.user == user else team or asked.thread.team,
        text=text,
        is_ext_shared=asked.is_ext_shared,
        origin=QuestionOrigin.SUGGESTION,
        variant=f"next{number}-{digest}",
    )


def start(bot: BotParts) -> FeatureWork:
    """Let askers go on with what their agent suggests."""
    handler = NextQuestions(bot.common.store, bot.threads, bot.hourly)
    return FeatureWork(tuple(handler.buttons()))


FEATURE = Feature("next_questions", start)
