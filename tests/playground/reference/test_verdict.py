"""What all witnesses together say of a text."""

from __future__ import annotations

import tomllib

import pytest

from slack_bot.playground.reference.classifier import Classifier
from slack_bot.playground.reference.pages import sections
from slack_bot.playground.reference.subjects import Subjects
from slack_bot.playground.reference.verdict import TextJudge, TextVerdict
from tests.playground.reference.test_subjects import SUBJECTS
from tests.playground.train import learned

PAGE = "# About cats\n\nCats sleep all day.\n\n## Food\n\nA cat eats fish, and a dog eats bones.\n"
WORDINGS = 'everyday = "a and do does is the what"\n[wordings]\n"Food" = "dinner"\n'
EXAMPLES = [
    *(("Food", text) for text in ("what do cats eat", "fish for a cat", "dinner time")),
    *(("About cats", text) for text in ("tell me about cats", "cats asleep", "what are cats")),
    *(("-hello", text) for text in ("good morning", "good evening", "morning all")),
]


@pytest.fixture(name="judge", scope="module")
def _judge() -> TextJudge:
    asked = tomllib.loads(WORDINGS)
    return TextJudge(sections("cats", PAGE), Subjects(SUBJECTS), asked, Classifier(learned(EXAMPLES)))


def test_sections_and_kinds_of_talk_are_ranked_together(judge: TextJudge) -> None:
    assert judge.verdict("what does a cat eat for dinner").best == "Food"
    verdict = judge.verdict("good morning")
    assert (verdict.best, verdict.kind) == ("-hello", "hello")
    assert judge.verdict("zzz").best in ("", "-hello")


def test_words_in_questions_about_anything_tell_nothing(judge: TextJudge) -> None:
    assert judge.telling_words("what does the cat and a zebra do") == {"cat", "zebra"}
    assert judge.known_words("what does the cat and a zebra do") == {"cat"}
    assert next(iter(judge.scores_by_words("which fish"))) == "Food"
    food, about = judge.named["Food"], judge.named["About cats"]
    assert judge.share("fish and bones", food) == 1.0 > judge.share("fish and bones", about)


@pytest.mark.parametrize(
    ("ranked", "is_clear", "is_doubtful", "may_be_talk", "kind"),
    [
        ([("a", 0.9), ("b", 0.5)], True, False, False, ""),
        ([("a", 1.2), ("b", 1.05)], True, False, False, ""),
        ([("a", 0.78), ("b", 0.6)], False, False, False, ""),
        ([("a", 0.7), ("b", 0.6)], False, True, False, ""),
        ([("a", 0.5), ("-joke", 0.45)], False, True, True, ""),
        ([("-joke", 0.8), ("a", 0.2)], True, False, False, "joke"),
        ([("-joke", 0.5), ("a", 0.45)], False, True, True, ""),
        ([], False, True, True, ""),
    ],
)
def test_how_sure_a_verdict_is(
    ranked: list[tuple[str, float]], is_clear: bool, is_doubtful: bool, may_be_talk: bool, kind: str
) -> None:
    verdict = TextVerdict(ranked, hit=None, is_agreed=False)
    assert (verdict.is_clear, verdict.is_doubtful) == (is_clear, is_doubtful)
    assert (verdict.may_be_talk, verdict.kind) == (may_be_talk, kind)


def test_where_subjects_and_words_agree_less_is_needed() -> None:
    assert not TextVerdict([("a", 0.7), ("b", 0.6)], hit=None, is_agreed=True).is_doubtful
