"""PURE. Keeps of one turn which event brought which text, and which call showed it.

An event of the agent is known by its number, from 1, in the order in which the bot heard them. Text that the
machine handed on for showing is laid end to end; each stretch of it knows its event and the reason. What
stands in the thread is looked at after every change, so each of its characters knows the call that showed it.
All times are seconds from the question.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, TypeAlias, assert_never

from ...observe.facts import (
    AgentEvent,
    EventHandled,
    Fact,
    MessageIgnored,
    SlackCalled,
    TurnEnded,
    TurnStarted,
)
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
from ..trace.table import LATE, late
from .collector import Collector
from .diff import CHANCE, matches
from .result import is_of_stop
from .sources import Cause, Piece, Sources
from .stream_text import StreamText, asked_name

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
class HandedText:
    """A stretch of text that was handed on, at `at`.

    `replaces`: it and what follows is instead of all that this turn had handed on before. `turn` is the
    number of the question, from 0.
    """

    text: str
    cause: Cause
    replaces: bool = False
    turn: int = 0
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
    """What was said of a card, or of the line above the cards (no state)."""

    title: str
    state: str
    cause: Cause


@dataclass(slots=True)
class MessageEnd:
    """How one turn ended: the order to close it, with its cause, and the fact."""

    closing: tuple[EndTurn, Cause] | None = None
    closed: TurnEnded | None = None


Stretch: TypeAlias = tuple[int, int]
"""How many characters, and the number of the showing that brought them."""


@dataclass(slots=True)
class _Seen:
    """The visible text, and which showing each stretch of it came with."""

    text: str = ""
    stretches: list[Stretch] = field(default_factory=list)

    def become(self, text: str, showing: int) -> None:
        """The text is `text` from now on; what is new in it came with `showing`."""
        before = self.text
        if text.startswith(before):
            self.stretches = _merged([*self.stretches, (len(text) - len(before), showing)])
            self.text = text
            return
        stretches, end = [], 0
        for kept in matches(before, text, CHANCE):
            stretches.append((kept.other - end, showing))
            stretches += _cut(self.stretches, kept.one, kept.one + kept.size)
            end = kept.other + kept.size
        self.stretches = _merged([*stretches, (len(text) - end, showing)])
        self.text = text


class Provenance(Collector):
    """A witness that keeps what `explain` tells."""

    def __init__(self) -> None:
        super().__init__()
        self.asked_at: float | None = None
        self.handed: list[HandedText] = []
        self.showings: list[Showing] = []
        self.unshown: list[Unshown] = []
        self.again: list[Unshown] = []
        """The whole answer once more, as it was handed on before: it had been shown, so nothing was to do."""
        self.cards: list[CardNews] = []
        self.failed: list[Showing] = []
        self.asked: list[tuple[str, Cause]] = []
        """The agent's questions, and the event that brought each."""
        self.ends: list[MessageEnd] = [MessageEnd()]
        """How each turn ended."""
        self.began: list[int] = [0]
        """How much text stood there when each question was asked."""
        self.events = 0
        self._seen = _Seen()
        self._heard = StreamText()
        self._changed = self._is_stopped = False
        self._begin()

    def _begin(self) -> None:
        self._event = self._result = Cause(0.0, None, "the bot", "")
        self._asking = Cause(0.0, None, "", "")
        self._said = self._result_text = ""
        self._sources = Sources()
        self._from = len(self.handed)
        self._waiting: list[tuple[str, Unshown]] = []  # whole answers that may be written in the end

    @property
    def closing(self) -> tuple[EndTurn, Cause] | None:
        """The order that ended the last turn, and its cause."""
        return self.ends[-1].closing

    @property
    def closed(self) -> TurnEnded | None:
        """How the last turn ended."""
        return self.ends[-1].closed

    @property
    def text(self) -> str:
        """The visible text of the answer."""
        return self._seen.text

    @property
    def stretches(self) -> list[Stretch]:
        """Which showing brought which part of `text`, from its beginning to its end."""
        return self._seen.stretches

    def take(self, fact: Fact) -> None:
        """One more fact."""
        super().take(fact)
        match fact:
            case AgentEvent():
                self._heard_event(fact)
            case EventHandled():
                self._take_decision(fact)
            case SlackCalled():
                self._called(fact)
            case TurnEnded():
                self._settle()
                self.ends[-1].closed = fact
            case TurnStarted():
                self._opened_turn(fact)
            case MessageIgnored():
                pass
            case _:
                assert_never(fact)

    def look(self, at: float, visible: str) -> None:
        """The answer text that stands in the thread at `at`, in monotonic seconds."""
        super().look(at, visible)
        if visible == self._seen.text:
            return
        if not self._changed:  # the call that did it is told of when it returns
            self.showings.append(Showing(self._since(at), "", None))
            self._changed = True
        self._seen.become(visible, len(self.showings) - 1)

    def _opened_turn(self, fact: TurnStarted) -> None:
        self.asked_at = fact.at if self.asked_at is None else self.asked_at
        if self.turn >= len(self.ends):
            self.ends.append(MessageEnd())
            self.began.append(len(self.text))
            self._is_stopped = False
            self._begin()

    def _heard_event(self, fact: AgentEvent) -> None:
        self._settle()
        said = self._heard.take(fact.kind, fact.raw)
        if fact.from_poll:
            self._event = Cause(self._since(fact.at), None, f"reading the {asked_name(fact.raw, said)}", "")
            return
        self.events += 1
        self._event = Cause(self._since(fact.at), self.events, said.name, "")
        self._said = said.text
        self._sources.hear(said.text, self._event)

    def _settle(self) -> None:
        """The last event is through: what it said again, without anybody having to decide on it, is told."""
        said, self._said, answer = self._said, "", self._answer()
        is_told = any(each.cause.number == self._event.number for each in self.again)
        if not said or not answer or is_told:
            return
        if equivalent(answer, said) or (len(answer) >= CHANCE and contains(said, answer)):
            by = replace(self._event, reason="it had been shown")
            self.again.append(Unshown(by, "the same answer", min(len(said), len(answer))))

    def _called(self, fact: SlackCalled) -> None:
        at = self._since(fact.at - fact.took)
        if not fact.ok and not is_of_stop(fact.error, self._is_stopped):
            self.failed.append(Showing(at, fact.method, fact.error))
        if self._changed and fact.method in _SHOWING:
            self.showings[-1] = Showing(self.showings[-1].at, fact.method, fact.error)
            self._changed = False

    def _take_decision(self, fact: EventHandled) -> None:
        event: Any = fact.event
        cause = self._cause(fact)
        self._is_stopped = self._is_stopped or isinstance(event, StopRequested)
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

    def _take_result(self, event: FinalAnswer | AnswerReplaced, cause: Cause) -> None:
        """The whole answer, as it is now said to be. The bot's own word for it names what it had heard."""
        is_own = cause.number is None
        if not (is_own and equivalent(self._result_text, event.text)):
            self._result, self._result_text = replace(cause, reason=event.reason), event.text

    def _take_action(self, action: object, event: object, cause: Cause) -> bool:
        """Note one order. True: it hands text on."""
        because = replace(cause, reason=str(getattr(action, "reason", "")))
        match action:
            case AppendText(text=text):
                is_own = isinstance(event, FinalAnswer) and cause.number is None
                self._hand_on(self._sources.of(text, because) if is_own else [(text, because)], because.at)
                self._said = ""
                return True
            case RewriteAnswer(text=text):
                why = f"{because.reason}: {self._result.reason}"
                pieces = self._sources.of(text, replace(self._result, reason=why))
                self._hand_on(pieces, because.at, replaces=True)
                written = [each for said, each in self._waiting if equivalent(said, text)]
                self.unshown = [each for each in self.unshown if not any(each is one for one in written)]
            case UpdateCard(card=card):
                self.cards.append(CardNews(card.title, card.state, because))
            case SetPlanTitle(title=title):
                self.cards.append(CardNews(title, "", because))
            case ShowForm(form=form) if said := form.as_markdown().strip():
                why = f" ({self._asking.reason})" if self._asking.reason else ""
                why = f"the agent's question{why}: {because.reason}"
                by = replace(self._asking if self._asking.name else because, reason=why)
                self._said = ""
                self.asked.append((said, by))
                self._hand_on([(said, by)], because.at)
            case RetractText(chars=chars):
                self._take_back(chars, because)
            case EndTurn():
                self.ends[-1].closing = action, because
        return False

    def _hand_on(self, pieces: list[Piece], at: float, *, replaces: bool = False) -> None:
        for number, (text, cause) in enumerate(pieces):
            self.handed.append(HandedText(text, cause, replaces and number == 0, self.turn, at))

    def _take_back(self, chars: int, cause: Cause) -> None:
        """What was handed on last, and is not shown after all."""
        self.unshown.append(Unshown(cause, "taken back before it was shown", chars))
        while chars > 0 and len(self.handed) > self._from:
            last = self.handed.pop()
            kept = last.text[: max(0, len(last.text) - chars)]
            chars -= len(last.text) - len(kept)
            if kept:
                self.handed.append(replace(last, text=kept))

    def _kept_out(self, event: Any, cause: Cause, actions: tuple[object, ...]) -> None:
        action = next((each for each in actions if isinstance(each, NoOp | ShowStatus)), None)
        if action is None:
            return
        because = replace(cause, reason=action.reason)
        if not isinstance(event, FinalAnswer | AnswerReplaced):
            what = f"shown as status: {action.text}" if isinstance(action, ShowStatus) else "not shown"
            self._not_shown(event, because, what)
        elif not equivalent(self._answer(), event.text):
            known = [said for said, _ in self._waiting]
            if cause.number is not None or not any(equivalent(said, event.text) for said in known):
                self._not_shown(event, because, "not shown")
                self._waiting.append((event.text, self.unshown[-1]))
        elif cause.number is not None:
            by = replace(because, name=_named(cause, event))
            self.again.append(Unshown(by, "the same answer", len(event.text)))

    def _answer(self) -> str:
        """All that was handed on for this question, since it was last replaced."""
        mine = self.handed[self._from :]
        last = max((number for number, each in enumerate(mine) if each.replaces), default=0)
        return "".join(each.text for each in mine[last:])

    def _not_shown(self, event: Any, cause: Cause, what: str) -> None:
        text = str(getattr(event, "text", ""))
        is_late = what in LATE
        if text or is_late:
            self.unshown.append(Unshown(replace(cause, name=_named(cause, event)), what, len(text)))

    def _cause(self, fact: EventHandled) -> Cause:
        event: Any = fact.event
        is_own = isinstance(event, _OWN) or (isinstance(event, FinalAnswer) and not event.certain)
        if is_own:
            self._settle()
            return Cause(self._since(fact.at), None, type(event).__name__, "")
        return replace(self._event, at=self._since(fact.at))

    def _since(self, at: float) -> float:
        return round(max(0.0, at - (at if self.asked_at is None else self.asked_at)), 3)


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
