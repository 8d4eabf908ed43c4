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

from ..observe.facts import AgentEvent, Decided, Fact, SlackCalled, TurnClosed, TurnOpened
from ..turn.actions import AppendText, AskForm, Close, RetitlePlan, RewriteAnswer, TakeBack, UpdateCard
from ..turn.compare import same
from ..turn.events import AnswerReplaced, FinalAnswer, StopPressed, StreamEnded, TurnBegan, Waited
from .alignment import matches
from .timeline import told
from .witness import Witness

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
_CHANCE = 20  # characters; fewer may be alike by chance
_OWN = (StreamEnded, StopPressed, TurnBegan, Waited)


@dataclass(frozen=True, slots=True)
class Cause:
    """Why something happened. `number` is the agent's event, None where the bot itself was the cause."""

    at: float
    number: int | None
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Handed:
    """A stretch of text that was handed on. `replaces`: it is instead of all that was handed on before."""

    text: str
    cause: Cause
    replaces: bool = False


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
        for kept in matches(before, text, _CHANCE):
            stretches.append((kept.other - end, showing))
            stretches += _cut(self.stretches, kept.one, kept.one + kept.size)
            end = kept.other + kept.size
        self.stretches = _merged([*stretches, (len(text) - end, showing)])
        self.text = text


class Account(Witness):
    """A witness that keeps what `explain` tells."""

    def __init__(self) -> None:
        super().__init__()
        self.asked_at: float | None = None
        self.handed: list[Handed] = []
        self.showings: list[Showing] = []
        self.unshown: list[Unshown] = []
        self.again: list[Unshown] = []
        """The whole answer once more, as it was handed on before: it had been shown, so nothing was to do."""
        self.cards: list[CardNews] = []
        self.failed: list[Showing] = []
        self.asked: list[tuple[AskForm, Cause]] = []
        self.closing: tuple[Close, Cause] | None = None
        self.closed: TurnClosed | None = None
        self.events = 0
        self._seen = _Seen()
        self._event = self._result = Cause(0.0, None, "the bot", "")
        self._changed = False

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
                self.events += 1
                self._event = Cause(self._since(fact.at), self.events, told(fact.kind, fact.raw)[0], "")
            case Decided():
                self._take_decision(fact)
            case SlackCalled():
                self._called(fact)
            case TurnClosed():
                self.closed = fact
            case TurnOpened():
                self.asked_at = fact.at if self.asked_at is None else self.asked_at
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

    def _called(self, fact: SlackCalled) -> None:
        at = self._since(fact.at - fact.took)
        if not fact.ok:
            self.failed.append(Showing(at, fact.method, fact.error))
        if self._changed and fact.method in _SHOWING:
            self.showings[-1] = Showing(self.showings[-1].at, fact.method, fact.error)
            self._changed = False

    def _take_decision(self, fact: Decided) -> None:
        event: Any = fact.event
        cause = self._cause(fact)
        if fact.late:
            self._not_shown(
                event, replace(cause, reason=str(getattr(event, "why", ""))), "dropped, it came too late"
            )
            return
        if isinstance(event, FinalAnswer | AnswerReplaced):
            self._result = replace(cause, reason=event.why)
        for action in fact.actions:
            self._follow(action, replace(cause, reason=str(getattr(action, "reason", ""))))
        if not any(isinstance(action, AppendText) for action in fact.actions):
            self._kept_out(event, cause, fact.actions)

    def _follow(self, action: object, because: Cause) -> None:
        match action:
            case AppendText(text=text):
                self.handed.append(Handed(text, because))
            case TakeBack(chars=chars):
                self._take_back(chars, because)
            case RewriteAnswer(text=text):
                why = f"{because.reason}: {self._result.reason}"
                by = replace(self._result, at=because.at, reason=why)
                self.handed.append(Handed(text, by, replaces=True))
            case UpdateCard(card=card):
                self.cards.append(CardNews(card.title, card.state, because))
            case RetitlePlan(title=title):
                self.cards.append(CardNews(title, "", because))
            case AskForm():
                self.asked.append((action, because))
            case Close():
                self.closing = action, because

    def _take_back(self, chars: int, cause: Cause) -> None:
        """What was handed on last, and is not shown after all."""
        self.unshown.append(Unshown(cause, "taken back before it was shown", chars))
        while chars > 0 and self.handed:
            last = self.handed.pop()
            kept = last.text[: max(0, len(last.text) - chars)]
            chars -= len(last.text) - len(kept)
            if kept:
                self.handed.append(replace(last, text=kept))

    def _kept_out(self, event: Any, cause: Cause, actions: tuple[object, ...]) -> None:
        for action in actions:
            name = type(action).__name__
            if name in ("Noted", "ShowStatus"):
                reason = str(getattr(action, "reason", ""))
                if isinstance(event, FinalAnswer | AnswerReplaced) and same(self._answer(), event.text):
                    by = replace(cause, name=_named(cause, event), reason=reason)
                    self.again.append(Unshown(by, "the same answer", len(event.text)))
                    return
                what = (
                    f"shown as status: {getattr(action, 'text', '')}" if name == "ShowStatus" else "not shown"
                )
                self._not_shown(event, replace(cause, reason=reason), what)
                return

    def _answer(self) -> str:
        """All that was handed on, since it was last replaced."""
        last = max((number for number, each in enumerate(self.handed) if each.replaces), default=0)
        return "".join(each.text for each in self.handed[last:])

    def _not_shown(self, event: Any, cause: Cause, what: str) -> None:
        text = str(getattr(event, "text", ""))
        if text or what.startswith("dropped"):
            self.unshown.append(Unshown(replace(cause, name=_named(cause, event)), what, len(text)))

    def _cause(self, fact: Decided) -> Cause:
        event: Any = fact.event
        is_own = isinstance(event, _OWN) or (isinstance(event, FinalAnswer) and not event.certain)
        if is_own:
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
