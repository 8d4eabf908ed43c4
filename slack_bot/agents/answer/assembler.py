"""PURE. Which of an agent's texts is the answer, and what of it is shown live.

The answer may be in artifacts, messages or working-status text. The first source that speaks is live, the
others are kept for the end (facts: A2A 8.1). Streaming text without a flag is live only where the agent is
known to answer there; else it is held. Working-status text is live there too, and where it comes token by
token. If it was the answer, the profile keeps that; an agent that then answers otherwise is not trusted for
some turns (delivery.md 2).
"""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import TypeAlias

from ...text.compare import equivalent, missing_suffix, normalize
from ...text.markdown import ends_in_code, outside_code
from ...turn.events import AnswerReplaced, AnswerText, Event, Narrated, NarrationConfirmed
from ...turn.form import Form
from ..wire.frames import Artifact
from .delta_detector import GAP, DeltaDetector
from .filters import TextFilter, filter_text
from .keyed_text import KeyedText, TextUpdate
from .pieces import ArtifactPieces, MessagePieces
from .token_pace import BEFORE, TokenPace

ARTIFACT, STATUS, MESSAGE = "artifact", "status", "message"
ANSWER_FROM, MARKER, PACE, NARRATES = PROFILE_KEYS = ("answer_source", "marker", "pace", "narrates")
_HOLD = "hold"  # an answer source: only what the protocol calls the answer is trusted; and for how many turns
_HOLD_TURNS = 5  # turns after which an agent that was shown wrong is trusted again
_TOKENS = "tokens"  # a pace: the answer was written token by token
_FEWEST_STEPS = 2
_MOST_JUDGED = 8  # chunks of an artifact that are compared with status text shown before
_TOO_MUCH = 4_000  # characters shown beside an answer, which was not even a quarter of all that was shown
_LONGEST_QUESTION = 4_000  # characters
_SENTENCE_ENDS = (".", "!", "?", ":")
_GLUED = re.compile(r"(?<=[.!?:])(?=##+ \S)")
_HEADING = re.compile(r"##+(?!\S)|##+\Z")

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
        known = source if self.by_settings else self._profile.get(ANSWER_FROM, "")
        self.trusted = known if known in (ARTIFACT, STATUS, MESSAGE) else ""
        self._may_guess = not known  # unknown status text may be live
        self.assume(default)
        self._has_lines = self._profile.get(ANSWER_FROM) == STATUS and self._profile.get(PACE) != _TOKENS
        self._waits = marker == "expected" or (marker == "auto" and self._profile.get(MARKER) == "yes")
        self._uses_filters = marker != "off"
        self._artifacts, self._statuses, self._replies = (KeyedText(max_chars) for _ in range(3))
        self._texts = {ARTIFACT: self._artifacts, STATUS: self._statuses, MESSAGE: self._replies}
        self.pieces, self._messages = ArtifactPieces(self._artifacts), MessagePieces(max_chars)
        self._filters: dict[_Key, TextFilter] = {}
        self._questions: dict[_Key, Form] = {}
        self._marked: set[_Key] = set()  # texts with a marker
        self._held = DeltaDetector(max_chars=max_chars)
        self._held_before_tool = ""
        self._has_asides = False  # not all of the held text may be the answer
        self._live_source, self._status_runs, self._gap_due = "", 1, False
        self._pace = TokenPace()  # of the held text
        self._is_narrator = False  # status text that was shown was no answer
        self._judged = 0  # chunks of artifacts that came after status text was shown
        self._seams: list[tuple[str, str]] = []  # texts between which a paragraph was put

    def assume(self, source: str) -> None:
        """An agent of this kind answers in `source`, unless more is known."""
        if self._may_guess:
            self.trusted = source

    @property
    def in_statuses(self) -> bool | None:
        """The agent answers in its working status; None: it may."""
        return None if self._may_guess and not self.trusted else self.trusted == STATUS

    @property
    def overflow(self) -> bool:
        return self._artifacts.overflow or self._statuses.overflow or self._replies.overflow

    @property
    def has_artifacts(self) -> bool:
        return self._artifacts.has_text

    @property
    def question(self) -> Form | None:
        return next(iter(self._questions.values()), None)

    def has_taken(self, artifact: Artifact) -> bool:
        return self._artifacts.has(artifact.artifact_id or artifact.name)

    def in_envelope(self, key: str, text: str) -> bool:
        """`text` is, or may be, in JSON around an answer."""
        found = self._filters.get((ARTIFACT, key))
        if found is None:
            (found := TextFilter(is_on=self._uses_filters)).feed(text)
        return not found.envelope.is_plain

    def filter_text(self, text: str) -> str:
        return filter_text(text) if self._uses_filters else text

    # -- text comes ------------------------------------------------------------------------------------------

    def artifact(
        self, key: str, text: str, reason: str, *, append: bool, marked: bool = False, held: bool = False
    ) -> list[Event]:
        """Text of an artifact. `marked`: the agent calls it its answer; `held`: it may be narration."""
        events = self.snapshot(self.pieces.split()) if self.pieces.is_split else []
        if not (marked or held):
            text, append = self.pieces.detect(key, text, append=append)
        return events + self._take(ARTIFACT, key, text, reason, append=append, marked=marked, held=held)

    def keep(self, text: str, *, append: bool, aside: bool) -> None:
        """Text that is the answer if nothing else is; said `aside`, only if the task completed."""
        if append:
            self._held.take(text)
        else:
            self._held.replace(text)
        self._has_asides = self._has_asides or (aside and bool(text.strip()))

    def status(self, text: str) -> list[Event]:
        """Working-status text, a delta or a snapshot."""
        events: list[Event] = []
        if self._held.begins_anew(text) and self.end_run(narrates=False):
            events.append(NarrationConfirmed(reason="text before a new text"))
        fresh, append = self._held.take(text, by_line=True)
        if not append:
            self._pace.restart()
        if fresh:
            self._pace.feed(fresh)
        key = f"status {self._status_runs}"
        is_begun = self._statuses.has(key)
        if is_begun and self._pace.label:  # what was shown says how far the work is
            events += [NarrationConfirmed(reason="texts that begin alike")] * self.end_run(narrates=False)
            is_begun = False
        if not (is_begun or self._shows_status()):
            return [*events, Narrated(text, reason="working-status text")]
        if not is_begun:
            fresh = self._held.text[self._pace.start :]
        reason = "status text is this agent's answer" if self.trusted else "status text, token by token"
        return events + self._take(STATUS, key, fresh, reason, append=append and is_begun)

    def _shows_status(self) -> bool:
        if self._pace.label:
            return False
        if self.by_settings or self.trusted:
            is_all = self.by_settings or self._has_lines
            return self.trusted == STATUS and (is_all or not self._pace.is_sentence)
        return self._may_guess and self._pace.is_tokens

    def message(self, message_id: str, text: str, *, live: bool) -> list[Event]:
        """Text of a message. `live`: it may be shown."""
        key, fresh, append = self._messages.take(message_id, text, self._replies)
        live_source = self._live_source
        events = self._take(MESSAGE, key, fresh, "a message in place of a task", append=append)
        if live:
            return events
        self._live_source = live_source
        return [Narrated(text, reason="a message beside the task")]

    def new_paragraph(self) -> None:
        self._gap_due = bool(self._live_source)

    def end_run(self, *, narrates: bool) -> bool:
        """A tool is called, or another text begins: status text before it is no answer.

        `narrates`: nor are artifacts. True: what was shown is narration.
        """
        is_short = self._live_source == STATUS and not self.by_settings and "\n\n" not in self._held.text
        self._is_narrator |= is_short and self._statuses.has(f"status {self._status_runs}")
        self._held.take_held()
        self._held_before_tool = self._held.text or self._held_before_tool
        self._has_asides = False
        self._held.restart()
        self._pace.restart()
        self.pieces.end_text()
        self._status_runs += 1
        self._gap_due = bool(self._live_source)
        if narrates:
            self._artifacts.set_aside()
        if narrates or is_short:
            self._statuses.set_aside()
        return narrates or is_short

    def snapshot(self, artifacts: list[tuple[str, str, str]]) -> list[Event]:
        """The task's artifacts by now: id, name, raw text. A blank one takes back what came under its id."""
        found = ((key, raw, self._in_task(key, raw)) for key, raw in self.pieces.join(artifacts))
        texts = [(key, text) for key, raw, text in found if text or not raw]
        if not texts:
            return []
        self.pieces.restart(texts)
        return self._show(ARTIFACT, self._artifacts.snapshot(texts), "the task as it stands")

    def _in_task(self, key: str, raw: str) -> str:
        """The text of the task's artifact; all the deltas where the agent's server kept the last one only."""
        streamed = self.pieces.deltas_of(key)
        if raw and streamed.endswith(raw):  # before the filters, which would take it for a beginning
            return streamed
        text = self.mend(self._filtered(key, raw))
        return streamed if text and streamed.endswith(text) else text

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
        append = append and texts.has(key)
        if append:
            text = self._apart(texts, text)
        else:
            text, self._gap_due = self.mend(text), self._gap_due and not text.strip()
        if source == ARTIFACT and self._live_source == STATUS and append and self._is_other(texts):
            events.append(NarrationConfirmed(reason="the answer is an artifact"))
            change = texts.put(key, text, append=append)
            text = f"\n\n{texts.shown.text}" if change is not None else ""
            return [*events, AnswerText(text, f"{reason}, in place of status text")]
        return events + self._show(source, texts.put(key, text, append=append), reason)

    def _apart(self, texts: KeyedText, text: str) -> str:
        """`text`; as a new paragraph after a tool, or if it is a heading right behind a sentence."""
        is_apart = self._gap_due and bool(text.strip())
        if not is_apart and "##" not in text:
            return text
        end = texts.shown.ending(1)
        if is_apart:
            self._gap_due = False
        elif not (end in _SENTENCE_ENDS and _HEADING.match(text)) or ends_in_code(texts.shown.text):
            return unglued(text, texts.shown.text)
        apart = _with_gap(texts.shown.ending(2), text)
        if not (end.isspace() or text[:1].isspace()):
            self._seams.append((texts.shown.ending(BEFORE), text))
        return apart

    def mend(self, text: str) -> str:
        """`text`, a whole one, with the paragraphs that were put into the text shown."""
        for before, after in self._seams:
            text = text.replace(before + after, f"{before}{GAP}{after}", 1)
        return unglued(text)

    def _is_other(self, texts: KeyedText) -> bool:
        """What was shown of the status is not the beginning or the end of what artifacts stream."""
        if self.by_settings or self._judged >= _MOST_JUDGED or not texts.has_text:
            return False
        self._judged += 1
        shown, found = self._statuses.shown.normalized, texts.shown.normalized
        if shown.startswith(found) or shown.endswith(found) or found.startswith(shown):
            return False
        self._live_source, self._is_narrator = ARTIFACT, True
        self._statuses.set_aside()
        return True

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
        if change.replaces:
            return [AnswerReplaced(change.text, reason)]
        unproven = source == STATUS and not self.by_settings and self._is_unproven
        return [AnswerText(change.text, reason, unproven=unproven)]

    @property
    def _is_unproven(self) -> bool:
        """Status text may yet prove to be narration."""
        return self._profile.get(ANSWER_FROM) != STATUS or self._profile.get(NARRATES) == "yes"

    # -- the end ---------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Nothing follows: the detectors and the filters release what they held."""
        for key, rest in self._messages.take_held():
            self._take(MESSAGE, key, rest, "the end", append=True)
        key = f"status {self._status_runs}"
        if (rest := self._held.take_held()) and self._statuses.has(key):
            self._take(STATUS, key, rest, "the end", append=True)
        for (source, key), filters in self._filters.items():
            rest = "".join(filters.end())
            if rest and filters.holds_aside:
                self._held.take(rest)
            elif rest:
                self._texts[source].put(key, rest, append=True)

    @property
    def told(self) -> str:
        """The end of what was shown live, in which a question is looked for."""
        return self._texts[self._live_source].shown.ending(_LONGEST_QUESTION) if self._live_source else ""

    def text(self, source: str) -> str:
        if source == STATUS and self._pace.has_only_labels:
            return ""
        return self._texts[source].final.text

    def contains(self, text: str) -> bool:
        """`text`, if it is not empty, is somewhere in the artifacts."""
        sought = normalize(text)
        return bool(sought) and sought in self._artifacts.final.normalized

    def held_text(self, *, failed: bool) -> str:
        """The held text; of several runs between tools the last, if the task did not fail."""
        if self._marked or (failed and self._has_asides):
            return ""
        if self._pace.has_only_labels:
            return self._pace.label
        return self.filter_text(self._held.text or ("" if failed else self._held_before_tool))

    def profile_updates(self, answer: str, held_source: str) -> dict[str, str]:
        """What a turn with this answer adds to the profile. `held_source` is that of the held text."""
        facts: dict[str, str] = {}
        if self._marked and self._profile.get(MARKER) != "yes":
            facts[MARKER] = "yes"
        if self.by_settings:
            return facts
        facts |= self._source_learned(answer, held_source)
        if self._live_source == STATUS and self._profile.get(NARRATES) != "yes":
            told_more = len(self._statuses.final.normalized) > len(normalize(answer))
            if self._is_narrator or told_more:
                facts[NARRATES] = "yes"
        return facts

    def _source_learned(self, answer: str, held_source: str) -> dict[str, str]:
        habit, live = self._profile.get(ANSWER_FROM, ""), self._live_source
        if habit.startswith(_HOLD):
            turns = int(habit.removeprefix(_HOLD) or 0) + 1
            return {ANSWER_FROM: f"{_HOLD} {turns}" if turns < _HOLD_TURNS else ""}
        if live and (self.trusted or live == STATUS) and not self._was_told(self._texts[live], answer):
            return {ANSWER_FROM: _HOLD}
        if live == STATUS:
            return {} if habit else {ANSWER_FROM: STATUS, PACE: _TOKENS}
        if live == ARTIFACT and self._is_narrator:
            return {ANSWER_FROM: ARTIFACT}
        was_live = live == ARTIFACT and self._artifacts.updates > 1
        found = None if habit or was_live else self._held_answer(answer, held_source)
        pace = {PACE: _TOKENS} if found == STATUS and self._pace.is_tokens else {}
        return {ANSWER_FROM: found} | pace if found else {}

    def _was_told(self, texts: KeyedText, answer: str) -> bool:
        """`answer` is what was shown since the last tool, or much of it at its end, or goes on with it."""
        shown = texts.final.text
        if len(shown) > max(4 * len(answer), len(answer) + _TOO_MUCH):
            return False
        return missing_suffix(shown, answer) is not None or normalize(shown).endswith(normalize(answer))

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


def unglued(text: str, before: str = "") -> str:
    """`text`, which comes behind `before`: a heading right behind a sentence begins a paragraph."""
    places = [found.start() for found in outside_code(_GLUED, text, before)] if "##" in text else []
    return GAP.join(text[start:end] for start, end in pairwise([0, *places, len(text)]))


def nothing(reason: str) -> Narrated:
    """Nothing happened that a reader would see."""
    return Narrated("", reason=reason)


def _with_gap(before: str, text: str) -> str:
    have = len(before) - len(before.rstrip("\n")) + len(text) - len(text.lstrip("\n"))
    return "\n" * max(0, 2 - have) + text
