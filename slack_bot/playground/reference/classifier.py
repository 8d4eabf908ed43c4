"""What a message is about: labels that a linear model gives it, which was learned from examples.

A text has features: its words, its pairs of words, the beginnings of its longer words, and the subjects that
it names, alone and in pairs. Each feature
speaks for some labels and against others. The features that the model does not know count as silent, so a
text of unknown words is sure of nothing.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import combinations

from .pages import words_of

UNIT = 28
"""A weight in the file is a whole number of this part of one."""
_BEGINNINGS = (4, 5)  # letters
_MOST_WORDS = 120  # of a text: more would take too long


def features_of(text: str, subjects: Iterable[str] = ()) -> list[str]:
    """The features of `text`, which names `subjects`, each once."""
    words = [_plain(word) for word in words_of(text)[:_MOST_WORDS]]
    pairs = [f"{one} {other}" for one, other in zip(["^", *words], [*words, "$"], strict=True)]
    beginnings = [f"{word[:size]}*" for word in words for size in _BEGINNINGS if len(word) > size]
    named = [f"#{each}" for each in sorted(subjects)]
    together = [f"{one} {other}" for one, other in combinations(named, 2)]
    return list(dict.fromkeys([*words, *pairs, *beginnings, *named, *together])) if words else []


def _plain(word: str) -> str:
    """`word` without accents."""
    letters = unicodedata.normalize("NFKD", word)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


class Classifier:
    """A model as `tests/playground/train.py` writes it.

    `text` has in its first line the labels, with a tab between two; then a line for each feature: its name, a
    tab, and the numbers of labels, each with its weight behind it.
    """

    def __init__(self, text: str) -> None:
        first, *rows = text.split("\n")
        self.labels = tuple(first.split("\t"))
        self._rows = dict(row.split("\t", 1) for row in rows)

    def commonness(self, word: str) -> int:
        """For and against how many labels `word` speaks: the more texts have it, the more they are."""
        return self._rows.get(word, "").count(" ") // 2 + (word in self._rows)

    def scores(self, text: str, subjects: Iterable[str] = ()) -> dict[str, float]:
        """What speaks for each label, where `text` names `subjects`; empty where no feature is known."""
        features = features_of(text, subjects)
        sums = Counter[str]()
        for feature in features:
            row = self._rows.get(feature, "").split()
            for label, weight in zip(row[::2], row[1::2], strict=True):
                sums[label] += int(weight)
        scale = UNIT * math.sqrt(len(features) or 1)
        return {self.labels[int(label)]: weight / scale for label, weight in sums.items()}
