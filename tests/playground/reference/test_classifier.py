"""Labels of texts, by what was learned."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.playground.reference.classifier import Classifier, features_of
from slack_bot.playground.reference.verdict import bundled_classifier
from tests.playground.train import MODEL, learned


def test_features_are_words_pairs_and_beginnings_without_accents() -> None:
    assert features_of("It’s Gratuité, its") == [
        *("its", "gratuite"),
        *("^ its", "its gratuite", "gratuite its", "its $"),
        *("grat*", "gratu*"),
    ]
    assert features_of("👋 ?!") == []


def test_subjects_are_features_alone_and_in_pairs() -> None:
    assert features_of("ab", {"price", "cat"})[-3:] == ["#cat", "#price", "#cat #price"]


def test_what_speaks_for_a_label_is_learned_and_read_back() -> None:
    model = Classifier(learned([("cat", "it purrs"), ("dog", "it barks"), ("-talk", "hello there")]))
    assert set(model.labels) == {"cat", "dog", "-talk"}
    scores = model.scores("why it barks")
    assert max(scores, key=scores.__getitem__) == "dog"
    assert model.scores("zorp") == {}


def test_unknown_words_make_less_sure() -> None:
    model = Classifier(learned([("cat", "it purrs"), ("dog", "it barks")]))
    assert model.scores("it barks zorp fnord")["dog"] < model.scores("it barks")["dog"]


def test_the_model_is_small_and_read_in_a_moment() -> None:
    begun = time.process_time()
    bundled_classifier.__wrapped__()
    assert time.process_time() - begun < 0.5
    assert MODEL.stat().st_size < 1_000_000


@pytest.mark.parametrize("text", ["word " * 8_000, "is it free " * 1_000])
def test_a_text_takes_less_than_a_blink(text: str) -> None:
    model = bundled_classifier()
    begun = time.process_time()
    model.scores(text)
    assert time.process_time() - begun < 0.02


@given(st.text())
def test_any_text_has_finite_scores(text: str) -> None:
    assert all(abs(score) < 50 for score in bundled_classifier().scores(text).values())
