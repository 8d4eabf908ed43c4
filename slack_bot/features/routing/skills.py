"""PURE. Which agent's skills fit a question: words are compared, no model is asked.

A word of the question counts for an agent if it is in what the card says of its skills: two in a skill's
name or tags, one in its description or examples. It counts less the more of the agents have it, and nothing
if all have it. Small words and endings do not matter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...turn.record import Introduction, Skill

_WORD = re.compile(r"[^\W_]+")
_SHORTEST = 3  # characters of a word that says something; two are enough where one is a digit
_SMALL = frozenset({
    "a", "about", "all", "an", "and", "any", "are", "can", "could", "did", "do", "does", "for", "from",
    "get", "give", "had", "has", "have", "help", "how", "i", "in", "into", "is", "it", "its", "me", "my",
    "not", "of", "on", "or", "our", "please", "say", "should", "show", "some", "tell", "than", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "to", "up", "us", "use", "was", "we",
    "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your", "als",
    "am", "auf", "aus", "bei", "bitte", "das", "dem", "den", "der", "des", "die", "ein", "eine", "einem",
    "einen", "einer", "er", "es", "für", "hat", "ich", "im", "ist", "kann", "man", "mir", "mit", "nicht",
    "oder", "sich", "sie", "sind", "und", "uns", "von", "vom", "wann", "warum", "wer", "wie", "wir",
    "wird", "zu", "zum", "zur",
})  # fmt: skip
_ENDINGS = ("ment", "ing", "ion", "er", "ed", "en", "ie", "e", "s", "y")
_STEM = 4  # characters that stay at least, where an ending goes
_LEAST = 2.0  # of what fits at all: one word of a tag, or two of examples
_MANY = 3  # agents: a word that all of so many have does not count
_CLEAR = 1.5  # times the points of the next one


@dataclass(frozen=True, slots=True)
class SkillMatch:
    """`agents`: those that fit, the best first; several: no one of them is clearly the best. `why`: the
    reason, without words of the question or of a card.
    """

    agents: tuple[str, ...]
    why: str


def match_skills(question: str, introductions: Mapping[str, Introduction]) -> SkillMatch:
    """Compare `question` with the skills of each agent, by its name."""
    asked = {*stems(question)}
    worth = {name: _worth(each.skills) for name, each in introductions.items()}
    rarity = {word: _rarity(word, [*worth.values()]) for word in asked}
    found = {name: [word for word in asked & words.keys() if rarity[word]] for name, words in worth.items()}
    points = {name: sum(worth[name][word] * rarity[word] for word in found[name]) for name in worth}
    fitting = (name for name in worth if sum(worth[name][word] for word in found[name]) >= _LEAST)
    ranked = sorted(fitting, key=lambda name: -points[name])
    if not ranked:
        return SkillMatch((), "no agent's skills fit")
    best = points[ranked[0]]
    near = tuple(name for name in ranked if points[name] * _CLEAR > best)
    said = ", ".join(f"{name} {points[name]:.1f}" for name in ranked)
    return SkillMatch(near, f"points for words of its skills: {said}")


def _worth(skills: Sequence[Skill]) -> dict[str, float]:
    """What each word is worth for the agent with these skills."""
    worth: dict[str, float] = {}
    for skill in skills:
        for weight, texts in ((2.0, (skill.name, *skill.tags)), (1.0, (skill.description, *skill.examples))):
            for word in (word for text in texts for word in stems(text)):
                worth[word] = max(weight, worth.get(word, 0.0))
    return worth


def _rarity(word: str, vocabularies: Sequence[Mapping[str, float]]) -> float:
    """1 and more, the fewer of the agents have the word; 0: it does not count, as all have it."""
    having = sum(word in each for each in vocabularies)
    is_common = having == len(vocabularies) >= _MANY
    return 0.0 if is_common or not having else 1.0 + math.log(len(vocabularies) / having)


def stems(text: str) -> list[str]:
    """The words of `text` that say something, without their endings."""
    words = (each.casefold() for each in _WORD.findall(text))
    return [
        _stem(each)
        for each in words
        if each not in _SMALL and (len(each) >= _SHORTEST or any(map(str.isdigit, each)))
    ]


def _stem(word: str) -> str:
    while (short := _without_ending(word)) != word:
        word = short
    return word


def _without_ending(word: str) -> str:
    fitting = (each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= _STEM)
    return word.removesuffix(next(fitting, ""))
