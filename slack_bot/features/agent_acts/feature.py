"""The agent reacts with an emoji in the thread of its answer, where the channel allows that.

Each act is kept in the store before it is done, by its turn and what it is: so it is done once over all
processes, and a process that ends leaves it to the next one. What cannot be done is said once in the thread.
The bot does it as itself, never as the asker.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...errors import BotError
from ...slack.faults import CallFailed, CallOk
from ...slack.methods import Priority
from ...store.collection import Collection, Key
from ...text.act_words import ACT_FAILED, MESSAGE_ELSEWHERE, SLACK_REFUSES_ACT, THREAD_NOT_READ
from ...threads.ports import AgentActs, CommonParts, ThreadPorts
from ...turn.acts import AgentAct, TurnActs, new_acts, why_not
from ...turn.record import Question, ThreadKey
from ..due_posts import DuePosts, KeptPost
from ..feature import BotParts, Feature, FeatureWork

_log = logging.getLogger(__name__)

_THERE = "already_reacted"
_DONE = "done"
_FOR_GOOD = "failed"
"""Both are in `ts` of an act that is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAct(KeptPost):
    """An act of an agent. `turn`: the key of its turn. `on`: the `ts` of the message."""

    turn: str
    thread: ThreadKey
    kind: str
    name: str
    on: str
    is_addressed: bool = True


AGENT_ACTS = Collection(
    "agent_acts",
    KeptAct,
    age=lambda ages: ages.turns,
    since=lambda record: record.at,
    thread=lambda _, record: record.thread,
    due=lambda record: record.due,
    label="what agents did in Slack",
)
"""By the key of the turn, kind, name and message."""


class ActingAgents(AgentActs):
    """Keeps what agents ask for, and does it."""

    def __init__(self, common: CommonParts) -> None:
        self._common, self._policies, self._notices = common, common.policies, common.notices
        self._wall = common.clock.wall
        self._acts = DuePosts(common.store, AGENT_ACTS, common.clock.wall)

    def of_turn(self, question: Question, agent: str) -> TurnActs:
        """See `AgentActs`."""
        return _ActsOfTurn(self, question, frozenset(self._policies.of(question.thread.channel).actions))

    def now(self) -> float:
        """Seconds since 1970."""
        return self._wall()

    def begin(self, act: KeptAct) -> None:
        """Do `act` in the background."""
        self._common.background.spawn(self._begin(act), act.turn)

    def refuse(self, question: Question, act: AgentAct, reason: str, *, is_told: bool) -> None:
        """Log why an act is not done, and say it in the thread where people are to know."""
        extra = {"turn": question.key}
        _log.warning("the agent asked for an action that is not done: %s (%s)", act.kind, reason, extra=extra)
        if is_told:
            self._common.background.spawn(self._say(question, reason), question.key)

    async def run(self) -> None:
        """Do what a process that ended did not. Never returns."""
        await self._acts.run(_key, self._carry_out, self._common.settings.store.outbound_interval)

    async def _begin(self, act: KeptAct) -> None:
        try:
            if await self._acts.add(_key(act), act):
                await self._acts.make(_key(act), self._carry_out(act))
        except BotError as error:
            _log.warning("an action of the agent is not done: %s", error, extra={"turn": act.turn})

    async def _carry_out(self, act: KeptAct) -> None:
        question = Question(act.thread, act.on, "", act.thread.team, "", asker_is_bot=True)
        reason = await self._react(question, act)
        if reason is None:  # later
            await self._acts.note(_key(act), "")
            return
        await self._acts.note(_key(act), _FOR_GOOD if reason else _DONE)
        if not reason:
            _log.info("the agent reacted with :%s:", act.name, extra={"turn": act.turn})
            return
        self.refuse(
            replace(question, variant="act"), AgentAct(act.kind, act.name, act.on), reason,
            is_told=act.is_addressed,
        )  # fmt: skip

    async def _react(self, question: Question, act: KeptAct) -> str | None:
        """Returns "" once the reaction is there, why it cannot be, or None if it may work later."""
        writer = self._notices.writer(question, act.turn, priority=Priority.BACKGROUND)
        calls = writer.calls
        if act.on not in (act.thread.ts, ""):
            found = await writer.carry_out(calls.read_thread_once(float(act.on) - 1.0))
            if isinstance(found, CallFailed) or found is None:
                return None if found is None or not found.is_final else THREAD_NOT_READ
            if not any(each.get("ts") == act.on for each in found):
                return MESSAGE_ELSEWHERE
        args = {"channel": act.thread.channel, "timestamp": act.on, "name": act.name}
        result = await self._common.api.for_turn(act.turn, act.thread.ts, Priority.BACKGROUND).call(
            "reactions.add", args
        )
        if isinstance(result, CallOk) or result.error == _THERE:
            return ""
        return SLACK_REFUSES_ACT.format(result.error) if result.is_final else None

    async def _say(self, question: Question, reason: str) -> None:
        try:
            await self._notices.post(question, ACT_FAILED.format(reason))
        except BotError as error:
            _log.warning("that an action was not done was not said: %s", error, extra={"turn": question.key})


class _ActsOfTurn(TurnActs):
    """What the agent of one turn asked for so far. `allowed`: the kinds of acts of its channel."""

    def __init__(self, acting: ActingAgents, question: Question, allowed: frozenset[str]) -> None:
        self._acting, self._question, self._allowed = acting, question, allowed
        self._known: list[AgentAct] = []
        self._is_told = not question.is_addressed

    def take(self, acts: Sequence[AgentAct]) -> None:
        """See `TurnActs`. One line says what is refused; none does where the channel allows nothing."""
        for act in new_acts(acts, self._known):
            reason = why_not(act, self._allowed, len(self._known))
            self._known.append(act)
            if reason:
                is_told = not self._is_told and bool(self._allowed)
                self._is_told = self._is_told or is_told
                self._acting.refuse(self._question, act, reason, is_told=is_told)
                continue
            asked = self._question
            self._acting.begin(
                KeptAct(
                    at=self._acting.now(),
                    turn=asked.key,
                    thread=asked.thread_in_slack,
                    kind=act.kind,
                    name=act.name,
                    on=act.ts or asked.root or asked.ts,
                    is_addressed=asked.is_addressed,
                )
            )


def _key(act: KeptAct) -> Key:
    return (act.turn, act.kind, act.name, act.on)


def serve_threads(common: CommonParts, ports: ThreadPorts) -> ThreadPorts:
    """Let agents act, where a channel says what they may do."""
    return replace(ports, acts=ActingAgents(common))


def start(bot: BotParts) -> FeatureWork:
    """Do what a process that ended left, where some channel lets agents act."""
    if not any(bot.common.policies.values("actions")):
        return FeatureWork()
    acting = bot.threads.acts
    return FeatureWork(run=acting.run) if isinstance(acting, ActingAgents) else FeatureWork()


FEATURE = Feature("agent_acts", start, serve_threads, collections=(AGENT_ACTS,))
