"""The latching state machine of one turn: each event in, the orders out.

Text from an agent comes in two kinds. Narration never enters the thread as text. Answer text latches the
turn: from then on the thread holds an answer, and what the agent says later is compared with it: equal is
dropped, longer is completed, different is rewritten once.

Latches are never reset. All their couplings: `final_seen` ends the growth of the answer; `stop_asked` ends
all showing; `asked` decides the outcome only while the task has neither ended with an answer nor gone on
after a sign-in.

The table is the rule. A pair that is not in it is *late*: the event is dropped and counted.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from ..text.compare import Comparison, compare, compare_in_steps, contains
from ..text.words import NO_ANSWER, RESPONDING, STOPPED, THINKING
from . import events
from .actions import (
    ActInSlack,
    Action,
    AppendText,
    CardState,
    EndTurn,
    FlushText,
    NameSources,
    NoOp,
    RetractText,
    RewriteAnswer,
    SaveIds,
    SetPlanTitle,
    ShowExtra,
    ShowForm,
    ShowStatus,
    SuggestQuestions,
    TaskCard,
    UpdateCard,
)
from .events import Event, PlanStep, StepState, StreamEnd, TaskEnd
from .form import Form, ReplyFormat
from .narration import join_narration
from .notices import IdleNotice, PlanTitle, failure
from .record import Outcome
from .silence import Silence

_SEARCHED = 200_000  # characters of an answer in which a question is looked for: a longer one comes as a file


class State(StrEnum):
    """A turn as the reader sees it."""

    WAITING = "waiting"  # a typing status at most
    WORKING = "working"  # cards, no answer yet
    ANSWERING = "answering"  # answer text is being written
    SETTLED = "settled"  # the final answer is known
    STOPPING = "stopping"  # the human stopped it
    CLOSED = "closed"  # over


class Latch(StrEnum):
    """What is never reset."""

    ANSWER_BEGUN = "answer_begun"
    FINAL_SEEN = "final_seen"
    ASKED = "asked"
    STOP_ASKED = "stop_asked"
    CLOSED = "closed"


_UNSETTLED = (State.WAITING, State.WORKING, State.ANSWERING)
_OPEN = (*_UNSETTLED, State.SETTLED)
_STAYS = None

_ROWS: tuple[tuple[type, tuple[State, ...], State | None], ...] = (
    (events.TurnBegun, (State.WAITING,), _STAYS),
    (events.TaskKnown, (*_OPEN, State.STOPPING), _STAYS),
    (events.Narrated, _OPEN, _STAYS),
    (events.AnswerText, _UNSETTLED, State.ANSWERING),
    (events.AnswerReplaced, _UNSETTLED, State.ANSWERING),
    (events.NarrationConfirmed, _UNSETTLED, _STAYS),
    (events.FinalAnswer, _OPEN, State.SETTLED),
    (events.ToolStarted, (State.WAITING,), State.WORKING),
    (events.ToolStarted, (State.WORKING, State.ANSWERING), _STAYS),
    (events.ToolEnded, (State.WORKING, State.ANSWERING, State.SETTLED), _STAYS),
    (events.PlanChanged, (State.WAITING,), State.WORKING),
    (events.PlanChanged, (State.WORKING, State.ANSWERING, State.SETTLED), _STAYS),
    (events.Attached, _OPEN, _STAYS),
    (events.SourcesFound, _OPEN, _STAYS),
    (events.NextQuestionsFound, _OPEN, _STAYS),
    (events.ActsAsked, _OPEN, _STAYS),
    (events.InputRequired, _OPEN, _STAYS),
    (events.AuthCompleted, _OPEN, _STAYS),
    (events.TaskEnded, (*_OPEN, State.STOPPING), _STAYS),
    (events.AgentIdle, _OPEN, _STAYS),
    (events.StopRequested, _OPEN, State.STOPPING),
    (events.StreamEnded, (*_OPEN, State.STOPPING), State.CLOSED),
)
TABLE: Mapping[tuple[State, type], State] = {
    (state, kind): leads_to or state for kind, states, leads_to in _ROWS for state in states
}
"""The states in which an event counts, and where it leads to; to WORKING only with a card."""

_CARD_STATES = {
    StepState.RUNNING: CardState.RUNNING,
    StepState.DONE: CardState.DONE,
    StepState.FAILED: CardState.ERROR,
}
WHOLE = (events.AnswerReplaced, events.FinalAnswer)
"""The events that have the whole of an answer: `Turn.prepare` comes before `Turn.handle`."""
_UNSHOWN = frozenset(
    {
        events.AgentIdle,
        events.TaskKnown,
        events.Narrated,
        events.NarrationConfirmed,
        events.StopRequested,
        events.StreamEnded,
    }
)
"""They show the reader nothing new, so the notice of a silence stays."""


class TurnAnswer:
    """What of the answer was handed on for showing, and what the thread must show in the end.

    Text is handed on as it comes. A whole answer is compared with that: equal is dropped, longer is
    completed, and where it differs the thread is rewritten once, in the end.
    """

    def __init__(self) -> None:
        self._handed: list[str] = []  # what was handed on for showing, in pieces: an answer has thousands
        self._handed_chars = 0
        self._before_tool = 0  # how many characters of it were before the last tool call
        self._has_retracted = False
        self._target: list[str] | None = None  # what the thread must show in the end, where that differs
        self._prepared: tuple[tuple[str, str], Comparison] | None = None

    @property
    def text(self) -> str:
        """What the thread must show in the end, as far as it is known."""
        return self._join_handed() if self._target is None else "".join(self._target)

    @property
    def must_be_rewritten(self) -> bool:
        """What was handed on is not the answer."""
        return self._target is not None

    def grow(self, event: events.AnswerText, reason: str) -> Action:
        if self._target is not None:
            self._target.append(event.text)
            return NoOp("held: the answer was replaced, it is rewritten at the end")
        text = event.text.lstrip("\n") if self._has_retracted and not self._handed_chars else event.text
        return self._hand_on(text, reason, unproven=event.unproven)

    def confirm_narration(self, event: events.NarrationConfirmed) -> list[Action]:
        """Text since the last tool call is no answer; it is taken back if it is unseen."""
        chars, before = self._handed_chars, self._before_tool
        self._before_tool = chars
        if not event.unseen or self._target is not None or chars == before:
            return [NoOp(f"nothing to take back: {event.reason}")]
        self._handed, self._handed_chars = [self._join_handed()[:before]], before
        self._before_tool, self._has_retracted = before, True
        return [RetractText(chars - before, f"narration that nobody has seen: {event.reason}")]

    def prepare(self, whole: str) -> Iterator[None]:
        """Compare in steps, before `reconcile`, where that would take long."""
        texts = self._join_handed(), whole
        self._prepared = texts, (yield from compare_in_steps(*texts))

    def reconcile(self, whole: str, reason: str) -> Action:
        """Compare `whole`, the answer, with what was handed on (delivery.md 2)."""
        texts = self._join_handed(), whole
        prepared, self._prepared = self._prepared, None
        known = prepared is not None and prepared[0] == texts
        is_same, rest = prepared[1] if prepared is not None and known else compare(*texts)
        self._target = None if is_same or rest is not None else [whole]
        if is_same:
            return NoOp(f"equal to what was delivered: {reason}")
        if rest is not None:
            return self._hand_on(rest, f"{'the missing rest' if texts[0] else 'delivered now'}: {reason}")
        return NoOp(f"differs from what was delivered, rewritten at the end: {reason}")

    def _hand_on(self, text: str, reason: str, *, unproven: bool = False) -> AppendText:
        self._handed.append(text)
        self._handed_chars += len(text)
        return AppendText(text, reason, unproven=unproven)

    def _join_handed(self) -> str:
        self._handed = ["".join(self._handed)]
        return self._handed[0]


class StepCards:
    """What the agent does, as task cards: its tools, the steps of its plan and its sources."""

    def __init__(self) -> None:
        self._cards: dict[str, TaskCard] = {}
        self._steps: dict[str, PlanStep] = {}
        self._plan_title = PlanTitle()
        self._thinking: list[str] = []  # narration for the next step that ends, in pieces

    @property
    def is_empty(self) -> bool:
        return not self._cards

    def add_thinking(self, event: events.Narrated) -> None:
        """Narration is the details of the step that ends next."""
        if event.replaces:
            self._thinking.clear()
        self._thinking.append(event.text)

    def start_tool(self, event: events.ToolStarted) -> list[Action]:
        label = event.label or event.title
        step = self._cards.get(event.step_id or "") if event.step_id in self._steps else None
        if step is not None:
            reason = f"tool of step {step.id} started: {event.reason}"
            return [UpdateCard(replace(step, details=f"{label}\n"), reason)]
        card = TaskCard(event.tool_id, label, CardState.RUNNING)
        return [self.show(card, f"tool started: {event.reason}")]

    def end_tool(self, event: events.ToolEnded) -> list[Action]:
        card = self._cards.get(event.tool_id)
        if card is None or card.state is not CardState.RUNNING:
            return [NoOp(f"tool ended, no card of its own: {event.reason}")]
        ended = replace(card, state=CardState.ERROR if event.failed else CardState.DONE)
        return [self.show(ended, f"tool ended: {event.reason}")]

    def follow_plan(self, event: events.PlanChanged) -> list[Action]:
        cards: list[Action] = []
        for step in event.steps:
            known, self._steps[step.id] = self._steps.get(step.id), step
            if known != step and step.state is not StepState.PENDING:
                cards.append(self.show(self._step_card(step), f"step is {step.state}: {event.reason}"))
        title = self._plan_title.follow(event, shows=bool(cards))
        return [*title, *cards] or [NoOp(f"no step has begun or changed: {event.reason}")]

    def end_plan(self, outcome: Outcome) -> list[SetPlanTitle]:
        return self._plan_title.end(outcome)

    def cite(self, event: events.SourcesFound) -> list[Action]:
        """On the step that runs, if there is one, and under the answer."""
        running = [card for card in self._cards.values() if card.state is CardState.RUNNING]
        cards = [self.show(replace(card, sources=event.sources), event.reason) for card in running[-1:]]
        return [*cards, NameSources(event.sources, event.reason)]

    def _step_card(self, step: PlanStep) -> TaskCard:
        state, details = _CARD_STATES[step.state], ""
        if state is not CardState.RUNNING:
            details = join_narration(self._thinking).strip()
            self._thinking.clear()
        return TaskCard(step.id, step.title, state, details)

    def show(self, card: TaskCard, reason: str) -> UpdateCard:
        self._cards[card.id] = replace(card, details="", sources=())
        return UpdateCard(card, reason)


class Turn:
    """One turn. Only `handle` changes it.

    `shows_words`: the agent's words about its own failure are for readers. `is_begun`: another process showed
    some of the answer. `may_be_silent`: the question was not addressed to the bot (`silence`).
    """

    def __init__(
        self, *, shows_words: bool = False, is_begun: bool = False, may_be_silent: bool = False
    ) -> None:
        self._shows_words = shows_words
        self._silence = Silence(may_be_silent=may_be_silent, is_begun=is_begun)
        self.state = State.WAITING
        self.late = 0
        self.latches: dict[str, bool] = {latch.value: False for latch in Latch}
        self.latches[Latch.ANSWER_BEGUN] = is_begun
        self._answer = answer = TurnAnswer()
        self._cards = cards = StepCards()
        self._idle_notice = IdleNotice()
        self._is_certain = False  # the agent itself called an answer final
        self._form: Form | None = None
        self._end: events.TaskEnded | None = None
        self._handlers: Mapping[type, Callable[[Any], list[Action]]] = {
            events.TurnBegun: self._begin,
            events.TaskKnown: self._save_ids,
            events.Narrated: self._narrate,
            events.AnswerText: self._grow,
            events.AnswerReplaced: self._replace,
            events.NarrationConfirmed: answer.confirm_narration,
            events.FinalAnswer: self._settle,
            events.ToolStarted: cards.start_tool,
            events.ToolEnded: cards.end_tool,
            events.PlanChanged: cards.follow_plan,
            events.Attached: self._attach,
            events.SourcesFound: cards.cite,
            events.NextQuestionsFound: self._suggest,
            events.ActsAsked: self._act,
            events.InputRequired: self._ask,
            events.AuthCompleted: self._go_on,
            events.TaskEnded: self._end_task,
            events.AgentIdle: self._wait,
            events.StopRequested: self._stop,
            events.StreamEnded: self._close,
        }

    @property
    def waits_for_human(self) -> bool:
        """The agent waits for a sign-in, and the turn goes on meanwhile."""
        return self._form is not None and self._form.is_auth and self.state is not State.CLOSED

    @property
    def answer(self) -> str:
        """What the thread must show in the end, as far as it is known."""
        return self._answer.text

    def prepare(self, event: events.AnswerReplaced | events.FinalAnswer) -> Iterator[None]:
        """Steps that come before `handle`, where that would take long."""
        return self._answer.prepare(event.text)

    def handle(self, event: Event) -> list[Action]:
        kind = type(event)
        leads_to = TABLE.get((self.state, kind))
        if leads_to is None:
            self.late += 1
            return []
        actions = self._handlers[kind](event)
        if leads_to is not State.WORKING or not self._cards.is_empty:
            self.state = leads_to
        if self._idle_notice.card is not None and kind not in _UNSHOWN:
            ended = self._idle_notice.end()
            if ended is not None:
                actions = [self._cards.show(ended, "the agent was heard again"), *actions]
        if not self._silence.is_hiding:
            return actions
        is_begun = self.latches[Latch.ANSWER_BEGUN] or self.latches[Latch.ASKED]
        return self._silence.filter_actions(actions, is_begun=is_begun)

    def _begin(self, event: events.TurnBegun) -> list[Action]:
        return [ShowStatus(THINKING, event.reason)]

    def _save_ids(self, event: events.TaskKnown) -> list[Action]:
        return [SaveIds(event.task_id, event.context_id, event.trace_id, event.reason)]

    def _narrate(self, event: events.Narrated) -> list[Action]:
        if not event.text.strip():
            return [NoOp(event.reason)]
        if not event.passing:
            self._cards.add_thinking(event)
        if self.state is State.WAITING:
            return [ShowStatus(RESPONDING, f"narration: {event.reason}")]
        return [NoOp(f"narration is not shown as text: {event.reason}")]

    def _grow(self, event: events.AnswerText) -> list[Action]:
        is_first = not self.latches[Latch.ANSWER_BEGUN]
        self.latches[Latch.ANSWER_BEGUN] = True
        return [self._answer.grow(event, f"answer {'latched' if is_first else 'grows'}: {event.reason}")]

    def _replace(self, event: events.AnswerReplaced) -> list[Action]:
        self.latches[Latch.ANSWER_BEGUN] = True
        return [self._answer.reconcile(event.text, event.reason)]

    def _settle(self, event: events.FinalAnswer) -> list[Action]:
        if self._silence.is_declined:
            return [NoOp(f"the agent wants nothing shown: {event.reason}")]
        self.latches[Latch.FINAL_SEEN] = True
        self._is_certain = self._is_certain or event.certain
        if not event.text.strip():
            return [FlushText("the final answer is empty: what was written stands")]
        self.latches[Latch.ANSWER_BEGUN] = True
        reason = f"final answer from {event.origin}: {event.reason}"
        return [self._answer.reconcile(event.text, reason), FlushText("final answer known")]

    def _attach(self, event: events.Attached) -> list[Action]:
        if self._silence.is_declined:
            return [NoOp(f"the agent wants nothing shown: {event.reason}")]
        self.latches[Latch.ANSWER_BEGUN] = True
        return [ShowExtra(event.extra, event.reason)]

    def _suggest(self, event: events.NextQuestionsFound) -> list[Action]:
        return [SuggestQuestions(event.questions, event.reason)]

    def _act(self, event: events.ActsAsked) -> list[Action]:
        return [ActInSlack(event.acts, event.reason)]

    def _wait(self, event: events.AgentIdle) -> list[Action]:
        if self.waits_for_human:
            return [NoOp("the human is waited for, not the agent")]
        notice = self._idle_notice.show(event, in_message=self.state is not State.WAITING)
        if isinstance(notice, TaskCard):
            return [self._cards.show(notice, f"no news: {event.reason}")]
        return [ShowStatus(notice, event.reason) if notice else NoOp(f"a pause: {event.reason}")]

    def _ask(self, event: events.InputRequired) -> list[Action]:
        known, self._form = self._form, event.form
        self.latches[Latch.ASKED] = True
        flush = FlushText(f"the agent asks: {event.reason}")
        if not self.waits_for_human or known == event.form or (form := self._form_to_show()) is None:
            return [flush]
        return [flush, ShowForm(form, "the agent may go on by itself after a sign-in")]

    def _form_to_show(self) -> Form | None:
        form, answer = self._form, self.answer
        if form is None or max(len(form.prompt), len(answer)) > _SEARCHED:
            return form
        is_there = contains(answer, form.prompt) if form.prompt.strip() else bool(answer.strip())
        if not is_there:
            return form
        if form.fields or form.calls or form.url or form.schemes:
            return replace(form, prompt="", is_told=not form.is_auth)
        # nothing is left to show, but what takes more than words to be answered is kept
        is_plain = form.reply == ReplyFormat()
        return None if is_plain else replace(form, prompt="", title="", is_told=True)

    def _go_on(self, event: events.AuthCompleted) -> list[Action]:
        self._form = None
        return [ShowStatus(THINKING, f"the sign-in was seen: {event.reason}")]

    def _stop(self, event: events.StopRequested) -> list[Action]:
        self.latches[Latch.STOP_ASKED] = True
        return [NoOp(f"stopped by {event.user}: the agent is asked to cancel")]

    def _end_task(self, event: events.TaskEnded) -> list[Action]:
        self._end = event
        self._silence.hear_end(event, is_begun=self.latches[Latch.ANSWER_BEGUN])
        return [FlushText(f"task {event.end}: {event.reason}")]

    def _close(self, event: events.StreamEnded) -> list[Action]:
        self.latches[Latch.CLOSED] = True
        actions: list[Action] = []
        if self._answer.must_be_rewritten and not self.latches[Latch.STOP_ASKED]:
            actions.append(RewriteAnswer(self.answer, "what was delivered is not the answer"))
        end = self._ending(event)
        if end.outcome is Outcome.ASKED and (form := self._form_to_show()) is not None:
            actions.append(ShowForm(form, "the agent waits for the human"))
        if end.outcome is Outcome.NO_TEXT:
            actions.append(AppendText(NO_ANSWER, "the agent wrote nothing"))
        return [*actions, *self._cards.end_plan(end.outcome), end]

    def _ending(self, event: events.StreamEnded) -> EndTurn:
        is_begun, end, shows = self.latches[Latch.ANSWER_BEGUN], self._end, self._shows_words
        if self.latches[Latch.STOP_ASKED]:
            return EndTurn(Outcome.STOPPED, event.safe or STOPPED, reason=event.reason)
        if end is not None and end.end is not TaskEnd.COMPLETED:
            return failure(end, shows_words=shows, is_unfinished=is_begun and not self._is_certain)
        if self._form is not None and (end is None or not is_begun):
            return EndTurn(Outcome.ASKED, reason="the agent asked")
        if event.end is StreamEnd.CLOSED or end is not None or self._is_certain:
            return _completed(event.reason, self._silence, is_begun=is_begun)
        if event.end is StreamEnd.WATCHED:
            return EndTurn(Outcome.WATCHED, event.safe, offer_retry=True, reason=event.reason)
        return failure(event, shows_words=shows, is_unfinished=is_begun)


def _completed(reason: str, silence: Silence, *, is_begun: bool) -> EndTurn:
    return EndTurn(Outcome.ANSWERED, reason=reason) if is_begun else silence.end_without_text()
