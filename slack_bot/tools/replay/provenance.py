"""PURE. Which event brought which text of an answer, and which call showed it.

Times are seconds from the first question.
"""

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, TypeAlias

from ...observe.facts import EventHandled, SlackCalled, TurnEnded, TurnStarted
from ...text.compare import contains, equivalent
from ...turn import actions, events
from ..asked import in_words
from ..trace.timeline import LATE, late
from ..turn_log import AgentOutput, Entry, LoggedTurn, TextChange, TurnLog, failed_calls, is_guessed
from .diff import CHANCE, matches

_SHOWING = frozenset(
    f"chat.{name}"
    for name in ("startStream", "appendStream", "stopStream", "update", "postMessage", "delete")
)
_OWN = (events.StreamEnded, events.StopRequested, events.TurnBegun, events.AgentIdle)
_CHANCE = 10  # characters; fewer may be alike by chance


@dataclass(frozen=True, slots=True)
class Cause:
    """Why something happened. `number` is the agent's event, None where the bot itself was the cause."""

    at: float
    number: int | None
    name: str
    reason: str


Piece: TypeAlias = tuple[str, Cause]
"""A stretch of text, and what brought it."""


@dataclass(frozen=True, slots=True)
class Showing:
    """One call that changed the visible text."""

    at: float
    method: str
    error: str | None


@dataclass(frozen=True, slots=True)
class ExplainedNews:
    """`what` became of an event: a card, or of its text, `chars` long, no text of the answer.

    `is_narration`: the agent spoke of its work, in these words (`text`). `in_status`: its reader saw a typing
    status.
    """

    cause: Cause
    what: str
    chars: int = 0
    is_narration: bool = False
    in_status: bool = False
    text: str = ""


class Provenance:
    """Keeps what `explain` prints of all that `log` takes."""

    def __init__(self) -> None:
        self.log = TurnLog(self._take)
        self.turns = [TurnProvenance(self.log.turns[0])]
        self.showings: list[Showing] = []
        self.text = ""
        """The visible text of the answers."""
        self.shown_by: list[int] = []
        """For each character of `text` the number of its showing."""
        self._asked_at: float | None = None
        self._has_changed = False

    def _take(self, turn: LoggedTurn, entry: Entry) -> None:
        if len(self.turns) <= turn.number:
            self.turns.append(TurnProvenance(turn))
        if isinstance(entry, TurnStarted) and self._asked_at is None:
            self._asked_at = entry.at
        mine, at = self.turns[-1], self._since(entry.at)
        match entry:
            case AgentOutput():
                mine.take_output(entry, at)
            case EventHandled():
                mine.take_decision(entry, at)
            case TurnEnded():
                mine.settle()
            case SlackCalled():
                self._take_call(entry)
            case TextChange():
                self._take_change(entry, at)

    def _take_change(self, change: TextChange, at: float) -> None:
        before, self.text = self.text, self.text[: change.kept] + change.added
        if self.text == before:
            return
        if not self._has_changed:  # the call that did it is known when it returns
            self.showings.append(Showing(at, "", None))
            self._has_changed = True
        number = len(self.showings) - 1
        if self.text.startswith(before):
            self.shown_by += [number] * (len(self.text) - len(before))
            return
        known, self.shown_by = self.shown_by, [number] * len(self.text)
        for same in matches(before, self.text, CHANCE):
            self.shown_by[same.other : same.other + same.size] = known[same.one : same.one + same.size]

    @property
    def events(self) -> int:
        """How many events the agent sent."""
        return self.log.events.total()

    @property
    def failed(self) -> list[Showing]:
        """The calls that failed."""
        calls = (call for turn in self.log.turns for call in failed_calls(turn))
        return [Showing(self._since(call.at - call.took), call.method, call.error) for call in calls]

    def _take_call(self, fact: SlackCalled) -> None:
        if self._has_changed and fact.method in _SHOWING:
            self.showings[-1] = Showing(self.showings[-1].at, fact.method, fact.error)
            self._has_changed = False

    def _since(self, at: float) -> float:
        return 0.0 if self._asked_at is None else round(max(0.0, at - self._asked_at), 3)


class TurnProvenance:
    """What became of the agent's texts in one turn."""

    def __init__(self, turn: LoggedTurn) -> None:
        self.turn = turn
        self.produced: list[Piece] = []
        """What the machine gave to be shown, since it last rewrote the answer at `rewritten_at`."""
        self.rewritten: list[Piece] = []
        """What it had given before that."""
        self.rewritten_at = 0.0
        self.unshown: list[ExplainedNews] = []
        self.repeated: list[ExplainedNews] = []
        """The whole answer once more, after it had been shown: there was nothing to do."""
        self.cards: list[ExplainedNews] = []
        self.beside: list[ExplainedNews] = []
        """What the answer holds besides text."""
        self.questions: list[Piece] = []
        """The agent's."""
        self.closing: tuple[actions.EndTurn, Cause] | None = None
        """The order that ended the turn, and its cause."""
        self._event = self._result = Cause(0.0, None, "the bot", "")
        self._asking = Cause(0.0, None, "", "")
        self._unsettled = self._result_text = ""
        self._sources = Sources()
        self._waiting: list[tuple[str, ExplainedNews]] = []  # whole answers that may be written in the end

    def take_output(self, output: AgentOutput, at: float) -> None:
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
        if not text or not answer or self._event.number in (each.cause.number for each in self.repeated):
            return
        if equivalent(answer, text) or (len(answer) >= CHANCE and contains(text, answer)):
            self._repeat(replace(self._event, reason="it had been shown"), min(len(text), len(answer)))

    def _repeat(self, cause: Cause, chars: int) -> None:
        self.repeated.append(ExplainedNews(cause, "the same answer", chars))

    def take_decision(self, fact: EventHandled, at: float) -> None:
        event: Any = fact.event
        cause = self._cause(event, at)
        if fact.late:
            if cause.number is not None or fact.state != "stopping":  # the bot's own word is nothing new
                because = replace(cause, reason=str(getattr(event, "reason", "")))
                self._not_shown(event, because, late(fact.state))
            return
        if isinstance(event, events.InputRequired):
            self._asking = replace(cause, reason=event.reason)
        elif isinstance(event, events.FinalAnswer | events.AnswerReplaced) and (
            # where the bot itself says so, the event that it had heard is named
            cause.number is not None or not equivalent(self._result_text, event.text)
        ):
            self._result, self._result_text = replace(cause, reason=event.reason), event.text
        is_shown = [self._take_action(action, event, cause) for action in fact.actions]
        if not any(is_shown):
            self._kept_out(event, cause, fact)

    def _cause(self, event: object, at: float) -> Cause:
        if isinstance(event, _OWN) or is_guessed(event):
            self.settle()
            return Cause(at, None, type(event).__name__, "")
        return replace(self._event, at=at)

    def _take_action(self, action: object, event: object, cause: Cause) -> bool:
        """Note one action. True: it appends text."""
        because = replace(cause, reason=str(getattr(action, "reason", "")))
        match action:
            case actions.AppendText(text=text):
                is_own = isinstance(event, events.FinalAnswer) and cause.number is None
                self.produced += self._sources.of(text, because) if is_own else [(text, because)]
                self._unsettled = ""
                return True
            case actions.RewriteAnswer(text=text):
                reason = f"{because.reason}: {self._result.reason}"
                self.rewritten += self.produced
                self.produced = self._sources.of(text, replace(self._result, reason=reason))
                self.rewritten_at = because.at
                written = [each for answer, each in self._waiting if equivalent(answer, text)]
                self.unshown = [each for each in self.unshown if not any(each is one for one in written)]
            case actions.UpdateCard(card=card):
                self.cards.append(ExplainedNews(because, f"{card.title} - {card.state}"))
            case actions.SetPlanTitle(title=title):
                self.cards.append(ExplainedNews(because, f"the line above the cards: {title}"))
            case (
                actions.ShowExtra()
                | actions.NameSources()
                | actions.SuggestQuestions()
                | actions.ActInSlack()
            ):
                self.beside.append(ExplainedNews(because, _in_short(action)))
            case actions.ShowForm(form=form) if question := form.as_markdown().strip():
                reason = f" ({self._asking.reason})" if self._asking.reason else ""
                reason = ": ".join(
                    filter(None, [f"the agent's question{reason}", because.reason, in_words(form)])
                )
                asked_by = replace(self._asking if self._asking.name else because, reason=reason)
                self._unsettled = ""
                self.questions.append((question, asked_by))
                self.produced.append((question, asked_by))
            case actions.RetractText(chars=chars):
                self._retract(chars, because, is_narration=isinstance(event, events.NarrationConfirmed))
            case actions.EndTurn():
                self.closing = action, because
        return False

    def _retract(self, chars: int, cause: Cause, *, is_narration: bool) -> None:
        self.unshown.append(ExplainedNews(cause, "taken back before it was shown", chars, is_narration))
        while chars > 0 and self.produced:
            text, by = self.produced.pop()
            kept = text[: max(0, len(text) - chars)]
            chars -= len(text) - len(kept)
            if kept:
                self.produced.append((kept, by))

    def _kept_out(self, event: Any, cause: Cause, fact: EventHandled) -> None:
        kept_out = actions.NoOp | actions.ShowStatus
        action = next((each for each in fact.actions if isinstance(each, kept_out)), None)
        if action is None:
            return
        because = replace(cause, reason=action.reason)
        if not isinstance(event, events.FinalAnswer | events.AnswerReplaced):
            status = f"for the status line: {action.text}" if isinstance(action, actions.ShowStatus) else ""
            self._not_shown(event, because, status or "not shown", in_status=bool(status))
        elif not equivalent(self._answer(), event.text):
            known = [answer for answer, _ in self._waiting]
            if cause.number is not None or not any(equivalent(answer, event.text) for answer in known):
                self._not_shown(event, because, "not shown")
                self._waiting.append((event.text, self.unshown[-1]))
        elif cause.number is not None:
            self._repeat(replace(because, name=_named(cause, event)), len(event.text))

    def _answer(self) -> str:
        return "".join(text for text, _ in self.produced)

    def _not_shown(self, event: Any, cause: Cause, what: str, *, in_status: bool = False) -> None:
        text = str(getattr(event, "text", ""))
        if text or what in LATE:
            named, is_narration = (
                replace(cause, name=_named(cause, event)),
                isinstance(event, events.Narrated),
            )
            words = text if is_narration else ""
            self.unshown.append(ExplainedNews(named, what, len(text), is_narration, in_status, words))


def _in_short(
    action: actions.ShowExtra | actions.NameSources | actions.SuggestQuestions | actions.ActInSlack,
) -> str:
    match action:
        case actions.ShowExtra(extra=extra):
            called = getattr(extra, "title", "") or getattr(extra, "name", "")
            return f"below the text: {type(extra).__name__} {called}".rstrip()
        case actions.NameSources(sources=sources):
            return f"{len(sources)} sources under the answer"
        case actions.SuggestQuestions(questions=questions):
            return f"{len(questions)} next questions below the answer"
        case actions.ActInSlack(acts=acts):
            return "in Slack: " + ", ".join(f"{each.kind} {each.name or each.channel}" for each in acts)


def _named(cause: Cause, event: object) -> str:
    name = type(event).__name__
    return name if cause.number is None else f"{cause.name}, {name}"


class Sources:
    """The texts of one turn's events: they brought what the bot put together in the end."""

    def __init__(self) -> None:
        self._heard: list[Piece] = []

    def hear(self, text: str, cause: Cause) -> None:
        if text:
            self._heard.append((text, cause))

    def of(self, text: str, usual: Cause) -> list[Piece]:
        """`text` in pieces, each with the event that brought it, in order; `usual` where none is known.

        The reason is that of `usual`: it says why the text is shown.
        """
        return [(piece, replace(cause, reason=usual.reason)) for piece, cause in self._pieces(text, usual)]

    def _pieces(self, text: str, usual: Cause) -> list[Piece]:
        whole = text.strip()
        for heard, cause in reversed(self._heard):
            if whole and whole in heard:
                return [(text, cause)]
        if in_a_row := self._in_a_row(text):
            return in_a_row
        found = list[Piece]()
        for part, by in self._put_together(text):
            if by is not None:
                found.append((part, by))
            elif found and not part.strip():
                found.append((part, found[-1][1]))
            else:
                found += self._in_a_row(part) or [(part, usual)]
        return found

    def _put_together(self, text: str) -> list[tuple[str, Cause | None]]:
        """`text` cut where it holds the whole of what an event said, the last events first."""
        parts: list[tuple[str, Cause | None]] = [(text, None)]
        for heard, cause in reversed(self._heard):
            said = heard.strip()
            places = (n for n, (part, by) in enumerate(parts) if by is None and said in part)
            if len(said) < _CHANCE or (n := next(places, None)) is None:
                continue
            before, _, after = parts[n][0].partition(said)
            cut: list[tuple[str, Cause | None]] = [(before, None), (said, cause), (after, None)]
            parts[n : n + 1] = [each for each in cut if each[0]]
        return parts

    def _in_a_row(self, text: str) -> list[Piece]:
        """`text` where it came in several events, one after the other."""
        whole = text.strip()
        start = "".join(heard for heard, _ in self._heard).find(whole) if whole else -1
        if start < 0:
            return []
        ends = list(accumulate(len(heard) for heard, _ in self._heard))
        found = list[Piece]()
        at, end = start, start + len(whole)
        while at < end:
            number = bisect_right(ends, at)
            found.append((whole[at - start : ends[number] - start], self._heard[number][1]))
            at = ends[number]
        before, _, after = text.partition(whole)
        found[0] = before + found[0][0], found[0][1]
        found[-1] = found[-1][0] + after, found[-1][1]
        return found
