"""Which text is the answer in the end."""

from __future__ import annotations

from slack_bot.agents.answer.assembler import AnswerAssembler
from slack_bot.agents.answer.candidates import Candidates, without
from slack_bot.agents.artifact_reader import ArtifactReader
from slack_bot.agents.dialects.dialect import ArtifactKind
from slack_bot.agents.wire.frames import TaskState
from tests.agents.parser_turns import FOX


def best(
    candidates: Candidates, answer: AnswerAssembler, state: TaskState = TaskState.COMPLETED, **flags: bool
) -> str:
    flags = {"has_extras": False, "asks": False} | flags
    return candidates.best(answer, ArtifactReader("generic"), state, **flags)[0]


def test_a_result_is_better_than_a_stream_and_that_than_the_history() -> None:
    candidates, answer = Candidates(), AnswerAssembler(1_000)
    candidates.keep_history("Long ago.")
    assert best(candidates, answer) == "Long ago."
    assert best(candidates, answer, asks=True) == "", "the history has the question"
    answer.artifact("a", FOX, "why", append=True)
    assert best(candidates, answer) == FOX
    candidates.keep_result(ArtifactKind.PARTIAL, "Half.")
    assert best(candidates, answer) == "Half."
    assert candidates.has_final


def test_the_last_message_stands_below_the_artifacts_unless_they_have_it() -> None:
    candidates, answer = Candidates(), AnswerAssembler(1_000)
    answer.artifact("a", FOX, "why", append=True)
    candidates.keep_ending("It is done.", "")
    assert best(candidates, answer) == f"{FOX}\n\nIt is done."
    candidates.keep_ending(FOX, "")
    assert best(candidates, answer) == FOX


def test_the_reason_of_a_failure_is_no_answer() -> None:
    candidates, answer = Candidates(), AnswerAssembler(1_000)
    answer.held.keep("Half of it. time-out", append=True, aside=False)
    candidates.keep_ending("time-out", "")
    assert best(candidates, answer, TaskState.FAILED) == "Half of it."
    assert without("The fox", "") == "The fox"


def test_where_the_answer_is_a_table_nothing_that_was_held_is() -> None:
    candidates, answer = Candidates(), AnswerAssembler(1_000)
    answer.held.keep("Let me look.", append=True, aside=False)
    assert best(candidates, answer, has_extras=True) == ""
    assert best(candidates, answer) == "Let me look."
