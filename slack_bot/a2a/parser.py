"""PURE. Frames become turn events: what was said becomes what happened.

The dialect's table says what an artifact is; the flags `is_final_answer` and `is_narration` say what its text
is, in every dialect, and the answer wins where both are set. Text that nobody marked is kept: it is the
answer only if nothing better has come by the end. Precedence at the end (delivery.md 2): final result >
partial result > artifacts > a sub-agent's result > terminal status message > messages > unmarked text > task
history.
"""

from __future__ import annotations

from typing import assert_never

from ..errors import BadAgentData
from ..turn.compare import contains
from ..turn.events import (
    AnswerReplaced,
    AnswerText,
    Event,
    FinalAnswer,
    HumanAsked,
    Narrated,
    PlanChanged,
    TaskEnd,
    TaskEnded,
    TaskKnown,
    ToolEnded,
    ToolStarted,
)
from ..turn.form import Form
from .assembly import Changed, Grown, Pieces, Running
from .conventions import BY_NAME, GENERIC, Convention, Kind, recognise
from .frames import (
    Artifact,
    ArtifactUpdate,
    Frame,
    Message,
    Metadata,
    Part,
    Reply,
    Snapshot,
    StatusUpdate,
    TaskState,
    Unknown,
)
from .reading import (
    ToolCalls,
    form_in,
    plan_steps,
    tool_failed,
    tool_name,
    truth,
    unboxed,
    without_marker,
    words,
)

_MAX_CHARS = 4_000_000


class EventParser:
    """The frames of one turn, in their order, become its events.

    `convention` is a dialect's name or "auto"; `answer_from` is "auto", "artifact", "status" or "message".
    `max_chars` bounds the text kept; more raises `BadAgentData`.
    """

    def __init__(
        self, convention: str = "auto", answer_from: str = "auto", max_chars: int = _MAX_CHARS
    ) -> None:
        self._auto = convention == "auto"
        self._convention: Convention = GENERIC if self._auto else BY_NAME[convention]
        self._answer_from = answer_from
        self._answer = Pieces(max_chars)
        self._progress = Running(max_chars)
        self._messages = Pieces(max_chars)
        self._best: dict[Kind, str] = {}
        self._ending_message = ""
        self._history = ""
        self._form: Form | None = None
        self._ids: tuple[str | None, str | None, str | None] = (None, None, None)
        self._has_task = False
        self._state = TaskState.UNKNOWN
        self._tools = ToolCalls()
        self._gap_due = False
        self._final_told = False
        self._leaked = False

    @property
    def convention(self) -> str:
        """The dialect in use by now."""
        return self._convention.name

    @property
    def state(self) -> TaskState:
        """The task's state as last said."""
        return self._state

    @property
    def has_final(self) -> bool:
        """The agent named its result: the final one, or the partial one with which it gives up."""
        return self._final_told or bool(self._best.get(Kind.PARTIAL))

    @property
    def asks(self) -> bool:
        """The agent asked for the human."""
        return self._form is not None or self._state.is_asking

    def kind_of(self, frame: Frame) -> str:
        """What `frame` is called when events are counted."""
        match frame:
            case ArtifactUpdate(artifact=artifact):
                return str(self._convention.kind(artifact.name))
            case Snapshot():
                return "task"
            case StatusUpdate():
                return "status_update"
            case Reply():
                return "message"
            case Unknown():
                return "unknown"
            case _:
                assert_never(frame)

    def feed(self, frame: Frame) -> list[Event]:
        """What happened, by `frame`. Raises `BadAgentData` when the turn's text exceeds its bound."""
        if self._auto and self._convention is GENERIC and (found := recognise(frame)) is not None:
            self._convention = found
        events = [*self._learn(frame), *self._read(frame)]
        if self._answer.overflow or self._messages.overflow:
            raise BadAgentData(
                "the agent's text exceeds agent.max_turn_chars", safe="The answer is too long."
            )
        return events

    def finish(self) -> list[Event]:
        """The answer by precedence, when nothing more will come. Nothing if the agent named a final one."""
        if self._final_told:
            return []
        for text, origin in self._candidates():
            if text.strip():
                return [FinalAnswer(text, origin, certain=False, why="best of what came")]
        return []

    def _candidates(self) -> list[tuple[str, str]]:
        failed = self._state.is_terminal and self._state is not TaskState.COMPLETED
        ranked = [
            (self._best.get(Kind.PARTIAL, ""), "partial result"),
            (self._with_ending(self._answer.whole), "artifacts"),
            (self._best.get(Kind.COMPLETE, ""), "a sub-agent's result"),
            ("" if failed else self._ending_message, "the terminal status message"),
            (self._messages.whole, "messages"),
        ]
        if not failed and not self.asks:
            leaked = self._leaked or self._convention.is_leak(self._progress.text)
            ranked += [
                ("" if leaked else self._progress.text, "unmarked text"),
                (self._history, "the task's history"),
            ]
        return ranked

    def _with_ending(self, answer: str) -> str:
        """A terminal status message belongs to the answer unless the answer contains it already."""
        if self._state is not TaskState.COMPLETED or not answer.strip():
            return answer
        ending = self._ending_message
        if not ending.strip() or contains(answer, ending):
            return answer
        return ending if contains(ending, answer) else f"{answer.rstrip()}\n\n{ending}"

    # -- ids -------------------------------------------------------------------------------------------------

    def _learn(self, frame: Frame) -> list[Event]:
        if isinstance(frame, Unknown):
            return []
        source = frame.message if isinstance(frame, Reply) else frame
        metadata: list[Metadata] = [source.metadata]
        if isinstance(frame, ArtifactUpdate):
            metadata.append(frame.artifact.metadata)
        trace = next((words(each["trace_id"]) for each in metadata if each.get("trace_id")), None)
        found = (source.task_id or None, source.context_id or None, trace or None)
        news = tuple(new if new and new != old else None for new, old in zip(found, self._ids, strict=True))
        if not any(news):
            return []
        task, context, trace_id = news
        self._ids = tuple(new or old for new, old in zip(found, self._ids, strict=True))  # type: ignore[assignment]  # three stay three
        return [TaskKnown(task, context, trace_id, why="named by the agent")]

    # -- frames ----------------------------------------------------------------------------------------------

    def _read(self, frame: Frame) -> list[Event]:
        match frame:
            case ArtifactUpdate():
                return self._artifact(frame)
            case StatusUpdate(state=state, message=message):
                return self._status(state, message)
            case Snapshot():
                return self._snapshot(frame)
            case Reply(message=message):
                return self._reply(message)
            case Unknown(kind=kind):
                return [Narrated("", why=f"unknown event {kind!r}")]
            case _:
                assert_never(frame)

    def _artifact(self, update: ArtifactUpdate) -> list[Event]:
        artifact, kind = update.artifact, self._convention.kind(update.artifact.name)
        append = self._convention.append_by_default if update.append is None else update.append
        match kind:
            case Kind.STREAM | Kind.ANSWER:
                events = self._stream(artifact, kind, append=append)
            case Kind.FINAL | Kind.PARTIAL | Kind.COMPLETE:
                events = self._result(artifact, kind)
            case Kind.TOOL_START:
                events = self._tool_start(artifact)
            case Kind.TOOL_END:
                events = self._tool_end(artifact)
            case Kind.PLAN:
                steps = plan_steps(artifact.parts)
                events = (
                    [PlanChanged(steps, why=artifact.name)] if steps else [_nothing("plan without steps")]
                )
            case Kind.FORM:
                events = self._found_form(artifact.parts, artifact.text)
            case Kind.OTHER:
                events = [_nothing(f"artifact {artifact.name!r} is not shown")]
            case _:
                assert_never(kind)
        return events

    def _stream(self, artifact: Artifact, kind: Kind, *, append: bool) -> list[Event]:
        text, metadata = artifact.text, artifact.metadata
        sub_agent = self._convention.is_sub_agent(metadata)
        if truth(metadata, "is_final_answer") and not sub_agent:
            return self._answer_chunk(artifact, text, append=append, why=f"is_final_answer on {kind}")
        if truth(metadata, "is_narration"):
            return [Narrated(text, replaces=not append, why=f"is_narration on {kind}")]
        if kind is Kind.ANSWER:
            return self._answer_chunk(artifact, text, append=append, why=f"artifact {artifact.name!r}")
        return self._unmarked(artifact, kind, append=append)

    def _unmarked(self, artifact: Artifact, kind: Kind, *, append: bool) -> list[Event]:
        """Streaming text that nobody called narration or answer."""
        text, sub_agent = artifact.text, self._convention.is_sub_agent(artifact.metadata)
        if self._convention.is_noise(text) or self._convention.is_leak(text):
            self._leaked = self._leaked or self._convention.is_leak(text)
            return [_nothing("noise in the stream")]
        if sub_agent:
            return [Narrated(text, replaces=not append, why="a sub-agent's stream")]
        if self._convention.live or self._answer.whole:
            return self._answer_chunk(artifact, text, append=append, why=f"unmarked {kind}")
        self._keep_progress(text, append=append)
        return [Narrated(text, replaces=not append, why=f"unmarked {kind}: held")]

    def _keep_progress(self, text: str, *, append: bool) -> None:
        """Unmarked text is the answer of last resort; once machinery leaked into it, none of it is."""
        if text and not self._leaked:
            self._progress.put(text, append=append)

    def _answer_chunk(self, artifact: Artifact, text: str, *, append: bool, why: str) -> list[Event]:
        text = without_marker(text)
        if self._gap_due and text.strip() and self._answer.whole:
            text = _with_gap(self._answer.whole, text)
        if text.strip():
            self._gap_due = False
        key = artifact.artifact_id or artifact.name
        change = self._answer.put(key, text, append=append and self._answer.has(key))
        return _told(change, why)

    def _result(self, artifact: Artifact, kind: Kind) -> list[Event]:
        text = unboxed(artifact)
        form = form_in(artifact.parts)
        if kind is Kind.FINAL and not self._convention.is_sub_agent(artifact.metadata):
            if form is not None:
                self._form, self._final_told = form, True  # its final word is a question
                return [HumanAsked(form, why="a form in the final result")]
            if text.strip():
                self._final_told = True
                return [FinalAnswer(text, artifact.name, why="the agent's final result")]
            return [_nothing("an empty final result")]
        self._best[kind] = text or self._best.get(kind, "")
        return [_nothing(f"{kind} is kept for the end")]

    # -- tools and forms -------------------------------------------------------------------------------------

    def _tool_start(self, artifact: Artifact) -> list[Event]:
        name = tool_name(artifact)
        if self._convention.is_announcement(name):
            return [Narrated(name, passing=True, why="an announcement, not a tool")]
        step = words(artifact.metadata.get("plan_step_id")) or None
        return [ToolStarted(self._tools.begin(name, artifact), name, step, why=artifact.name)]

    def _tool_end(self, artifact: Artifact) -> list[Event]:
        name = tool_name(artifact)
        if self._convention.paragraph_after_tools and self._answer.whole:
            self._gap_due = True
        tool_id = self._tools.end(name, artifact)
        if tool_id is None:
            return [_nothing("a tool's output, or the end of a tool that is not running")]
        return [ToolEnded(tool_id, name, failed=tool_failed(artifact), why=artifact.name)]

    def _found_form(self, parts: tuple[Part, ...], text: str) -> list[Event]:
        form = form_in(parts, text)
        if form is None:
            return [_nothing("a form without fields")]
        self._form = form
        return [HumanAsked(form, why="a form")]

    # -- status, snapshot, message ---------------------------------------------------------------------------

    def _status(self, state: TaskState, message: Message | None) -> list[Event]:
        self._state = state
        text = message.text if message else ""
        if state.is_asking:
            return [self._asked(state, message)]
        if state.is_terminal:
            self._ending_message = text
            return [TaskEnded(TaskEnd(state.value), text, why="task state")]
        if not text.strip():
            return [_nothing(f"task is {state}")]
        if self._answer_from == "status":
            return _told(self._put_status(text), "status text is this agent's answer")
        if self._convention is GENERIC:
            self._progress.put(text)
        return [Narrated(text, why="working-status text")]

    def _put_status(self, text: str) -> Grown | Changed | None:
        whole = self._answer.whole
        if whole and text.startswith(whole):
            return self._answer.put("status", text, append=False)
        return self._answer.put("status", text, append=self._answer.has("status"))

    def _asked(self, state: TaskState, message: Message | None) -> Event:
        prompt = message.text if message else ""
        auth = state is TaskState.AUTH_REQUIRED
        found = form_in(message.parts, prompt) if message else None
        known = self._form
        if known is not None and (found is None or not found.fields):
            found = Form(prompt or known.prompt, known.fields, known.title, auth)
        self._form = (
            Form(found.prompt, found.fields, found.title, auth) if found else Form(prompt, is_auth=auth)
        )
        return HumanAsked(self._form, why=f"task is {state}")

    def _snapshot(self, task: Snapshot) -> list[Event]:
        self._has_task = True
        self._history = next(
            (each.text for each in reversed(task.history) if each.role == "agent" and each.text.strip()), ""
        )
        answers: list[tuple[str, str]] = []
        events: list[Event] = []
        for artifact in task.artifacts:
            kind = self._convention.kind(artifact.name)
            marked = truth(artifact.metadata, "is_final_answer")
            if kind is Kind.ANSWER or (kind is Kind.STREAM and marked):
                answers.append((artifact.artifact_id or artifact.name, without_marker(artifact.text)))
            elif kind is Kind.STREAM and not self._convention.is_sub_agent(artifact.metadata):
                self._keep_progress(artifact.text, append=False)
            elif kind in (Kind.FINAL, Kind.PARTIAL, Kind.COMPLETE):
                events += self._result(artifact, kind)
            elif kind is Kind.FORM:
                events += self._found_form(artifact.parts, artifact.text)
        if answers:
            events += _told(self._answer.snapshot(answers), "the task as it stands")
        return [*events, *self._status(task.state, task.message)]

    def _reply(self, message: Message) -> list[Event]:
        if message.role != "agent":
            return [_nothing("the human's own message")]
        key = message.message_id or "message"
        known = self._messages.whole
        snapshot = bool(known) and message.text.startswith(known)
        change = self._messages.put(key, message.text, append=self._messages.has(key) and not snapshot)
        instead = not self._has_task and not self._convention.replies_are_fallback and not self._answer.whole
        if self._answer_from == "message" or (instead and self._answer_from == "auto"):
            return _told(change, "a message in place of a task")
        return [Narrated(message.text, why="a message beside the task")]


def _nothing(why: str) -> Narrated:
    return Narrated("", why=why)


def _told(change: Grown | Changed | None, why: str) -> list[Event]:
    match change:
        case Grown(text):
            return [AnswerText(text, why)]
        case Changed(text):
            return [AnswerReplaced(text, why)]
        case None:
            return [_nothing(f"nothing new: {why}")]
        case _:
            assert_never(change)


def _with_gap(before: str, text: str) -> str:
    """`text` as a new paragraph behind `before`, counting the line ends that both already have."""
    have = len(before) - len(before.rstrip("\n")) + len(text) - len(text.lstrip("\n"))
    return "\n" * max(0, 2 - have) + text
