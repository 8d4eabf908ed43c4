from a2a.types import Task, TaskState
from google.protobuf.json_format import MessageToDict

from slack_bot.playground.reference.event_writer import EventWriter
from slack_bot.playground.reference.scenarios import ScenarioStep, StepStatus
from slack_bot.playground.reference.structured import Final, Response
from slack_bot.playground.reference.voice_splitter import SpokenPiece, Voice
from tests.playground.reference.event_queue import Kept


def new(artifacts: int = 0) -> tuple[EventWriter, Kept]:
    queue = Kept()
    task = Task(id="t", context_id="c")
    for _ in range(artifacts):
        task.artifacts.add()
    return EventWriter(queue, task), queue


def answer(text: str) -> SpokenPiece:
    return SpokenPiece(text, Voice.ANSWER)


async def test_narration_and_answer_are_told_apart_and_never_share_an_artifact() -> None:
    writer, queue = new()
    await writer.say(SpokenPiece("Looking around.", Voice.NARRATION))
    await writer.say(answer("The answer"))
    await writer.say(SpokenPiece(" More.", Voice.NARRATION))
    await writer.say(SpokenPiece("Whatever.", Voice.UNMARKED))
    chunks = queue.artifacts("streaming_result")
    flags = {each.artifact.artifact_id: set(each.artifact.metadata) for each in chunks}
    assert list(flags.values()) == [{"is_narration"}, {"is_final_answer"}, set()]
    assert [each.append for each in chunks] == [False, False, True, False]


async def test_text_belongs_to_the_step_that_runs() -> None:
    writer, queue = new()
    await writer.say(answer("before "))
    await writer.show_plan(
        (ScenarioStep("a", "A", StepStatus.DONE), ScenarioStep("b", "B", StepStatus.RUNNING))
    )
    await writer.say(answer("during "))
    await writer.show_plan((ScenarioStep("a", "A", StepStatus.DONE), ScenarioStep("b", "B", StepStatus.DONE)))
    await writer.tool_started("late")
    before, during = queue.artifacts("streaming_result")[0], queue.artifacts("streaming_result")[-1]
    assert "plan_step_id" not in before.artifact.metadata
    step = during.artifact.metadata["plan_step_id"]
    assert queue.artifacts("tool_notification_start")[0].artifact.metadata["plan_step_id"] == step


async def test_a_plan_where_nothing_runs_yet_has_no_step() -> None:
    writer, queue = new()
    await writer.show_plan((ScenarioStep("a", "A"),))
    await writer.tool_started("x")
    assert "plan_step_id" not in queue.artifacts("tool_notification_start")[0].artifact.metadata


async def test_a_task_that_goes_on_does_not_reuse_artifact_ids() -> None:
    writer, queue = new(artifacts=3)
    await writer.say(answer("x"))
    assert queue.artifacts("streaming_result")[0].artifact.artifact_id == "answer-4"


async def test_every_end_has_its_state() -> None:
    ends = (
        (lambda writer: writer.finish(Final("x")), TaskState.TASK_STATE_COMPLETED),
        (lambda writer: writer.cancel(), TaskState.TASK_STATE_CANCELED),
        (lambda writer: writer.fail("why"), TaskState.TASK_STATE_FAILED),
        (lambda writer: writer.ask("which?", ()), TaskState.TASK_STATE_INPUT_REQUIRED),
    )
    for end, state in ends:
        writer, queue = new()
        await end(writer)
        assert queue.statuses[-1][0] == state


async def test_a_final_result_is_text_or_data_and_says_what_else_is_known() -> None:
    response = Response("All.")
    for final, expected in (
        (Final("All."), "All."),
        (Final("All.", None, response.flags()), "All."),
        (Final("All.", response.data(), response.flags()), response.data()),
    ):
        writer, queue = new()
        await writer.finish(final)
        assert queue.final == expected
        metadata = MessageToDict(queue.artifacts("final_result")[0].artifact.metadata)
        assert len(metadata.pop("trace_id")) == 32
        assert metadata == ({"response": response.flags()} if final.flags else {})


async def test_a_sign_of_life_is_a_status_and_what_is_said_is_counted() -> None:
    touched: list[int] = []
    queue = Kept()
    writer = EventWriter(queue, Task(id="t", context_id="c"), lambda: touched.append(1))
    await writer.beat(30)
    assert queue.statuses == [(TaskState.TASK_STATE_WORKING, "Still working (30 s)…")]
    assert not touched
    await writer.say(answer("x"))
    await writer.announce("composing_answer", "✍️\n")
    assert len(touched) == 2
