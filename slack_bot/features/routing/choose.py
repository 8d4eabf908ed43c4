"""PURE. Which of several agents a question is for.

The first rule that says something counts:

1. The thread's own agent. A thread belongs to the agent of its first question for good: another agent knows
   nothing of what was said there. A question that names another one is not asked; its asker gets a notice.
2. The agent that the question names: `research: ...`, `/r ...`, or the name alone.
3. The channel's agent.
4. In direct messages, the agent that the person chose last.
5. With `choose = "skills"`, the agent whose skills fit the question (`skills`). Where several fit, its asker
   chooses.
6. The default one.

A name counts only in front, and only with `:` behind it or `/` before it: the word "research" in a sentence
chooses no agent.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from ...turn.record import Introduction
from .skills import match_skills

_NAMED = re.compile(r"\s*(?:/(?P<slash>[^\s:/]+):?(?:\s+|\Z)|(?P<colon>[^\s:/]+)\s*:(?!//)\s*)", re.DOTALL)
_ALONE = re.compile(r"\s*(\S+)\s*\Z")


class Reason(StrEnum):
    """Why an agent was chosen."""

    THREAD = "the thread is its"
    NAMED = "it was named"
    CHANNEL = "it is the channel's"
    PERSON = "the person chose it before"
    SKILLS = "its skills fit the question"
    ASKER = "its asker chose it"
    ANOTHER = "it was asked too"
    DEFAULT = "nothing else was said"


class Obstacle(StrEnum):
    """Why a question is not asked."""

    OTHER_THREAD = "the thread belongs to another agent"
    GONE = "the thread's agent is not in the settings any more"
    NOT_HERE = "the agent may not be named in this channel"
    NOT_FOR_ASKER = "the asker may not ask this agent"
    UNDECIDED = "the skills of several agents fit, so the asker chooses"


@dataclass(frozen=True, slots=True)
class AgentRules:
    """What is known where a question is asked. All are names of agents.

    `words`: what chooses each agent, in small letters. `here`: those that may be named in the channel.
    `for_asker`: those that the asker may ask. `thread`: the one to which the thread belongs, perhaps one that
    is gone. `named`: the one that the asker named by other means than words. `skills`: what each says of
    itself; None: they choose no agent.
    """

    words: Mapping[str, str]
    here: Collection[str]
    for_asker: Collection[str]
    default: str
    thread: str | None = None
    named: str | None = None
    channel: str | None = None
    person: str | None = None
    skills: Mapping[str, Introduction] | None = None


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """Ask `agent` what `text` says. `obstacle`: why it is not asked, though it is the one that was meant.

    `near`: the agents among which the asker chooses. `detail`: more of the reason.
    """

    agent: str
    text: str
    reason: Reason
    obstacle: Obstacle | None = None
    near: tuple[str, ...] = ()
    detail: str = ""

    @property
    def why(self) -> str:
        """The reason, in words for operators."""
        said = self.obstacle or self.reason
        return f"{said} ({self.detail})" if self.detail else str(said)


def choose(text: str, rules: AgentRules) -> AgentChoice:
    """Which agent is asked what. `text`: the question, without the mention."""
    named, rest = name_in(text, rules.words) if rules.named is None else (rules.named, text)
    if rules.thread is not None:
        return _in_thread(rules.thread, named, rest, rules)
    if named is not None:
        return _if_allowed(AgentChoice(named, rest, Reason.NAMED), rules)
    for agent, reason in ((rules.channel, Reason.CHANNEL), (rules.person, Reason.PERSON)):
        if agent is not None and (reason is Reason.CHANNEL or agent in rules.here):
            return _if_allowed(AgentChoice(agent, text, reason), rules)
    default = rules.default if rules.default in rules.here else next(iter(rules.here), rules.default)
    choice = AgentChoice(default, text, Reason.DEFAULT)
    return _if_allowed(choice if rules.skills is None else _by_skills(choice, rules.skills, rules), rules)


def _by_skills(default: AgentChoice, skills: Mapping[str, Introduction], rules: AgentRules) -> AgentChoice:
    may_be_asked = {name: skills[name] for name in rules.here if name in skills and name in rules.for_asker}
    match = match_skills(default.text, may_be_asked)
    if not match.agents:
        return replace(default, detail=match.why)
    obstacle = Obstacle.UNDECIDED if len(match.agents) > 1 else None
    near = match.agents if obstacle else ()
    return AgentChoice(match.agents[0], default.text, Reason.SKILLS, obstacle, near, match.why)


def _in_thread(thread: str, named: str | None, rest: str, rules: AgentRules) -> AgentChoice:
    if thread not in rules.words.values():
        return AgentChoice(thread, rest, Reason.THREAD, Obstacle.GONE)
    if named not in (None, thread):
        return AgentChoice(named or "", rest, Reason.NAMED, Obstacle.OTHER_THREAD)
    return _if_allowed(AgentChoice(thread, rest, Reason.THREAD), rules)


def _if_allowed(choice: AgentChoice, rules: AgentRules) -> AgentChoice:
    if choice.agent not in rules.for_asker:
        return replace(choice, obstacle=Obstacle.NOT_FOR_ASKER)
    if choice.reason is Reason.NAMED and choice.agent not in rules.here:
        return replace(choice, obstacle=Obstacle.NOT_HERE)
    return choice


def name_in(text: str, words: Mapping[str, str]) -> tuple[str | None, str]:
    """The agent that `text` names in front, and the rest of it; None and all of it if it names none."""
    if (match := _NAMED.match(text)) is not None:
        word = (match["slash"] or match["colon"]).casefold()
        if word in words:
            return words[word], text[match.end() :]
    if (match := _ALONE.match(text)) is not None and match[1].casefold() in words:
        return words[match[1].casefold()], ""
    return None, text
