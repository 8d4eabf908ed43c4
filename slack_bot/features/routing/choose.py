"""PURE. Which of several agents a question is for.

The first rule that says something counts:

1. The thread's own agent. A thread belongs to the agent of its first question for good: another agent knows
   nothing of what was said there. A question that names another one is not asked; its asker gets a notice.
2. The agent that the question names: `research: ...`, `/r ...`, or the name alone.
3. The channel's agent.
4. In direct messages, the agent that the person chose last.
5. The default one.

A name counts only in front, and only with `:` behind it or `/` before it: the word "research" in a sentence
chooses no agent.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

_NAMED = re.compile(r"\s*(?:/(?P<slash>[^\s:/]+):?(?:\s+|\Z)|(?P<colon>[^\s:/]+)\s*:(?!//)\s*)", re.DOTALL)
_ALONE = re.compile(r"\s*(\S+)\s*\Z")


class Reason(StrEnum):
    """Why an agent was chosen."""

    THREAD = "the thread is its"
    NAMED = "it was named"
    CHANNEL = "it is the channel's"
    PERSON = "the person chose it before"
    DEFAULT = "nothing else was said"


class Obstacle(StrEnum):
    """Why a question is not asked."""

    OTHER_THREAD = "the thread belongs to another agent"
    GONE = "the thread's agent is not in the settings any more"
    NOT_HERE = "the agent may not be named in this channel"
    NOT_FOR_ASKER = "the asker may not ask this agent"


@dataclass(frozen=True, slots=True)
class AgentRules:
    """What is known where a question is asked. All are names of agents.

    `words`: what chooses each agent, in small letters. `here`: those that may be named in the channel.
    `for_asker`: those that the asker may ask. `thread`: the one to which the thread belongs, perhaps one that
    is gone.
    """

    words: Mapping[str, str]
    here: Collection[str]
    for_asker: Collection[str]
    default: str
    thread: str | None = None
    channel: str | None = None
    person: str | None = None


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """Ask `agent` what `text` says. `obstacle`: why it is not asked, though it is the one that was meant."""

    agent: str
    text: str
    reason: Reason
    obstacle: Obstacle | None = None


def choose(text: str, rules: AgentRules) -> AgentChoice:
    """Which agent is asked what. `text`: the question, without the mention."""
    named, rest = name_in(text, rules.words)
    if rules.thread is not None:
        return _in_thread(rules.thread, named, rest, rules)
    if named is not None:
        return _if_allowed(AgentChoice(named, rest, Reason.NAMED), rules)
    for agent, reason in ((rules.channel, Reason.CHANNEL), (rules.person, Reason.PERSON)):
        if agent is not None and (reason is Reason.CHANNEL or agent in rules.here):
            return _if_allowed(AgentChoice(agent, text, reason), rules)
    default = rules.default if rules.default in rules.here else next(iter(rules.here), rules.default)
    return _if_allowed(AgentChoice(default, text, Reason.DEFAULT), rules)


def _in_thread(thread: str, named: str | None, rest: str, rules: AgentRules) -> AgentChoice:
    if thread not in rules.words.values():
        return AgentChoice(thread, rest, Reason.THREAD, Obstacle.GONE)
    if named not in (None, thread):
        return AgentChoice(named or "", rest, Reason.NAMED, Obstacle.OTHER_THREAD)
    return _if_allowed(AgentChoice(thread, rest, Reason.THREAD), rules)


def _if_allowed(choice: AgentChoice, rules: AgentRules) -> AgentChoice:
    obstacle = None
    if choice.agent not in rules.for_asker:
        obstacle = Obstacle.NOT_FOR_ASKER
    elif choice.reason is Reason.NAMED and choice.agent not in rules.here:
        obstacle = Obstacle.NOT_HERE
    return AgentChoice(choice.agent, choice.text, choice.reason, obstacle)


def name_in(text: str, words: Mapping[str, str]) -> tuple[str | None, str]:
    """The agent that `text` names in front, and the rest of it; None and all of it if it names none."""
    if (match := _NAMED.match(text)) is not None:
        word = (match["slash"] or match["colon"]).casefold()
        if word in words:
            return words[word], text[match.end() :]
    if (match := _ALONE.match(text)) is not None and match[1].casefold() in words:
        return words[match[1].casefold()], ""
    return None, text
