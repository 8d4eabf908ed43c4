from a2a.server.events import EventQueue
from a2a.types import Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent

from slack_bot.playground.scenarios import PlanStep, StepStatus
from slack_bot.playground.telling import Telling


class Kept(EventQueue):
    """A queue that keeps what is put in."""

    def __init__(self) -> None:
        self.events: list[object] = []

    async def enqueue_event(self, event: object) -> None:  # type: ignore[override]
        self.events.append(event)

    def artifacts(self, name: str) -> list[TaskArtifactUpdateEvent]:
        found = [each for each in self.events if isinstance(each, TaskArtifactUpdateEvent)]
        return [each for each in found if each.artifact.name == name]


def new(artifacts: int = 0) -> tuple[Telling, Kept]:
    queue = Kept()
    task = Task(id="t", context_id="c")
    for _ in range(artifacts):
        task.artifacts.add()
    return Telling(queue, task, pace=0), queue


async def test_narration_and_answer_are_told_apart_and_never_share_an_artifact() -> None:
    telling, queue = new()
    await telling.narrate("Looking around.")
    await telling.write("The answer")
    await telling.narrate(" More.")
    chunks = queue.artifacts("streaming_result")
    flags = {each.artifact.artifact_id: set(each.artifact.metadata) for each in chunks}
    assert list(flags.values()) == [{"is_narration"}, {"is_final_answer"}]
    assert not chunks[0].append
    assert chunks[-1].append


async def test_text_belongs_to_the_step_that_runs() -> None:
    telling, queue = new()
    await telling.write("before ")
    await telling.show_plan((PlanStep("a", "A", StepStatus.DONE), PlanStep("b", "B", StepStatus.RUNNING)))
    await telling.write("during ")
    await telling.show_plan((PlanStep("a", "A", StepStatus.DONE), PlanStep("b", "B", StepStatus.DONE)))
    await telling.tool_started("late")
    before, during = queue.artifacts("streaming_result")[0], queue.artifacts("streaming_result")[-1]
    assert "plan_step_id" not in before.artifact.metadata
    step = during.artifact.metadata["plan_step_id"]
    assert queue.artifacts("tool_notification_start")[0].artifact.metadata["plan_step_id"] == step


async def test_a_plan_where_nothing_runs_yet_has_no_step() -> None:
    telling, queue = new()
    await telling.show_plan((PlanStep("a", "A"),))
    await telling.tool_started("x")
    assert "plan_step_id" not in queue.artifacts("tool_notification_start")[0].artifact.metadata


async def test_a_task_that_goes_on_does_not_reuse_artifact_ids() -> None:
    telling, queue = new(artifacts=3)
    await telling.write("x")
    assert queue.artifacts("streaming_result")[0].artifact.artifact_id == "answer-4"


async def test_every_end_has_its_state() -> None:
    for end, state in (
        (Telling.finish, TaskState.TASK_STATE_COMPLETED),
        (Telling.cancel, TaskState.TASK_STATE_CANCELED),
    ):
        telling, queue = new()
        await end(telling)
        last = queue.events[-1]
        assert isinstance(last, TaskStatusUpdateEvent)
        assert last.status.state == state
