"""PURE. Frames become turn events: what was sent becomes what happened."""

from collections.abc import Mapping
from typing import assert_never

from ..errors import BadAgentData
from ..text.words import ANSWER_TOO_LARGE
from ..turn.events import Event, FinalAnswer, Narrated, TaskEnd, TaskEnded
from .agent_question import AgentQuestion
from .answer.answer_extras import AnswerExtras
from .answer.answer_sources import ARTIFACT, MESSAGE, STATUS, nothing
from .answer.assembler import AnswerAssembler
from .answer.candidates import Candidates
from .artifact_parser import ArtifactParser
from .artifact_reader import ArtifactReader
from .asides import Asides
from .content import parts
from .content.beside import BesideAnswer
from .dialects.dialect import ArtifactKind
from .dialects.table import NARRATION_MARKS
from .task_ids import TaskIds
from .wire import frames

_MAX_CHARS = 4_000_000
_NO_REPLY = "no_reply"  # metadata of a completed task: nothing is to be shown
_NAMES = {
    frames.Snapshot: "task",
    frames.StatusUpdate: "status_update",
    frames.MessageReply: "message",
    frames.Unknown: "unknown",
}


class EventParser:
    """The frames of one turn, in their order, become its events.

    `dialect` is a dialect's name or "auto"; `answer_source` is "auto", "artifact", "status" or "message";
    `marker` is "auto", "expected" or "off"; `profile` is what was learned about the agent. `max_chars` bounds
    the text kept. `state` is the task's.
    """

    def __init__(
        self,
        dialect: str = "auto",
        answer_source: str = "auto",
        max_chars: int = _MAX_CHARS,
        *,
        marker: str = "auto",
        profile: Mapping[str, str] | None = None,
    ) -> None:
        self.state = frames.TaskState.UNKNOWN
        self._has_task = self._has_message = False
        self._reader = ArtifactReader(dialect)
        default = self._reader.dialect.answer_source
        self._answer = AnswerAssembler(max_chars, answer_source, marker, profile, default)
        self._ids, self._beside = TaskIds(), BesideAnswer()
        self._asides = Asides(self._answer, self._reader)
        self._extras, self._question = AnswerExtras(), AgentQuestion()
        self._candidates = Candidates()
        self._artifacts = ArtifactParser(
            reader=self._reader,
            answer=self._answer,
            asides=self._asides,
            extras=self._extras,
            question=self._question,
            candidates=self._candidates,
        )

    @property
    def has_final(self) -> bool:
        """The agent named its result, or the partial one with which it gives up."""
        return self._candidates.has_final

    @property
    def has_replied(self) -> bool:
        """A message came, and nothing of any task."""
        has_artifacts = self._answer.sources.artifacts.has_text
        of_a_task = self._has_task or has_artifacts or self.state is not frames.TaskState.UNKNOWN
        return self._has_message and not of_a_task

    @property
    def answers_in_status(self) -> bool | None:
        """The agent's working-status text is taken for its answer; None: it may yet be."""
        return self._answer.habits.in_statuses

    @property
    def asks(self) -> bool:
        """The agent waits for an answer of the person."""
        return self._question.form is not None or self.state.is_asking

    def kind_of(self, frame: frames.Frame) -> str:
        """The kind of a frame, as logs and `replay` count them."""
        if isinstance(frame, frames.ArtifactUpdate):
            return str(self._reader.dialect.kind(frame.artifact.name))
        return _NAMES[type(frame)]

    def feed(self, frame: frames.Frame) -> list[Event]:
        """What happened. Raises `BadAgentData` when the turn's text exceeds its bound."""
        reader, answer = self._reader, self._answer
        if reader.is_open and (dialect := reader.recognise(frame, answer.sources.artifacts)) is not None:
            answer.habits.assume(dialect.answer_source)
        events = self._ids.learn(frame)
        events += self._beside.take(frame)
        match frame:
            case frames.ArtifactUpdate():
                events += self._artifacts.take_update(frame)
            case frames.StatusUpdate(state=state, message=message):
                if frame.metadata and (tool := parts.tool_part(frames.Part(data=frame.metadata))) is not None:
                    events += self._asides.take(parts.Content(tools=(tool,)))
                events += self._take_status(state, message, frame.metadata)
            case frames.Snapshot():
                events += self._take_task(frame)
            case frames.MessageReply(message=message):
                events += self._take_reply(message)
            case frames.Unknown(kind=kind):
                events.append(nothing(f"unknown event {kind!r}"))
            case _:
                assert_never(frame)
        if answer.sources.overflow:
            raise BadAgentData("the agent's text exceeds agent.max_turn_chars", safe=ANSWER_TOO_LARGE)
        return events

    def finish(self) -> list[Event]:
        """Nothing more comes: the best answer, unless the agent named a final one."""
        answer, candidates = self._answer, self._candidates
        answer.close()
        events: list[Event] = []
        if self._question.form is None and (form := answer.filters.question) is not None:
            events.append(self._question.ask(form, "the answer's envelope asks"))
        if not candidates.final:
            has_extras = self._extras.are_answer
            text, origin = candidates.best(
                answer, self._reader, self.state, has_extras=has_extras, asks=self.asks
            )
            if text:
                text = answer.paragraphs.mend(text)
                candidates.name_final(text)
                events.append(FinalAnswer(text, origin, certain=False, reason="best of what came"))
        return [*events, *self._extras.attached()]

    def profile_updates(self) -> dict[str, str]:
        """What this turn teaches about the agent, by the keys of its profile."""
        final = self._candidates.final
        if self.state is not frames.TaskState.COMPLETED or not final.strip():
            return {}
        held_source = STATUS if self._reader.dialect.default is ArtifactKind.ANSWER else ARTIFACT
        return self._answer.profile_updates(final, held_source)

    def _take_status(
        self, state: frames.TaskState, message: frames.AgentMessage | None, status_metadata: frames.Metadata
    ) -> list[Event]:
        has_asked, self.state = self.state.is_asking, state
        message = message if message is not None and message.role == "agent" else None
        if state.is_asking:
            return [self._question.take_status(state, message, self._answer)]
        if self._question.form is not None:
            self._question.close_stale(has_asked=has_asked and not state.is_terminal)
        content = parts.Content()
        if message is not None and not any(key in message.metadata for key in self._reader.dialect.errors):
            is_answer = state is frames.TaskState.COMPLETED
            content = parts.extract_content(message.parts, message.metadata, keeps_extras=is_answer)
        if state.is_terminal:
            return [self._end_task(state, message, content, status_metadata)]
        if message is not None and message.metadata:
            handoff = self._asides.take_handoff(message.metadata)
            if handoff:
                return handoff
        events = self._asides.take(content)
        if not content.text:
            return events or [nothing(f"task is {state}")]
        is_aside = content.calls_a_tool or (
            message is not None and parts.is_true(message.metadata, *NARRATION_MARKS)
        )
        if is_aside or self._reader.dialect.default is not ArtifactKind.ANSWER:
            return [Narrated(content.text, reason="working-status text"), *events]
        return [*events, *self._answer.status(content.text)]

    def _end_task(
        self,
        state: frames.TaskState,
        message: frames.AgentMessage | None,
        content: parts.Content,
        status_metadata: frames.Metadata,
    ) -> Event:
        self._extras.keep("the terminal status message", content.extras)
        text = message.text if message else ""
        whole = content.text if len(content.text) > len(text) else ""
        self._candidates.keep_ending(self._answer.filters.filter_whole(text), whole)
        places = status_metadata, message.metadata if message else {}
        no_reply = any(parts.is_true(place, _NO_REPLY) for place in places)
        return TaskEnded(TaskEnd(state.value), text, no_reply=no_reply, reason="task state")

    def _take_task(self, task: frames.Snapshot) -> list[Event]:
        self._has_task = True
        self._candidates.keep_history(self._answer.filters.filter_whole(parts.last_message(task.history)))
        events = self._artifacts.take_stored(task.artifacts)
        return [*events, *self._take_status(task.state, task.message, task.metadata)]

    def _take_reply(self, message: frames.AgentMessage) -> list[Event]:
        if message.role != "agent":
            return [nothing("the human's own message")]
        content = parts.extract_content(message.parts, message.metadata, keeps_extras=True)
        self._extras.keep(message.message_id or "message", content.extras, append=not content.extras)
        self._has_message = True
        answer = self._answer
        has_other = self._has_task or answer.sources.artifacts.has_text
        instead = not (has_other or self._reader.dialect.replies_are_fallback)
        live = instead or answer.habits.trusted == MESSAGE
        return [*self._asides.take(content), *answer.message(message.message_id, content.text, live=live)]
