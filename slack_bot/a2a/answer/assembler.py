"""PURE. Which of an agent's texts is the answer, and what of it may be told at once.

An agent may say its answer in artifacts, in messages, in working-status text, or in several of them, one
after the other. One of them is told, live: the first that speaks. The others are kept, and at the end the
whole is decided by precedence and measured against what was told, so a reader sees it once (facts: A2A 8.1).
Working-status text, and streaming text that nobody marked, is told live only where the agent is known for
saying its answer there; else it is held.
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

Change: TypeAlias = Appended | Replaced | None

ARTIFACT, STATUS, MESSAGE = "artifact", "status", "message"


class AnswerAssembler:
    """The texts of one turn. `believed` is the source whose unmarked text is the answer, "" if none is.

    `by_hand`: somebody said so in the settings. `waits_for_marker`: nothing is the answer until a marker
    comes. `gated`: markers and envelopes are looked for at all. `max_chars` bounds each source.
    """

    def __init__(
        self,
        max_chars: int,
        believed: str = "",
        *,
        by_hand: bool = False,
        waits_for_marker: bool = False,
        gated: bool = True,
    ) -> None:
        self.believed = believed
        self._by_hand, self._gated, self._waits = by_hand, gated, waits_for_marker
        self._pieces = {each: KeyedText(max_chars) for each in (ARTIFACT, STATUS, MESSAGE)}
        self._held = DeltaDetector(max_chars=max_chars)
        self._held_before = ""
        self._held_aside = False  # what is held is, or has in it, what was said on the way
        self._gates: dict[tuple[str, str], TextFilter] = {}
        self._questions: dict[tuple[str, str], Form] = {}
        self._opened_keys: set[tuple[str, str]] = set()
        self._held_keys: set[tuple[str, str]] = set()
        self._message_key = ""
        self._messages: dict[str, DeltaDetector] = {}
        self._max_chars = max_chars
        self._speaker = ""
        self._runs = 1
        self._gap_due = False
        self._seams, self._message_seams = ChunkJoiner(), ChunkJoiner()
        self._last_name: str | None = ""  # None: a tool was called since, what follows is a new text
        self._grow_by_id = False
        self._growths: dict[str, DeltaDetector] = {}

    @property
    def overflow(self) -> bool:
        """More text came than may be kept."""
        return any(pieces.overflow for pieces in self._pieces.values())

    @property
    def has_artifacts(self) -> bool:
        """Text came in artifacts."""
        return self._pieces[ARTIFACT].has_text

    def has_taken(self, artifact: Artifact) -> bool:
        """Text of `artifact` was taken for the answer."""
        return self._pieces[ARTIFACT].has(artifact.artifact_id or artifact.name)

    @property
    def question(self) -> Form | None:
        """What the JSON around an answer asks the human."""
        return next(iter(self._questions.values()), None)

    def in_envelope(self, key: str, text: str) -> bool:
        """`text` goes on, or may begin, JSON around an answer."""
        gate = self._gates.get((ARTIFACT, key))
        if gate is None and self._gated:
            gate = TextFilter()
            gate.feed(text)
        return gate is not None and not gate.is_plain

    @property
    def had_marker(self) -> bool:
        """The agent writes markers."""
        return bool(self._opened_keys)

    def believes(self, source: str) -> bool:
        """Unmarked text of `source` is the answer."""
        return self.believed == source

    # -- text comes ------------------------------------------------------------------------------------------

    def artifact(self, key: str, text: str, why: str, *, append: bool, marked: bool = False) -> list[Event]:
        """Text of an artifact that is the answer. `marked`: the agent itself calls it so."""
        if not marked:
            text, append = self._grown(key, text, append=append)
        return self._said(ARTIFACT, key, text, why, append=append, marked=marked)

    def _grown(self, key: str, text: str, *, append: bool) -> tuple[str, bool]:
        """A chunk as a delta, whatever it came as."""
        growth = self._growths.get(key)
        if growth is None or not append:
            self._growths[key] = DeltaDetector(text, appends=True)
            return text, append
        return growth.take(text)

    def unmarked(self, key: str, text: str, why: str, *, append: bool) -> list[Event]:
        """Streaming text of an artifact that nobody called narration or answer: held, unless a gate opens."""
        return self._said(ARTIFACT, key, text, why, append=append, held=True)

    def keep(self, text: str, *, append: bool, aside: bool) -> None:
        """Text that is the answer only if nothing else is; said `aside`, only if the task completed."""
        self._hold(text, append=append)
        self._held_aside = self._held_aside or (aside and bool(text.strip()))

    def _hold(self, text: str, *, append: bool) -> None:
        if append:
            self._held.take(text)
        else:
            self._held.replace(text)

    def status(self, text: str, why: str) -> list[Event]:
        """Working-status text, a delta or a snapshot."""
        fresh, append = self._held.take(text, by_line=True)
        if not self.believes(STATUS):
            return [Narrated(text, reason=why)]
        key = f"status {self._runs}"
        return self._said(STATUS, key, fresh, "status text is this agent's answer", append=append)

    def message(self, message_id: str, text: str, why: str, *, live: bool) -> list[Event]:
        """Text of a message, a delta or the whole. It is told if it stands in place of a task."""
        pieces = self._pieces[MESSAGE]
        key = message_id or "message"
        before = pieces.ending(BEFORE) if pieces.has_text else ""
        if key not in self._messages and self._message_seams.joins("", "", before, text, over_lines=True):
            key = self._message_key
        self._message_key = key
        detector = self._messages.setdefault(key, DeltaDetector(max_chars=self._max_chars))
        fresh, append = detector.take(text)
        speaker = self._speaker
        events = self._said(MESSAGE, key, fresh, why, append=append)
        if live:
            return events
        self._speaker = speaker  # it was kept, not told
        return [Narrated(text, reason="a message beside the task")]

    def new_paragraph(self) -> None:
        """What follows is a new paragraph."""
        self._gap_due = self._gap_due or self.has_artifacts

    def before_tool(self, *, narrates: bool) -> None:
        """The agent called a tool: the status text before it said what it would do.

        `narrates`: so did the artifacts before it, if any follow.
        """
        self._held_before = self._held.text or self._held_before
        self._held_aside = False
        self._held.restart()
        self._last_name = None
        self._runs += 1
        for source in (ARTIFACT, STATUS) if narrates else ():
            self._pieces[source].set_aside()

    def plain(self, text: str) -> str:
        """The answer in a whole text of the agent's."""
        return filter_text(text) if self._gated else text

    def snapshot(self, artifacts: list[tuple[str, str, str]]) -> list[Event]:
        """The artifacts as they stand by now (id, name, text as the agent wrote it); they may go on."""
        passed_on = [(key, text) for key, raw in self._joined(artifacts) if (text := self._anew(key, raw))]
        if not passed_on:
            return []
        self._growths |= {key: DeltaDetector(text, appends=True) for key, text in passed_on}
        return self._told(ARTIFACT, self._pieces[ARTIFACT].snapshot(passed_on), "the task as it stands")

    def _joined(self, artifacts: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
        """Key and text of the artifacts, those put together that are chunks of one."""
        found: list[tuple[str, list[str]]] = []
        last = ""
        for artifact_id, name, text in artifacts:
            before = found[-1][1][-1][-BEFORE:] if found else ""
            is_own = self._grow_by_id or self._pieces[ARTIFACT].has(artifact_id)
            if not is_own and self._seams.joins(name, last, before, text):
                found[-1][1].append(text)
            else:
                found.append((artifact_id or name, [text]))
            last = name
        return [(key, "".join(texts)) for key, texts in found]

    def _anew(self, key: str, raw: str) -> str:
        """An artifact's text from its beginning. What its gate had held is in there too."""
        if not self._gated:
            return raw
        gate = self._gates[ARTIFACT, key] = TextFilter()
        said = gate.feed(raw)
        gate.take_thoughts()  # a task as it stands tells no thoughts
        self._note(ARTIFACT, key, gate)
        return "".join(each.text for each in said if each.is_answer or not gate.has_marker)

    def place(self, artifact_id: str, name: str, text: str, *, append: bool) -> tuple[str, bool]:
        """The key of an artifact's text, and whether it appends there.

        Some servers give each chunk of one artifact an id of its own; `text` may be such a chunk.
        """
        pieces, key = self._pieces[ARTIFACT], artifact_id or name
        if pieces.has(key):
            self._grow_by_id |= append
            return key, append
        before, last = pieces.ending(BEFORE) if pieces.has_text else "", self._last_name
        self._last_name = name
        is_chunk = last is not None and not self._grow_by_id and (append or not pieces.repeats(text))
        if is_chunk and self._seams.joins(name, last or "", before, text, over_lines=append):
            return pieces.last_key, True
        return key, append

    # -- gates -----------------------------------------------------------------------------------------------

    def _said(
        self,
        source: str,
        key: str,
        text: str,
        why: str,
        *,
        append: bool,
        marked: bool = False,
        held: bool = False,
    ) -> list[Event]:
        pieces = self._pieces[source]
        known = pieces.has(key) or (source, key) in self._gates
        append = append or (held and not known)
        if not self._gated:
            return self._kept(text, why, append) if held else self._put(source, key, text, append, why)
        gate = self._gates.get((source, key))
        if gate is None or (known and not append):
            gate = self._gates[source, key] = TextFilter()
        was_open = gate.has_marker
        said = gate.feed(text)
        aside = thoughts(gate.take_thoughts())
        self._note(source, key, gate)
        if gate.has_marker and not was_open:
            return [*aside, *self._opened(source, key, said, why, append=append, marked=marked)]
        fresh = "".join(each.text for each in said)
        held = held or (self._waits and not self.had_marker)
        if marked or gate.has_marker or gate.is_envelope or not held:
            self._held_keys.discard((source, key))
            return [*aside, *self._put(source, key, fresh, append, why)]
        self._held_keys.add((source, key))
        return [*aside, *self._kept(fresh, why, append)]

    def _note(self, source: str, key: str, gate: TextFilter) -> None:
        """Keep apart the few gates that found something: there may be one for each word of an answer."""
        if gate.question is not None:
            self._questions[source, key] = gate.question
        else:
            self._questions.pop((source, key), None)
        if gate.has_marker:
            self._opened_keys.add((source, key))
        else:
            self._opened_keys.discard((source, key))

    def _opened(
        self, source: str, key: str, said: list[MarkedText], why: str, *, append: bool, marked: bool
    ) -> list[Event]:
        """The marker came: what was told before it, unless the agent called that its answer, is none."""
        before = "".join(each.text for each in said if not each.is_answer)
        after = "".join(each.text for each in said if each.is_answer)
        told = append and marked
        if not marked:
            self._pieces[source].set_aside()
        self._held_keys.discard((source, key))
        events: list[Event] = [Narrated(before, reason="before the answer's marker")] if before else []
        return [*events, *self._put(source, key, after, told, f"{why}, behind a marker")]

    def _kept(self, text: str, why: str, append: bool) -> list[Event]:
        if text or not append:
            self._hold(text, append=append)
        return [Narrated(text, replaces=not append, reason=f"{why}: held")]

    def _put(self, source: str, key: str, text: str, append: bool, why: str) -> list[Event]:
        pieces = self._pieces[source]
        if self._gap_due and source == ARTIFACT and text.strip() and pieces.has(key):
            self._gap_due = False
            text = _with_gap(pieces.ending(2), text)
        return self._told(source, pieces.put(key, text, append=append and pieces.has(key)), why)

    def _told(self, source: str, change: Change, why: str) -> list[Event]:
        if change is None:
            return [nothing(f"nothing new: {why}")]
        self._speaker = self._speaker or source
        if self._speaker != source:
            return [nothing(f"held, {self._speaker} text is told: {why}")]
        if isinstance(change, Appended):
            return [AnswerText(change.text, why)]
        return [AnswerReplaced(change.text, why)]

    # -- the end ---------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Nothing follows: what the gates held is let go."""
        for (source, key), gate in self._gates.items():
            rest = "".join(each.text for each in gate.end())
            if rest and (source, key) in self._held_keys:
                self._held.take(rest)
            elif rest:
                self._pieces[source].put(key, rest, append=True)

    def text(self, source: str) -> str:
        """What `source` says in the end."""
        return self._pieces[source].final

    def says(self, source: str, text: str) -> bool:
        """`text` stands in what `source` says in the end."""
        return self._pieces[source].says(text)

    @property
    def unmarked_text(self) -> str:
        """The text that nobody marked; of several runs between tools, the last."""
        return "" if self.had_marker else self.plain(self._held.text or self._held_before)

    @property
    def unfinished_text(self) -> str:
        """What of an answer was held when its task failed: what came since the last tool call."""
        return "" if self.had_marker or self._held_aside else self.plain(self._held.text)

    @property
    def hand_picked(self) -> str:
        """What the source that the settings name says."""
        return self.text(self.believed) if self._by_hand and self.believed in self._pieces else ""

    def seen(self, final: str, held_source: str) -> TurnObservation:
        """What this turn showed about the agent, `final` being its answer."""
        live = self.believed if not self._by_hand and self._speaker in (STATUS, ARTIFACT, MESSAGE) else ""
        was_answer = not live or missing_suffix(self._pieces[self._speaker].told, final) is not None
        held: list[tuple[str, int]] = []
        if not (self._by_hand or (self._speaker == ARTIFACT and self._pieces[ARTIFACT].updates > 1)):
            if equivalent(self.plain(self._held.text), final):
                held.append((held_source, self._held.steps))
            if self._speaker != MESSAGE and equivalent(self.text(MESSAGE), final):
                held.append((MESSAGE, self._pieces[MESSAGE].updates))
        return TurnObservation(live, was_answer, tuple(held), self.had_marker)


def without(text: str, reason: str) -> str:
    """`text` without the reason for which the task failed: some frameworks say it in a working status too."""
    found, reason = text.rstrip(), reason.strip()
    return found.removesuffix(reason).rstrip() if reason and found.endswith(reason) else text


def nothing(why: str) -> Narrated:
    """Nothing happened that a reader would see, and this is why."""
    return Narrated("", reason=why)


def thoughts(text: str) -> list[Event]:
    """What a model thinks, as narration; nothing for none."""
    return [Narrated(text, reason="the model thinks")] if text else []


def _with_gap(before: str, text: str) -> str:
    """`text` as a new paragraph behind `before`, counting the line ends that both already have."""
    have = len(before) - len(before.rstrip("\n")) + len(text) - len(text.lstrip("\n"))
    return "\n" * max(0, 2 - have) + text
