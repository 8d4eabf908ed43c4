"""What a task was before it got a question, and what of it is said again. Pure."""

from dataclasses import replace

from ...turn.progress import TaskBaseline
from ..wire.frames import ArtifactUpdate, Frame, Part, Snapshot, StatusUpdate, TaskState


def baseline_of(task: Snapshot) -> TaskBaseline:
    """What is kept of a task before it gets a question."""
    messages = (*task.history, *([task.message] if task.message else []))
    return TaskBaseline(
        tuple((each.artifact_id or each.name, len(each.text)) for each in task.artifacts),
        tuple(message.message_id for message in messages),
    )


class RepeatedFrames:
    """What a server sends once more behind the task with which a joined stream begins.

    Behind anything but a task (None) nothing is a repetition.
    """

    def __init__(self, task: Snapshot | None) -> None:
        artifacts = () if task is None else task.artifacts
        self._parts = {each.artifact_id: each.parts for each in artifacts}  # until the first chunk
        self._texts = {} if task is None else _texts_of(task)  # until the first other status

    def take(self, frame: Frame) -> bool:
        """True: `frame` says again what the task said."""
        if isinstance(frame, ArtifactUpdate):
            chunk, before = frame.artifact.parts, self._parts.get(frame.artifact.artifact_id, ())
            self._parts = {}
            return bool(frame.append and chunk) and before[-len(chunk) :] == chunk
        if not isinstance(frame, StatusUpdate):
            return False
        message = frame.message if frame.state is TaskState.WORKING else None
        if message is not None and self._texts.get(message.message_id) == message.text:
            return True
        self._texts = {}
        return False


def _texts_of(task: Snapshot) -> dict[str, str]:
    """Of each of its messages, by its id; none where one id is of several texts."""
    messages = (*task.history, *([task.message] if task.message else []))
    texts = {each.message_id: each.text for each in messages if each.message_id}
    return texts if all(texts.get(each.message_id) == each.text for each in messages) else {}


def before_question(task: Snapshot, baseline: TaskBaseline) -> Snapshot:
    """`task` as it was then."""
    sizes, known = dict(baseline.artifacts), frozenset(baseline.messages)
    artifacts = tuple(
        replace(each, parts=(Part(text=each.text[: sizes[key]]),))
        for each in task.artifacts
        if (key := each.artifact_id or each.name) in sizes
    )
    message = task.message if task.message is not None and task.message.message_id in known else None
    history = tuple(each for each in task.history if each.message_id in known)
    return replace(task, artifacts=artifacts, message=message, history=history)
