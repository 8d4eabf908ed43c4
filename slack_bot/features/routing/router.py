"""Chooses the agent of a question, and answers the words that are for the bot: `agents`, `use NAME`, `new`,
`help` and `status` after a mention. Nothing of it is there where the settings name one agent only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...agents.agent import Agent
from ...errors import AgentError
from ...settings.agents import AgentEntry
from ...store.collection import Collection, KeptPerson
from ...store.knowledge import AgentContext
from ...text.sanitize import sanitize_beginning
from ...text.words import (
    AGENT_IS_CHOSEN,
    AGENT_IS_CHOSEN_FOR_DIRECT,
    AGENT_IS_DEFAULT,
    AGENT_NOT_FOR_YOU,
    AGENT_NOT_HERE,
    AGENT_OR_AGENT,
    AGENT_SAYS_NOTHING,
    AGENT_UNKNOWN,
    AGENT_UNREACHABLE,
    AGENTS_HEAD,
    AGENTS_HELP,
    NEW_CONVERSATION,
    NO_OTHER_AGENT,
    THREAD_HAS_AGENT,
    THREAD_STATUS,
)
from ...threads.ports import AgentRouting, CommonParts, Route, ThreadPorts
from ...turn.progress import Stage
from ...turn.record import Question, is_direct
from ..feature import Feature
from .choose import AgentChoice, AgentRules, Obstacle, Reason, choose

_USE = "use"
_ABOUT = 150  # characters of what an agent says of itself


@dataclass(frozen=True, slots=True)
class PersonalAgent:
    """The agent that a person chose for their direct messages."""

    agent: str


PERSONAL_AGENTS = Collection(
    "personal_agents",
    PersonalAgent,
    age=lambda ages: ages.conversations,
    people=lambda key, _: [KeptPerson(key[1], key[0])],
    label="the agent chosen for direct messages",
)
"""By workspace and person. The age begins with the last question that it decided."""


def _as_it_is(chosen: PersonalAgent | None) -> PersonalAgent | None:
    return chosen


class Router(AgentRouting):
    """Chooses among the agents of the settings."""

    def __init__(self, common: CommonParts) -> None:
        self._agents, self._threads = common.agents, common.thread_agents
        self._store, self._clock = common.store, common.clock
        self._policies, self._people = common.policies, common.people
        self._secrets = common.secrets
        entries = common.agents.settings.entries
        prefixed = ((prefix.casefold(), name) for name, each in entries.items() for prefix in each.prefixes)
        self._words = {**dict(prefixed), **{name: name for name in entries}}
        self._entries: Mapping[str, AgentEntry] = entries

    async def route(self, question: Question, *, is_mention: bool) -> Route:
        """Choose the agent of `question`, or the notice for its asker. Raises StoreError."""
        thread = question.thread
        pinned = await self._threads.of(thread)
        rules = await self._rules(question, pinned)
        if not is_mention:  # its words are for the thread's agent, whatever they are
            choice = choose("", rules)
            if choice.obstacle is None:
                return Route(question, choice.agent)
            return Route(question, choice.agent, choice.obstacle, self._words_of(choice, rules))
        if (words := await self._command(question, rules)) is not None:
            return Route(question, pinned, "it is a word for the bot itself", words)
        choice = choose(question.text, rules)
        if choice.obstacle is not None:
            return Route(question, choice.agent, choice.obstacle, self._words_of(choice, rules))
        if choice.reason is Reason.PERSON:
            await self._store.change(
                PERSONAL_AGENTS, (thread.team, question.user), _as_it_is, self._clock.wall()
            )
        return Route(replace(question, text=choice.text), choice.agent, choice.reason)

    async def _rules(self, question: Question, pinned: str | None) -> AgentRules:
        thread, policy = question.thread, self._policies.of(question.thread.channel)
        chosen = None
        if is_direct(thread.channel):
            chosen = await self._store.get(PERSONAL_AGENTS, (thread.team, question.user))
        may_ask = await asyncio.gather(
            *(self._may_ask(each, question.user) for each in self._entries.values())
        )
        return AgentRules(
            words=self._words,
            here=[each for each in self._entries if not policy.agents or each in policy.agents],
            for_asker=[name for name, may in zip(self._entries, may_ask, strict=True) if may],
            default=self._agents.default.name,
            thread=pinned,
            channel=policy.agent,
            person=None if chosen is None else chosen.agent,
        )

    async def _may_ask(self, entry: AgentEntry, user: str) -> bool:
        if not entry.is_for_some or user in entry.people:
            return True
        groups = await asyncio.gather(*map(self._people.members, entry.groups))
        return any(user in members for members in groups if members is not None)

    def _words_of(self, choice: AgentChoice, rules: AgentRules) -> str:
        others = [name for name in rules.here if name in rules.for_asker and name != choice.agent]
        name, listed = choice.agent, AGENT_OR_AGENT.join(others) or NO_OTHER_AGENT
        match choice.obstacle:
            case Obstacle.OTHER_THREAD:
                return THREAD_HAS_AGENT.format(rules.thread, name)
            case Obstacle.GONE:
                return self._agents.words_without(name)
            case Obstacle.NOT_HERE:
                return AGENT_NOT_HERE.format(name, listed)
            case _:
                return AGENT_NOT_FOR_YOU.format(name, listed)

    # -- words for the bot itself

    async def _command(self, question: Question, rules: AgentRules) -> str | None:
        """What is answered to a word for the bot; None: it is a question."""
        first, *others = question.text.split() or [""]
        word = first.casefold()
        if word == _USE and len(others) == 1:
            return await self._use(question, others[0].casefold(), rules)
        commands = {"agents": self._list, "help": self._help, "new": self._forget, "status": self._status}
        command = None if others else commands.get(word)
        return None if command is None else await command(question, rules)

    async def _help(self, _question: Question, rules: AgentRules) -> str:
        return AGENTS_HELP.format(next(iter(rules.here), self._agents.default.name))

    async def _use(self, question: Question, word: str, rules: AgentRules) -> str:
        if (name := self._words.get(word)) is None:
            return AGENT_UNKNOWN.format(word, ", ".join(rules.here))
        choice = choose(f"{name}:", rules)
        if choice.obstacle is not None:
            return self._words_of(choice, rules)
        thread = question.thread
        if is_direct(thread.channel) and thread.ts == question.ts:
            key = thread.team, question.user
            await self._store.change(PERSONAL_AGENTS, key, lambda _: PersonalAgent(name), self._clock.wall())
            return AGENT_IS_CHOSEN_FOR_DIRECT.format(name)
        await self._threads.pin(thread, name)
        return AGENT_IS_CHOSEN.format(name)

    async def _list(self, _question: Question, rules: AgentRules) -> str:
        names = [name for name in rules.here if name in rules.for_asker]
        agents = [agent for name in names if (agent := self._agents.get(name)) is not None]
        lines = await asyncio.gather(*map(self._line_of, agents))
        return "\n".join([AGENTS_HEAD, *lines])

    async def _line_of(self, agent: Agent) -> str:
        mark = AGENT_IS_DEFAULT if agent is self._agents.default else ""
        try:
            about = (await agent.introduction()).description or AGENT_SAYS_NOTHING
        except AgentError:
            about = AGENT_UNREACHABLE
        about = " ".join(sanitize_beginning(about, self._secrets).split())
        return f"• `{agent.name}`{mark}: {about if len(about) <= _ABOUT else about[:_ABOUT] + '…'}"

    async def _forget(self, question: Question, rules: AgentRules) -> str:
        """The thread's agent forgets what was said in the thread, or what this person asked there."""
        known = await self._threads.context_of(question.thread, question.user)
        if known != AgentContext():
            await self._threads.save_context(question.thread, question.user, AgentContext())
        return NEW_CONVERSATION.format(rules.thread or rules.channel or rules.default)

    async def _status(self, question: Question, rules: AgentRules) -> str:
        thread = question.thread
        name = rules.thread or rules.channel or rules.default
        turns = [each for each in await self._store.unfinished() if each.question.thread == thread]
        waiting = sum(each.stage is Stage.ACCEPTED for each in turns)
        state = THREAD_STATUS.format(name, len(turns) - waiting, waiting)
        agent = self._agents.get(name)
        try:
            if agent is not None:
                await agent.ensure_card()
        except AgentError:
            state = f"{state} {AGENT_UNREACHABLE}"
        return state if agent is not None else self._agents.words_without(name)


def serve_threads(common: CommonParts, ports: ThreadPorts) -> ThreadPorts:
    """Choose among the agents, if the settings name several."""
    return replace(ports, routing=Router(common)) if common.agents.are_several else ports


FEATURE = Feature("routing", serve_threads=serve_threads, collections=(PERSONAL_AGENTS,))
