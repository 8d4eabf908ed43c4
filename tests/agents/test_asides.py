"""What an agent does on the way to its answer."""

from __future__ import annotations

from slack_bot.agents.answer.assembler import AnswerAssembler
from slack_bot.agents.artifact_reader import ArtifactReader
from slack_bot.agents.asides import Asides
from slack_bot.agents.content.parts import Content, extract_answer
from slack_bot.agents.wire.frames import Artifact
from slack_bot.turn.events import Narrated, NarrationConfirmed, ToolStarted
from tests.agents.parser_turns import data

CALL = Artifact("a", parts=data({"name": "search", "id": "1"}, adk_type="function_call"))


def asides() -> tuple[Asides, AnswerAssembler]:
    answer = AnswerAssembler(1_000)
    return Asides(answer, ArtifactReader("adk")), answer


def test_thoughts_are_narrated_and_tools_begin() -> None:
    taken = asides()[0].take(Content(thoughts="Hm."))
    assert taken == [Narrated("Hm.", reason="the model thinks")]
    started = asides()[0].take(extract_answer(CALL), "a")
    assert isinstance(started[-1], ToolStarted)


def test_text_before_a_call_that_a_task_holds_is_narration_once() -> None:
    steps, answer = asides()
    answer.artifact("a", "Let me look.", "why", append=True)
    assert [type(each) for each in steps.take_stored(CALL)] == [NarrationConfirmed]
    assert steps.take_stored(CALL) == []


def test_another_agent_that_speaks_is_no_news_until_it_is_another_one() -> None:
    steps = asides()[0]

    def speaks(name: str) -> bool:
        metadata = {"kagent_event_type": "agent_handoff", "kagent_new_agent_name": name}
        return bool(steps.take_handoff(metadata))

    assert speaks("first")
    assert speaks("first")
    assert not speaks("second")
    assert steps.take_handoff({}) == []
