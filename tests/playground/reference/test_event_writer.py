import asyncio

from a2a.types import Task, TaskState, TaskStatusUpdateEvent
from google.protobuf.json_format import MessageToDict

from slack_bot.playground.reference.event_writer import EventWriter
from slack_bot.playground.reference.scenarios import ScenarioStep
from slack_bot.playground.reference.structured import Response
from slack_bot.playground.reference.voice_splitter import Voice
from slack_bot.testing import virtual_clock
from tests.playground.reference.event_queue import Kept


def new(artifacts: int = 0) -> tuple[EventWriter, Kept]:
    queue = Kept()
    task = Task(id="t", context_id="c")
    for _ in range(artifacts):
        task.artifacts.add()
    return EventWriter(queue, task), queue


def answer(text: str) -> tuple[str, Voice]:
    return text, Voice.ANSWER


async def test_narration_and_answer_are_told_apart_and_never_share_an_artifact() -> None:
    writer, queue = new()
    await writer.say("Looking around.", Voice.NARRATION)
    await writer.say(*answer("The answer"))
    await writer.say(" More.", Voice.NARRATION)
    await writer.say("Whatever.", Voice.UNMARKED)
    chunks = queue.artifacts("streaming_result")
    flags = {each.artifact.artifact_id: set(each.artifact.metadata) for each in chunks}
    assert list(flags.values()) == [{"is_narration"}, {"is_final_answer"}, set()]
    assert [each.append for each in chunks] == [False, False, True, False]


async def test_text_belongs_to_the_step_that_runs() -> None:
    writer, queue = new()
    await writer.say(*answer("before "))
    await writer.show_plan((ScenarioStep("a", "completed", "A"), ScenarioStep("b", "in_progress", "B")))
    await writer.say(*answer("during "))
    await writer.show_plan((ScenarioStep("a", "completed", "A"), ScenarioStep("b", "completed", "B")))
    await writer.announce("late", "")
    before, during = queue.artifacts("streaming_result")[0], queue.artifacts("streaming_result")[-1]
    assert "plan_step_id" not in before.artifact.metadata
    step = during.artifact.metadata["plan_step_id"]
    assert queue.artifacts("tool_notification_start")[0].artifact.metadata["plan_step_id"] == step


async def test_a_plan_where_nothing_runs_yet_has_no_step() -> None:
    writer, queue = new()
    await writer.show_plan((ScenarioStep("a"),))
    await writer.announce("x", "")
    assert "plan_step_id" not in queue.artifacts("tool_notification_start")[0].artifact.metadata


async def test_a_task_that_goes_on_does_not_reuse_artifact_ids() -> None:
    writer, queue = new(artifacts=3)
    await writer.say(*answer("x"))
    assert queue.artifacts("streaming_result")[0].artifact.artifact_id == "answer-4"


async def test_every_end_has_its_state() -> None:
    ends = (
        (lambda writer: writer.finish("x"), TaskState.TASK_STATE_COMPLETED),
        (lambda writer: writer.status(TaskState.TASK_STATE_CANCELED), TaskState.TASK_STATE_CANCELED),
        (lambda writer: writer.status(TaskState.TASK_STATE_FAILED, "why"), TaskState.TASK_STATE_FAILED),
        (lambda writer: writer.ask("which?", ()), TaskState.TASK_STATE_INPUT_REQUIRED),
    )
    for end, state in ends:
        writer, queue = new()
        await end(writer)
        assert queue.statuses[-1][0] == state


async def test_a_final_result_is_text_or_data_and_says_what_else_is_known() -> None:
    response = Response("All.")
    for given, as_data, expected in (
        (None, True, "All."),
        (response, False, "All."),
        (response, True, response.data()),
    ):
        writer, queue = new()
        await writer.finish("All.", given, as_data=as_data)
        assert queue.final == expected
        metadata = MessageToDict(queue.artifacts("final_result")[0].artifact.metadata)
        assert len(metadata.pop("trace_id")) == 32
        assert metadata == ({"response": response.flags()} if given else {})


async def beats(interval: float, *events: float, until: float) -> list[tuple[float, str]]:
    """When it beat, and what it said, where something is written at `events`."""
    found: list[tuple[float, str]] = []
    loop = asyncio.get_running_loop()

    class Timed(Kept):
        async def enqueue_event(self, event: object) -> None:  # type: ignore[override]
            await super().enqueue_event(event)
            if isinstance(event, TaskStatusUpdateEvent):
                found.append((round(loop.time(), 3), self.statuses[-1][1]))

    writer = EventWriter(Timed(), Task(id="t", context_id="c"))
    async with writer.beating(interval):
        for at in events:
            await asyncio.sleep(at - loop.time())
            await writer.announce("composing_answer", "✍️\n")
        await asyncio.sleep(until - loop.time())
    await asyncio.sleep(1000)
    return found


def test_silence_is_told_as_long_as_it_lasts() -> None:
    assert virtual_clock.run(beats(30, until=95)) == [
        (seconds, f"Still working ({seconds} s)…") for seconds in (30, 60, 90)
    ]


def test_what_is_said_begins_the_silence_anew() -> None:
    told = [(55, "Still working (30 s)…"), (100, "Still working (30 s)…")]
    assert virtual_clock.run(beats(30, 20, 25, 70, until=110)) == told


def test_an_interval_of_0_is_never() -> None:
    assert virtual_clock.run(beats(0, until=500)) == []
