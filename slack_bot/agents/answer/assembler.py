"""PURE. Which of an agent's texts is the answer, and what of it is shown live.

The answer may be in artifacts, messages or working-status text (`answer_sources.py`). Streaming text without
a flag is live only where the agent is known to answer there (`habits.py`); else it is held (`held_text.py`).
Working-status text is live there too, and where it comes token by token.

A text passes these: which text it is a piece of, and what it adds (`pieces.py`); think tags, envelopes and
markers are taken out (`filters.py`); then it is held, or gets its paragraphs (`paragraphs.py`) and is put to
the other texts of its source.
"""

from collections.abc import Mapping

from ...turn.events import AnswerText, Event, Narrated, NarrationConfirmed
from .answer_sources import ARTIFACT, MESSAGE, STATUS, AnswerSources
from .filters import TextFilters
from .habits import AgentHabits, Lesson
from .held_text import HeldText
from .paragraphs import GAP, Paragraphs
from .pieces import ArtifactPieces, MessagePieces


class AnswerAssembler:
    """The texts of one turn, each source of at most `max_chars`.

    `source` and `marker` are settings, `profile` what was learned of the agent, `default` the source of its
    dialect: see `AgentHabits`.
    """

    def __init__(
        self,
        max_chars: int,
        source: str = "auto",
        marker: str = "auto",
        profile: Mapping[str, str] | None = None,
        default: str = "",
    ) -> None:
        self.habits = AgentHabits(source=source, marker=marker, profile=profile or {}, default=default)
        self.sources = AnswerSources(max_chars)
        self.filters = TextFilters(is_on=marker != "off")
        self.pieces, self._messages = ArtifactPieces(self.sources.artifacts), MessagePieces(max_chars)
        self.held = HeldText(max_chars)
        self.paragraphs = Paragraphs()

    def artifact(
        self, key: str, text: str, reason: str, *, append: bool, marked: bool = False, held: bool = False
    ) -> list[Event]:
        """Text of an artifact. `marked`: the agent calls it its answer; `held`: it may be narration."""
        events = self.snapshot(self.pieces.split()) if self.pieces.is_split else []
        if not (marked or held):
            text, append = self.pieces.detect(key, text, append=append)
        return events + self._take(ARTIFACT, key, text, reason, append=append, marked=marked, held=held)

    def snapshot(self, artifacts: list[tuple[str, str, str]]) -> list[Event]:
        """The task's artifacts by now: id, name, raw text. A blank one takes back what came under its id."""
        whole = ((key, raw, self._stored(key, raw)) for key, raw in self.pieces.join(artifacts))
        texts = [(key, text) for key, raw, text in whole if text or not raw]
        if not texts:
            return []
        self.pieces.restart(texts)
        update = self.sources.artifacts.snapshot(texts)
        return self.sources.show(ARTIFACT, update, "the task as it stands", unproven=False)

    def _stored(self, key: str, raw: str) -> str:
        """The text of the task's artifact; all the deltas where the agent's server kept the last one only."""
        streamed = self.pieces.deltas_of(key)
        if raw and streamed.endswith(raw):  # before the filters, which would take it for a beginning
            return streamed
        text = self.paragraphs.mend(self.filters.filter_stored(ARTIFACT, key, raw))
        return streamed if text and streamed.endswith(text) else text

    def status(self, text: str) -> list[Event]:
        """Working-status text, a delta or a snapshot."""
        held, events = self.held, list[Event]()
        if held.begins_anew(text) and self.end_run(narrates=False):
            events.append(NarrationConfirmed(reason="text before a new text"))
        fresh, append = held.take_status(text)
        is_shown = held.run_key in self.sources.statuses
        if is_shown and held.pace.label:  # what was shown says how far the work is
            events += [NarrationConfirmed(reason="texts that begin alike")] * self.end_run(narrates=False)
            is_shown = False
        if not (is_shown or self.habits.show_status(held.pace)):
            return [*events, Narrated(text, reason="working-status text")]
        if not is_shown:
            fresh = held.text[held.pace.start :]
        is_trusted = bool(self.habits.trusted)
        reason = "status text is this agent's answer" if is_trusted else "status text, token by token"
        return events + self._take(STATUS, held.run_key, fresh, reason, append=append and is_shown)

    def message(self, message_id: str, text: str, *, live: bool) -> list[Event]:
        """Text of a message. `live`: it may be shown."""
        sources = self.sources
        key, fresh, append = self._messages.take(message_id, text, sources.replies)
        before = sources.live
        events = self._take(MESSAGE, key, fresh, "a message in place of a task", append=append)
        if live:
            return events
        sources.keep_live(before)
        return [Narrated(text, reason="a message beside the task")]

    def new_paragraph(self) -> None:
        """What follows is a new paragraph, if anything is shown."""
        self.paragraphs.expect(is_due=bool(self.sources.live))

    def end_run(self, *, narrates: bool) -> bool:
        """A tool is called, or another text begins: status text before it is no answer.

        `narrates`: nor are artifacts. Returns whether what was shown is narration.
        """
        sources, held = self.sources, self.held
        is_short = sources.live == STATUS and not self.habits.by_settings and GAP not in held.text
        is_narration = sources.end_run(held.run_key, is_narration=is_short, narrates=narrates)
        held.end_run()
        self.pieces.end_text()
        self.new_paragraph()
        return is_narration

    # -- through the filters, to be shown or held ------------------------------------------------------------

    def _take(
        self,
        source: str,
        key: str,
        text: str,
        reason: str,
        *,
        append: bool,
        marked: bool = False,
        held: bool = False,
    ) -> list[Event]:
        texts, filters = self.sources.by_name[source], self.filters.by_text.get((source, key))
        append = append or (held and filters is None and key not in texts)
        if filters is None or not append:
            filters = self.filters.start(source, key)
        events: list[Event] = []
        if not filters.pass_plain(text):
            had_marker = filters.marker.opened
            before, text = self.filters.feed(source, key, text)
            thoughts = filters.tags.take_thoughts()
            events = [Narrated(thoughts, reason="the model thinks")] if thoughts else []
            if had_marker or not filters.marker.opened:
                text = before + text
            else:
                events += [Narrated(before, reason="before the answer's marker")] if before else []
                append, reason = append and marked, f"{reason}, behind a marker"
                if not marked:  # then what was shown before the marker is no answer
                    texts.set_aside()
        is_answer = marked or filters.marker.opened or filters.envelope.is_envelope
        expects_marker = self.habits.expects_marker and not self.filters.marked
        filters.is_held = not is_answer and (held or expects_marker)
        if filters.is_held:
            self.held.keep(text, append=append, aside=False)
            return [*events, Narrated(text, replaces=not append, reason=f"{reason}: held")]
        append = append and key in texts
        paragraphs = self.paragraphs
        text = paragraphs.append(text, texts.shown) if append else paragraphs.begin(text)
        is_beside_status = source == ARTIFACT and self.sources.live == STATUS and append
        if is_beside_status and not self.habits.by_settings and self.sources.prefer_artifacts():
            events.append(NarrationConfirmed(reason="the answer is an artifact"))
            update = texts.put(key, text, append=append)
            text = GAP + texts.shown.text if update is not None else ""
            return [*events, AnswerText(text, f"{reason}, in place of status text")]
        update = texts.put(key, text, append=append)
        unproven = source == STATUS and self.habits.doubts_status
        return events + self.sources.show(source, update, reason, unproven=unproven)

    # -- the end ---------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Nothing follows: the detectors and the filters release what they held."""
        for key, rest in self._messages.take_held():
            self._take(MESSAGE, key, rest, "the end", append=True)
        if (rest := self.held.close()) and self.held.run_key in self.sources.statuses:
            self._take(STATUS, self.held.run_key, rest, "the end", append=True)
        for (source, key), filters in self.filters.by_text.items():
            rest = "".join(filters.end())
            if rest and filters.is_held:
                self.held.add(rest)
            elif rest:
                self.sources.by_name[source].put(key, rest, append=True)

    def text(self, source: str) -> str:
        """The text of a source, in the end."""
        if source == STATUS and self.held.pace.has_only_labels:
            return ""
        return self.sources.by_name[source].final.text

    def held_text(self, *, failed: bool) -> str:
        """The held text; of several runs between tools the last, if the task did not fail."""
        held = self.held
        if self.filters.marked or (failed and held.has_asides):
            return ""
        if held.pace.has_only_labels:
            return held.pace.label
        return self.filters.filter_whole(held.text or ("" if failed else held.text_before_tool))

    def profile_updates(self, answer: str, held_source: str) -> dict[str, str]:
        """What a turn with this answer adds to the profile. `held_source` is that of the held text."""
        lesson = Lesson(answer, self.habits, sources=self.sources, held=self.held, held_source=held_source)
        return lesson.updates(self.filters)
