"""The button *Also send to channel* below an answer: its text and a link, once, posted for its asker.

The order is kept in the store, so that a process that ends leaves it to the next one, which looks for the
post before it is made again.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass

from ...agents.agents import Agents
from ...errors import BotError
from ...inbound.buttons import Afterwards, Button, PressReply
from ...inbound.read import Press
from ...slack.blocks import shorten
from ...slack.faults import CallOk
from ...slack.methods import Priority
from ...slack.reconcile import SKEW
from ...slack.surfaces import PostSurface
from ...store.collection import Collection, KeptPerson, Key
from ...text.feature_words import (
    NOT_YOURS_TO_SHARE,
    SHARED,
    SHARED_ALREADY,
    SHARED_ANSWER,
    SHARED_REST,
    STAYS_HERE,
)
from ...text.words import PRESS_NOT_TAKEN, QUESTION_FORGOTTEN
from ...threads.ports import CommonParts
from ...turn.buttons import TurnButton
from ...turn.progress import TurnRecord
from ...turn.record import Outcome, Question, ThreadKey
from ..due_posts import DuePosts, KeptPost
from ..feature import BotParts, Feature, FeatureWork

_log = logging.getLogger(__name__)

_MOST_TEXT = 3_000  # characters of an answer in the channel; the rest is in the thread
_FAILURE = "an answer was not sent to its channel: %s"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAnswer(KeptPost):
    """An answer that goes to the channel too. `turn`: the key of its turn. `link`: of the question."""

    turn: str
    thread: ThreadKey
    user: str
    link: str


SHARED_ANSWERS = Collection(
    "shared_answers",
    SharedAnswer,
    age=lambda ages: ages.turns,
    since=lambda record: record.at,
    thread=lambda _, record: record.thread,
    people=lambda _, record: [KeptPerson(record.user, record.thread.team)],
    due=lambda record: record.due,
    label="answers that were sent to a channel",
)
"""By the key of the turn."""


class AnswerSharing:
    """Handles the button, and makes the posts."""

    def __init__(self, common: CommonParts) -> None:
        self._agents, self._store, self._notices = common.agents, common.store, common.notices
        self._wall = common.clock.wall
        self._posts = DuePosts(common.store, SHARED_ANSWERS, common.clock.wall)
        self._interval = common.settings.store.outbound_interval

    def buttons(self) -> Iterator[Button]:
        yield Button(TurnButton.SHARE, self.press, failure=_FAILURE, sorry=PRESS_NOT_TAKEN)

    async def press(self, press: Press) -> PressReply:
        """Send the answer to the channel, once. Raises StoreError."""
        turn = await self._store.turn(press.turn) if press.turn else None
        if turn is None or turn.outcome is not Outcome.ANSWERED or not turn.text.strip():
            return PressReply(QUESTION_FORGOTTEN)
        if not turn.question.user or press.user != turn.question.user:
            return PressReply(NOT_YOURS_TO_SHARE)
        if _is_personal(self._agents, turn):
            return PressReply(STAYS_HERE)
        order = SharedAnswer(
            at=self._wall(),
            turn=turn.key,
            thread=turn.question.thread,
            user=press.user,
            link=turn.question.permalink(press.bot.url or "https://slack.com/"),
        )
        if not await self._posts.add(_key(order), order):
            return PressReply(SHARED_ALREADY)

        async def posting() -> bool:
            return await self._posts.make(_key(order), self._carry_out(order, is_again=False))

        return PressReply(SHARED, afterwards=Afterwards(posting, failure=_FAILURE))

    async def run(self) -> None:
        """Make the posts that a process that ended did not. Never returns."""

        async def again(order: SharedAnswer) -> None:
            await self._carry_out(order, is_again=True)

        await self._posts.run(_key, again, self._interval)

    async def _carry_out(self, order: SharedAnswer, *, is_again: bool) -> bool:
        """False: so the person reads that it is done; a failure is only logged, and tried again."""
        try:
            turn = await self._store.turn(order.turn)
            ts = "" if turn is None else await self._post(order, turn, is_again=is_again)
            await self._posts.note(_key(order), ts)
        except BotError as error:
            _log.warning("an answer is sent to its channel later: %s", error, extra={"turn": order.turn})
        return False

    async def _post(self, order: SharedAnswer, turn: TurnRecord, *, is_again: bool) -> str:
        """Returns the `ts` of the post; "": Slack did not take it."""
        place = ThreadKey(order.thread.team, order.thread.channel, "")
        about = Question(place, f"{turn.question.ts} shared", order.user, order.thread.team, "")
        writer = self._notices.writer(about, priority=Priority.BACKGROUND)
        text = turn.text.strip()
        body = shorten(text, _MOST_TEXT)
        parts = [SHARED_ANSWER.format(order.user, order.link), body]
        parts += [SHARED_REST.format(order.link)] if body != text else []
        posts = PostSurface(writer.calls, since=order.at - SKEW)
        post = posts.post("\n\n".join(parts), (), (), "shared", is_again=is_again)
        result = await writer.carry_out(post)
        return result.ts if isinstance(result, CallOk) else ""


def _is_personal(agents: Agents, turn: TurnRecord) -> bool:
    """Whether the answer may show what only its asker may read."""
    agent = agents.get(turn.agent)
    return agent is None or agent.settings.is_personal


def _key(order: SharedAnswer) -> Key:
    return (order.turn,)


def start(bot: BotParts) -> FeatureWork:
    """Let askers send answers to their channel, where a channel lets them."""
    sharing = AnswerSharing(bot.common)
    is_on = True in bot.common.policies.values("share")
    return FeatureWork(tuple(sharing.buttons()), run=sharing.run if is_on else None)


FEATURE = Feature("share", start, collections=(SHARED_ANSWERS,))
