"""PURE. Frames become turn events: what was sent becomes what happened.

The dialect's table says what an artifact is. The flags `is_final_answer` and `is_narration` say in every
dialect what its text is; the answer wins where both are set. Unmarked text is kept, and is the
answer if nothing better comes. Precedence at the end (delivery.md 2): final result > partial result >
artifacts > a sub-agent's result > terminal status message > messages > unmarked text > task history. The
source that the settings name comes before all but the final result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, assert_never

from ..errors import BadAgentData
from ..turn.compare import contains, preview
from ..turn.events import (
    Event,
    FinalAnswer,
    InputRequired,
    Narrated,
    NarrationConfirmed,
    PlanChanged,
    TaskEnd,
    TaskEnded,
    TaskKnown,
)
from ..turn.form import Form
from .answer.assembler import ARTIFACT, MESSAGE, STATUS, AnswerAssembler, nothing, without
from .answer.filters import result_text
from .answer.snapshot_merge import stored_text
from .content.content import Content, extract_content, last_message
from .content.fields import is_true, plan_steps, plan_title, words
from .content.forms import form_in, question_in
from .content.tools import ToolCalls, is_thought, tool_words
from .dialects import BY_NAME, GENERIC, ArtifactKind, Dialect, detect_dialect
from .wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    Frame,
    MessageReply,
    Metadata,
    Snapshot,
    StatusUpdate,
    TaskState,
    Unknown,
)

_MAX_CHARS = 4_000_000
_MOST_NAMES = 200  # of artifacts, whose traits are kept


class _Traits(NamedTuple):
    """What an artifact's name and metadata say of its text. They are the same for thousands of chunks."""

    kind: ArtifactKind
    is_answer: bool
    is_aside: bool
    is_sub_agents: bool
    of_tools: bool
    reason: str


class EventParser:
    """The frames of one turn, in their order, become its events.

    `dialect` is a dialect's name or "auto"; `answer_source` is "auto", "artifact", "status" or "message";
    `marker` is "auto", "expected" or "off". `max_chars` bounds the text kept; more raises `BadAgentData`.
    `profile` is what was learned about the agent; a setting that is not "auto" counts more.
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
        self._auto = dialect == "auto"
        self._dialect: Dialect = GENERIC if self._auto else BY_NAME[dialect]
        self._answer = AnswerAssembler(max_chars, answer_source, marker, profile, self._dialect.answer_source)
        self._best: dict[ArtifactKind, str] = {}
        self._ending_message = ""
        self._ending_whole = ""  # with its data and files, where it has any
        self._history = ""
        self._form: Form | None = None
        self._task_id: str | None = None
        self._context_id: str | None = None
        self._trace_id: str | None = None
        self._has_task = self._replied = False
        self._state = TaskState.UNKNOWN
        self._tools = ToolCalls()
        self._final_text = ""
        self._leaked = False
        self._traits: dict[str, tuple[Metadata, _Traits]] = {}  # of the last chunk of each name

    @property
    def state(self) -> TaskState:
        """The task's state as last reported."""
        return self._state

    @property
    def has_final(self) -> bool:
        """The agent named its result: the final one, or the partial one with which it gives up."""
        return bool(self._final_text or self._best.get(ArtifactKind.PARTIAL))

    @property
    def has_replied(self) -> bool:
        """A message came, and nothing of any task."""
        of_a_task = self._has_task or self._answer.has_artifacts or self._state is not TaskState.UNKNOWN
        return self._replied and not of_a_task

    @property
    def answers_in_status(self) -> bool:
        """The agent's working-status text is taken for its answer."""
        return self._answer.trusts(STATUS)

    @property
    def asks(self) -> bool:
        """The agent asked for the human."""
        return self._form is not None or self._state.is_asking

    def kind_of(self, frame: Frame) -> str:
        """What `frame` is called when events are counted."""
        match frame:
            case ArtifactUpdate(artifact=artifact):
                return str(self._dialect.kind(artifact.name))
            case Snapshot():
                return "task"
            case StatusUpdate():
                return "status_update"
            case MessageReply():
                return "message"
            case Unknown():
                return "unknown"
            case _:
                assert_never(frame)

    def feed(self, frame: Frame) -> list[Event]:
        """What happened, by `frame`. Raises `BadAgentData` when the turn's text exceeds its bound."""
        if (
            self._auto
            and self._dialect is GENERIC
            and (found := detect_dialect(frame, self._answer.has_taken))
        ):
            self._dialect = found
            self._traits.clear()
        known = self._learn_ids(frame)
        events = self._read(frame)
        if self._answer.overflow:
            raise BadAgentData(
                "the agent's text exceeds agent.max_turn_chars", safe="The answer is too long."
            )
        return events if known is None else [known, *events]

    def _learn_ids(self, frame: Frame) -> TaskKnown | None:
        """Task, context and trace are named by any event."""
        if isinstance(frame, Unknown):
            return None
        source = frame.message if isinstance(frame, MessageReply) else frame
        task, context = source.task_id or self._task_id, source.context_id or self._context_id
        trace = source.metadata.get("trace_id")
        if not trace and isinstance(frame, ArtifactUpdate):
            trace = frame.artifact.metadata.get("trace_id")
        trace = words(trace) or self._trace_id
        if task == self._task_id and context == self._context_id and trace == self._trace_id:
            return None
        known = TaskKnown(
            task if task != self._task_id else None,
            context if context != self._context_id else None,
            trace if trace != self._trace_id else None,
            reason="named by the agent",
        )
        self._task_id, self._context_id, self._trace_id = task, context, trace
        return known

    def finish(self) -> list[Event]:
        """The answer by precedence, when nothing more will come. Nothing if the agent named a final one."""
        self._answer.close()
        asked = self._envelope_question()
        if self._final_text:
            return asked
        for text, origin in self._candidates():
            if text.strip():
                self._final_text = text
                return [*asked, FinalAnswer(text, origin, certain=False, reason="best of what came")]
        return asked

    def profile_updates(self) -> dict[str, str]:
        """What this turn, which has finished, taught about the agent: facts to be kept for the next."""
        if self._state is not TaskState.COMPLETED or not self._final_text.strip():
            return {}
        held_source = STATUS if self._dialect.default is ArtifactKind.ANSWER else ARTIFACT
        return self._answer.profile_updates(self._final_text, held_source)

    def _candidates(self) -> list[tuple[str, str]]:
        failed = self._state.is_terminal and self._state is not TaskState.COMPLETED
        answer, reason = self._answer, self._ending_message if failed else ""
        in_text = "" if answer.trusts(ARTIFACT) else reason
        ranked = [
            (without(answer.text_by_settings, in_text), "the source that the settings name"),
            (self._best.get(ArtifactKind.PARTIAL, ""), "partial result"),
            self._with_ending(answer.text(ARTIFACT)),
            (self._best.get(ArtifactKind.COMPLETE, ""), "a sub-agent's result"),
            ("" if failed else self._ending_whole or self._ending_message, "the terminal status message"),
            (without(answer.text(MESSAGE), reason), "messages"),
            (without(answer.text(STATUS), reason), "working-status text"),
        ]
        held = without(answer.unfinished_text, reason) if failed else answer.unmarked_text
        if failed or not self.asks:
            leaked = self._leaked or bool(self._dialect.leak.search(held))
            ranked.append(("" if leaked else held, "text that was held" if failed else "unmarked text"))
        if not failed and not self.asks:
            ranked.append((self._history, "the task's history"))
        return ranked

    def _with_ending(self, answer: str) -> tuple[str, str]:
        """The artifacts' text, and their origin.

        A terminal status message belongs to it unless it contains that already.
        """
        ending = self._ending_message
        is_there = self._state is TaskState.COMPLETED and answer.strip() and ending.strip()
        if not is_there or contains(answer, preview(ending)):
            return answer, "artifacts"
        if contains(ending, answer):
            return ending, "the terminal status message"
        return f"{answer.rstrip()}\n\n{ending}", "artifacts and the terminal status message"

    def _envelope_question(self) -> list[Event]:
        if self._form is not None or (form := self._answer.question) is None:
            return []
        self._form = form
        return [InputRequired(form, reason="the answer's envelope asks")]

    # -- frames ----------------------------------------------------------------------------------------------

    def _read(self, frame: Frame) -> list[Event]:
        match frame:
            case ArtifactUpdate():
                return self._artifact(frame)
            case StatusUpdate(state=state, message=message):
                return self._status(state, message)
            case Snapshot():
                return self._snapshot(frame)
            case MessageReply(message=message):
                return self._reply(message)
            case Unknown(kind=kind):
                return [nothing(f"unknown event {kind!r}")]
            case _:
                assert_never(frame)

    def _artifact(self, update: ArtifactUpdate) -> list[Event]:
        artifact = update.artifact
        traits = self._traits_of(artifact)
        match traits.kind:
            case ArtifactKind.STREAM | ArtifactKind.ANSWER | ArtifactKind.THOUGHT:
                append = self._dialect.append_by_default if update.append is None else update.append
                events = self._stream(artifact, traits, append=append)
            case ArtifactKind.FINAL | ArtifactKind.PARTIAL | ArtifactKind.COMPLETE:
                events = self._result(artifact, traits.kind)
            case ArtifactKind.TOOL_START:
                events = [self._tools.start_of(artifact, self._dialect)]
            case ArtifactKind.TOOL_END:
                events = self._tool_end(artifact)
            case ArtifactKind.TOOL:
                events = self._aside(extract_content(artifact.parts)) or [nothing("a tool's output")]
            case ArtifactKind.PLAN:
                events = [self._plan(artifact)]
            case ArtifactKind.FORM:
                events = self._found_form(artifact)
            case ArtifactKind.OTHER:
                events = [nothing(f"artifact {artifact.name!r} is not shown")]
            case _:
                assert_never(traits.kind)
        return events

    def _traits_of(self, artifact: Artifact) -> _Traits:
        metadata = artifact.metadata
        known = self._traits.get(artifact.name)
        if known is not None and known[0] == metadata:
            return known[1]
        kind = self._dialect.kind(artifact.name)
        is_sub_agents = self._dialect.is_sub_agents(metadata)
        is_answer = is_true(metadata, "is_final_answer") and not is_sub_agents
        if is_answer:
            reason = f"is_final_answer on {kind}"
        else:
            reason = "unmarked stream" if kind is ArtifactKind.STREAM else f"artifact {artifact.name!r}"
        traits = _Traits(
            kind,
            is_answer,
            is_true(metadata, "is_narration") or is_thought(metadata),
            is_sub_agents,
            bool(tool_words(metadata)),
            reason,
        )
        if not any(isinstance(value, dict | list) for value in metadata.values()):  # cheap to compare
            if len(self._traits) >= _MOST_NAMES:
                self._traits.clear()
            self._traits[artifact.name] = (metadata, traits)
        return traits

    def _plan(self, artifact: Artifact) -> Event:
        steps = plan_steps(artifact.parts)
        if not steps:
            return nothing("plan without steps")
        return PlanChanged(steps, reason=artifact.name, title=plan_title(artifact.parts))

    def _stream(self, artifact: Artifact, traits: _Traits, *, append: bool) -> list[Event]:
        content = extract_content(artifact.parts, artifact.metadata if traits.of_tools else None)
        text, kind, answer = content.text, traits.kind, self._answer
        events = self._aside(content) if content.thoughts or content.tools else []
        if content.is_block and append:
            answer.new_paragraph()
        key, append = answer.find_key(artifact.artifact_id, artifact.name, text, append=append)
        if traits.is_answer:
            events += answer.artifact(key, text, traits.reason, append=append, marked=True)
        elif traits.is_aside:
            events.append(Narrated(text, replaces=not append, reason=f"is_narration on {kind}"))
        elif kind is ArtifactKind.THOUGHT or content.calls_a_tool:
            answer.keep(text, append=append, aside=True)
            events.insert(0, Narrated(text, replaces=not append, reason=f"said on the way, {kind}"))
        elif kind is ArtifactKind.STREAM:
            events += self._unmarked(traits, text, key, append=append)
        elif text or not events:
            events += answer.artifact(key, text, traits.reason, append=append)
        return events

    def _unmarked(self, traits: _Traits, text: str, key: str, *, append: bool) -> list[Event]:
        """Streaming text without a flag."""
        dialect, answer = self._dialect, self._answer
        is_leak = bool(dialect.leak.search(text)) and not answer.in_envelope(key, text)
        if is_leak or dialect.noise.search(text):
            self._leaked = self._leaked or is_leak
            return [nothing("noise in the stream")]
        if traits.is_sub_agents:
            return [Narrated(text, replaces=not append, reason="a sub-agent's stream")]
        if dialect.live or answer.trusts(ARTIFACT) or answer.has_artifacts:
            return answer.artifact(key, text, traits.reason, append=append)
        return answer.artifact(key, "" if self._leaked else text, traits.reason, append=append, held=True)

    def _result(self, artifact: Artifact, kind: ArtifactKind) -> list[Event]:
        text = result_text(artifact)
        form = form_in(artifact.parts)
        if kind is ArtifactKind.FINAL and not self._dialect.is_sub_agents(artifact.metadata):
            if form is not None:
                self._form, self._final_text = form, text or form.prompt or form.title  # it is a question
                return [InputRequired(form, reason="a form in the final result")]
            if text.strip():
                self._final_text = text
                return [FinalAnswer(text, artifact.name, reason="the agent's final result")]
            return [nothing("an empty final result")]
        self._best[kind] = text or self._best.get(kind, "")
        return [nothing(f"{kind} is kept for the end")]

    # -- tools and forms -------------------------------------------------------------------------------------

    def _tool_end(self, artifact: Artifact) -> list[Event]:
        if self._dialect.paragraph_after_tools:
            self._answer.new_paragraph()
        return [self._tools.end_of(artifact)]

    def _aside(self, content: Content) -> list[Event]:
        """What stands beside the text: thoughts, and tool calls with their ends."""
        events: list[Event] = (
            [Narrated(content.thoughts, reason="the model thinks")] if content.thoughts else []
        )
        if content.calls_a_tool:
            narrates = self._dialect.narrates_before_tools
            self._answer.before_tool(narrates=narrates)
            events += [NarrationConfirmed(reason="text before a tool call")] if narrates else []
        return [*events, *map(self._tools.part, content.tools)]

    def _found_form(self, artifact: Artifact) -> list[Event]:
        form = question_in(artifact.parts, artifact.text)
        if form is None:
            return [nothing("a form without fields")]
        self._form = form
        return [InputRequired(form, reason="a form")]

    # -- status, snapshot, message ---------------------------------------------------------------------------

    def _status(self, state: TaskState, message: AgentMessage | None) -> list[Event]:
        self._state = state
        message = message if message is None or message.role == "agent" else None
        if state.is_asking:
            return [self._asked(state, message)]
        if self._form is not None and self._form.is_auth:
            self._form = None  # signed in: it goes on
        content = extract_content(message.parts, message.metadata) if message else Content()
        if message is not None and any(key in message.metadata for key in self._dialect.errors):
            content = Content()
        if state.is_terminal:
            text = message.text if message else ""
            self._ending_message = self._answer.filter_text(text)
            self._ending_whole = content.text if len(content.text) > len(text) else ""
            return [TaskEnded(TaskEnd(state.value), text, reason="task state")]
        events = self._aside(content)
        if not content.text:
            return events or [nothing(f"task is {state}")]
        if content.calls_a_tool or self._dialect.default is not ArtifactKind.ANSWER:
            return [Narrated(content.text, reason="working-status text"), *events]
        return [*events, *self._answer.status(content.text)]

    def _asked(self, state: TaskState, message: AgentMessage | None) -> Event:
        prompt = message.text if message else ""
        found = question_in(message.parts, prompt) if message else None
        if found is not None and not found.fields and self._answer.contains(ARTIFACT, prompt):
            found = replace(found, prompt=found.prompt.removeprefix(prompt.strip()).lstrip())
        known = self._form or self._answer.question
        if known is not None and (found is None or not found.fields):
            prompt = found.prompt if found is not None else prompt
            found = Form(prompt or known.prompt, known.fields, known.title)
        asked = found or Form(prompt)
        self._form = replace(asked, is_auth=state is TaskState.AUTH_REQUIRED)
        return InputRequired(self._form, reason=f"task is {state}")

    def _snapshot(self, task: Snapshot) -> list[Event]:
        self._has_task = True
        self._history = self._answer.filter_text(last_message(task.history)) or self._history
        answers: list[tuple[str, str, str]] = []
        events: list[Event] = []
        for artifact in task.artifacts:
            kind = self._dialect.kind(artifact.name)
            marked = is_true(artifact.metadata, "is_final_answer")
            if kind is ArtifactKind.ANSWER or (kind is ArtifactKind.STREAM and marked):
                if text := stored_text(artifact):
                    answers.append((artifact.artifact_id, artifact.name, text))
            elif kind in (ArtifactKind.STREAM, ArtifactKind.THOUGHT) and not self._dialect.is_sub_agents(
                artifact.metadata
            ):
                text = "" if self._leaked else result_text(artifact)
                self._answer.keep(text, append=False, aside=kind is ArtifactKind.THOUGHT)
            elif kind in (ArtifactKind.FINAL, ArtifactKind.PARTIAL, ArtifactKind.COMPLETE):
                events += self._result(artifact, kind)
            elif kind is ArtifactKind.FORM:
                events += self._found_form(artifact)
        events += self._answer.snapshot(answers)
        return [*events, *self._status(task.state, task.message)]

    def _reply(self, message: AgentMessage) -> list[Event]:
        if message.role != "agent":
            return [nothing("the human's own message")]
        content = extract_content(message.parts, message.metadata)
        self._replied = True
        instead = not (self._has_task or self._dialect.replies_are_fallback or self._answer.has_artifacts)
        live = instead or self._answer.trusts(MESSAGE)
        return [*self._aside(content), *self._answer.message(message.message_id, content.text, live=live)]
