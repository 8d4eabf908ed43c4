"""What a task was before it got a question, and what it has said. Pure."""

from dataclasses import replace

from ...turn.progress import TaskBaseline
from ..wire.frames import Part, Snapshot


def baseline_of(task: Snapshot) -> TaskBaseline:
    """What is kept of a task before it gets a question."""
    messages = (*task.history, *([task.message] if task.message else []))
    return TaskBaseline(
        tuple((each.artifact_id or each.name, len(each.text)) for each in task.artifacts),
        tuple(message.message_id for message in messages),
    )


def texts_of(task: Snapshot) -> dict[str, str]:
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
