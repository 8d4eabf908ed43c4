"""The catalogue of Slack's rules."""

from __future__ import annotations

import re

from slack_bot.settings.slack_rules import CATALOGUE, RATED


def test_each_rule_is_a_sentence_with_a_source_and_a_value_of_its_kind() -> None:
    kinds = {"answer": str, "word": str, "flag": bool, "number": (int, float)}
    for rule in CATALOGUE.values():
        assert re.fullmatch(r"[a-z_]+\.[a-zA-Z_.]+", rule.id), rule
        assert re.match(r"\[(doc|obs|code|own)\] \w", rule.source), rule
        assert rule.says[0].isupper() or rule.says.startswith(tuple(RATED)), rule
        assert not rule.says.endswith("."), rule
        assert isinstance(rule.expected, kinds[rule.kind]), rule
        assert rule.kind != "number" or (rule.unit and rule.least <= rule.expected <= rule.most), rule
        assert rule.kind != "word" or len(set(rule.words)) > 1, rule


def test_a_number_counts_as_expected_within_its_share() -> None:
    life, blocks = CATALOGUE["stream.life"], CATALOGUE["stop.blocks"]
    assert (life.is_as_expected(325), life.is_as_expected(335)) == (True, False)
    assert (blocks.is_as_expected(50), blocks.is_as_expected(51)) == (True, False)
