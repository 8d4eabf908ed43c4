"""PURE. What a task holds besides what was streamed of it: it is read where a stream was cut."""

from dataclasses import replace

from ..content.parts import is_true
from ..dialects.table import ANSWER_MARKS, NARRATION_MARKS
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
from .token_pace import in_tokens, may_begin_tokens


class SnapshotMerger:
    """What was streamed of one turn's task, and what a polled one brings besides.

    There the chunks of an artifact are added up, and so are their flags; missed messages are in the history.
    `in_statuses`: the task is new and answers in its statuses, so its whole history is of this turn; None:
    it is new, and may answer there.
    """

    def __init__(self, *, in_statuses: bool | None) -> None:
        self._in_statuses = in_statuses
        self._streamed: dict[str, list[tuple[bool, str]]] = {}  # chunks with flags: is it answer, its text
        self._before: dict[str, Artifact] = {}
        self._messages: dict[str, str] = {}
        self._reply: AgentMessage | None = None
        self._reply_text = DeltaDetector()

    def set_baseline(self, task: Snapshot) -> None:
        self._before = {each.artifact_id or each.name: each for each in task.artifacts}
        for message in (*task.history, *([task.message] if task.message else [])):
            self._messages[message.message_id] = message.text

    def is_as_before(self, task: Snapshot) -> bool:
        """`task` waits for what has just been answered: no message of the agent is new since the baseline.

        Some servers move the message that asked into the history as soon as it is answered.
        """
        sent = [*task.history, *([task.message] if task.message else [])]
        of_agent = (each for each in sent if each.role == "agent")
        return all(self._messages.get(each.message_id) == each.text for each in of_agent)

    def on_frame(self, frame: Frame) -> None:
        if isinstance(frame, ArtifactUpdate):
            artifact, metadata = frame.artifact, frame.artifact.metadata
            key = artifact.artifact_id or artifact.name
            if frame.append is not True:
                self._before.pop(key, None)
                self._streamed.pop(key, None)
            is_answer = is_true(metadata, *ANSWER_MARKS)
            if is_answer or key in self._streamed or is_true(metadata, *NARRATION_MARKS):
                self._streamed.setdefault(key, []).append((is_answer, artifact.text))
        elif isinstance(frame, StatusUpdate) and frame.message is not None and frame.message.text:
            self._messages[frame.message.message_id] = frame.message.text
        elif isinstance(frame, MessageReply) and frame.message.role == "agent":
            if self._reply is None or self._reply.message_id != frame.message.message_id:
                self._reply, self._reply_text = frame.message, DeltaDetector()
            self._reply_text.take(frame.message.text)

    def merge(self, task: Snapshot) -> list[Frame]:
        message = task.message
        goes_on = not (task.state.is_terminal or task.state.is_asking)
        missed = self._missed(task.history, message, goes_on=goes_on)
        artifacts = tuple(each for each in map(self._answer_of, task.artifacts) if each is not None)
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
        if before is not None and artifact.text.startswith(before.text):
            rest = artifact.text[len(before.text) :]
            fresh = tuple(each for each in _without_text(artifact) if each not in before.parts)
            if not (rest or fresh):
                return None
            artifact = replace(artifact, parts=(*((Part(text=rest),) if rest else ()), *fresh))
        marks = artifact.metadata
        has_both = is_true(marks, *ANSWER_MARKS) and is_true(marks, *NARRATION_MARKS)
        if not has_both and all(is_answer for is_answer, _ in chunks):
            return artifact
        known = "".join(text for _, text in chunks)
        if not chunks or not chunks[-1][0] or not artifact.text.startswith(known):
            return None
        chunks.append((True, artifact.text[len(known) :]))
        answer = "".join(text for is_answer, text in chunks if is_answer)
        metadata = {key: value for key, value in marks.items() if key not in NARRATION_MARKS}
        shown = Part(text=answer), *_without_text(artifact)
        return replace(artifact, parts=shown, metadata={**metadata, ANSWER_MARKS[0]: True})

    def _missed(
        self, history: tuple[AgentMessage, ...], last: AgentMessage | None, *, goes_on: bool
    ) -> list[Frame]:
        """`last`: the message of the task's status."""
        sent = [each for each in history if each.role == "agent" and each.text]
        if self._reply is not None:
            so_far = self._reply_text.text
            whole = next((each.text for each in reversed(sent) if each.text.startswith(so_far)), so_far)
            self._reply_text.take(whole)
            return [MessageReply(replace(self._reply, parts=(Part(text=whole),)))] if whole != so_far else []
        known = [n for n, each in enumerate(sent) if self._messages.get(each.message_id) == each.text]
        if history and history[-1].role == "user" and not known:
            sent.reverse()  # some servers list the newest first
        is_unseen = not self._messages and self._in_statuses is not False
        is_answer = is_unseen and (self._in_statuses or _in_statuses(sent, last, goes_on=goes_on))
        found = sent[known[-1] + 1 :] if known else sent if is_answer else []
        self._messages |= {each.message_id: each.text for each in found}
        return [StatusUpdate(each.task_id, each.context_id, TaskState.WORKING, each) for each in found]


def _in_statuses(sent: list[AgentMessage], last: AgentMessage | None, *, goes_on: bool) -> bool:
    """What was `sent` is a text in tokens; while the task goes on, with `last`, so few that it may be one."""
    if not sent or len({each.message_id for each in sent}) < len(sent):
        return False
    texts = [each.text for each in sent]
    if goes_on and last is not None and last.text:
        texts.append(last.text)
    # one text says too little: some servers write the pieces of all of it under one id
    return in_tokens(texts) or (goes_on and len(texts) > 1 and may_begin_tokens(texts))


def _without_text(artifact: Artifact) -> tuple[Part, ...]:
    """Its data and files."""
    return tuple(each for each in artifact.parts if each.text is None)
