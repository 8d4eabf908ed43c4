"""PURE. Frames become turn events: what was sent becomes what happened.

The dialect says what an artifact is; `is_final_answer`, or else `is_narration`, or another dialect's marks,
what its text is. Unmarked text is the answer if nothing better comes (delivery.md 2).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, assert_never

from ..errors import BadAgentData
from ..text.compare import contains_letters, preview
from ..text.words import ANSWER_TOO_LARGE
from ..turn.events import (
    Attached,
    Event,
    FinalAnswer,
    InputRequired,
    Narrated,
    NarrationConfirmed,
    PlanChanged,
    SourcesFound,
    TaskEnd,
    TaskEnded,
    TaskKnown,
)
from ..turn.extras import Extra, Source, key_of
from ..turn.form import Form
from ..turn.json_values import text_of
from .answer.answer_sources import ARTIFACT, MESSAGE, STATUS, nothing
from .answer.assembler import AnswerAssembler
from .answer.delta_detector import stored_text
from .answer.filters import result_text
from .answer.partial_artifacts import PartialArtifacts
from .content import forms, parts
from .content.sources import canonical, sources_of
from .dialects.dialect import GENERIC, ArtifactKind, Dialect, detect_dialect
from .dialects.table import ANSWER_MARKS, BY_NAME, NARRATION_MARKS, RECOGNISED
from .wire import frames

_MAX_CHARS = 4_000_000
_TEXTS = (ArtifactKind.STREAM, ArtifactKind.ANSWER, ArtifactKind.THOUGHT)
_RESULTS = (ArtifactKind.FINAL, ArtifactKind.PARTIAL, ArtifactKind.COMPLETE)
_NAMES = {
    frames.Snapshot: "task",
    frames.StatusUpdate: "status_update",
    frames.MessageReply: "message",
    frames.Unknown: "unknown",
}


class _Traits(NamedTuple):
    """What an artifact's name and metadata say, the same for thousands of chunks."""

    kind: ArtifactKind
    is_answer: bool
    is_aside: bool
    is_sub_agents: bool
    of_tools: bool
    may_attach: bool
    reason: str


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
        self._auto = dialect == "auto"
        self._dialect: Dialect = GENERIC if self._auto else BY_NAME[dialect]
        self._answer = AnswerAssembler(max_chars, answer_source, marker, profile, self._dialect.answer_source)
        self._last: tuple[str, frames.Metadata, _Traits] | None = None  # the last artifact
        self._partials = PartialArtifacts()
        self._tools = parts.ToolCalls()
        self._speaker = ""  # of several agents, where they are named
        self._calling: set[str] = set()  # artifacts that call a tool
        self._form: Form | None = None
        self._ids: tuple[str | None, ...] = (None, None, None)  # task, context, trace
        self._has_task = self._replied = self._leaked = False
        self._best: dict[ArtifactKind, str] = {}
        self._ending_message = self._history = self._final_text = ""
        self._ending_whole = ""  # with its data and files, where it has any
        self._cited: set[str] = set()  # addresses
        # of each artifact and message as it is now, with their keys: a file is long to read
        self._extras: dict[str, list[tuple[str, Extra]]] = {}
        self._beside: set[str] = set()  # those artifacts of them whose text is not the answer

    @property
    def has_final(self) -> bool:
        """The agent named its result, or the partial one with which it gives up."""
        return bool(self._final_text or self._best.get(ArtifactKind.PARTIAL))

    @property
    def has_replied(self) -> bool:
        """A message came, and nothing of any task."""
        of_a_task = (
            self._has_task
            or self._answer.sources.artifacts.has_text
            or self.state is not frames.TaskState.UNKNOWN
        )
        return self._replied and not of_a_task

    @property
    def answers_in_status(self) -> bool | None:
        """The agent's working-status text is taken for its answer; None: it may yet be."""
        return self._answer.habits.in_statuses

    @property
    def asks(self) -> bool:
        return self._form is not None or self.state.is_asking

    def kind_of(self, frame: frames.Frame) -> str:
        if isinstance(frame, frames.ArtifactUpdate):
            return str(self._dialect.kind(frame.artifact.name))
        return _NAMES[type(frame)]

    def feed(self, frame: frames.Frame) -> list[Event]:
        """What happened. Raises `BadAgentData` when the turn's text exceeds its bound."""
        if self._auto and (found := detect_dialect(RECOGNISED, frame, self._answer.sources.artifacts)):
            self._dialect, self._auto, self._last = found, False, None
            self._answer.habits.assume(found.answer_source)
        events = self._learn_ids(frame)
        if sources := sources_of(frame):
            events += self._cite(sources)
        match frame:
            case frames.ArtifactUpdate():
                update = self._partials.under_one_id(frame) if self._dialect.mixes_ids else frame
                events += self._artifact(update)
            case frames.StatusUpdate(state=state, message=message):
                if frame.metadata and (tool := parts.tool_part(frames.Part(data=frame.metadata))) is not None:
                    events += self._aside(parts.Content(tools=(tool,)))
                events += self._status(state, message)
            case frames.Snapshot():
                events += self._snapshot(frame)
            case frames.MessageReply(message=message):
                events += self._reply(message)
            case frames.Unknown(kind=kind):
                events.append(nothing(f"unknown event {kind!r}"))
            case _:
                assert_never(frame)
        if self._answer.sources.overflow:
            raise BadAgentData("the agent's text exceeds agent.max_turn_chars", safe=ANSWER_TOO_LARGE)
        return events

    def finish(self) -> list[Event]:
        """Nothing more comes: the best answer, unless the agent named a final one."""
        self._answer.close()
        events: list[Event] = []
        if self._form is None and (form := self._answer.filters.question) is not None:
            self._form = form
            events.append(InputRequired(form, reason="the answer's envelope asks"))
        if not self._final_text:
            text, origin = next((each for each in self._candidates() if each[0].strip()), ("", ""))
            if text:
                self._final_text = text = self._answer.paragraphs.mend(text)
                events.append(FinalAnswer(text, origin, certain=False, reason="best of what came"))
        return [*events, *self._attached()]

    def _cite(self, sources: list[Source]) -> list[Event]:
        fresh: dict[str, Source] = {}
        for each in sources:
            fresh.setdefault(canonical(each.url), each)
        new = tuple(each for url, each in fresh.items() if url not in self._cited)
        self._cited |= fresh.keys()
        return [SourcesFound(new, reason="named by the agent")] if new else []

    def _attached(self) -> list[Event]:
        """What the answer holds besides text, in its order. An artifact may have two that are equal; what
        another one tells again stands once.
        """
        found: dict[tuple[str, int], tuple[Extra, str]] = {}
        for where, extras in self._extras.items():
            copies: Counter[str] = Counter()
            for key, extra in extras:
                found.setdefault((key, copies[key]), (extra, where))
                copies[key] += 1
        return [Attached(extra, reason=f"in {where!r}") for extra, where in found.values()]

    def _keep_extras(self, where: str, extras: tuple[Extra, ...], *, append: bool = False) -> None:
        if where in self._extras and not append:
            self._extras[where] = []
        if extras:
            self._extras.setdefault(where, []).extend((key_of(extra), extra) for extra in extras)

    def profile_updates(self) -> dict[str, str]:
        if self.state is not frames.TaskState.COMPLETED or not self._final_text.strip():
            return {}
        held_source = STATUS if self._dialect.default is ArtifactKind.ANSWER else ARTIFACT
        return self._answer.profile_updates(self._final_text, held_source)

    def _learn_ids(self, frame: frames.Frame) -> list[Event]:
        if isinstance(frame, frames.Unknown):
            return []
        source = frame.message if isinstance(frame, frames.MessageReply) else frame
        trace = source.metadata.get("trace_id")
        if not trace and isinstance(frame, frames.ArtifactUpdate):
            trace = frame.artifact.metadata.get("trace_id")
        task, context, old_trace = self._ids
        ids = source.task_id or task, source.context_id or context, text_of(trace) or old_trace
        if ids == self._ids:
            return []
        task, context, trace = (new if new != old else None for new, old in zip(ids, self._ids, strict=True))
        self._ids = ids
        return [TaskKnown(task, context, trace, reason="named by the agent")]

    def _candidates(self) -> list[tuple[str, str]]:
        """Texts that may be the answer, the best first, and where they are from."""
        failed = self.state.is_terminal and self.state is not frames.TaskState.COMPLETED
        answer, reason = self._answer, self._ending_message if failed else ""
        by_settings = answer.text(answer.habits.trusted) if answer.habits.by_settings else ""
        if answer.habits.trusted != ARTIFACT:
            by_settings = without(by_settings, reason)
        ranked = [
            (by_settings, "the source that the settings name"),
            (self._best.get(ArtifactKind.PARTIAL, ""), "partial result"),
            self._with_ending(answer.text(ARTIFACT)),
            (self._best.get(ArtifactKind.COMPLETE, ""), "a sub-agent's result"),
            ("" if failed else self._ending_whole or self._ending_message, "the terminal status message"),
            (without(answer.text(MESSAGE), reason), "messages"),
        ]
        if any(extras for where, extras in self._extras.items() if where not in self._beside):
            return ranked  # they are the answer: what was said on the way to them is not
        ranked.append((without(answer.text(STATUS), reason), "working-status text"))
        held = without(answer.held_text(failed=failed), reason)
        if (failed or not self.asks) and not (self._leaked or self._dialect.leak.search(held)):
            ranked.append((held, "text that was held" if failed else "unmarked text"))
        if not failed and not self.asks:
            ranked.append((self._history, "the task's history"))
        return ranked

    def _with_ending(self, answer: str) -> tuple[str, str]:
        """The artifacts' text, with the terminal status message unless it has that already.

        An agent that repeats its texts there knows nothing of the paragraphs that were put between them.
        """
        ending = self._answer.paragraphs.mend(self._ending_message)
        is_there = self.state is frames.TaskState.COMPLETED and answer.strip() and ending.strip()
        if not is_there or contains_letters(answer, preview(ending)):
            return answer, "artifacts"
        if contains_letters(ending, answer):
            return ending, "the terminal status message"
        return f"{answer.rstrip()}\n\n{ending}", "artifacts and the terminal status message"

    def _artifact(self, update: frames.ArtifactUpdate) -> list[Event]:
        artifact, answer = update.artifact, self._answer
        last = self._last
        if last is None or last[0] != artifact.name or last[1] != artifact.metadata:
            last = self._last = artifact.name, artifact.metadata, self._traits(artifact)
        traits, kind = last[2], last[2].kind
        if kind not in _TEXTS:
            return self._result(artifact, kind) if kind in _RESULTS else self._no_text(artifact, kind, update)
        around, about = artifact.metadata if traits.of_tools else None, artifact.description
        content = parts.extract_content(
            artifact.parts, around, keeps_extras=traits.may_attach, description=about
        )
        text = content.text
        append = self._appends(update, kind, text) if update.append is None else update.append
        where = artifact.artifact_id or artifact.name
        self._keep_extras(where, content.extras, append=append)
        events = self._aside(content, where) if content.thoughts or content.tools else []
        if content.is_block and append:
            answer.new_paragraph()
        if content.extras and not text:
            return events or [nothing("no text: it is shown below the answer")]
        key, append = answer.pieces.find_key(artifact.artifact_id, artifact.name, text, append=append)
        if traits.is_answer:
            events += answer.artifact(key, text, traits.reason, append=append, marked=True)
        elif traits.is_aside:
            events.append(Narrated(text, replaces=not append, reason=f"is_narration on {kind}"))
        elif kind is ArtifactKind.THOUGHT or content.calls_a_tool:
            answer.held.keep(text, append=append, aside=True)
            events.insert(0, Narrated(text, replaces=not append, reason=f"said on the way, {kind}"))
        elif kind is ArtifactKind.STREAM:
            events += self._unmarked(traits, text, key, append=append)
        elif text or not events:
            events += answer.artifact(key, text, traits.reason, append=append)
        return events

    def _appends(self, update: frames.ArtifactUpdate, kind: ArtifactKind, text: str) -> bool:
        """Where the agent does not say."""
        return self._dialect.append_by_default or (
            kind is ArtifactKind.ANSWER
            and self._answer.pieces.goes_on(update.artifact, text, says_so=_is_chunk(update.metadata))
        )

    def _traits(self, artifact: frames.Artifact) -> _Traits:
        metadata, kind = artifact.metadata, self._dialect.kind(artifact.name)
        is_sub_agents = self._dialect.is_sub_agents(metadata)
        is_answer = parts.is_true(metadata, *ANSWER_MARKS) and not is_sub_agents
        reason = "unmarked stream" if kind is ArtifactKind.STREAM else f"artifact {artifact.name!r}"
        reason = f"is_final_answer on {kind}" if is_answer else reason
        is_aside = parts.is_true(metadata, *NARRATION_MARKS) or parts.is_thought(metadata)
        may_attach = kind is not ArtifactKind.THOUGHT and not (is_aside or is_sub_agents)
        of_tools = bool(parts.tool_words(metadata))
        return _Traits(kind, is_answer, is_aside, is_sub_agents, of_tools, may_attach, reason)

    def _unmarked(self, traits: _Traits, text: str, key: str, *, append: bool) -> list[Event]:
        dialect, answer = self._dialect, self._answer
        is_leak = dialect.leak.search(text) is not None and not answer.filters.is_in_envelope(
            ARTIFACT, key, text
        )
        self._leaked = self._leaked or is_leak
        if is_leak or dialect.noise.search(text):
            return [nothing("noise in the stream")]
        if traits.is_sub_agents:
            return [Narrated(text, replaces=not append, reason="a sub-agent's stream")]
        held = not (self._trusts_unmarked or answer.sources.artifacts.has_text)
        text = "" if held and self._leaked else text
        return answer.artifact(key, text, traits.reason, append=append, held=held)

    @property
    def _trusts_unmarked(self) -> bool:
        return self._dialect.live or self._answer.habits.trusted == ARTIFACT

    def _no_text(
        self, artifact: frames.Artifact, kind: ArtifactKind, update: frames.ArtifactUpdate
    ) -> list[Event]:
        if kind is ArtifactKind.TOOL_START:
            return [self._tools.start_of(artifact, self._dialect)]
        if kind is ArtifactKind.TOOL_END:
            self._answer.new_paragraph()
            return [self._tools.end_of(artifact)]
        if kind is ArtifactKind.TOOL:
            return self._aside(parts.extract_content(artifact.parts)) or [nothing("a tool's output")]
        if kind is ArtifactKind.FORM:
            return self._found_form(artifact)
        if kind is ArtifactKind.PLAN:
            steps, title = parts.plan_in(artifact.parts)
            plan = PlanChanged(steps, reason=artifact.name, title=title)
            return [plan if steps else nothing("plan without steps")]
        return self._other(artifact, append=update.append is True)

    def _other(self, artifact: frames.Artifact, *, append: bool = False) -> list[Event]:
        """An artifact of a name that the dialect does not know. Its text may be anything; what else it holds
        is for the reader."""
        where, metadata = artifact.artifact_id or artifact.name, artifact.metadata
        if not (parts.is_thought(metadata) or self._dialect.is_sub_agents(metadata)):
            extras = parts.extract_answer(artifact).extras
            self._beside.add(where)
            self._keep_extras(where, extras, append=append or not extras)
        return [Narrated(artifact.text, passing=True, reason=f"artifact {artifact.name!r} is not shown")]

    def _result(self, artifact: frames.Artifact, kind: ArtifactKind) -> list[Event]:
        text = self._answer.paragraphs.mend(result_text(artifact))
        form = forms.form_in(artifact.parts)
        is_sub_agents = self._dialect.is_sub_agents(artifact.metadata)
        if kind is not ArtifactKind.COMPLETE and not is_sub_agents:
            self._keep_extras(artifact.artifact_id or artifact.name, parts.extract_answer(artifact).extras)
        if kind is not ArtifactKind.FINAL or is_sub_agents:
            self._best[kind] = text or self._best.get(kind, "")
            return [nothing(f"{kind} is kept for the end")]
        if form is not None:
            self._form, self._final_text = form, text or form.prompt or form.title  # it is a question
            return [InputRequired(form, reason="a form in the final result")]
        if not text.strip():
            return [nothing("an empty final result")]
        self._final_text = text
        return [FinalAnswer(text, artifact.name, reason="the agent's final result")]

    def _aside(self, content: parts.Content, where: str = "") -> list[Event]:
        """Thoughts and tools. `where`: the artifact that holds them."""
        thoughts = content.thoughts
        if content.calls_a_tool:
            self._calling.add(where)
        events: list[Event] = [Narrated(thoughts, reason="the model thinks")] if thoughts else []
        if content.tools and self._answer.end_run(narrates=self._dialect.narrates_before_tools):
            events.append(NarrationConfirmed(reason="text before a tool call"))
        return [*events, *map(self._tools.part, content.tools)]

    def _found_form(self, artifact: frames.Artifact) -> list[Event]:
        form = forms.question_in(artifact.parts, artifact.text)
        if form is None:
            return [nothing("a form without fields")]
        self._form = form
        return [InputRequired(form, reason="a form")]

    def _status(self, state: frames.TaskState, message: frames.AgentMessage | None) -> list[Event]:
        has_asked, self.state = self.state.is_asking, state
        message = message if message is not None and message.role == "agent" else None
        if state.is_asking:
            return [self._asked(state, message)]
        if self._form is not None and (self._form.is_auth or (has_asked and not state.is_terminal)):
            self._form = None  # it goes on: somebody has signed in, or the question was an old one
        content = parts.Content()
        if message is not None and not any(key in message.metadata for key in self._dialect.errors):
            is_answer = state is frames.TaskState.COMPLETED
            content = parts.extract_content(message.parts, message.metadata, keeps_extras=is_answer)
        if state.is_terminal:
            self._keep_extras("the terminal status message", content.extras)
            text = message.text if message else ""
            self._ending_message = self._answer.filters.filter_whole(text)
            self._ending_whole = content.text if len(content.text) > len(text) else ""
            return [TaskEnded(TaskEnd(state.value), text, reason="task state")]
        if message is not None and (agent := parts.handoff_to(message.metadata)):
            known, self._speaker = self._speaker, agent
            if known in ("", agent):  # the first one is named too: it is the agent that was asked
                return [nothing(f"{agent} speaks")]
        events = self._aside(content)
        if not content.text:
            return events or [nothing(f"task is {state}")]
        is_aside = content.calls_a_tool or (
            message is not None and parts.is_true(message.metadata, *NARRATION_MARKS)
        )
        if is_aside or self._dialect.default is not ArtifactKind.ANSWER:
            return [Narrated(content.text, reason="working-status text"), *events]
        return [*events, *self._answer.status(content.text)]

    def _asked(self, state: frames.TaskState, message: frames.AgentMessage | None) -> Event:
        prompt = message.text if message else ""
        found, said = None, message or frames.AgentMessage()
        if message is not None:
            found = forms.question_in(message.parts, prompt, self._answer.sources.shown_end, message.metadata)
        if found is not None and not found.fields and self._answer.sources.have_artifact(prompt):
            found = replace(found, prompt=found.prompt.removeprefix(prompt.strip()).lstrip())
        known = self._form or self._answer.filters.question
        if known is not None and (found is None or found == Form(found.prompt)):
            prompt = found.prompt if found is not None else prompt
            url = "" if "://" in prompt else known.url  # a new link is in the words
            found = replace(known, prompt=prompt or known.prompt, url=url)
        found = found or Form(prompt)
        if state is frames.TaskState.AUTH_REQUIRED or found.is_auth:
            found = forms.sign_in(found, said.parts, said.metadata)
        self._form = found
        return InputRequired(self._form, reason=f"task is {state}")

    def _snapshot(self, task: frames.Snapshot) -> list[Event]:
        self._has_task = True
        self._history = self._answer.filters.filter_whole(parts.last_message(task.history)) or self._history
        answers: list[tuple[str, str, str]] = []
        events: list[Event] = []
        for artifact in task.artifacts:
            kind = self._dialect.kind(artifact.name)
            if kind in (ArtifactKind.ANSWER, ArtifactKind.STREAM):
                self._keep_snapshot_extras(artifact)
            if parts.extract_answer(artifact).calls_a_tool:
                answers, events = [], [*events, *self._called_before(artifact)]
            elif kind is ArtifactKind.ANSWER or (kind is ArtifactKind.STREAM and self._is_answer(artifact)):
                if text := stored_text(self._without_noise(artifact)):
                    answers.append((artifact.artifact_id, artifact.name, text))
            else:
                events += self._beside_answer(artifact, kind)
        answers = self._partials.in_task(answers)
        return [*events, *self._answer.snapshot(answers), *self._status(task.state, task.message)]

    def _beside_answer(self, artifact: frames.Artifact, kind: ArtifactKind) -> list[Event]:
        """An artifact of a task that is not its answer."""
        if kind in _TEXTS and not self._dialect.is_sub_agents(artifact.metadata):
            text = "" if self._leaked else result_text(artifact)
            self._answer.held.keep(text, append=False, aside=kind is ArtifactKind.THOUGHT)
            return []
        if kind in _RESULTS:
            return self._result(artifact, kind)
        if kind is ArtifactKind.FORM:
            return self._found_form(artifact)
        return self._other(artifact) if kind is ArtifactKind.OTHER else []

    def _called_before(self, artifact: frames.Artifact) -> list[Event]:
        """A task holds a tool call: what it said until then is no answer, as where the call is streamed."""
        key = artifact.artifact_id or artifact.name
        if key in self._calling:
            return []
        self._calling.add(key)
        is_narration = self._answer.end_run(narrates=self._dialect.narrates_before_tools)
        return [NarrationConfirmed(reason="text before a tool call of the task")] if is_narration else []

    def _is_answer(self, artifact: frames.Artifact) -> bool:
        """A task's unmarked text is the answer where a stream's is."""
        traits = self._traits(artifact)
        is_other = traits.is_aside or traits.is_sub_agents or self._leaked
        is_leak = self._dialect.leak.search(artifact.text) is not None
        is_marked = parts.is_true(artifact.metadata, *ANSWER_MARKS)
        return is_marked or (self._trusts_unmarked and not (is_other or is_leak))

    def _without_noise(self, artifact: frames.Artifact) -> frames.Artifact:
        kept = tuple(each for each in artifact.parts if not self._dialect.noise.search(each.text or ""))
        return artifact if len(kept) == len(artifact.parts) else replace(artifact, parts=kept)

    def _keep_snapshot_extras(self, artifact: frames.Artifact) -> None:
        if not self._dialect.is_sub_agents(artifact.metadata):
            extras = parts.extract_answer(artifact).extras
            self._keep_extras(artifact.artifact_id or artifact.name, extras, append=not extras)

    def _reply(self, message: frames.AgentMessage) -> list[Event]:
        if message.role != "agent":
            return [nothing("the human's own message")]
        content = parts.extract_content(message.parts, message.metadata, keeps_extras=True)
        self._keep_extras(message.message_id or "message", content.extras, append=not content.extras)
        self._replied = True
        instead = not (
            self._has_task or self._dialect.replies_are_fallback or self._answer.sources.artifacts.has_text
        )
        live = instead or self._answer.habits.trusted == MESSAGE
        return [*self._aside(content), *self._answer.message(message.message_id, content.text, live=live)]


def _is_chunk(metadata: frames.Metadata) -> bool:
    """An event that says so carries a delta, though it does not say that it appends (trpc-agent)."""
    return bool(metadata) and (
        parts.is_true(metadata, "partial") or text_of(metadata.get("object_type")).endswith(parts.DELTA_TYPE)
    )


def without(text: str, reason: str) -> str:
    """`text` without the reason of a failure at its end; some frameworks send it as working status too."""
    text_end, reason = text.rstrip(), reason.strip()
    return text_end.removesuffix(reason).rstrip() if reason and text_end.endswith(reason) else text
