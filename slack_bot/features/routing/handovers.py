"""Asks another agent what was asked before: in a thread of its own, which begins with what was said.

The order is kept in the store, so that a process that ends leaves it to the next one; the post that begins
the thread is looked for before it is made again, and the question is accepted once.
"""

import logging
import uuid
from dataclasses import dataclass, field

from ...errors import BotError
from ...slack.blocks import shorten
from ...slack.faults import CallOk
from ...slack.methods import Priority
from ...slack.reconcile import SKEW
from ...slack.surfaces import PostSurface
from ...store.collection import Collection, KeptPerson, Key
from ...text.sanitize import sanitize
from ...text.words import ANOTHER_IS_ASKED, ASKED_BEFORE, ASKED_BEFORE_BARE, ASKS_ANOTHER, QUOTE_FOR_AGENT
from ...threads.looks import shown_name
from ...threads.ports import CommonParts
from ...threads.threads import Threads
from ...turn.progress import TurnRecord
from ...turn.record import Question, ThreadKey
from ..due_posts import DuePosts, KeptPost
from .choose import Reason
from .presses import ask_agent

_log = logging.getLogger(__name__)

_SHOWN = 300  # characters of the question in the thread that begins
_QUOTED = 4_000  # characters of an answer that go to the other agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover(KeptPost):
    """A person's order to ask `agent` `text`, after an answer of `agent_before`.

    `origin`: the question that was answered, `said`: the answer. `link`: of that question.
    """

    origin: Question
    agent_before: str
    agent: str
    user: str
    user_team: str
    text: str
    said: str
    link: str
    handle: str = field(default_factory=lambda: uuid.uuid4().hex)


HANDOVERS = Collection(
    "handovers",
    Handover,
    age=lambda ages: ages.dedupe,
    since=lambda handover: handover.at,
    thread=lambda _, handover: handover.origin.thread,
    people=lambda _, handover: [
        KeptPerson(user, handover.origin.thread.team)
        for user in {handover.user, handover.origin.user}
        if user
    ],
    due=lambda handover: handover.due,
    label="questions that were given to another agent",
)
"""By handle. A person who is erased takes the whole of it along."""


class Handovers:
    """Carries out such orders. `workspace`: the address of the workspace."""

    def __init__(self, common: CommonParts, threads: Threads) -> None:
        self._agents, self._notices = common.agents, common.notices
        self._wall, self._spawn = common.clock.wall, common.background.spawn
        self._posts = DuePosts(common.store, HANDOVERS, common.clock.wall)
        self._interval, self._threads = common.settings.store.outbound_interval, threads

    async def give(
        self, turn: TurnRecord, person: tuple[str, str], agent: str, text: str, *, workspace: str, handle: str
    ) -> None:
        """Ask `agent` `text`, as `person` (user and workspace) ordered it below the answer of `turn`. Once
        for each `handle`. Raises StoreError.
        """
        user, team = person
        order = Handover(
            at=self._wall(),
            origin=turn.question,
            agent_before=turn.agent,
            agent=agent,
            user=user,
            user_team=team,
            text=text,
            said=self.quote_of(turn, user),
            link=turn.question.permalink(workspace),
            handle=handle,
        )
        if await self._posts.add(_key(order), order):
            self._spawn(self._posts.make(_key(order), self._carry_out(order, is_again=False)), turn.key)

    def quote_of(self, turn: TurnRecord, user: str) -> str:
        """What of the answer goes to another agent by the order of `user`: where it was made with its asker's
        rights, nothing, unless the asker orders it.
        """
        agent = self._agents.get(turn.agent)
        may_quote = turn.question.is_of(user) or (agent is not None and not agent.settings.is_personal)
        return turn.text[:_QUOTED] if may_quote and turn.text.strip() else ""

    async def run(self) -> None:
        """Carry out what a process that ended did not. Never returns."""
        await self._posts.run(_key, lambda order: self._carry_out(order, is_again=True), self._interval)

    async def _carry_out(self, order: Handover, *, is_again: bool) -> None:
        try:
            ts = await self._begin_thread(order, is_again=is_again)
            if ts:
                await self._ask(order, ts)
            await self._posts.note(_key(order), ts)
        except BotError as error:
            _log.warning("another agent is asked later: %s", error, extra={"turn": order.origin.key})

    async def _begin_thread(self, order: Handover, *, is_again: bool) -> str:
        """Returns the `ts` of its first message; "": Slack did not take it."""
        thread = order.origin.thread
        place = ThreadKey(thread.team, thread.channel, "")
        post = Question(place, order.handle, order.user, order.user_team, order.text)
        writer = self._notices.writer(post, priority=Priority.START)
        name, before = (shown_name(self._agents, each) for each in (order.agent, order.agent_before))
        words = "\n\n".join(
            [
                ASKS_ANOTHER.format(order.user, name),
                _quoted(shorten(sanitize(order.text), _SHOWN)),
                (ASKED_BEFORE if order.said else ASKED_BEFORE_BARE).format(before, order.link),
            ]
        )
        posts = PostSurface(writer.calls, since=order.at - SKEW)
        result = await writer.carry_out(posts.post(words, (), (), "handover", is_again=is_again))
        return result.ts if isinstance(result, CallOk) else ""

    async def _ask(self, order: Handover, ts: str) -> None:
        old = order.origin
        thread = ThreadKey(old.thread.team, old.thread.channel, ts)
        parts = [QUOTE_FOR_AGENT.format(shown_name(self._agents, order.agent_before)), _quoted(old.text)]
        parts += [_quoted(order.said)] if order.said.strip() else []
        text = "\n\n".join([order.text, *parts])
        question = Question(thread, ts, order.user, order.user_team, text, is_ext_shared=old.is_ext_shared)
        if await ask_agent(self._threads, question, order.agent, Reason.ANOTHER):
            link = question.permalink(order.link.partition("/archives/")[0])
            words = ANOTHER_IS_ASKED.format(shown_name(self._agents, order.agent), link)
            self._spawn(
                self._notices.post_ephemeral(old.thread, order.user, words),
                question.key,
            )


def _key(order: Handover) -> Key:
    return (order.handle,)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())
