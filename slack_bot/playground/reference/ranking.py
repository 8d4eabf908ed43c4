"""Which texts have the rare words of a question: the second witness beside the subjects."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

_SATURATION, _LENGTH = 1.2, 0.6  # BM25: what a word counts that comes again, and a long text takes from it
_ENDINGS = (
    *("ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion", "ers", "er", "ed", "als", "al"),
    *("es", "ly", "s"),
)
_STEM = 3  # letters that an ending leaves at least


class Ranking:
    """Texts by name, ranked by BM25. `texts`: the words of each, a word as often as it counts.

    `everyday`: words that are in questions about anything; they do not count.
    """

    def __init__(self, texts: Mapping[str, Iterable[str]], everyday: Collection[str] = ()) -> None:
        self._everyday = frozenset(everyday)
        self._counts = {name: Counter(self._stems(words)) for name, words in texts.items()}
        self._sizes = {name: counts.total() for name, counts in self._counts.items()}
        self._size = sum(self._sizes.values()) / max(1, len(self._sizes))
        spread = Counter(stem for counts in self._counts.values() for stem in counts)
        known = len(self._counts)
        self._weights = {
            stem: math.log(1 + (known - number + 0.5) / (number + 0.5)) for stem, number in spread.items()
        }
        self._unknown = math.log(1 + (known + 0.5) / 0.5)

    def scores(self, words: Iterable[str]) -> dict[str, float]:
        """How well each text has `words`, best first; texts that have none of them are left out."""
        asked = set(self._stems(words)) & set(self._weights)
        found = {name: self._score(name, asked) for name in self._counts}
        return {name: score for name, score in sorted(found.items(), key=lambda each: -each[1]) if score > 0}

    def knows(self, word: str) -> bool:
        """Some text has `word`."""
        return stem_of(word) in self._weights

    def had(self, words: Iterable[str], name: str) -> frozenset[str]:
        """The stems of `words` that the text `name` has."""
        return frozenset(self._stems(words)) & self._counts[name].keys()

    def stems_in(self, name: str) -> frozenset[str]:
        """The stems of all words of the text `name`."""
        return frozenset(self._counts[name])

    def share(self, words: Iterable[str], name: str) -> float:
        """How much of the weight of `words` the text `name` has, 0 to 1."""
        asked = set(self._stems(words))
        weights = {stem: self._weights.get(stem, self._unknown) for stem in asked}
        had = sum(weights[stem] for stem in self.had(words, name))
        return had / sum(weights.values()) if weights else 0.0

    def _score(self, name: str, asked: Iterable[str]) -> float:
        counts, size = self._counts[name], self._sizes[name] / self._size
        dampened = _SATURATION * (1 - _LENGTH + _LENGTH * size)
        return sum(
            self._weights[stem] * counts[stem] * (_SATURATION + 1) / (counts[stem] + dampened)
            for stem in asked
            if stem in counts
        )

    def _stems(self, words: Iterable[str]) -> list[str]:
        return [stem_of(word) for word in words if len(word) > 1 and word not in self._everyday]


def root_of(word: str) -> str:
    """`word` without all of its endings, one after the other: the same for *press* and *presses*."""
    shorter = stem_of(word)
    return word if shorter == word else root_of(shorter)


def stem_of(word: str) -> str:
    """`word` without its ending."""
    ending = next((each for each in _ENDINGS if word.endswith(each) and len(word) >= _STEM + len(each)), "")
    return word.removesuffix(ending).rstrip("e")
