"""What an agent asks, by a form or by its status."""

from __future__ import annotations

from slack_bot.agents.agent_question import AgentQuestion
from slack_bot.agents.answer.assembler import AnswerAssembler
from slack_bot.agents.wire.frames import AgentMessage, Artifact, TaskState
from slack_bot.turn.events import InputRequired, Narrated
from slack_bot.turn.form import Form
from tests.agents.parser_turns import data, text

FIELDS = data({"input_fields": [{"field_name": "City"}]})


def asked(question: AgentQuestion, prompt: str, state: TaskState = TaskState.INPUT_REQUIRED) -> Form:
    event = question.take_status(state, AgentMessage("m", parts=text(prompt)), AnswerAssembler(1_000))
    assert isinstance(event, InputRequired)
    assert event.form is question.form
    return event.form


def test_a_form_that_came_before_gets_the_prompt_of_the_status() -> None:
    question = AgentQuestion()
    assert isinstance(question.take_form(Artifact(parts=FIELDS)), InputRequired)
    form = asked(question, "Where?")
    assert form.prompt == "Where?"
    assert len(form.fields) == 1


def test_a_form_without_fields_is_no_question() -> None:
    question = AgentQuestion()
    assert isinstance(question.take_form(Artifact()), Narrated)
    assert question.form is None


def test_a_sign_in_is_over_when_the_task_goes_on_and_so_is_what_it_had_asked() -> None:
    question = AgentQuestion()
    assert asked(question, "Sign in: https://x.example/a", TaskState.AUTH_REQUIRED).is_auth
    question.close_stale(has_asked=False)
    assert question.form is None
    asked(question, "Where?")
    question.close_stale(has_asked=False)
    assert question.form is not None
    question.close_stale(has_asked=True)
    assert question.form is None
