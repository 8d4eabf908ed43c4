"""PURE. Which of an agent's texts is the answer, and what of it is shown live.

The answer may be in artifacts, messages or working-status text. The first source that speaks is live, the
others are kept for the end (facts: A2A 8.1). Working-status text, and streaming text without a flag, is live
only where the agent is known to answer there; else it is held. If it was the answer, the profile keeps that.
An agent that then answers otherwise is not trusted again (delivery.md 2).
"""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ...turn.compare import equivalent, missing_suffix, normalize
from ...turn.events import AnswerReplaced, AnswerText, Event, Narrated
from ...turn.record import Form
from ..wire.frames import Artifact
from .delta_detector import BEFORE, ChunkJoiner, DeltaDetector
from .filters import TextFilter, filter_text
from .keyed_text import KeyedText, TextUpdate

ARTIFACT, STATUS, MESSAGE = "artifact", "status", "message"
ANSWER_FROM, MARKER = PROFILE_KEYS = ("answer_source", "marker")
_HOLD = "hold"  # an answer source: only what the protocol calls the answer is trusted
_FEWEST_STEPS = 2

_Key: TypeAlias = tuple[str, str]  # a source, and the key of one text in it


class AnswerAssembler:
    """The texts of one turn, each source of at most `max_chars`.

    `source` and `marker` are settings; unless "auto", they count more than `profile`, what was learned of the
    agent. `default` is the source of its dialect. `trusted` is the source whose unmarked text is the answer,
    `by_settings` if they name it.
    """

    def __init__(
        self,
        max_chars: int,
        source: str = "auto",
        marker: str = "auto",
        profile: Mapping[str, str] | None = None,
        default: str = "",
    ) -> None:
        self._profile = profile or {}
        self.by_settings = source != "auto"
        known = source if self.by_settings else self._profile.get(ANSWER_FROM) or default
        self.trusted = known if known in (ARTIFACT, STATUS, MESSAGE) else ""
        self._waits = marker == "expected" or (marker == "auto" and self._profile.get(MARKER) == "yes")
        self._uses_filters = marker != "off"
        self._max_chars = max_chars
        self._artifacts, self._statuses, self._replies = (KeyedText(max_chars) for _ in range(3))
        self._texts = {ARTIFACT: self._artifacts, STATUS: self._statuses, MESSAGE: self._replies}
        self._detectors: dict[_Key, DeltaDetector] = {}
        self._filters: dict[_Key, TextFilter] = {}
        self._questions: dict[_Key, Form] = {}
        self._marked: set[_Key] = set()  # texts with a marker
        self._held = DeltaDetector(max_chars=max_chars)
        self._held_before_tool = ""
        self._has_asides = False  # not all of the held text may be the answer
        self._joiner, self._message_joiner = ChunkJoiner(), ChunkJoiner()
        self._last_name: str | None = ""  # None: what follows a tool call is a new text
        self._last_message, self._ids_are_reused = "", False
        self._live_source, self._status_runs, self._gap_due = "", 1, False

    @property
    def overflow(self) -> bool:
        """More text came than may be kept."""
        return self._artifacts.overflow or self._statuses.overflow or self._replies.overflow

    @property
    def has_artifacts(self) -> bool:
        """Text came in artifacts."""
        return self._artifacts.has_text

    @property
    def question(self) -> Form | None:
        """What the JSON around an answer asks the human."""
        return next(iter(self._questions.values()), None)

    def has_taken(self, artifact: Artifact) -> bool:
        """Text of `artifact` was taken for the answer."""
        return self._artifacts.has(artifact.artifact_id or artifact.name)

    def in_envelope(self, key: str, text: str) -> bool:
        """`text` is, or may be, in JSON around an answer."""
        found = self._filters.get((ARTIFACT, key))
        if found is None:
            found = TextFilter(is_on=self._uses_filters)
            found.feed(text)
        return not found.envelope.is_plain

    def filter_text(self, text: str) -> str:
        """The answer in a whole text."""
        return filter_text(text) if self._uses_filters else text

    # -- text comes ------------------------------------------------------------------------------------------

    def find_key(self, artifact_id: str, name: str, text: str, *, append: bool) -> tuple[str, bool]:
        """The key of an artifact's text, and whether `text` appends. A chunk may have its own id."""
        texts, key = self._artifacts, artifact_id or name
        if texts.has(key):
            self._ids_are_reused |= append
            return key, append
        before, last = texts.shown.ending(BEFORE) if texts.has_text else "", self._last_name
        self._last_name = name
        is_chunk = last is not None and not self._ids_are_reused and (append or not texts.repeats(text))
        if is_chunk and self._joiner.joins(name, last or "", before, text, over_lines=append):
            return texts.last_key, True
        return key, append

    def artifact(
        self, key: str, text: str, reason: str, *, append: bool, marked: bool = False, held: bool = False
    ) -> list[Event]:
        """Text of an artifact. `marked`: the agent calls it its answer; `held`: it may be narration."""
        if not (marked or held):
            detector = self._detectors.get((ARTIFACT, key))
            if detector is None or not append:
                self._detectors[ARTIFACT, key] = DeltaDetector(text, appends=True)
            else:
                text, append = detector.take(text)
        return self._take(ARTIFACT, key, text, reason, append=append, marked=marked, held=held)

    def keep(self, text: str, *, append: bool, aside: bool) -> None:
        """Text that is the answer if nothing else is; said `aside`, only if the task completed."""
        if append:
            self._held.take(text)
        else:
            self._held.replace(text)
        self._has_asides = self._has_asides or (aside and bool(text.strip()))

    def status(self, text: str) -> list[Event]:
        """Working-status text, a delta or a snapshot."""
        fresh, append = self._held.take(text, by_line=True)
        if self.trusted != STATUS:
            return [Narrated(text, reason="working-status text")]
        key = f"status {self._status_runs}"
        return self._take(STATUS, key, fresh, "status text is this agent's answer", append=append)

    def message(self, message_id: str, text: str, *, live: bool) -> list[Event]:
        """Text of a message. `live`: it may be shown."""
        texts, key = self._replies, message_id or "message"
        before = texts.shown.ending(BEFORE) if texts.has_text else ""
        is_new = (MESSAGE, key) not in self._detectors
        if is_new and self._message_joiner.joins("", "", before, text, over_lines=True):
            key = self._last_message
        self._last_message = key
        detector = self._detectors.setdefault((MESSAGE, key), DeltaDetector(max_chars=self._max_chars))
        fresh, append = detector.take(text)
        live_source = self._live_source
        events = self._take(MESSAGE, key, fresh, "a message in place of a task", append=append)
        if live:
            return events
        self._live_source = live_source
        return [Narrated(text, reason="a message beside the task")]

    def new_paragraph(self) -> None:
        """What follows is a new paragraph."""
        self._gap_due = self._gap_due or self.has_artifacts

    def before_tool(self, *, narrates: bool) -> None:
        """A tool is called: status text before it is no answer. `narrates`: nor are artifacts."""
        self._held_before_tool = self._held.text or self._held_before_tool
        self._has_asides = False
        self._held.restart()
        self._last_name = None
        self._status_runs += 1
        if narrates:
            self._artifacts.set_aside()
            self._statuses.set_aside()

    def snapshot(self, artifacts: list[tuple[str, str, str]]) -> list[Event]:
        """The task's artifacts by now: id, name, raw text."""
        texts = [(key, text) for key, raw in self._joined(artifacts) if (text := self._filtered(key, raw))]
        if not texts:
            return []
        self._detectors |= {(ARTIFACT, key): DeltaDetector(text, appends=True) for key, text in texts}
        return self._show(ARTIFACT, self._artifacts.snapshot(texts), "the task as it stands")

    def _joined(self, artifacts: list[tuple[str, str, str]]) -> Iterator[tuple[str, str]]:
        """Key and text of the artifacts, chunks put together."""
        key, last, texts = "", "", list[str]()
        for artifact_id, name, text in artifacts:
            is_known = self._ids_are_reused or self._artifacts.has(artifact_id)
            if texts and (is_known or not self._joiner.joins(name, last, texts[-1][-BEFORE:], text)):
                yield key, "".join(texts)
                texts = []
            key = key if texts else artifact_id or name
            texts.append(text)
            last = name
        if texts:
            yield key, "".join(texts)

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
        filters = self._filters.get((source, key))
        append = append or (held and filters is None and not self._texts[source].has(key))
        if filters is None or not append:
            filters = self._filters[source, key] = TextFilter(is_on=self._uses_filters)
        events: list[Event] = []
        if not filters.pass_plain(text):
            had_marker = filters.marker.opened
            before, text = filters.feed(text)
            self._note((source, key), filters)
            thoughts = filters.tags.take_thoughts()
            events = [Narrated(thoughts, reason="the model thinks")] if thoughts else []
            if had_marker or not filters.marker.opened:
                text = before + text
            else:
                events += [Narrated(before, reason="before the answer's marker")] if before else []
                append, reason = append and marked, f"{reason}, behind a marker"
                if not marked:  # then what was shown before the marker is no answer
                    self._texts[source].set_aside()
        is_answer = marked or filters.marker.opened or filters.envelope.is_envelope
        filters.holds_aside = not is_answer and (held or (self._waits and not self._marked))
        if filters.holds_aside:
            self.keep(text, append=append, aside=False)
            return [*events, Narrated(text, replaces=not append, reason=f"{reason}: held")]
        texts = self._texts[source]
        is_known = texts.has(key)
        if self._gap_due and source == ARTIFACT and is_known and text.strip():
            self._gap_due = False
            text = _with_gap(texts.shown.ending(2), text)
        return events + self._show(source, texts.put(key, text, append=append and is_known), reason)

    def _filtered(self, key: str, raw: str) -> str:
        filters = self._filters[ARTIFACT, key] = TextFilter(is_on=self._uses_filters)
        if filters.pass_plain(raw):
            return raw
        before, answer = filters.feed(raw)
        filters.tags.take_thoughts()  # they were narrated
        self._note((ARTIFACT, key), filters)
        return answer if filters.marker.opened else before

    def _note(self, key: _Key, filters: TextFilter) -> None:
        """Keep apart the few texts with a question or a marker: each word may be a text."""
        if filters.question is not None:
            self._questions[key] = filters.question
        else:
            self._questions.pop(key, None)
        if filters.marker.opened:
            self._marked.add(key)
        else:
            self._marked.discard(key)

    def _show(self, source: str, change: TextUpdate | None, reason: str) -> list[Event]:
        if change is None:
            return [nothing(f"nothing new: {reason}")]
        self._live_source = self._live_source or source
        if self._live_source != source:
            return [nothing(f"held, {self._live_source} text is told: {reason}")]
        return [AnswerReplaced(change.text, reason) if change.replaces else AnswerText(change.text, reason)]

    # -- the end ---------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Nothing follows: the filters release what they held."""
        for (source, key), filters in self._filters.items():
            rest = "".join(filters.end())
            if rest and filters.holds_aside:
                self._held.take(rest)
            elif rest:
                self._texts[source].put(key, rest, append=True)

    def text(self, source: str) -> str:
        """The whole text of `source`."""
        return self._texts[source].final.text

    def contains(self, text: str) -> bool:
        """`text`, if it is not empty, is somewhere in the artifacts."""
        sought = normalize(text)
        return bool(sought) and sought in self._artifacts.final.normalized

    def held_text(self, *, failed: bool) -> str:
        """The held text; of several runs between tools the last, if the task did not fail."""
        if self._marked or (failed and self._has_asides):
            return ""
        return self.filter_text(self._held.text or ("" if failed else self._held_before_tool))

    def profile_updates(self, answer: str, held_source: str) -> dict[str, str]:
        """What a turn with this answer adds to the profile. `held_source` is that of the held text."""
        facts: dict[str, str] = {}
        if self._marked and self._profile.get(MARKER) != "yes":
            facts[MARKER] = "yes"
        is_learned = self.trusted and self._live_source and not self.by_settings
        was_live = self._live_source == ARTIFACT and self._artifacts.updates > 1
        if is_learned and missing_suffix(self._texts[self._live_source].shown.text, answer) is None:
            facts[ANSWER_FROM] = _HOLD
        elif not (self._profile.get(ANSWER_FROM) or self.by_settings or was_live):
            found = self._held_answer(answer, held_source)
            facts |= {ANSWER_FROM: found} if found else {}
        return facts

    def _held_answer(self, answer: str, held_source: str) -> str | None:
        """The source that had the answer, in several pieces, and was held."""
        if self._held.steps >= _FEWEST_STEPS and equivalent(self.filter_text(self._held.text), answer):
            return held_source
        was_held = self._live_source != MESSAGE and self._replies.updates >= _FEWEST_STEPS
        return MESSAGE if was_held and equivalent(self.text(MESSAGE), answer) else None


def without(text: str, reason: str) -> str:
    """`text` without the reason of a failure at its end; some frameworks send it as working status too."""
    found, reason = text.rstrip(), reason.strip()
    return found.removesuffix(reason).rstrip() if reason and found.endswith(reason) else text


def nothing(reason: str) -> Narrated:
    """Nothing happened that a reader would see."""
    return Narrated("", reason=reason)


def _with_gap(before: str, text: str) -> str:
    """`text` as a new paragraph behind `before`."""
    have = len(before) - len(before.rstrip("\n")) + len(text) - len(text.lstrip("\n"))
    return "\n" * max(0, 2 - have) + text
