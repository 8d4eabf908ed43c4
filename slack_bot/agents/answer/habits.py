"""PURE. Where an agent answers, as far as it is known, and what a turn teaches about it (delivery.md 2).

A source that was held and had the answer is trusted in the next turns. An agent that is trusted and then
answers otherwise is not trusted for some turns.
"""

from collections.abc import Mapping

from ...text.compare import equivalent, missing_suffix, normalize
from .answer_sources import ARTIFACT, MESSAGE, STATUS, AnswerSources
from .filters import TextFilters
from .held_text import HeldText
from .keyed_text import KeyedText
from .token_pace import TokenPace

ANSWER_FROM, MARKER, PACE, NARRATES = PROFILE_KEYS = ("answer_source", "marker", "pace", "narrates")
_HOLD = "hold"  # an answer source: only what the protocol calls the answer is trusted; and for how many turns
_HOLD_TURNS = 5  # turns after which an agent that was shown wrong is trusted again
_TOKENS = "tokens"  # a pace: the answer was written token by token
_FEWEST_STEPS = 2
_TOO_MUCH = 4_000  # characters shown beside an answer, which was not even a quarter of all that was shown


class AgentHabits:
    """How an agent answers.

    `source` and `marker` are settings; unless "auto", they count more than `profile`, what was learned in
    other turns. `default` is the source of its dialect.

    `trusted`: the source whose unmarked text is the answer; `by_settings`: they name it. `expects_marker`:
    only text behind a marker is the answer. `doubts_status`: status text may yet prove to be narration.
    """

    def __init__(self, source: str, marker: str, profile: Mapping[str, str], default: str) -> None:
        self.profile = profile
        habit = profile.get(ANSWER_FROM, "")
        self.by_settings = source != "auto"
        named = source if self.by_settings else habit
        self.trusted = named if named in (ARTIFACT, STATUS, MESSAGE) else ""
        self._is_open = not named  # text of an unknown agent may be live
        self.assume(default)
        self._has_lines = habit == STATUS and profile.get(PACE) != _TOKENS
        self.expects_marker = marker == "expected" or (marker == "auto" and profile.get(MARKER) == "yes")
        is_proven = habit == STATUS and profile.get(NARRATES) != "yes"
        self.doubts_status = not (self.by_settings or is_proven)

    def assume(self, source: str) -> None:
        """An agent of this kind answers in `source`, unless more is known."""
        if self._is_open:
            self.trusted = source

    @property
    def in_statuses(self) -> bool | None:
        """The agent answers in its working status; None: it may."""
        return None if self._is_open and not self.trusted else self.trusted == STATUS

    def show_status(self, pace: TokenPace) -> bool:
        """Status text that comes at this pace is live."""
        if pace.label:
            return False
        if self.by_settings or self.trusted:
            is_all = self.by_settings or self._has_lines
            return self.trusted == STATUS and (is_all or not pace.is_sentence)
        return self._is_open and pace.is_tokens


class Lesson:
    """What the end of a turn, with this answer, teaches. `held_source`: the source of the held text."""

    def __init__(
        self, answer: str, habits: AgentHabits, sources: AnswerSources, held: HeldText, held_source: str
    ) -> None:
        self._answer, self._habits = answer, habits
        self._sources, self._held = sources, held
        self._held_source = held_source

    def updates(self, filters: TextFilters) -> dict[str, str]:
        """What is new, by the keys of the profile."""
        facts: dict[str, str] = {}
        profile, sources = self._habits.profile, self._sources
        if filters.marked and profile.get(MARKER) != "yes":
            facts[MARKER] = "yes"
        if self._habits.by_settings:
            return facts
        facts |= self._source(filters)
        if sources.live == STATUS and profile.get(NARRATES) != "yes":
            shown_more = len(sources.statuses.final.normalized) > len(normalize(self._answer))
            if sources.has_narrated or shown_more:
                facts[NARRATES] = "yes"
        return facts

    def _source(self, filters: TextFilters) -> dict[str, str]:
        habit, live = self._habits.profile.get(ANSWER_FROM, ""), self._sources.live
        if habit.startswith(_HOLD):
            turns = int(habit.removeprefix(_HOLD) or 0) + 1
            return {ANSWER_FROM: f"{_HOLD} {turns}" if turns < _HOLD_TURNS else ""}
        is_trusted = bool(live) and (bool(self._habits.trusted) or live == STATUS)
        if is_trusted and not self._was_shown(self._sources.by_name[live]):
            return {ANSWER_FROM: _HOLD}
        if live == STATUS:
            return {} if habit else {ANSWER_FROM: STATUS, PACE: _TOKENS}
        if live == ARTIFACT and self._sources.has_narrated:
            return {ANSWER_FROM: ARTIFACT}
        was_live = live == ARTIFACT and self._sources.artifacts.updates > 1
        source = "" if habit or was_live else self._source_held(filters)
        pace = {PACE: _TOKENS} if source == STATUS and self._held.pace.is_tokens else {}
        return {ANSWER_FROM: source} | pace if source else {}

    def _was_shown(self, texts: KeyedText) -> bool:
        """The answer is what was shown since the last tool, or much of it at its end, or goes on with it."""
        shown, answer = texts.final.text, self._answer
        if len(shown) > max(4 * len(answer), len(answer) + _TOO_MUCH):
            return False
        return missing_suffix(shown, answer) is not None or normalize(shown).endswith(normalize(answer))

    def _source_held(self, filters: TextFilters) -> str:
        """The source that had the answer, in several pieces, and was held; "": none."""
        held, replies = self._held, self._sources.replies
        if held.steps >= _FEWEST_STEPS and equivalent(filters.filter_whole(held.text), self._answer):
            return self._held_source
        was_held = self._sources.live != MESSAGE and replies.updates >= _FEWEST_STEPS
        return MESSAGE if was_held and equivalent(replies.final.text, self._answer) else ""
