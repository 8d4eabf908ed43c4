"""What odd agents do: their streams, undisturbed, show what is held to be true of them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from slack_bot.testing.tape.tape import Tape

from .agent_behaviours import Said, asked, planned, repeated, rewritten
from .fault_run import run
from .plans import Plan
from .verdict import Truth


def told(said: Said, *then: Said) -> str:
    """What the judge says of it, where nothing fails."""
    report = run(Plan(0, "asked back" if then else "calm", said.about, said.source, said.truth, then=then))
    return "" if report.verdict.is_right else f"{said.about}: {report.verdict}"


@pytest.mark.parametrize("seed", range(4))
def test_a_question_back_and_what_follows_it(seed: int) -> None:
    assert told(*asked(Random(seed))) == ""


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_that_is_taken_back(seed: int) -> None:
    assert told(rewritten(Random(seed))) == ""


@pytest.mark.parametrize("seed", range(4))
def test_a_plan_with_tools(seed: int) -> None:
    assert told(planned(Random(seed))) == ""


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_that_comes_several_times(seed: int) -> None:
    assert told(repeated(Random(seed))) == ""


def test_the_judge_minds_another_truth() -> None:
    for said in (*asked(Random(1)), rewritten(Random(1)), planned(Random(2)), repeated(Random(1))):
        assert told(replace(said, truth=replace(said.truth, text=f"{said.truth.text} And more.")))
    plan = planned(Random(2))
    assert told(replace(plan, truth=replace(plan.truth, standing=frozenset({"never shown"}))))


def test_the_first_text_is_none_of_a_rewritten_answer() -> None:
    said = next(said for seed in range(50) if "replaced" in (said := rewritten(Random(seed))).about)
    assert isinstance(said.source, Tape)
    first = "".join(
        part.get("text", "")
        for moment in said.source.moments
        for part in str_parts(moment.event)
        if "append" in str(moment.event)
    )
    assert told(replace(said, truth=Truth(first)))


def str_parts(event: object) -> list[dict[str, str]]:
    """The parts of an artifact event, on any wire."""
    inner = event.get("artifactUpdate", event) if isinstance(event, dict) else {}
    found = inner.get("artifact", {}).get("parts", [])
    return [part for part in found if isinstance(part, dict)]


def test_every_manner_is_drawn() -> None:
    about = " ".join(
        said.about
        for seed in range(30)
        for said in (asked(Random(seed))[0], rewritten(Random(seed)), repeated(Random(seed)))
    )
    for name in (
        "words", "form", "fields", "schema", "sign-in", "replaced", "result", "snapshots", "task",
        "three times", "cumulative", "messages", "statuses", "at once", "langgraph", "fasta2a",
    ):  # fmt: skip
        assert name in about
