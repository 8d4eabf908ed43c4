"""Artifacts become events, streamed or stored in a task."""

from __future__ import annotations

from slack_bot.agents.agent_question import AgentQuestion
from slack_bot.agents.answer.answer_extras import AnswerExtras
from slack_bot.agents.answer.assembler import AnswerAssembler
from slack_bot.agents.answer.candidates import Candidates
from slack_bot.agents.artifact_parser import ArtifactParser
from slack_bot.agents.artifact_reader import ArtifactReader
from slack_bot.agents.asides import Asides
from slack_bot.agents.wire.frames import Artifact
from slack_bot.turn.events import AnswerText, FinalAnswer, InputRequired, Narrated
from tests.agents.parser_turns import FOX, artifact, data, text


class Parts:
    """A parser, and what it writes to."""

    def __init__(self, dialect: str) -> None:
        reader, self.answer = ArtifactReader(dialect), AnswerAssembler(1_000)
        self.extras, self.question, self.candidates = AnswerExtras(), AgentQuestion(), Candidates()
        self.parser = ArtifactParser(
            reader=reader,
            answer=self.answer,
            asides=Asides(self.answer, reader),
            extras=self.extras,
            question=self.question,
            candidates=self.candidates,
        )


def test_what_was_streamed_and_then_stored_is_shown_once() -> None:
    parts = Parts("generic")
    (event,) = parts.parser.take_update(artifact(text("The quick "), append=True))
    assert isinstance(event, AnswerText) and event.text == "The quick "
    (event,) = parts.parser.take_stored((Artifact("a", parts=text(FOX)),))
    assert isinstance(event, AnswerText) and event.text == "brown fox"
    (event,) = parts.parser.take_stored((Artifact("a", parts=text(FOX)),))
    assert isinstance(event, Narrated)


def test_a_result_is_the_answer_and_a_partial_one_is_kept_for_the_end() -> None:
    parts = Parts("caipe")
    (event,) = parts.parser.take_update(artifact(text("Half."), name="partial_result"))
    assert isinstance(event, Narrated)
    assert parts.candidates.has_final and not parts.candidates.final
    (event,) = parts.parser.take_update(artifact(text(FOX), key="b", name="final_result"))
    assert isinstance(event, FinalAnswer)
    assert parts.candidates.final == FOX


def test_a_form_in_a_result_is_a_question() -> None:
    parts = Parts("caipe")
    form = data({"input_fields": [{"field_name": "City"}]})
    (event,) = parts.parser.take_stored((Artifact("a", "final_result", parts=form),))
    assert isinstance(event, InputRequired)
    assert parts.question.form is not None


def test_text_behind_a_leak_is_not_held_for_the_answer() -> None:
    parts = Parts("caipe")
    for chunk in ("is_task_complete=True require_user_input=False content='x'", "The fox"):
        parts.parser.take_update(artifact(text(chunk), append=True, name="streaming_result"))
    assert parts.answer.held_text(failed=False) == ""
