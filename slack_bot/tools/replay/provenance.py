"""PURE. Which event brought which text of an answer, and which call showed it.

An event of the agent is known by its number. The text that the machine produced is kept in order, and
each stretch of it knows its event and the reason. The visible text is compared after every change, so each of
its characters knows the call that showed it. Times are seconds from the first question.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, TypeAlias, assert_never

from ...observe.facts import EventHandled, SlackCalled, TurnEnded, TurnStarted
from ...turn.actions import (
    AppendText,
    EndTurn,
    NoOp,
    RetractText,
    RewriteAnswer,
    SetPlanTitle,
    ShowForm,
    ShowStatus,
    UpdateCard,
)
from ...turn.compare import contains, equivalent
from ...turn.events import (
    AgentIdle,
    AnswerReplaced,
    FinalAnswer,
    InputRequired,
    StopRequested,
    StreamEnded,
    TurnBegun,
)
from ..trace.timeline import LATE, late
from ..turn_log import AgentOutput, Entry, LoggedTurn, TextChange, TurnLog, is_guessed, is_of_stop
from .diff import CHANCE, matches
from .sources import Cause, Piece, Sources

_SHOWING = frozenset(
    {
        "chat.startStream",
        "chat.appendStream",
        "chat.stopStream",
        "chat.update",
        "chat.postMessage",
        "chat.delete",
    }
)
_OWN = (StreamEnded, StopRequested, TurnBegun, AgentIdle)


@dataclass(frozen=True, slots=True)
class ProducedText:
    """A stretch of text that the machine gave to be shown, at `at`.

    `replaces`: it and what follows is instead of all text before it in this turn.
    """

    text: str
    cause: Cause
    replaces: bool = False
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Showing:
    """One call that changed the visible text."""

    at: float
    method: str
    error: str | None


@dataclass(frozen=True, slots=True)
class Unshown:
    """An event whose text did not become text of the answer; `what` is what was made of it."""

    cause: Cause
    what: str
    chars: int


@dataclass(frozen=True, slots=True)
class CardNews:
    """A change of a card, or of the line above the cards (no state)."""

    title: str
    state: str
    cause: Cause


Stretch: TypeAlias = tuple[int, int]
"""How many characters, and the number of the showing that brought them."""


@dataclass(slots=True)
class _VisibleText:
    """The visible text, and which showing each stretch of it came with."""

    text: str = ""
    stretches: list[Stretch] = field(default_factory=list)

    def become(self, text: str, showing: int) -> None:
        """The text is `text` from now on; what is new in it came with `showing`."""
        before, self.text = self.text, text
        if text.startswith(before):
            self.stretches = _merged([*self.stretches, (len(text) - len(before), showing)])
            return
        stretches, end = [], 0
        for kept in matches(before, text, CHANCE):
            stretches.append((kept.other - end, showing))
            stretches += _cut(self.stretches, kept.one, kept.one + kept.size)
            end = kept.other + kept.size
        self.stretches = _merged([*stretches, (len(text) - end, showing)])


class Provenance:
    """Keeps what `explain` prints of all that `log` takes."""

    def __init__(self) -> None:
        self.log = TurnLog(self._take)
        self.turns = [TurnProvenance(self.log.turns[0])]
        self.showings: list[Showing] = []
        self.failed: list[Showing] = []
        self.events = 0
        """How many events the agent sent."""
        self._asked_at: float | None = None
        self._visible = _VisibleText()
        self._has_changed = False

    @property
    def text(self) -> str:
        """The visible text of the answers."""
        return self._visible.text

    @property
    def stretches(self) -> list[Stretch]:
        """Which showing brought which part of `text`, from its beginning to its end."""
        return self._visible.stretches

    def _take(self, turn: LoggedTurn, entry: Entry) -> None:
        if len(self.turns) <= turn.number:
            self.turns.append(TurnProvenance(turn))
        mine = self.turns[-1]
        match entry:
            case AgentOutput():
                self.events = entry.number or self.events
                mine.take_output(entry, self._since(entry.at))
            case EventHandled():
                mine.take_decision(entry, self._since(entry.at))
            case SlackCalled():
                self._take_call(turn, entry)
            case TurnEnded():
                mine.settle()
            case TurnStarted():
                self._asked_at = entry.at if self._asked_at is None else self._asked_at
            case TextChange():
                self._take_change(entry)
            case _:
                assert_never(entry)

    def _take_change(self, change: TextChange) -> None:
        text = self.text[: change.kept] + change.added
        if text == self.text:
            return
        if not self._has_changed:  # the call that did it is known when it returns
            self.showings.append(Showing(self._since(change.at), "", None))
            self._has_changed = True
        self._visible.become(text, len(self.showings) - 1)

    def _take_call(self, turn: LoggedTurn, fact: SlackCalled) -> None:
        if not fact.ok and not is_of_stop(fact.error, turn.is_stopped):
            self.failed.append(Showing(self._since(fact.at - fact.took), fact.method, fact.error))
        if self._has_changed and fact.method in _SHOWING:
            self.showings[-1] = Showing(self.showings[-1].at, fact.method, fact.error)
            self._has_changed = False

    def _since(self, at: float) -> float:
        return round(max(0.0, at - (at if self._asked_at is None else self._asked_at)), 3)


class TurnProvenance:
    """What became of the agent's texts in one turn."""

    def __init__(self, turn: LoggedTurn) -> None:
        self.turn = turn
        self.produced: list[ProducedText] = []
        self.unshown: list[Unshown] = []
        self.repeated: list[Unshown] = []
        """The whole answer once more, after it had been shown: there was nothing to do."""
        self.cards: list[CardNews] = []
        self.questions: list[tuple[str, Cause]] = []
        """The agent's questions, and the event that brought each."""
        self.closing: tuple[EndTurn, Cause] | None = None
        """The order that ended the turn, and its cause."""
        self._event = self._result = Cause(0.0, None, "the bot", "")
        self._asking = Cause(0.0, None, "", "")
        self._unsettled = self._result_text = ""
        self._sources = Sources()
        self._waiting: list[tuple[str, Unshown]] = []  # whole answers that may be written in the end

    def take_output(self, output: AgentOutput, at: float) -> None:
        """An event of the agent."""
        self.settle()
        if output.number is None:
            self._event = Cause(at, None, f"reading the {output.name}", "")
            return
        self._event = Cause(at, output.number, output.name, "")
        self._unsettled = output.text
        self._sources.hear(output.text, self._event)

    def settle(self) -> None:
        """The last event is through. It may have repeated the answer without a decision on it."""
        text, self._unsettled, answer = self._unsettled, "", self._answer()
        is_known = any(each.cause.number == self._event.number for each in self.repeated)
        if not text or not answer or is_known:
            return
        if equivalent(answer, text) or (len(answer) >= CHANCE and contains(text, answer)):
            cause = replace(self._event, reason="it had been shown")
            self.repeated.append(Unshown(cause, "the same answer", min(len(text), len(answer))))

    def take_decision(self, fact: EventHandled, at: float) -> None:
        """What the machine made of an event."""
        event: Any = fact.event
        cause = self._cause(event, at)
        if fact.late:
            if cause.number is not None or fact.state != "stopping":  # the bot's own word is nothing new
                because = replace(cause, reason=str(getattr(event, "reason", "")))
                self._not_shown(event, because, late(fact.state))
            return
        if isinstance(event, InputRequired):
            self._asking = replace(cause, reason=event.reason)
        elif isinstance(event, FinalAnswer | AnswerReplaced):
            self._take_result(event, cause)
        is_shown = [self._take_action(action, event, cause) for action in fact.actions]
        if not any(is_shown):
            self._kept_out(event, cause, fact.actions)

    def _cause(self, event: object, at: float) -> Cause:
        if isinstance(event, _OWN) or is_guessed(event):
            self.settle()
            return Cause(at, None, type(event).__name__, "")
        return replace(self._event, at=at)

    def _take_result(self, event: FinalAnswer | AnswerReplaced, cause: Cause) -> None:
        """The whole answer. Where the bot itself says so, the event that it had heard is named."""
        is_own = cause.number is None
        if not (is_own and equivalent(self._result_text, event.text)):
            self._result, self._result_text = replace(cause, reason=event.reason), event.text

    def _take_action(self, action: object, event: object, cause: Cause) -> bool:
        """Note one action. True: it appends text."""
        because = replace(cause, reason=str(getattr(action, "reason", "")))
        match action:
            case AppendText(text=text):
                is_own = isinstance(event, FinalAnswer) and cause.number is None
                self._produce(self._sources.of(text, because) if is_own else [(text, because)], because.at)
                self._unsettled = ""
                return True
            case RewriteAnswer(text=text):
                reason = f"{because.reason}: {self._result.reason}"
                pieces = self._sources.of(text, replace(self._result, reason=reason))
                self._produce(pieces, because.at, replaces=True)
                written = [each for answer, each in self._waiting if equivalent(answer, text)]
                self.unshown = [each for each in self.unshown if not any(each is one for one in written)]
            case UpdateCard(card=card):
                self.cards.append(CardNews(card.title, card.state, because))
            case SetPlanTitle(title=title):
                self.cards.append(CardNews(title, "", because))
            case ShowForm(form=form) if question := form.as_markdown().strip():
                reason = f" ({self._asking.reason})" if self._asking.reason else ""
                reason = f"the agent's question{reason}: {because.reason}"
                asked_by = replace(self._asking if self._asking.name else because, reason=reason)
                self._unsettled = ""
                self.questions.append((question, asked_by))
                self._produce([(question, asked_by)], because.at)
            case RetractText(chars=chars):
                self._retract(chars, because)
            case EndTurn():
                self.closing = action, because
        return False

    def _produce(self, pieces: list[Piece], at: float, *, replaces: bool = False) -> None:
        for number, (text, cause) in enumerate(pieces):
            self.produced.append(ProducedText(text, cause, replaces and number == 0, at))

    def _retract(self, chars: int, cause: Cause) -> None:
        """The last characters are not shown after all."""
        self.unshown.append(Unshown(cause, "taken back before it was shown", chars))
        while chars > 0 and self.produced:
            last = self.produced.pop()
            kept = last.text[: max(0, len(last.text) - chars)]
            chars -= len(last.text) - len(kept)
            if kept:
                self.produced.append(replace(last, text=kept))

    def _kept_out(self, event: Any, cause: Cause, actions: tuple[object, ...]) -> None:
        action = next((each for each in actions if isinstance(each, NoOp | ShowStatus)), None)
        if action is None:
            return
        because = replace(cause, reason=action.reason)
        if not isinstance(event, FinalAnswer | AnswerReplaced):
            what = f"shown as status: {action.text}" if isinstance(action, ShowStatus) else "not shown"
            self._not_shown(event, because, what)
        elif not equivalent(self._answer(), event.text):
            known = [answer for answer, _ in self._waiting]
            if cause.number is not None or not any(equivalent(answer, event.text) for answer in known):
                self._not_shown(event, because, "not shown")
                self._waiting.append((event.text, self.unshown[-1]))
        elif cause.number is not None:
            named = replace(because, name=_named(cause, event))
            self.repeated.append(Unshown(named, "the same answer", len(event.text)))

    def _answer(self) -> str:
        """All text of this turn, since it was last replaced."""
        last = max((number for number, each in enumerate(self.produced) if each.replaces), default=0)
        return "".join(each.text for each in self.produced[last:])

    def _not_shown(self, event: Any, cause: Cause, what: str) -> None:
        text = str(getattr(event, "text", ""))
        if text or what in LATE:
            self.unshown.append(Unshown(replace(cause, name=_named(cause, event)), what, len(text)))


def _named(cause: Cause, event: object) -> str:
    name = type(event).__name__
    return name if cause.number is None else f"{cause.name}, {name}"


def _cut(stretches: list[Stretch], start: int, end: int) -> list[Stretch]:
    """What of `stretches` lies between two characters."""
    ends = list(accumulate(size for size, _ in stretches))
    found = []
    for (size, showing), upto in zip(stretches, ends, strict=True):
        length = min(upto, end) - max(upto - size, start)
        if length > 0:
            found.append((length, showing))
    return found


def _merged(stretches: list[Stretch]) -> list[Stretch]:
    found: list[Stretch] = []
    for size, showing in stretches:
        if size and found and found[-1][1] == showing:
            found[-1] = found[-1][0] + size, showing
        elif size:
            found.append((size, showing))
    return found
