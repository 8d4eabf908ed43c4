"""Why a turn failed, in one sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.turn.failure import program_in_words, why_failed
from slack_bot.turn.progress import Stage, TurnRecord
from slack_bot.turn.record import WRONG, Outcome, Question, ThreadKey

TURN = TurnRecord(Question(ThreadKey("T1", "C1", "1.0"), "1.0", "", "T1", "what?"), 0.0)


@pytest.mark.parametrize(
    ("outcome", "said", "reason", "sentence"),
    [
        (Outcome.FAILED, "no disk.", "the task failed", "The agent failed (no disk)."),
        (Outcome.FAILED, "", "", "The agent failed."),
        (
            Outcome.LOST,
            "",
            "the bot was restarted too often meanwhile",
            "The answer could not be finished (the bot was restarted too often meanwhile).",
        ),
        (Outcome.REFUSED, "", "not now", "The agent was not asked (not now)."),
        (Outcome.FAILED, "say <!channel>\nto all", "", "The agent failed (say &lt;!channel> to all)."),
        (Outcome.FAILED, "the key is s3cret-value", "", "The agent failed (the key is [masked])."),
        (Outcome.ANSWERED, "", "", ""),
        (Outcome.STOPPED, "", "by U1", ""),
        (Outcome.NO_TEXT, "", "", ""),
    ],
)
def test_what_is_said(outcome: Outcome, said: str, reason: str, sentence: str) -> None:
    turn = TURN.ended(1.0, outcome, reason)
    turn = replace(turn, said=said)
    found = why_failed(turn, ("s3cret-value",))
    assert found == sentence or ("s3cret" in said and "s3cret" not in found and found.startswith("The agent"))


@given(st.sampled_from(Outcome), st.text(), st.sampled_from(Stage))
def test_only_what_is_over_and_wrong_has_a_reason(outcome: Outcome, reason: str, stage: Stage) -> None:
    assert why_failed(None) == ""
    turn = TURN.ended(1.0, outcome, reason)
    turn = replace(turn, stage=stage)
    found = why_failed(turn)
    assert bool(found) is (outcome in WRONG and stage is Stage.ENDED)
    assert len(found) < 400 and "\n" not in found


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("schedule:news", "the schedule news"),
        ("key:ci", "the key ci"),
        ("hook:alerts", "the webhook alerts"),
        ("other:x", "x"),
        ("U1", ""),
        ("", ""),
    ],
)
def test_programs_have_words(program: str, words: str) -> None:
    assert program_in_words(program) == words
