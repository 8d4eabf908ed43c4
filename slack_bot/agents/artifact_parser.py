"""PURE. Artifacts become events, whether they are streamed or stored in a task.

The dialect says what an artifact is; `is_final_answer`, or else `is_narration`, or another dialect's marks,
what its text is. Unmarked text is the answer if nothing better comes (delivery.md 2).
"""

import re
from dataclasses import replace

from ..turn.events import Event, FinalAnswer, Narrated, PlanChanged
from ..turn.json_values import text_of
from .agent_question import AgentQuestion
from .answer.answer_extras import AnswerExtras
from .answer.answer_sources import ARTIFACT, nothing
from .answer.assembler import AnswerAssembler
from .answer.candidates import Candidates
from .answer.delta_detector import stored_text
from .answer.filters import result_text
from .answer.partial_artifacts import PartialArtifacts
from .artifact_reader import ArtifactReader, ArtifactTraits
from .asides import Asides
from .content import forms, parts
from .dialects.dialect import ArtifactKind
from .wire.frames import Artifact, ArtifactUpdate, Metadata

_TEXTS = (ArtifactKind.STREAM, ArtifactKind.ANSWER, ArtifactKind.THOUGHT)
_RESULTS = (ArtifactKind.FINAL, ArtifactKind.PARTIAL, ArtifactKind.COMPLETE)


class ArtifactParser:
    """The artifacts of one turn. Texts go to `answer` and `candidates`, what else they hold to the others."""

    def __init__(
        self,
        reader: ArtifactReader,
        answer: AnswerAssembler,
        asides: Asides,
        extras: AnswerExtras,
        question: AgentQuestion,
        candidates: Candidates,
    ) -> None:
        self._reader, self._answer = reader, answer
        self._asides, self._extras = asides, extras
        self._question, self._candidates = question, candidates
        self._partials = PartialArtifacts()

    # -- streamed --------------------------------------------------------------------------------------------

    def take_update(self, update: ArtifactUpdate) -> list[Event]:
        """A chunk of an artifact, or all of it."""
        update = self._partials.under_one_id(update) if self._reader.dialect.mixes_ids else update
        artifact, answer = update.artifact, self._answer
        traits = self._reader.traits(artifact)
        kind = traits.kind
        if kind not in _TEXTS:
            return self._take_textless(update, kind)
        content = parts.extract_content(
            artifact.parts,
            traits.around,
            keeps_extras=traits.may_attach,
            description=artifact.description,
        )
        text = content.text
        append = self._appends(update, kind, text) if update.append is None else update.append
        place = artifact.artifact_id or artifact.name
        if content.extras or not append:
            self._extras.keep(place, content.extras, append=append)
        events = self._asides.take(content, place) if content.thoughts or content.tools else []
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
            events += self._take_unmarked(traits, text, key, append=append)
        elif text or not events:
            events += answer.artifact(key, text, traits.reason, append=append)
        return events

    def _appends(self, update: ArtifactUpdate, kind: ArtifactKind, text: str) -> bool:
        """Whether `text` goes on with what came, where the agent does not say."""
        return self._reader.dialect.append_by_default or (
            kind is ArtifactKind.ANSWER
            and self._answer.pieces.goes_on(update.artifact, text, says_so=_is_chunk(update.metadata))
        )

    def _take_unmarked(self, traits: ArtifactTraits, text: str, key: str, *, append: bool) -> list[Event]:
        reader, answer = self._reader, self._answer
        dialect = reader.dialect
        is_leak = dialect.leak.search(text) is not None
        if is_leak and not answer.filters.is_in_envelope(ARTIFACT, key, text):
            reader.note_leak()
            return [nothing("noise in the stream")]
        if dialect.noise.search(text):
            return [nothing("noise in the stream")]
        if traits.is_sub_agents:
            return [Narrated(text, replaces=not append, reason="a sub-agent's stream")]
        held = not (self._trusts_unmarked or answer.sources.artifacts.has_text)
        text = "" if held and reader.has_leaked else text
        return answer.artifact(key, text, traits.reason, append=append, held=held)

    @property
    def _trusts_unmarked(self) -> bool:
        return self._reader.dialect.live or self._answer.habits.trusted == ARTIFACT

    def _take_textless(self, update: ArtifactUpdate, kind: ArtifactKind) -> list[Event]:
        """An artifact that is a result, or has no text for the answer."""
        artifact, tools = update.artifact, self._asides.tools
        if kind in _RESULTS:
            return self._take_result(artifact, kind)
        if kind is ArtifactKind.TOOL:
            return self._asides.take(parts.extract_content(artifact.parts)) or [nothing("a tool's output")]
        event: Event
        match kind:
            case ArtifactKind.TOOL_START:
                event = tools.start_of(artifact, self._reader.dialect)
            case ArtifactKind.TOOL_END:
                self._answer.new_paragraph()
                event = tools.end_of(artifact)
            case ArtifactKind.FORM:
                event = self._question.take_form(artifact)
            case ArtifactKind.PLAN:
                steps, title = parts.plan_in(artifact.parts)
                plan = PlanChanged(steps, reason=artifact.name, title=title)
                event = plan if steps else nothing("plan without steps")
            case _:
                event = self._take_unknown(artifact, append=update.append is True)
        return [event]

    def _take_unknown(self, artifact: Artifact, *, append: bool = False) -> Event:
        """An artifact of a name that the dialect does not know. Its text may be anything; what else it holds
        is for the reader."""
        metadata = artifact.metadata
        if not (parts.is_thought(metadata) or self._reader.dialect.is_sub_agents(metadata)):
            extras = parts.extract_answer(artifact).extras
            place = artifact.artifact_id or artifact.name
            self._extras.keep(place, extras, append=append or not extras, beside=True)
        return Narrated(artifact.text, passing=True, reason=f"artifact {artifact.name!r} is not shown")

    # -- results, streamed or stored -------------------------------------------------------------------------

    def _take_result(self, artifact: Artifact, kind: ArtifactKind) -> list[Event]:
        text = self._answer.paragraphs.mend(result_text(artifact))
        is_sub_agents = self._reader.dialect.is_sub_agents(artifact.metadata)
        if kind is not ArtifactKind.COMPLETE and not is_sub_agents:
            self._extras.keep(artifact.artifact_id or artifact.name, parts.extract_answer(artifact).extras)
        if kind is not ArtifactKind.FINAL or is_sub_agents:
            self._candidates.keep_result(kind, text)
            return [nothing(f"{kind} is kept for the end")]
        if (form := forms.form_in(artifact.parts)) is not None:
            self._candidates.name_final(text or form.prompt or form.title)  # it is a question
            return [self._question.ask(form, "a form in the final result")]
        if not text.strip():
            return [nothing("an empty final result")]
        self._candidates.name_final(text)
        return [FinalAnswer(text, artifact.name, reason="the agent's final result")]

    # -- stored in a task ------------------------------------------------------------------------------------

    def take_stored(self, artifacts: tuple[Artifact, ...]) -> list[Event]:
        """The artifacts of a task, as far as they are written."""
        answers: list[tuple[str, str, str]] = []
        events: list[Event] = []
        dialect = self._reader.dialect
        for artifact in artifacts:
            kind = dialect.kind(artifact.name)
            if kind in (ArtifactKind.ANSWER, ArtifactKind.STREAM):
                self._keep_stored_extras(artifact)
            if parts.extract_answer(artifact).calls_a_tool:
                answers, events = [], [*events, *self._asides.take_stored(artifact)]
            elif kind is ArtifactKind.ANSWER or (kind is ArtifactKind.STREAM and self._is_answer(artifact)):
                if text := stored_text(_without_noise(artifact, dialect.noise)):
                    answers.append((artifact.artifact_id, artifact.name, text))
            else:
                events += self._take_beside(artifact, kind)
        return [*events, *self._answer.snapshot(self._partials.in_task(answers))]

    def _keep_stored_extras(self, artifact: Artifact) -> None:
        if not self._reader.dialect.is_sub_agents(artifact.metadata):
            extras = parts.extract_answer(artifact).extras
            self._extras.keep(artifact.artifact_id or artifact.name, extras, append=not extras)

    def _is_answer(self, artifact: Artifact) -> bool:
        """A task's unmarked text is the answer where a stream's is."""
        traits = self._reader.traits(artifact)
        is_other = traits.is_aside or traits.is_sub_agents or self._reader.leaks(artifact.text)
        return traits.is_marked or (self._trusts_unmarked and not is_other)

    def _take_beside(self, artifact: Artifact, kind: ArtifactKind) -> list[Event]:
        """An artifact of a task that is not its answer."""
        if kind in _TEXTS and not self._reader.dialect.is_sub_agents(artifact.metadata):
            text = "" if self._reader.has_leaked else result_text(artifact)
            self._answer.held.keep(text, append=False, aside=kind is ArtifactKind.THOUGHT)
            return []
        if kind in _RESULTS:
            return self._take_result(artifact, kind)
        if kind is ArtifactKind.FORM:
            return [self._question.take_form(artifact)]
        return [self._take_unknown(artifact)] if kind is ArtifactKind.OTHER else []


def _without_noise(artifact: Artifact, noise: re.Pattern[str]) -> Artifact:
    clean = tuple(each for each in artifact.parts if not noise.search(each.text or ""))
    return artifact if len(clean) == len(artifact.parts) else replace(artifact, parts=clean)


def _is_chunk(metadata: Metadata) -> bool:
    """An event that says so carries a delta, though it does not say that it appends (trpc-agent)."""
    return bool(metadata) and (
        parts.is_true(metadata, "partial") or text_of(metadata.get("object_type")).endswith(parts.DELTA_TYPE)
    )
