"""Chooses the agent of a question, and answers the words that are for the bot: `agents`, `use NAME`, `new`,
`help` and `status` after a mention. Nothing of it is there where the settings name one agent only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...agents.agent import Agent
from ...agents.agents import Agents
from ...errors import AgentError
from ...settings.agents import AgentEntry
from ...store.collection import Collection, KeptPerson
from ...store.knowledge import AgentContext
from ...text.sanitize import sanitize_beginning
from ...text.words import (
    AGENT_IS_AWAY,
    AGENT_IS_CHOSEN,
    AGENT_IS_CHOSEN_FOR_DIRECT,
    AGENT_IS_DEFAULT,
    AGENT_MISSPELT,
    AGENT_NOT_FOR_YOU,
    AGENT_NOT_HERE,
    AGENT_OR_AGENT,
    AGENT_SAYS_NOTHING,
    AGENT_UNKNOWN,
    AGENTS_HEAD,
    AGENTS_HELP,
    AGENTS_HELP_SIGN_OUT,
    NEW_CONVERSATION,
    NO_OTHER_AGENT,
    THREAD_HAS_AGENT,
    THREAD_STATUS,
)
from ...threads.looks import shown_name
from ...threads.ports import AgentRouting, CommonParts, ListedAgent, Route
from ...turn.progress import Stage, TurnRecord
from ...turn.record import Introduction, Question, ThreadKey, is_direct
from .choices import AgentChoices
from .choose import AgentChoice, AgentRules, Obstacle, Reason, choose, name_in
from .directory import AgentDirectory
from .misspelt import near_name

_USE = "use"
_DIRECT = "D"  # the id of a direct message begins so
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
        self.choices = AgentChoices(common)
        self._directory, self._policies = AgentDirectory(common), common.policies
        self._secrets, self._health = common.secrets, common.health
        entries = common.agents.settings.entries
        prefixed = ((prefix.casefold(), name) for name, each in entries.items() for prefix in each.prefixes)
        self._words = {**dict(prefixed), **{name: name for name in entries}}
        self._entries: Mapping[str, AgentEntry] = entries

    async def route(self, question: Question, *, is_mention: bool, named: str | None = None) -> Route:
        """Choose the agent of `question`, or the notice for its asker. Raises StoreError."""
        thread = question.thread
        pinned = await self._threads.of(thread)
        rules = replace(await self._rules(question, pinned), named=named)
        if not is_mention:  # its words are for the thread's agent, whatever they are
            choice = choose("", rules)
            if choice.obstacle is None:
                return Route(question, choice.agent)
            return Route(question, choice.agent, choice.obstacle, _words_of(choice, rules, self._agents))
        if named is None and (words := await self._command(question, rules)) is not None:
            return Route(question, pinned, "it is a word for the bot itself", words)
        choice = choose(question.text, rules)
        if choice.reason is Reason.DEFAULT and not question.asker_is_bot:  # a bot presses no button
            choice = choose(question.text, replace(rules, skills=await self._skills()))
        if choice.near:
            return Route(question, choice.agent, choice.why, near=choice.near)
        if choice.obstacle is not None:
            return Route(question, choice.agent, choice.obstacle, _words_of(choice, rules, self._agents))
        if choice.reason is Reason.PERSON:
            await self._store.change(
                PERSONAL_AGENTS, (thread.team, question.user), _as_it_is, self._clock.wall()
            )
        asked = replace(question, text=choice.text)
        return Route(asked, choice.agent, choice.why, hint=_hint(asked, choice, rules, self._agents))

    async def why_not(self, question: Question, agent: str) -> str | None:
        """What its asker reads if `question` may not go to `agent` any more. Raises StoreError."""
        if agent not in self._entries:
            return self._agents.words_without(agent)
        rules = await self._rules(question, await self._threads.of(question.thread))
        choice = choose(f"{agent}:", rules)
        return None if choice.obstacle is None else _words_of(choice, rules, self._agents)

    async def others(self, turn: TurnRecord, user: str) -> dict[str, str]:
        """The other agents that `user` may ask where `turn` was asked, and the names that people read. Raises
        StoreError.
        """
        question = replace(turn.question, user=user)
        rules = await self._rules(question, None)
        names = (name for name in rules.here if name in rules.for_asker and name != turn.agent)
        return {name: shown_name(self._agents, name) for name in names if self._may_be_read(name, question)}

    def _may_be_read(self, name: str, question: Question) -> bool:
        """Whether all who read along may read what this agent answers (`threads.asker_rights`)."""
        channel = question.thread.channel
        is_open = is_direct(channel) or self._policies.of(channel, question.thread.team).personal
        return is_open or not self._entries[name].is_personal

    async def listed(self, user: str, team: str) -> Sequence[ListedAgent]:
        rules = await self._rules(_direct_question(user, team), None)
        introductions = await self._directory.introductions()
        chosen = rules.person if rules.person in rules.here else rules.channel or rules.default
        return [
            ListedAgent(
                name,
                shown_name(self._agents, name),
                introductions.get(name, Introduction()),
                is_reachable=self._health.is_agent_ok(name),
                is_for_some=entry.is_for_some,
                may_ask=name in rules.for_asker,
                is_default=name == rules.default,
                is_chosen=name == chosen,
            )
            for name, entry in self._entries.items()
        ]

    async def choose_direct(self, user: str, team: str, agent: str) -> None:
        question = _direct_question(user, team)
        if choose(f"{agent}:", await self._rules(question, None)).obstacle is None:
            await self._choose_direct(question, agent)

    async def _choose_direct(self, question: Question, agent: str) -> None:
        key = question.thread.team, question.user
        await self._store.change(PERSONAL_AGENTS, key, lambda _: PersonalAgent(agent), self._clock.wall())

    async def offer(self, question: Question, near: tuple[str, ...]) -> None:
        await self.choices.offer(question, near)

    def without_name(self, text: str) -> str:
        return name_in(text, self._words)[1]

    async def reword(self, key: str, text: str | None) -> bool:
        return await self.choices.reword(key, text)

    async def _rules(self, question: Question, pinned: str | None) -> AgentRules:
        thread, policy = question.thread, self._policies.of(question.thread.channel, question.thread.team)
        chosen = None
        if is_direct(thread.channel):
            chosen = await self._store.get(PERSONAL_AGENTS, (thread.team, question.user))
        return AgentRules(
            words=self._words,
            here=[each for each in self._entries if not policy.agents or each in policy.agents],
            for_asker=await self._directory.names_for(question.user, thread.team),
            default=self._agents.default.name,
            thread=pinned,
            channel=policy.agent,
            person=None if chosen is None else chosen.agent,
        )

    async def _skills(self) -> Mapping[str, Introduction] | None:
        """What each agent says of itself; None: skills choose no agent."""
        return (
            await self._directory.introductions()
            if self._agents.settings.routing.choose == "skills"
            else None
        )

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
        help_words = AGENTS_HELP.format(next(iter(rules.here), self._agents.default.name))
        has_sign_ins = any(self._entries[name].identity == "oauth" for name in rules.here)
        return help_words + AGENTS_HELP_SIGN_OUT if has_sign_ins else help_words

    async def _use(self, question: Question, word: str, rules: AgentRules) -> str:
        if (name := self._words.get(word)) is None:
            return AGENT_UNKNOWN.format(word, ", ".join(rules.here))
        choice = choose(f"{name}:", rules)
        if choice.obstacle is not None:
            return _words_of(choice, rules, self._agents)
        thread = question.thread
        if is_direct(thread.channel) and thread.ts == question.ts:
            await self._choose_direct(question, name)
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
            about = AGENT_IS_AWAY
        about = " ".join(sanitize_beginning(about, self._secrets).split())
        shown = shown_name(self._agents, agent.name)
        name = f"`{agent.name}`" if shown.casefold() == agent.name.casefold() else f"{shown}, `{agent.name}`"
        return f"• {name}{mark}: {about if len(about) <= _ABOUT else about[:_ABOUT] + '…'}"

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
            state = f"{state} {AGENT_IS_AWAY}"
        return state if agent is not None else self._agents.words_without(name)


def _direct_question(user: str, team: str) -> Question:
    """In place of one that `user` writes in a direct message."""
    return Question(ThreadKey(team, _DIRECT, ""), "", user, team, "")


def _words_of(choice: AgentChoice, rules: AgentRules, agents: Agents) -> str:
    others = [name for name in rules.here if name in rules.for_asker and name != choice.agent]
    name, listed = choice.agent, AGENT_OR_AGENT.join(others) or NO_OTHER_AGENT
    match choice.obstacle:
        case Obstacle.OTHER_THREAD:
            return THREAD_HAS_AGENT.format(rules.thread, name)
        case Obstacle.GONE:
            return agents.words_without(name)
        case Obstacle.NOT_HERE:
            return AGENT_NOT_HERE.format(name, listed)
        case _:
            return AGENT_NOT_FOR_YOU.format(name, listed)


def _hint(question: Question, choice: AgentChoice, rules: AgentRules, agents: Agents) -> str:
    """To the asker who probably wrote the name of another agent wrong."""
    is_for_person = question.is_addressed and not question.asker_is_bot
    if choice.reason in (Reason.NAMED, Reason.THREAD) or not is_for_person:
        return ""
    words = {word: name for word, name in rules.words.items() if name in rules.here}
    near = near_name(question.text, [word for word, name in words.items() if name in rules.for_asker])
    if near is None or words[near[1]] == choice.agent:
        return ""
    return AGENT_MISSPELT.format(near[0], shown_name(agents, choice.agent), near[1])
