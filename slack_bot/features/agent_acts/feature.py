"""The agent acts in Slack beside answering, where the channel allows that: it reacts with an emoji in the
thread of its answer, and posts into other channels.

Each act is kept in the store before it is done, by its turn and what it is: so it is done once over all
processes, and a process that ends leaves it to the next one. What cannot be done is said once in the thread,
and to the agent with the next question there. The bot does it as itself, never as the asker.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from ...errors import BotError, StoreError
from ...slack.faults import CallFailed, CallOk
from ...slack.methods import Priority
from ...text.feature_words import ACT_FAILED, MESSAGE_ELSEWHERE, SLACK_REFUSES_ACT, THREAD_NOT_READ
from ...threads.ports import AgentActs, CommonParts, ThreadPorts
from ...turn.acts import MOST_ACTS, POST, AgentAct, AllowedActs, TurnActs, new_acts, why_not
from ...turn.record import Question
from ..due_posts import DuePosts
from ..feature import BotParts, Feature, FeatureWork
from .posting import ChannelPosts, Later
from .records import AGENT_ACTS, DONE, REFUSED, KeptAct, key_of

_log = logging.getLogger(__name__)

_THERE = "already_reacted"


class ActingAgents(AgentActs):
    """Keeps what agents ask for, and does it."""

    def __init__(self, common: CommonParts) -> None:
        self._common, self._policies, self._notices = common, common.policies, common.notices
        self._store, self._wall = common.store, common.clock.wall
        self._acts = DuePosts(common.store, AGENT_ACTS, common.clock.wall)
        self._posts = ChannelPosts(common)

    def of_turn(self, question: Question, agent: str) -> TurnActs:
        """See `AgentActs`."""
        policy = self._policies.of(question.thread.channel, question.thread.team)
        return _ActsOfTurn(self, question, agent, AllowedActs(policy.acts, policy.post_places))

    async def refused(self, question: Question, agent: str) -> Sequence[Mapping[str, str]]:
        """See `AgentActs`."""
        if not self._policies.of(question.thread.channel, question.thread.team).acts:
            return ()
        told: list[Mapping[str, str]] = []
        try:
            for act in await self._store.in_thread(AGENT_ACTS, question.thread):
                if act.reason and act.agent == agent and act.told_with in ("", question.key):
                    await self._acts.change(key_of(act), partial(replace, told_with=question.key))
                    told.append(_for_agent(act))
        except StoreError as error:
            _log.log(error.log_level, "the agent is not told which actions were refused: %s", error)
        return told

    def now(self) -> float:
        """Seconds since 1970."""
        return self._wall()

    def begin(self, act: KeptAct) -> None:
        """Do `act` in the background."""
        self._common.background.spawn(self._begin(act), act.turn)

    def refuse(self, act: KeptAct, reason: str, *, is_told: bool, is_kept: bool) -> None:
        """Log why an act is not done. `is_told`: say it in the thread. `is_kept`: tell the agent later."""
        extra = {"turn": act.turn}
        _log.warning("the agent asked for an action that is not done: %s (%s)", act.kind, reason, extra=extra)
        if is_told:
            self._common.background.spawn(self._say(act, reason), act.turn)
        if is_kept:
            self._common.background.spawn(self._keep_refused(act, reason), act.turn)

    async def run(self) -> None:
        """Do what a process that ended did not. Never returns."""
        carry_out = partial(self._carry_out, is_again=True)
        await self._acts.run(key_of, carry_out, self._common.settings.store.outbound_interval)

    async def _begin(self, act: KeptAct) -> None:
        try:
            if await self._acts.add(key_of(act), act):
                await self._acts.make(key_of(act), self._carry_out(act, is_again=False))
        except BotError as error:
            _log.warning("an action of the agent is not done: %s", error, extra={"turn": act.turn})

    async def _keep_refused(self, act: KeptAct, reason: str) -> None:
        over = replace(act, ts=REFUSED, reason=reason)
        try:
            await self._store.change(AGENT_ACTS, key_of(act), lambda kept: kept or over, self._wall())
        except StoreError as error:
            _log.log(error.log_level, "that an action was refused was not stored: %s", error)

    async def _carry_out(self, act: KeptAct, *, is_again: bool) -> None:
        try:
            if act.kind == POST:
                reason = await self._posts.make(act, self._note, is_again=is_again)
            else:
                reason = await self._react(act)
        except BotError as error:
            _log.warning("an action of the agent is done later: %s", error, extra={"turn": act.turn})
            reason = Later.LATER
        if isinstance(reason, Later):
            await self._acts.note(key_of(act), "")
            return
        if reason:
            await self._note(replace(act, reason=reason))
        await self._acts.note(key_of(act), REFUSED if reason else DONE)
        if reason:
            self.refuse(act, reason, is_told=act.is_addressed, is_kept=False)
        elif act.kind == POST:
            _log.info("the agent posted into %s", act.channel, extra={"turn": act.turn})
        else:
            _log.info("the agent reacted with :%s:", act.name, extra={"turn": act.turn})

    async def _note(self, act: KeptAct) -> None:
        """Keep how far an act has come."""
        await self._acts.change(key_of(act), partial(replace, posted=act.posted, reason=act.reason))

    async def _react(self, act: KeptAct) -> str | Later:
        """Returns "" once the reaction is there, or why it cannot be."""
        question = Question(act.thread, act.on, "", act.thread.team, "", asker_is_bot=True)
        writer = self._notices.writer(question, act.turn, priority=Priority.BACKGROUND)
        calls = writer.calls
        if act.on not in (act.thread.ts, ""):
            found = await writer.carry_out(calls.read_thread_once(float(act.on) - 1.0))
            if isinstance(found, CallFailed) or found is None:
                return Later.LATER if found is None or not found.is_final else THREAD_NOT_READ
            if not any(each.get("ts") == act.on for each in found):
                return MESSAGE_ELSEWHERE
        args = {"channel": act.thread.channel, "timestamp": act.on, "name": act.name}
        api = self._common.workspaces.of(act.thread.team).api
        result = await api.for_turn(act.turn, act.thread.ts, Priority.BACKGROUND).call("reactions.add", args)
        if isinstance(result, CallOk) or result.error == _THERE:
            return ""
        return SLACK_REFUSES_ACT.format(result.error) if result.is_final else Later.LATER

    async def _say(self, act: KeptAct, reason: str) -> None:
        question = Question(act.thread, act.on, "", act.thread.team, "", asker_is_bot=True, variant="act")
        try:
            await self._notices.post(question, ACT_FAILED.format(reason))
        except BotError as error:
            _log.warning("that an action was not done was not said: %s", error, extra={"turn": act.turn})


class _ActsOfTurn(TurnActs):
    """What the agent of one turn asked for so far. `allowed`: by its channel."""

    def __init__(self, acting: ActingAgents, question: Question, agent: str, allowed: AllowedActs) -> None:
        self._acting, self._question, self._allowed = acting, question, allowed
        self._agent = agent
        self._known: list[AgentAct] = []
        self._refused = 0
        self._is_told = not question.is_addressed

    def take(self, acts: Sequence[AgentAct]) -> None:
        """See `TurnActs`. One line says what is refused; none does where the channel allows nothing."""
        for act in new_acts(acts, self._known):
            reason = why_not(act, self._allowed, len(self._known))
            self._known.append(act)
            if not reason:
                self._acting.begin(self._kept(act))
                continue
            self._refused += 1
            is_allowed_here = bool(self._allowed.kinds)
            is_told = is_allowed_here and not self._is_told
            self._is_told = self._is_told or is_told
            is_kept = is_allowed_here and self._refused <= MOST_ACTS
            self._acting.refuse(self._kept(act), reason, is_told=is_told, is_kept=is_kept)

    def _kept(self, act: AgentAct) -> KeptAct:
        asked = self._question
        return KeptAct(
            at=self._acting.now(),
            turn=asked.key,
            thread=asked.thread_in_slack,
            kind=act.kind,
            name=act.name,
            on=act.ts or asked.root or asked.ts,
            is_addressed=asked.is_addressed,
            agent=self._agent,
            channel=act.channel,
            text=act.text,
            user="" if asked.asker is None else asked.user,
        )


def _for_agent(act: KeptAct) -> Mapping[str, str]:
    asked = {"action": act.kind, "name": act.name, "channel": act.channel, "reason": act.reason}
    return {name: value for name, value in asked.items() if value}


def serve_threads(common: CommonParts, ports: ThreadPorts) -> ThreadPorts:
    """Let agents act, where a channel says what they may do."""
    return replace(ports, acts=ActingAgents(common))


def start(bot: BotParts) -> FeatureWork:
    """Do what a process that ended left, where some channel lets agents act."""
    if not any(bot.common.policies.values("acts")):
        return FeatureWork()
    acting = bot.threads.acts
    return FeatureWork(run=acting.run) if isinstance(acting, ActingAgents) else FeatureWork()


FEATURE = Feature("agent_acts", start, serve_threads, collections=(AGENT_ACTS,))
