"""PURE. What a polled task brings that its stream did not.

There the chunks of an artifact are added up, and so are their flags; messages that were missed are in the
history; a message that came in pieces is whole.
"""

from __future__ import annotations

from dataclasses import replace

from ..content.parts import extract_content, is_true
from ..wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    Frame,
    MessageReply,
    Part,
    Snapshot,
    StatusUpdate,
    TaskState,
)
from .delta_detector import DeltaDetector

_ANSWER, _NARRATION = "is_final_answer", "is_narration"
_FEW_CHUNKS = 2  # say too little to be snapshots


class SnapshotMerger:
    """What was streamed of one turn's task.

    `in_statuses`: the task is new and answers in its statuses, so its whole history is of this turn.
    """

    def __init__(self, *, in_statuses: bool) -> None:
        self._in_statuses = in_statuses
        self._streamed: dict[str, list[tuple[bool, str]]] = {}  # chunks with flags: is it answer, its text
        self._before: dict[str, str] = {}
        self._messages: dict[str, str] = {}
        self._reply: AgentMessage | None = None
        self._reply_text = DeltaDetector()

    def set_baseline(self, task: Snapshot) -> None:
        """The task before this turn."""
        self._before = {each.artifact_id or each.name: each.text for each in task.artifacts}
        for message in (*task.history, *([task.message] if task.message else [])):
            self._messages[message.message_id] = message.text

    def on_frame(self, frame: Frame) -> None:
        """A frame of the stream."""
        if isinstance(frame, ArtifactUpdate):
            artifact, metadata = frame.artifact, frame.artifact.metadata
            key = artifact.artifact_id or artifact.name
            if frame.append is not True:
                self._before.pop(key, None)
                self._streamed.pop(key, None)
            if key in self._streamed or is_true(metadata, _ANSWER) or is_true(metadata, _NARRATION):
                chunk = is_true(metadata, _ANSWER), artifact.text
                self._streamed.setdefault(key, []).append(chunk)
        elif isinstance(frame, StatusUpdate) and frame.message is not None and frame.message.text:
            self._messages[frame.message.message_id] = frame.message.text
        elif isinstance(frame, MessageReply) and frame.message.role == "agent":
            if self._reply is None or self._reply.message_id != frame.message.message_id:
                self._reply, self._reply_text = frame.message, DeltaDetector()
            self._reply_text.take(frame.message.text)

    def merge(self, task: Snapshot) -> list[Frame]:
        """What was not streamed, as frames; the task itself is the last."""
        missed = self._missed(task.history)
        artifacts = tuple(each for each in map(self._answer_of, task.artifacts) if each is not None)
        message = task.message
        goes_on = not (task.state.is_terminal or task.state.is_asking)
        if goes_on and message is not None:
            if self._messages.get(message.message_id) == message.text:
                message = None
            elif message.text:
                self._messages[message.message_id] = message.text
        return [*missed, replace(task, artifacts=artifacts, message=message)]

    def _answer_of(self, artifact: Artifact) -> Artifact | None:
        """This turn's answer in `artifact`; None where narration cannot be taken off."""
        key = artifact.artifact_id or artifact.name
        before, chunks = self._before.get(key), self._streamed.get(key, [])
        if before is not None and artifact.text.startswith(before):
            if not (rest := artifact.text[len(before) :]):
                return None
            artifact = replace(artifact, parts=(Part(text=rest),))
        has_both = is_true(artifact.metadata, _ANSWER) and is_true(artifact.metadata, _NARRATION)
        if not has_both and all(is_answer for is_answer, _ in chunks):
            return artifact
        known = "".join(text for _, text in chunks)
        if not chunks or not chunks[-1][0] or not artifact.text.startswith(known):
            return None
        chunks.append((True, artifact.text[len(known) :]))
        answer = "".join(text for is_answer, text in chunks if is_answer)
        metadata = {key: value for key, value in artifact.metadata.items() if key != _NARRATION}
        return replace(artifact, parts=(Part(text=answer),), metadata={**metadata, _ANSWER: True})

    def _missed(self, history: tuple[AgentMessage, ...]) -> list[Frame]:
        sent = [each for each in history if each.role == "agent" and each.text]
        if self._reply is not None:
            so_far = self._reply_text.text
            whole = next((each.text for each in reversed(sent) if each.text.startswith(so_far)), so_far)
            self._reply_text.take(whole)
            return [MessageReply(replace(self._reply, parts=(Part(text=whole),)))] if whole != so_far else []
        known = [n for n, each in enumerate(sent) if self._messages.get(each.message_id) == each.text]
        unknown = sent if self._in_statuses and not self._messages else []
        found = sent[known[-1] + 1 :] if known else unknown
        self._messages |= {each.message_id: each.text for each in found}
        return [StatusUpdate(each.task_id, each.context_id, TaskState.WORKING, each) for each in found]


def stored_text(artifact: Artifact) -> str:
    """The text of a task's artifact, whose parts are the chunks that came."""
    texts = [part.text for part in artifact.parts if part.text is not None and not part.metadata]
    text = extract_content(artifact.parts, artifact.metadata).text
    if not text or len(texts) != len(artifact.parts) or len(texts) <= _FEW_CHUNKS:
        return text
    detector = DeltaDetector(appends=True)
    for each in texts:
        detector.take(each)
    return detector.text
