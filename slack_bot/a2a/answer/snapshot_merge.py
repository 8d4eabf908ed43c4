"""PURE. Merges a polled task into what its stream brought: the result is what the stream did not bring.

In a polled task the chunks of an artifact are added up, and so are their flags; its status message may have
been streamed already; the messages between are in the history; a message that came in pieces is whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

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
from .delta_detector import DeltaDetector, join_chunks
from .keyed_text import StringBuilder

_ANSWER, _NARRATION = "is_final_answer", "is_narration"


@dataclass(slots=True)
class _StreamedText:
    """What was streamed of one artifact with flags on its chunks."""

    whole: StringBuilder = field(default_factory=StringBuilder)
    answer: StringBuilder = field(default_factory=StringBuilder)
    has_narration: bool = False
    is_answering: bool = False

    def add(self, artifact: Artifact) -> None:
        self.is_answering = is_true(artifact.metadata, _ANSWER)
        self.has_narration = self.has_narration or not self.is_answering
        self.whole.add(artifact.text)
        if self.is_answering:
            self.answer.add(artifact.text)

    def grow(self, text: str) -> str | None:
        """The answer in `text`, the whole artifact by now; None where it cannot be separated."""
        known = self.whole.text
        if not self.is_answering or not text.startswith(known):
            return None
        self.whole.set(text)
        self.answer.add(text[len(known) :])
        return self.answer.text


class SnapshotMerger:
    """What was streamed of one turn's task.

    `in_statuses`: the task began with this turn and answers in its statuses, so all messages in its history
    belong to the turn even where none was streamed.
    """

    def __init__(self, *, in_statuses: bool) -> None:
        self._in_statuses = in_statuses
        self._streamed: dict[str, _StreamedText] = {}
        self._before: dict[str, str] = {}
        self._messages: dict[str, str] = {}
        self._reply: AgentMessage | None = None
        self._reply_text = DeltaDetector()

    def set_baseline(self, task: Snapshot) -> None:
        """The task before this turn."""
        self._before = {_key(each): each.text for each in task.artifacts}
        for message in (*task.history, *([task.message] if task.message else [])):
            self._messages[message.message_id] = message.text

    def on_frame(self, frame: Frame) -> None:
        """A frame of the stream."""
        match frame:
            case ArtifactUpdate(artifact=artifact):
                self._add_chunk(artifact, append=frame.append is True)
            case StatusUpdate(message=AgentMessage() as message) if message.text:
                self._messages[message.message_id] = message.text
            case MessageReply(message=message) if message.role == "agent":
                if self._reply is None or self._reply.message_id != message.message_id:
                    self._reply, self._reply_text = message, DeltaDetector()
                self._reply_text.take(message.text)
            case _:
                pass

    def merge(self, task: Snapshot) -> list[Frame]:
        """What `task` brings that was not streamed, as frames; the task itself is the last."""
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

    def _add_chunk(self, artifact: Artifact, *, append: bool) -> None:
        key = _key(artifact)
        if not append:
            self._before.pop(key, None)
            self._streamed.pop(key, None)
        metadata = artifact.metadata
        if key in self._streamed or (
            metadata and (is_true(metadata, _ANSWER) or is_true(metadata, _NARRATION))
        ):
            self._streamed.setdefault(key, _StreamedText()).add(artifact)

    def _answer_of(self, artifact: Artifact) -> Artifact | None:
        """The answer in `artifact`, of this turn; None for none, or none that narration can be taken off."""
        key = _key(artifact)
        before, streamed = self._before.get(key), self._streamed.get(key)
        if before is not None and artifact.text.startswith(before):
            if not (rest := artifact.text[len(before) :]):
                return None
            artifact = replace(artifact, parts=(Part(text=rest),))
        has_both = is_true(artifact.metadata, _ANSWER) and is_true(artifact.metadata, _NARRATION)
        if not has_both and (streamed is None or not streamed.has_narration):
            return artifact
        answer = None if streamed is None else streamed.grow(artifact.text)
        if answer is None:
            return None
        metadata = {key: value for key, value in artifact.metadata.items() if key != _NARRATION}
        return replace(artifact, parts=(Part(text=answer),), metadata={**metadata, _ANSWER: True})

    def _missed(self, history: tuple[AgentMessage, ...]) -> list[Frame]:
        sent = [each for each in history if each.role == "agent" and each.text]
        if self._reply is not None:
            return self._rest_of_reply(sent, self._reply)
        known = [n for n, each in enumerate(sent) if self._messages.get(each.message_id) == each.text]
        unknown = sent if self._in_statuses and not self._messages else []
        found = sent[known[-1] + 1 :] if known else unknown
        self._messages |= {each.message_id: each.text for each in found}
        return [StatusUpdate(each.task_id, each.context_id, TaskState.WORKING, each) for each in found]

    def _rest_of_reply(self, sent: list[AgentMessage], reply: AgentMessage) -> list[Frame]:
        """The whole message that came in pieces, where the task has it."""
        known = self._reply_text.text
        whole = next((each.text for each in reversed(sent) if each.text.startswith(known)), known)
        if whole == known:
            return []
        self._reply_text.take(whole)
        return [MessageReply(replace(reply, parts=(Part(text=whole),)))]


def stored_text(artifact: Artifact) -> str:
    """The text of an artifact in a task; its parts are the chunks that came."""
    texts = [part.text for part in artifact.parts if part.text is not None and not part.metadata]
    text = extract_content(artifact.parts, artifact.metadata).text
    return join_chunks(texts) if text and len(texts) == len(artifact.parts) else text


def _key(artifact: Artifact) -> str:
    return artifact.artifact_id or artifact.name
