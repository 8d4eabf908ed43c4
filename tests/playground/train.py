"""Train what the playground's agent knows of wordings: `python -m tests.playground.train`.

It reads the examples beside it and the guide, and writes the model of `classifier.py`. It is a perceptron
that only learns where it is not sure (passive-aggressive), with the mean of all its states as the result,
and of several orders of the examples. The same examples give the same model on each machine.

Beside the examples it notes what the model was made from, so that a test need not train again.
`python -m tests.playground.train --check` does that: it says whether the model that is kept is the one that
is learned.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import multiprocessing
import random
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from slack_bot.playground.reference.agent import load_knowledge
from slack_bot.playground.reference.classifier import UNIT, features_of
from slack_bot.playground.reference.pages import PageSection, sections
from slack_bot.playground.reference.subjects import bundled_subjects
from slack_bot.playground.reference.verdict import bundled_wordings

EXAMPLES = Path(__file__).parent / "examples"
MODEL = Path(__file__).parents[2] / "slack_bot/playground/reference/model.gz"
RECORD = Path(__file__).parent / "trained.json"
_PART = 40  # one row in so many is the part that is learned for the record
_ORDERS, _ROUNDS = 3, 3  # the examples are learned in so many orders, each so often
_MARGIN = 1.0  # by which the right label shall be ahead
_MOST = 1.0  # that one example may change
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n")
_FEWEST_WORDS = 4  # of a sentence from which something is learned
_ENOUGH, _MOST_OFTEN = 50, 3  # texts of a label; fewer are learned up to so often
_LEAST = 3.5  # a weight of fewer units is left out, which makes the file much smaller

Example = tuple[str, str]
"""A label, and a text that has it."""
Weights = list[dict[int, float]]
Learned = list[dict[int, tuple[float, float]]]
Run = Callable[[Callable[[int], Learned], Iterable[int]], Iterable[Learned]]


def examples() -> list[Example]:
    """All that people wrote: a line has a heading of the guide, or a kind of talk, and a text."""
    rows = [
        line.split("\t")
        for path in sorted(EXAMPLES.glob("*.tsv"))
        for line in path.read_text("utf-8").splitlines()
    ]
    return [(label, text) for label, text in rows]


def wordings() -> list[Example]:
    """How people ask for the sections, as it stands beside the search."""
    listed = tomllib.loads(bundled_wordings())["wordings"]
    return [(label, text.strip()) for label, texts in listed.items() for text in texts.split(";")]


def guide() -> list[PageSection]:
    """The sections that answer."""
    return [each for name, text in load_knowledge().items() for each in sections(name, text)]


def said_in(sections: Iterable[PageSection]) -> list[Example]:
    """The heading of each section, and its sentences."""
    return [
        (each.heading, text)
        for each in sections
        for text in (each.heading, *_SENTENCE.split(each.text))
        if text == each.heading or len(text.split()) >= _FEWEST_WORDS
    ]


def balanced(rows: Sequence[Example]) -> list[Example]:
    """`rows`, and again those of labels that have few: else a new section loses against the old ones."""
    counts = Counter(label for label, _ in rows)
    again = {label: min(_MOST_OFTEN, max(1, round(_ENOUGH / count))) for label, count in counts.items()}
    return [row for row in rows for _ in range(again[row[0]])]


def taught() -> list[Example]:
    """All that the model learns from."""
    return balanced(examples() + wordings() + said_in(guide()))


def record_of(rows: Sequence[Example], model: str) -> dict[str, str]:
    """Tells whether `model` was learned from `rows` by this code: what it learns from, and a small part."""
    features = [[label, *each] for (label, _), each in zip(rows, _features(rows), strict=True)]
    made = {"features": json.dumps(features), "part": learned(rows[::_PART]), "model": model}
    return {name: hashlib.sha256(text.encode("utf-8")).hexdigest() for name, text in made.items()}


def _features(rows: Sequence[Example]) -> list[list[str]]:
    """The features of each of `rows`."""
    subjects = bundled_subjects()
    of = {
        text: features_of(text, subjects.named_in(text)) for text in dict.fromkeys(text for _, text in rows)
    }
    return [of[text] for _, text in rows]


def learned_in_processes(rows: Sequence[Example]) -> str:
    """The same, each order in a process of its own: it takes minutes."""
    with ProcessPoolExecutor(_ORDERS, multiprocessing.get_context("spawn")) as processes:
        return learned(rows, run=processes.map)


def learned(rows: Sequence[Example], orders: int = _ORDERS, run: Run = map) -> str:
    """The model that was learned from `rows`, in so many orders. `run`: how these are gone through."""
    labels = sorted({label for label, _ in rows})
    numbers = {label: number for number, label in enumerate(labels)}
    features = _features(rows)
    names = sorted({name for each in features for name in each})
    places = {name: place for place, name in enumerate(names)}
    vectors = [[places[name] for name in each] for each in features]
    weights: Weights = [{} for _ in names]
    learn = partial(_learn, vectors, [numbers[label] for label, _ in rows], len(names))
    for part in run(learn, range(orders)):
        for total, row in zip(weights, part, strict=True):
            for label, (weight, mean) in row.items():
                total[label] = total.get(label, 0.0) + weight - mean
    lines = ["\t".join(labels)]
    for name, row in zip(names, weights, strict=True):
        units = {label: weight * UNIT / orders for label, weight in sorted(row.items())}
        kept = [f"{label} {round(unit)}" for label, unit in units.items() if abs(unit) >= _LEAST]
        if kept:
            lines.append(f"{name}\t{' '.join(kept)}")
    return "\n".join(lines)


def _learn(vectors: Sequence[Sequence[int]], labels: Sequence[int], features: int, seed: int) -> Learned:
    """Learn in one order. Returns each feature's last weights, and what their mean lacks of them."""
    chance = random.Random(seed)
    weights: Weights = [{} for _ in range(features)]
    moments: Weights = [{} for _ in range(features)]  # each change times when it was made: for the mean
    order, width, now = list(range(len(vectors))), max(labels) + 1, 1
    for _ in range(_ROUNDS):
        chance.shuffle(order)
        for number in order:
            vector, right = vectors[number], labels[number]
            scale = 1 / math.sqrt(len(vector) or 1)
            sums = [0.0] * width
            for place in vector:
                for label, weight in weights[place].items():
                    sums[label] += weight
            own, sums[right] = sums[right], -math.inf
            wrong = sums.index(max(sums))
            missing = _MARGIN - (own - sums[wrong]) * scale
            if missing > 0:
                change = min(_MOST, missing / 2) * scale
                for place in vector:
                    for label, step in ((right, change), (wrong, -change)):
                        weights[place][label] = weights[place].get(label, 0.0) + step
                        moments[place][label] = moments[place].get(label, 0.0) + step * now
            now += 1
    return [
        {label: (weight, moments[place][label] / now) for label, weight in row.items()}
        for place, row in enumerate(weights)
    ]


def kept() -> str:
    """The model that is kept."""
    return gzip.decompress(MODEL.read_bytes()).decode("utf-8")


def main() -> int:
    """0: the model is written, or it is the one that is learned."""
    parser = argparse.ArgumentParser(prog="python -m tests.playground.train")
    parser.add_argument("--check", action="store_true", help="only compare the model that is kept")
    options, rows = parser.parse_args(), taught()
    model = learned_in_processes(rows)
    if options.check:
        print("the model is the one that is learned" if model == kept() else "another model is learned")
        return int(model != kept())
    MODEL.write_bytes(gzip.compress(model.encode("utf-8"), mtime=0))
    RECORD.write_text(json.dumps(record_of(rows, model), indent=1) + "\n", "utf-8")
    print(f"{MODEL.name}: {MODEL.stat().st_size} bytes from {len(examples())} examples")
    return 0


if __name__ == "__main__":
    sys.exit(main())
