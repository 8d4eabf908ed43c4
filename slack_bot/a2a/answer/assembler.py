"""PURE. Which of an agent's texts is the answer, and what of it is shown live.

An agent may put its answer into artifacts, messages, working-status text, or several of them. The first
source that speaks is shown live, the others are kept. At the end precedence decides, and the whole is
compared with what was shown, so a reader sees it once (facts: A2A 8.1). Working-status text, and streaming
text without a flag, is live only where the agent is known to answer there; else it is held.
"""

from __future__ import annotations

from typing import TypeAlias

from ...turn.compare import equivalent, missing_suffix
from ...turn.events import AnswerReplaced, AnswerText, Event, Narrated
from ...turn.form import Form
from ..profile import TurnObservation
from ..wire.frames import Artifact
from .chunk_joiner import BEFORE, ChunkJoiner
from .delta_detector import DeltaDetector
from .filters import MarkedText, TextFilter, filter_text
from .keyed_text import Appended, KeyedText, Replaced

ARTIFACT, STATUS, MESSAGE = "artifact", "status", "message"

_Key: TypeAlias = tuple[str, str]
"""A source and the key of one text in it."""


class AnswerAssembler:
    """The texts of one turn. `trusted` is the source whose unmarked text is the answer, "" for none.

    `by_settings`: the settings name that source. `waits_for_marker`: only text behind a marker is the answer.
    `filters`: markers and envelopes are looked for. `max_chars` bounds each source.
    """

    def __init__(
        self,
        max_chars: int,
        trusted: str = "",
        *,
        by_settings: bool = False,
        waits_for_marker: bool = False,
        filters: bool = True,
    ) -> None:
        self.trusted = trusted
        self._by_settings, self._uses_filters, self._waits = by_settings, filters, waits_for_marker
        self._max_chars = max_chars
        self._artifacts, self._statuses, self._replies = (KeyedText(max_chars) for _ in range(3))
        self._texts = {ARTIFACT: self._artifacts, STATUS: self._statuses, MESSAGE: self._replies}
        self._held = DeltaDetector(max_chars=max_chars)
        self._held_before_tool = ""
        self._has_asides = False  # some of the held text is no part of the answer
        self._detectors: dict[str, DeltaDetector] = {}
        self._message_detectors: dict[str, DeltaDetector] = {}
        self._last_message = ""
        self._joiner, self._message_joiner = ChunkJoiner(), ChunkJoiner()
        self._last_name: str | None = ""  # None: a tool was called since, what follows is a new text
        self._ids_are_reused = False
        self._filters: dict[_Key, TextFilter] = {}
        self._questions: dict[_Key, Form] = {}
        self._marked: set[_Key] = set()  # texts with a marker
        self._unfinished: set[_Key] = set()  # texts whose filters hold text that is to be held
        self._live_source = ""
        self._status_runs = 1
        self._gap_due = False

    @property
    def overflow(self) -> bool:
        """More text came than may be kept."""
        return self._artifacts.overflow or self._statuses.overflow or self._replies.overflow

    @property
    def has_artifacts(self) -> bool:
        """Text came in artifacts."""
        return self._artifacts.has_text

    @property
    def had_marker(self) -> bool:
        """The agent writes markers."""
        return bool(self._marked)

    @property
    def question(self) -> Form | None:
        """What the JSON around an answer asks the human."""
        return next(iter(self._questions.values()), None)

    def has_taken(self, artifact: Artifact) -> bool:
        """Text of `artifact` was taken for the answer."""
        return self._artifacts.has(artifact.artifact_id or artifact.name)

    def trusts(self, source: str) -> bool:
        """Unmarked text of `source` is the answer."""
        return self.trusted == source

    def in_envelope(self, key: str, text: str) -> bool:
        """`text` continues, or may begin, JSON around an answer."""
        found = self._filters.get((ARTIFACT, key))
        if found is None and self._uses_filters:
            found = TextFilter()
            found.feed(text)
        return found is not None and not found.envelope.is_plain

    def filter_text(self, text: str) -> str:
        """The answer in a whole text."""
        return filter_text(text) if self._uses_filters else text

    # -- text comes ------------------------------------------------------------------------------------------

    def find_key(self, artifact_id: str, name: str, text: str, *, append: bool) -> tuple[str, bool]:
        """The key of an artifact's text, and whether `text` appends there.

        Some servers give each chunk of one artifact an id of its own; `text` may be such a chunk.
        """
        texts, key = self._artifacts, artifact_id or name
        if texts.has(key):
            self._ids_are_reused |= append
            return key, append
        before, last = texts.ending(BEFORE) if texts.has_text else "", self._last_name
        self._last_name = name
        is_chunk = last is not None and not self._ids_are_reused and (append or not texts.repeats(text))
        if is_chunk and self._joiner.joins(name, last or "", before, text, over_lines=append):
            return texts.last_key, True
        return key, append

    def artifact(
        self, key: str, text: str, reason: str, *, append: bool, marked: bool = False
    ) -> list[Event]:
        """Text of an artifact that is the answer. `marked`: the agent itself calls it so."""
        if not marked:
            detector = self._detectors.get(key)
            if detector is None or not append:
                self._detectors[key] = DeltaDetector(text, appends=True)
            else:
                text, append = detector.take(text)
        return self._take(ARTIFACT, key, text, reason, append=append, marked=marked)

    def unmarked(self, key: str, text: str, reason: str, *, append: bool) -> list[Event]:
        """Streaming text of an artifact that has no flag: held, unless a marker or an envelope comes."""
        return self._take(ARTIFACT, key, text, reason, append=append, held=True)

    def keep(self, text: str, *, append: bool, aside: bool) -> None:
        """Text that is the answer only if nothing else is; said `aside`, only if the task completed."""
        self._hold(text, append=append)
        self._has_asides = self._has_asides or (aside and bool(text.strip()))

    def status(self, text: str, reason: str) -> list[Event]:
        """Working-status text, a delta or a snapshot."""
        fresh, append = self._held.take(text, by_line=True)
        if not self.trusts(STATUS):
            return [Narrated(text, reason=reason)]
        key = f"status {self._status_runs}"
        return self._take(STATUS, key, fresh, "status text is this agent's answer", append=append)

    def message(self, message_id: str, text: str, reason: str, *, live: bool) -> list[Event]:
        """Text of a message, a delta or the whole. `live`: it may be shown."""
        texts, key = self._replies, message_id or "message"
        before = texts.ending(BEFORE) if texts.has_text else ""
        if key not in self._message_detectors and self._message_joiner.joins(
            "", "", before, text, over_lines=True
        ):
            key = self._last_message
        self._last_message = key
        detector = self._message_detectors.setdefault(key, DeltaDetector(max_chars=self._max_chars))
        fresh, append = detector.take(text)
        live_source = self._live_source
        events = self._take(MESSAGE, key, fresh, reason, append=append)
        if live:
            return events
        self._live_source = live_source
        return [Narrated(text, reason="a message beside the task")]

    def new_paragraph(self) -> None:
        """What follows is a new paragraph."""
        self._gap_due = self._gap_due or self.has_artifacts

    def before_tool(self, *, narrates: bool) -> None:
        """The agent called a tool: the status text before it said what the agent was about to do.

        `narrates`: so did the artifacts before it, if any follow.
        """
        self._held_before_tool = self._held.text or self._held_before_tool
        self._has_asides = False
        self._held.restart()
        self._last_name = None
        self._status_runs += 1
        if narrates:
            self._artifacts.set_aside()
            self._statuses.set_aside()

    def snapshot(self, artifacts: list[tuple[str, str, str]]) -> list[Event]:
        """The present artifacts of the task (id, name, raw text); they may go on."""
        texts = [
            (key, text) for key, raw in self._joined(artifacts) if (text := self._filter_again(key, raw))
        ]
        if not texts:
            return []
        self._detectors |= {key: DeltaDetector(text, appends=True) for key, text in texts}
        return self._show(ARTIFACT, self._artifacts.snapshot(texts), "the task as it stands")

    def _joined(self, artifacts: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
        """Key and text of the artifacts; chunks of one are put together."""
        found: list[tuple[str, list[str]]] = []
        last = ""
        for artifact_id, name, text in artifacts:
            before = found[-1][1][-1][-BEFORE:] if found else ""
            is_known = self._ids_are_reused or self._artifacts.has(artifact_id)
            if not is_known and self._joiner.joins(name, last, before, text):
                found[-1][1].append(text)
            else:
                found.append((artifact_id or name, [text]))
            last = name
        return [(key, "".join(texts)) for key, texts in found]

    def _filter_again(self, key: str, raw: str) -> str:
        """An artifact's text from its beginning, with what its filters held."""
        if not self._uses_filters:
            return raw
        filters = self._filters[ARTIFACT, key] = TextFilter()
        found = filters.feed(raw)
        filters.tags.take_thoughts()  # they were narrated
        self._note((ARTIFACT, key), filters)
        return "".join(each.text for each in found if each.is_answer or not filters.marker.opened)

    # -- through the filters ---------------------------------------------------------------------------------

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
        if filters is not None and append and filters.pass_plain(text):
            held = not (marked or filters.marker.opened) and (held or (self._waits and not self._marked))
        elif self._uses_filters:
            return self._filter(source, key, text, reason, append=append, marked=marked, held=held)
        elif held:
            append = append or not self._texts[source].has(key)
        if held:
            return self._hold_back(text, reason, append=append)
        return self._put(source, key, text, reason, append=append)

    def _filter(
        self, source: str, key: str, text: str, reason: str, *, append: bool, marked: bool, held: bool
    ) -> list[Event]:
        """As `_take`, for a text that the filters may hold or change."""
        filters = self._filters.get((source, key))
        known = filters is not None or self._texts[source].has(key)
        append = append or (held and not known)
        if filters is None or (known and not append):
            filters = self._filters[source, key] = TextFilter()
        had_marker = filters.marker.opened
        found = filters.feed(text)
        self._note((source, key), filters)
        events = narrate_thoughts(filters.tags.take_thoughts())
        if filters.marker.opened and not had_marker:
            return events + self._open(source, key, found, reason, append=append and marked, marked=marked)
        fresh = "".join(each.text for each in found)
        held = held or (self._waits and not self._marked)
        if marked or filters.marker.opened or filters.envelope.is_envelope or not held:
            self._unfinished.discard((source, key))
            return events + self._put(source, key, fresh, reason, append=append)
        self._unfinished.add((source, key))
        return events + self._hold_back(fresh, reason, append=append)

    def _note(self, key: _Key, filters: TextFilter) -> None:
        """Keep apart the few texts whose filters found something: there may be one for each word."""
        if filters.question is not None:
            self._questions[key] = filters.question
        else:
            self._questions.pop(key, None)
        if filters.marker.opened:
            self._marked.add(key)
        else:
            self._marked.discard(key)

    def _open(
        self, source: str, key: str, found: list[MarkedText], reason: str, *, append: bool, marked: bool
    ) -> list[Event]:
        """The marker came. What was shown before it is no answer, unless the agent flagged it."""
        before = "".join(each.text for each in found if not each.is_answer)
        after = "".join(each.text for each in found if each.is_answer)
        if not marked:
            self._texts[source].set_aside()
        self._unfinished.discard((source, key))
        events: list[Event] = [Narrated(before, reason="before the answer's marker")] if before else []
        return events + self._put(source, key, after, f"{reason}, behind a marker", append=append)

    def _hold(self, text: str, *, append: bool) -> None:
        if append:
            self._held.take(text)
        else:
            self._held.replace(text)

    def _hold_back(self, text: str, reason: str, *, append: bool) -> list[Event]:
        self._hold(text, append=append)
        return [Narrated(text, replaces=not append, reason=f"{reason}: held")]

    def _put(self, source: str, key: str, text: str, reason: str, *, append: bool) -> list[Event]:
        texts = self._texts[source]
        if self._gap_due and source == ARTIFACT and text.strip() and texts.has(key):
            self._gap_due = False
            text = _with_gap(texts.ending(2), text)
        return self._show(source, texts.put(key, text, append=append and texts.has(key)), reason)

    def _show(self, source: str, change: Appended | Replaced | None, reason: str) -> list[Event]:
        if change is None:
            return [nothing(f"nothing new: {reason}")]
        self._live_source = self._live_source or source
        if self._live_source != source:
            return [nothing(f"held, {self._live_source} text is told: {reason}")]
        if isinstance(change, Appended):
            return [AnswerText(change.text, reason)]
        return [AnswerReplaced(change.text, reason)]

    # -- the end ---------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Nothing follows: the filters release what they held."""
        for (source, key), filters in self._filters.items():
            rest = "".join(each.text for each in filters.end())
            if rest and (source, key) in self._unfinished:
                self._held.take(rest)
            elif rest:
                self._texts[source].put(key, rest, append=True)

    def text(self, source: str) -> str:
        """The whole text of `source`."""
        return self._texts[source].final

    def contains(self, source: str, text: str) -> bool:
        """`text` is somewhere in the whole text of `source`."""
        return self._texts[source].contains(text)

    @property
    def unmarked_text(self) -> str:
        """The text that nobody marked; of several runs between tools, the last."""
        return "" if self.had_marker else self.filter_text(self._held.text or self._held_before_tool)

    @property
    def unfinished_text(self) -> str:
        """What of an answer was held when its task failed: what came since the last tool call."""
        return "" if self.had_marker or self._has_asides else self.filter_text(self._held.text)

    @property
    def text_by_settings(self) -> str:
        """The whole text of the source that the settings name."""
        return self.text(self.trusted) if self._by_settings and self.trusted in self._texts else ""

    def observe(self, final: str, held_source: str) -> TurnObservation:
        """What this turn showed about the agent, `final` being its answer."""
        live = self.trusted if not self._by_settings and self._live_source else ""
        was_answer = not live or missing_suffix(self._texts[self._live_source].shown, final) is not None
        held: list[tuple[str, int]] = []
        was_live = self._live_source == ARTIFACT and self._artifacts.updates > 1
        if not (self._by_settings or was_live):
            if equivalent(self.filter_text(self._held.text), final):
                held.append((held_source, self._held.steps))
            if self._live_source != MESSAGE and equivalent(self.text(MESSAGE), final):
                held.append((MESSAGE, self._replies.updates))
        return TurnObservation(live, was_answer, tuple(held), self.had_marker)


def without(text: str, reason: str) -> str:
    """`text` without the reason for which the task failed; some frameworks send it as working status too."""
    found, reason = text.rstrip(), reason.strip()
    return found.removesuffix(reason).rstrip() if reason and found.endswith(reason) else text


def nothing(reason: str) -> Narrated:
    """Nothing happened that a reader would see."""
    return Narrated("", reason=reason)


def narrate_thoughts(text: str) -> list[Event]:
    """What a model thinks, as narration; nothing for no text."""
    return [Narrated(text, reason="the model thinks")] if text else []


def _with_gap(before: str, text: str) -> str:
    """`text` as a new paragraph behind `before`, counting the line ends that both already have."""
    have = len(before) - len(before.rstrip("\n")) + len(text) - len(text.lstrip("\n"))
    return "\n" * max(0, 2 - have) + text
