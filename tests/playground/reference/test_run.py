import json
from collections.abc import AsyncIterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

import pytest
from a2a.types import Task, TaskState
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.playground.command_line import MODES
from slack_bot.playground.reference.event_writer import EventWriter
from slack_bot.playground.reference.run import AgentRun, read_plan, read_question
from slack_bot.playground.reference.scenarios import ScenarioStep
from slack_bot.playground.reference.search import Library
from slack_bot.playground.reference.toolbox import (
    ASK,
    FETCH,
    PLAN,
    RESPONSE,
    SEARCH,
    ModelFailed,
    Returned,
    Toolbox,
    ToolCall,
    ToolResult,
)
from slack_bot.settings.models import ReferenceSettings
from slack_bot.testing import virtual_clock
from tests.playground.reference.event_queue import Kept

COMPLETED, FAILED = TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_FAILED
ASKED = TaskState.TASK_STATE_INPUT_REQUIRED


@cache
def library() -> Library:
    return Library({"cats": "# Cats\n\nCats sleep."})


Message = Sequence[str | ToolCall | ModelFailed]


class Said:
    """A model with its messages written down; `returned` is what each of them was given."""

    def __init__(self, *messages: Message) -> None:
        self._messages = iter(messages)
        self.returned: list[list[ToolResult]] = []

    async def turn(self, returned: Returned) -> AsyncIterator[str | ToolCall]:
        self.returned.append([result for _, result in returned])
        for each in next(self._messages, ()):
            if isinstance(each, ModelFailed):
                raise each
            yield each


def run(*messages: Message, mode: str = "marker", **settings: object) -> tuple[Kept, Said]:
    queue, said = Kept(), Said(*messages)
    chosen = ReferenceSettings.model_validate({"response_mode": mode, **settings})

    async def carry_out() -> None:
        writer = EventWriter(queue, Task(id="t", context_id="c"))
        await AgentRun(writer, said.turn, Toolbox(library(), chosen), chosen).carry_out()

    virtual_clock.run(carry_out())
    return queue, said


def text(*words: str) -> list[str | ToolCall]:
    return list(words)


def call(tool: str, call_id: str = "c1", /, **arguments: Any) -> ToolCall:
    return ToolCall(call_id, tool, json.dumps(arguments))


def response(*, pieces: int = 7, **data: Any) -> list[ToolCall]:
    raw = json.dumps({"is_task_complete": True, "require_user_input": False, **data})
    return [ToolCall("r", RESPONSE, raw[at : at + pieces]) for at in range(0, len(raw), pieces)]


STARTED, ENDED = "tool_notification_start", "tool_notification_end"


# -- marked text ---------------------------------------------------------------------------------------------


def test_narration_call_and_answer_are_told_in_their_order() -> None:
    queue, said = run(
        [*text("I'll ", "look."), call(SEARCH, query="cats"), *text(" For cats.")],
        text("Found. [FINAL", " ANSWER]", "\nCats ", "sleep."),
    )
    assert queue.told() == [
        ("is_narration", "I'll look."),
        (STARTED, f"Tool call started: {SEARCH}"),
        ("is_narration", " For cats."),
        (ENDED, f"Tool call completed: {SEARCH}"),
        ("is_narration", "Found. "),
        ("is_final_answer", "Cats sleep."),
        ("final_result", "Final result"),
    ]
    assert queue.final == "Cats sleep."
    assert queue.statuses[-1] == (COMPLETED, "")
    assert [each.text for each in said.returned[1]] == ["cats: Cats"]


def test_in_hybrid_mode_the_response_is_wrapped_around_it() -> None:
    queue, _ = run(text("[FINAL ANSWER]Yes."), mode="hybrid")
    metadata = queue.artifacts("final_result")[0].artifact.metadata
    assert dict(metadata["response"])["is_task_complete"] is True
    assert queue.final == queue.answer == "Yes."
    queue, _ = run(text("[FINAL ANSWER]Yes."), mode="hybrid", structured_output=True)
    assert queue.final["content"] == queue.answer == "Yes."
    queue, _ = run(text("[FINAL ANSWER]Yes."), mode="marker", structured_output=True)
    assert queue.final == "Yes.", "there is no response in marker mode"


@pytest.mark.parametrize("mode", ["marker", "hybrid"])
def test_a_model_that_writes_no_marker_is_answered_for_all_the_same(mode: str) -> None:
    queue, _ = run([*text("I'll look."), call(SEARCH, query="cats")], text("Cats sleep."), mode=mode)
    assert queue.final == "Cats sleep."
    assert queue.statuses[-1][0] == COMPLETED


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("messages", [[[]], [text(" \n")]])
def test_a_model_that_says_nothing_has_failed(mode: str, messages: list[Message]) -> None:
    queue, _ = run(*messages, mode=mode)
    assert queue.statuses[-1] == (FAILED, "The model gave no answer.")
    assert not queue.artifacts("final_result")


@pytest.mark.parametrize("mode", MODES)
def test_a_model_that_breaks_off_keeps_what_it_said(mode: str) -> None:
    queue, _ = run([*text("See [FIN"), ModelFailed("It broke.")], mode=mode)
    assert "".join(said for _, said in queue.told()) == "See [FIN"
    assert queue.statuses[-1] == (FAILED, "It broke.")


def test_a_response_that_breaks_off_keeps_its_last_word() -> None:
    parts = [ToolCall("r", RESPONSE, '{"content": "One '), ToolCall("r", RESPONSE, "two th")]
    queue, _ = run([*parts, ModelFailed("It broke.")], mode="structured")
    assert queue.answer == "One two th"
    assert queue.statuses[-1] == (FAILED, "It broke.")


# -- tools ---------------------------------------------------------------------------------------------------


def test_arguments_in_pieces_are_one_call() -> None:
    pieces = [ToolCall("c", FETCH, '{"na'), ToolCall("c", FETCH, 'me": "cats"}')]
    queue, said = run(pieces, text("[FINAL ANSWER]So."))
    assert [each.text for each in said.returned[1]] == ["# Cats\n\nCats sleep."]
    (started,) = queue.artifacts(STARTED)
    assert started.artifact.metadata["tool_title"] == "Read “Cats”", "told when the arguments are whole"


def test_a_plan_is_shown_before_the_tool_that_belongs_to_it() -> None:
    todos = [
        {"title": "Look", "agent": "RAG", "status": "in_progress"},
        {"title": "Write", "status": "pending"},
    ]
    queue, _ = run([call(PLAN, "p", todos=todos), call(SEARCH, query="cats")], text("[FINAL ANSWER]Yes."))
    assert [name for name, _ in queue.told()][:3] == ["execution_plan_update", STARTED, ENDED]
    start = queue.artifacts(STARTED)[0].artifact
    assert start.metadata["plan_step_id"].startswith("step-")
    assert queue.artifacts("streaming_result")[-1].artifact.metadata["plan_step_id"].startswith("step-")


def test_a_plan_may_say_what_was_done() -> None:
    todos = [{"title": "Look", "status": "completed"}]
    queue, _ = run(
        [call(PLAN, "p", todos=todos, title="Searched 1 page"), call(PLAN, "q", todos=todos, title=7)],
        text("[FINAL ANSWER]Yes."),
    )
    plans = [queue.artifacts(f"execution_plan_{kind}")[0] for kind in ("update", "status_update")]
    told = [dict(plan.artifact.parts[0].data.struct_value).get("title") for plan in plans]
    assert told == ["Searched 1 page", None]


def test_a_tool_at_its_cap_stops_no_other() -> None:
    searches = [call(SEARCH, f"s{number}", query="cats") for number in range(4)]
    queue, said = run([*searches, call(FETCH, "f", name="cats")], text("[FINAL ANSWER]Yes."), search_calls=2)
    assert [each.capped for each in said.returned[1]] == [False, False, True, True, False]
    assert said.returned[1][-1].text == "# Cats\n\nCats sleep."
    assert len(queue.artifacts(STARTED)) == len(queue.artifacts(ENDED)) == 5
    assert queue.statuses[-1][0] == COMPLETED


def test_a_model_that_calls_for_ever_is_ended() -> None:
    queue, _ = run(*[[call(SEARCH, query="cats")]] * 100)
    assert queue.statuses[-1] == (FAILED, "The model called tools for ever and gave no answer.")


def test_arguments_that_are_no_json_are_a_failed_call_and_no_more() -> None:
    queue, said = run(
        [ToolCall("c", FETCH, "nonsense"), ToolCall("p", PLAN, "[1]")], text("[FINAL ANSWER]So.")
    )
    assert [each.failed for each in said.returned[1]] == [True, True]
    assert (ENDED, f"Tool call failed: {FETCH}") in queue.told()
    assert queue.final == "So."


def test_a_tool_that_nobody_gave_is_refused() -> None:
    queue, said = run([call("rm", input="x")], text("[FINAL ANSWER]No."))
    assert said.returned[1][0].text == "policy: rm is not among the tools of this agent"
    assert (ENDED, "Tool call failed: rm") in queue.told()


# -- the human -----------------------------------------------------------------------------------------------

FIELDS = [{"field_name": "env", "field_description": "Where", "field_values": ["a"], "required": True}]


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("marker", [call(ASK, prompt="Where to?", input_fields=FIELDS)]),
        ("hybrid", [call(ASK, prompt="Where to?", input_fields=FIELDS)]),
        (
            "structured",
            response(require_user_input=True, content="Where to?", metadata={"input_fields": FIELDS}),
        ),
        ("structured", response(content="Where to?", metadata={"input_fields": FIELDS})),
    ],
)
def test_input_fields_are_asked_for(mode: str, message: Message) -> None:
    queue, _ = run(message, mode=mode)
    assert queue.statuses[-1] == (ASKED, "Where to?")
    assert not queue.artifacts("final_result")
    assert len(queue.artifacts("UserInputMetaData")) == 1
    queue, _ = run(message, mode=mode, self_service_middleware=False)
    assert queue.statuses[-1] == (ASKED, "Where to?")
    assert not queue.artifacts("UserInputMetaData")


def test_a_question_that_is_known_to_be_one_is_not_streamed_as_an_answer() -> None:
    asked = response(require_user_input=True, content="Where to?")
    queue, _ = run(asked, mode="structured")
    assert queue.answer == ""
    assert queue.statuses[-1] == (ASKED, "Where to?")


def test_in_hybrid_mode_an_object_written_as_text_may_ask_too() -> None:
    raw = '{"is_task_complete": false, "require_user_input": true, "content": "Where to?"}'
    queue, _ = run(text("[FINAL ANSWER]", raw), mode="hybrid")
    assert queue.statuses[-1] == (ASKED, "Where to?")


# -- structured ----------------------------------------------------------------------------------------------


def test_the_answer_comes_out_of_the_growing_object_by_words_to_the_last_one() -> None:
    queue, _ = run(response(content="One two three four five six.end", pieces=3), mode="structured")
    assert queue.told()[0] == (STARTED, "Tool call started: composing_answer")
    pieces = [each.artifact.parts[0].text for each in queue.artifacts("streaming_result")]
    assert pieces == ["One ", "two ", "three ", "four ", "five ", "six.", "end"]
    assert queue.final == "One two three four five six.end"
    names = [name for name, _ in queue.told()]
    assert names.index("final_result") == len(names) - 1, "the last word is out before the final result"


def test_the_final_result_is_data_where_that_is_taken_and_valid() -> None:
    whole = response(content="One two.", was_task_successful=False)
    queue, _ = run(whole, mode="structured", structured_output=True)
    assert queue.final == {
        "is_task_complete": True,
        "require_user_input": False,
        "was_task_successful": False,
        "content": "One two.",
    }
    queue, _ = run(whole[:-1], mode="structured", structured_output=True)
    assert queue.final == queue.answer == "One two."
    broken = [*text("Said before."), ToolCall("r", RESPONSE, "nonsense")]
    queue, _ = run(broken, mode="structured", structured_output=True)
    assert queue.final == "Said before."
    queue, _ = run([*text("Said before."), call(SEARCH, query="x")], broken[1:], mode="structured")
    assert queue.final == "Said before."


def test_an_answer_without_a_response_is_streamed_in_chunks() -> None:
    long = "word " * 100
    queue, _ = run(text(long), mode="structured")
    chunks = [each.artifact.parts[0].text for each in queue.artifacts("streaming_result")][1:]
    assert [len(each) for each in chunks] == [200, 200, 100]
    assert queue.answer == queue.final == long


def test_what_is_called_beside_a_response_is_done_too() -> None:
    todos = [{"title": "Look", "status": "completed"}]
    message = [call(PLAN, "p", todos=todos), call(SEARCH, "s", query="cats"), *response(content="So.")]
    queue, _ = run(message, mode="structured")
    names = [name for name, _ in queue.told()]
    assert names.count("execution_plan_update") == 1
    assert len(queue.artifacts(ENDED)) == 1
    assert queue.final == "So."


# -- all of it -----------------------------------------------------------------------------------------------

WORDS = st.lists(st.text("ab c\n.[]", min_size=1, max_size=6), max_size=8)


@given(st.lists(WORDS, min_size=1, max_size=4), WORDS, st.sampled_from(["marker", "hybrid"]))
def test_no_letter_is_lost_and_the_stream_is_the_final_result(
    narrated: list[list[str]], answer: list[str], mode: str
) -> None:
    messages: list[Message] = [
        [*text(*words), call(SEARCH, f"c{n}", query="x")] for n, words in enumerate(narrated)
    ]
    queue, _ = run(*messages, text("[FINAL", " ANSWER]", *answer), mode=mode, search_calls=2)
    said = "".join(each for kind, each in queue.told() if kind.startswith("is_"))
    assert "".join(said.split()) == "".join("".join([*chain(*narrated), *answer]).split())
    if "".join(answer).strip():
        assert queue.final == queue.answer
        assert queue.answer.strip() == "".join(answer).strip()


@pytest.mark.parametrize("arguments", ["", "[]", "{}", '{"todos": 7}', '{"todos": [7, {"agent": "x"}]}'])
def test_no_plan_is_read_where_there_is_none(arguments: str) -> None:
    assert read_plan(ToolCall("p", PLAN, arguments)) == ()


def test_what_a_plan_leaves_out_is_filled_in() -> None:
    rows = [{"title": "A"}, {"title": "B", "agent": "X", "status": "completed"}, {"title": "C", "status": 7}]
    assert read_plan(call(PLAN, todos=rows)) == (
        ScenarioStep("A"),
        ScenarioStep("B", "completed", "X"),
        ScenarioStep("C"),
    )


def test_a_question_is_never_empty() -> None:
    assert read_question(ToolCall("q", ASK, "nonsense")) == ("Please say how to go on.", ())
