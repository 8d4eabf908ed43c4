"""Generated answers: of every kind, of every length, and their stream says exactly what they are."""

from __future__ import annotations

from random import Random

import pytest

from slack_bot.text.sanitize import sanitize
from slack_bot.tools.replay.replay import replayed

from .answers import LONGEST, SHORTEST, answer, pieces, tape
from .reading import compare


def test_answers_are_of_every_length_and_kind() -> None:
    texts = [answer(Random(seed)) for seed in range(300)]
    sizes = sorted(map(len, texts))
    assert SHORTEST <= sizes[0] < 300
    assert 30_000 < sizes[-1] <= LONGEST
    whole = "".join(texts)
    for mark in ("```", "````", "|---|", "部", "👨‍👩‍👧‍👦", "ש", "> ", "1. ", "<!channel>", "**"):
        assert mark in whole
    assert any(len(line) > 10_000 for text in texts for line in text.split("\n"))


@pytest.mark.parametrize("seed", range(12))
def test_the_pieces_are_the_text(seed: int) -> None:
    text = answer(Random(seed))
    assert "".join(pieces(Random(seed), text)) == text
    assert len(pieces(Random(seed), text)) < 2_000


@pytest.mark.parametrize("seed", range(6))
def test_an_undisturbed_stream_shows_the_text(seed: int) -> None:
    random = Random(seed)
    text = answer(random)[:4_000]
    stream, _ = tape(random, text)
    result = replayed(stream).result()
    assert result["outcome"] == "answered"
    assert compare(sanitize(text), [message["text"] for message in result["thread"]]) is None
