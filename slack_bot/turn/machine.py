"""The latching state machine of one turn: each event in, the orders out.

Text from an agent comes in two kinds. Narration never enters the thread as text. Answer text latches the
turn: from then on the thread holds an answer, and what the agent says later is compared with it: equal is
dropped, longer is completed, different is rewritten once.

Latches go one way: `answer_begun`, `final_seen`, `asked`, `stop_asked`, `closed` are never reset. All their
couplings: `final_seen` ends the growth of the answer; `stop_asked` ends all showing; `asked` decides the
outcome only while the task has neither ended with an answer nor gone on after a sign-in.

The table is the rule. A pair that is not in it is *late*: the event is dropped and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from .actions import (
    Action,
    AppendText,
    CardState,
    EndTurn,
    FlushText,
    NoOp,
    RetractText,
    RewriteAnswer,
    SaveIds,
    SetPlanTitle,
    ShowForm,
    ShowStatus,
    TaskCard,
    UpdateCard,
)
from .compare import Comparison, contains
from .events import (
    AgentIdle,
    AnswerReplaced,
    AnswerText,
    AuthCompleted,
    Event,
    FinalAnswer,
    InputRequired,
    Narrated,
    NarrationConfirmed,
    PlanChanged,
    PlanStep,
    StepState,
    StopRequested,
    StreamEnd,
    StreamEnded,
    TaskEnd,
    TaskEnded,
    TaskKnown,
    ToolEnded,
    ToolStarted,
    TurnBegun,
)
from .failures import stream_failure, task_failure
from .form import Form
from .idle_notice import IdleNotice
from .record import Outcome

THINKING = "is thinking..."
RESPONDING = "is responding..."
NO_ANSWER = "_The agent finished without writing an answer._"
_SEARCHED = 200_000  # characters of an answer in which a question is looked for: a longer one comes as a file


class State(StrEnum):
    """The states of a turn, as the reader sees it."""

    WAITING = "waiting"  # a typing status at most
    WORKING = "working"  # cards, no answer yet
    ANSWERING = "answering"  # answer text is being written
    SETTLED = "settled"  # the final answer is known
    STOPPING = "stopping"  # the human stopped it
    CLOSED = "closed"  # over


@dataclass(frozen=True, slots=True)
class Rule:
    """What happens on an event: the method's name, and the states it may lead to."""

    method: str
    leads_to: tuple[State, ...]


_W, _K, _A, _S, _P, _C = (
    State.WAITING,
    State.WORKING,
    State.ANSWERING,
    State.SETTLED,
    State.STOPPING,
    State.CLOSED,
)
_OPEN = (_W, _K, _A, _S)


def _rows(kind: type, method: str, ways: Mapping[State, tuple[State, ...]]) -> dict[tuple[State, type], Rule]:
    return {(state, kind): Rule(method, leads_to) for state, leads_to in ways.items()}


TABLE: Mapping[tuple[State, type], Rule] = {
    **_rows(TurnBegun, "_begin", {_W: (_W,)}),
    **_rows(TaskKnown, "_remember", {state: (state,) for state in (*_OPEN, _P)}),
    **_rows(Narrated, "_narrate", {state: (state,) for state in _OPEN}),
    **_rows(AnswerText, "_grow", {_W: (_A,), _K: (_A,), _A: (_A,)}),
    **_rows(AnswerReplaced, "_replace", {_W: (_A,), _K: (_A,), _A: (_A,)}),
    **_rows(NarrationConfirmed, "_narrated", {_W: (_W,), _K: (_K,), _A: (_A,)}),
    **_rows(FinalAnswer, "_settle", {_W: (_S,), _K: (_S,), _A: (_S,), _S: (_S,)}),
    **_rows(ToolStarted, "_start_tool", {_W: (_K,), _K: (_K,), _A: (_A,)}),
    **_rows(ToolEnded, "_end_tool", {_K: (_K,), _A: (_A,), _S: (_S,)}),
    **_rows(PlanChanged, "_plan", {_W: (_W, _K), _K: (_K,), _A: (_A,), _S: (_S,)}),
    **_rows(InputRequired, "_ask", {state: (state,) for state in _OPEN}),
    **_rows(AuthCompleted, "_go_on", {state: (state,) for state in _OPEN}),
    **_rows(TaskEnded, "_end_task", {state: (state,) for state in (*_OPEN, _P)}),
    **_rows(AgentIdle, "_wait", {_W: (_W,), _K: (_K,), _A: (_A,), _S: (_S,)}),
    **_rows(StopRequested, "_stop", {state: (_P,) for state in _OPEN}),
    **_rows(StreamEnded, "_close", {state: (_C,) for state in (*_OPEN, _P)}),
}


@dataclass(slots=True)
class _Latches:
    answer_begun: bool = False
    final_seen: bool = False
    asked: bool = False
    stop_asked: bool = False
    closed: bool = False


class Turn:
    """One turn. Only `handle` changes it.

    `late` counts the late events. `shows_words`: the agent's words about its own failure are for readers.
    """

    def __init__(self, *, shows_words: bool = False) -> None:
        self._shows_words = shows_words
        self.state = State.WAITING
        self.late = 0
        self._latches = _Latches()
        self._handed: list[str] = []  # what was handed on for showing, in pieces: an answer has thousands
        self._handed_chars = 0
        self._before_tool = 0  # how many characters of it were before the last tool call
        self._has_retracted = False
        self._target: list[str] | None = None  # what the thread must show in the end, where that differs
        self._compared: Comparison | None = None
        self._certain = False
        self._form: Form | None = None
        self._end: TaskEnded | None = None
        self._cards: dict[str, TaskCard] = {}
        self._idle_notice = IdleNotice()
        self._steps: dict[str, PlanStep] = {}
        self._plan_steps: tuple[PlanStep, ...] = ()  # the newest plan
        self._plan_title = ""
        self._thinking: list[str] = []  # in pieces, as the answer

    @property
    def latches(self) -> dict[str, bool]:
        """The latches by name, for explaining."""
        return {name: getattr(self._latches, name) for name in _Latches.__slots__}

    @property
    def waits_for_human(self) -> bool:
        """The agent waits for a sign-in, and the turn goes on meanwhile."""
        return self._form is not None and self._form.is_auth and not self._latches.closed

    def prepare(self, event: Event) -> Iterator[None]:
        """The long work of `handle` in advance, step by step: a long answer is compared with another."""
        if isinstance(event, AnswerReplaced | FinalAnswer):
            self._compared = Comparison(self._answer(), event.text)
            yield from self._compared.work()

    def handle(self, event: Event) -> list[Action]:
        """What `event` means now. Raises nothing; a late event gives no order."""
        rule = TABLE.get((self.state, type(event)))
        if rule is None:
            self.late += 1
            return []
        method: Callable[[Event], tuple[State, list[Action]]] = getattr(self, rule.method)
        self.state, actions = method(event)
        assert self.state in rule.leads_to, (rule, self.state)
        return [*self._close_idle_card(event), *actions]

    def _begin(self, event: TurnBegun) -> tuple[State, list[Action]]:
        return self.state, [ShowStatus(THINKING, event.reason)]

    def _remember(self, event: TaskKnown) -> tuple[State, list[Action]]:
        return self.state, [SaveIds(event.task_id, event.context_id, event.trace_id, event.reason)]

    def _narrate(self, event: Narrated) -> tuple[State, list[Action]]:
        if not event.text.strip():
            return self.state, [NoOp(event.reason)]
        if not event.passing:
            if event.replaces:
                self._thinking.clear()
            self._thinking.append(event.text)
        if self.state is State.WAITING:
            return self.state, [ShowStatus(RESPONDING, f"narration: {event.reason}")]
        return self.state, [NoOp(f"narration is not shown as text: {event.reason}")]

    def _grow(self, event: AnswerText) -> tuple[State, list[Action]]:
        first = not self._latches.answer_begun
        self._latches.answer_begun = True
        if self._target is not None:
            self._target.append(event.text)
            return State.ANSWERING, [NoOp("held: the answer was replaced, it is rewritten at the end")]
        text = event.text.lstrip("\n") if self._has_retracted and not self._handed_chars else event.text
        self._hand_on(text)
        reason = f"answer {'latched' if first else 'grows'}: {event.reason}"
        return State.ANSWERING, [AppendText(text, reason)]

    def _narrated(self, event: NarrationConfirmed) -> tuple[State, list[Action]]:
        """Unseen narration is retracted; what was shown is rewritten at the end."""
        chars, before = self._handed_chars, self._before_tool
        self._before_tool = chars
        if not event.unseen or self._target is not None or chars == before:
            return self.state, [NoOp(f"nothing to take back: {event.reason}")]
        self._handed, self._handed_chars = [self._answer()[:before]], before
        self._before_tool, self._has_retracted = before, True
        return self.state, [RetractText(chars - before, f"narration that nobody has seen: {event.reason}")]

    def _replace(self, event: AnswerReplaced) -> tuple[State, list[Action]]:
        self._latches.answer_begun = True
        return State.ANSWERING, self._reconcile(event.text, event.reason)

    def _settle(self, event: FinalAnswer) -> tuple[State, list[Action]]:
        self._latches.final_seen = True
        self._certain = self._certain or event.certain
        if not event.text.strip():
            return State.SETTLED, [FlushText("the final answer is empty: what was written stands")]
        self._latches.answer_begun = True
        reason = f"final answer from {event.origin}: {event.reason}"
        return State.SETTLED, [*self._reconcile(event.text, reason), FlushText("final answer known")]

    def _reconcile(self, text: str, reason: str) -> list[Action]:
        """Compare `text`, the whole answer, with what was handed on (delivery.md 2)."""
        answer = self._answer()
        compared = self._compare(answer, text)
        if compared.is_same:
            self._target = None
            return [NoOp(f"equal to what was delivered: {reason}")]
        rest = compared.missing
        if rest is not None:
            self._target = None
            self._hand_on(rest)
            return [AppendText(rest, f"{'the missing rest' if answer else 'delivered now'}: {reason}")]
        self._target = [text]
        return [NoOp(f"differs from what was delivered, rewritten at the end: {reason}")]

    def _compare(self, answer: str, text: str) -> Comparison:
        """The comparison: as `prepare` did it, or made now."""
        known, self._compared = self._compared, None
        if known is not None and (known.shown, known.whole) == (answer, text):
            return known
        return Comparison(answer, text).result()

    def _hand_on(self, text: str) -> None:
        self._handed.append(text)
        self._handed_chars += len(text)

    def _answer(self) -> str:
        """All that was handed on for showing."""
        self._handed = ["".join(self._handed)]
        return self._handed[0]

    def _start_tool(self, event: ToolStarted) -> tuple[State, list[Action]]:
        state = State.WORKING if self.state is State.WAITING else self.state
        step, label = self._steps.get(event.step_id or ""), event.label or event.title
        if step is not None and step.id in self._cards:
            card = replace(self._cards[step.id], details=f"{label}\n", output="")
            return state, [UpdateCard(card, f"tool of step {step.id} started: {event.reason}")]
        card = TaskCard(event.tool_id, label, CardState.RUNNING)
        return state, [self._show(card, f"tool started: {event.reason}")]

    def _end_tool(self, event: ToolEnded) -> tuple[State, list[Action]]:
        card = self._cards.get(event.tool_id)
        if card is None or card.state is not CardState.RUNNING:
            return self.state, [NoOp(f"tool ended, no card of its own: {event.reason}")]
        ended = replace(card, state=CardState.ERROR if event.failed else CardState.DONE)
        return self.state, [self._show(ended, f"tool ended: {event.reason}")]

    def _plan(self, event: PlanChanged) -> tuple[State, list[Action]]:
        actions: list[Action] = []
        for step in event.steps:
            known = self._steps.get(step.id)
            self._steps[step.id] = step
            if known != step and step.state is not StepState.PENDING:
                actions.append(self._show(self._step_card(step), f"step is {step.state}: {event.reason}"))
        title = self._retitle(event, changed=bool(actions))
        self._plan_steps = event.steps
        if not actions:
            return self.state, title or [NoOp(f"no step has begun or changed: {event.reason}")]
        return (State.WORKING if self.state is State.WAITING else self.state), [*title, *actions]

    def _step_card(self, step: PlanStep) -> TaskCard:
        state = _CARD_STATES[step.state]
        details, closes = "", state is not CardState.RUNNING
        if closes:
            details = "".join(self._thinking).strip()
            self._thinking.clear()
        return TaskCard(step.id, step.title, state, details=details)

    def _retitle(self, event: PlanChanged, *, changed: bool) -> list[Action]:
        """The running step while there is one; what was done once all steps have ended."""
        steps = event.steps
        running = next((n for n, step in enumerate(steps, 1) if step.state is StepState.RUNNING), None)
        if running is not None:
            if len(steps) < 2 or not changed:
                return []
            self._plan_title = f"Step {running} of {len(steps)}: {steps[running - 1].title}"
            return [SetPlanTitle(self._plan_title, "the running step changed")]
        if any(step.state is StepState.PENDING for step in steps):
            return []
        return self._title_as_done(event.title.strip() or _done(steps), "all steps have ended")

    def _title_as_done(self, title: str, reason: str) -> list[Action]:
        if not title or title == self._plan_title:
            return []
        self._plan_title = title
        return [SetPlanTitle(title, reason)]

    def _title_in_the_end(self, outcome: Outcome) -> list[Action]:
        """Steps that the agent left open count as their cards are closed. A stop writes nothing."""
        steps = self._plan_steps
        ended = all(step.state in (StepState.DONE, StepState.FAILED) for step in steps)
        begun = any(step.state is not StepState.PENDING for step in steps)
        if ended or not begun or outcome is Outcome.STOPPED:
            return []
        went_well = outcome in (Outcome.ANSWERED, Outcome.ASKED)
        return self._title_as_done(
            _done(steps, StepState.DONE if went_well else StepState.FAILED), "the turn is over"
        )

    def _show(self, card: TaskCard, reason: str) -> UpdateCard:
        self._cards[card.id] = replace(card, details="", output="")
        return UpdateCard(card, reason)

    def _ask(self, event: InputRequired) -> tuple[State, list[Action]]:
        known, self._form = self._form, event.form
        self._latches.asked = True
        flush = FlushText(f"the agent asks: {event.reason}")
        if not self.waits_for_human or known == event.form or (form := self._form_to_show()) is None:
            return self.state, [flush]
        return self.state, [flush, ShowForm(form, "the agent may go on by itself after a sign-in")]

    def _go_on(self, event: AuthCompleted) -> tuple[State, list[Action]]:
        self._form = None
        return self.state, [ShowStatus(THINKING, f"the sign-in was seen: {event.reason}")]

    def _end_task(self, event: TaskEnded) -> tuple[State, list[Action]]:
        self._end = event
        return self.state, [FlushText(f"task {event.end}: {event.reason}")]

    def _wait(self, event: AgentIdle) -> tuple[State, list[Action]]:
        if self.waits_for_human:
            return self.state, [NoOp("the human is waited for, not the agent")]
        shown = self._idle_notice.show(event, in_message=self.state is not State.WAITING)
        if isinstance(shown, TaskCard):
            return self.state, [self._show(shown, f"no news: {event.reason}")]
        return self.state, [ShowStatus(shown, event.reason) if shown else NoOp(f"a pause: {event.reason}")]

    def _close_idle_card(self, event: Event) -> list[Action]:
        """The first thing that shows ends the wait, and its card is closed."""
        card = None if isinstance(event, _UNSHOWN) else self._idle_notice.end()
        return [] if card is None else [self._show(card, "the agent was heard again")]

    def _stop(self, event: StopRequested) -> tuple[State, list[Action]]:
        self._latches.stop_asked = True
        return State.STOPPING, [NoOp(f"stopped by {event.user}: the agent is asked to cancel")]

    def _close(self, event: StreamEnded) -> tuple[State, list[Action]]:
        actions: list[Action] = []
        if self._target is not None and not self._latches.stop_asked:
            actions.append(RewriteAnswer("".join(self._target), "what was delivered is not the answer"))
        close = self._ending(event)
        if close.outcome is Outcome.ASKED and (form := self._form_to_show()) is not None:
            actions.append(ShowForm(form, "the agent waits for the human"))
        if close.outcome is Outcome.ANSWERED and not self._latches.answer_begun:
            actions.append(AppendText(NO_ANSWER, "the agent wrote nothing"))
        self._latches.closed = True
        return State.CLOSED, [*actions, *self._title_in_the_end(close.outcome), close]

    def _ending(self, event: StreamEnded) -> EndTurn:
        if self._latches.stop_asked:
            return EndTurn(Outcome.STOPPED, event.safe or "Stopped.", reason=event.reason)
        if self._end is not None and self._end.end is not TaskEnd.COMPLETED:
            begun = self._latches.answer_begun and not self._certain
            return task_failure(self._end, shows_words=self._shows_words, is_unfinished=begun)
        if self._form is not None and (self._end is None or not self._latches.answer_begun):
            return EndTurn(Outcome.ASKED, reason="the agent asked")
        return self._by_stream(event)

    def _by_stream(self, event: StreamEnded) -> EndTurn:
        if event.end is StreamEnd.CLOSED or self._end is not None or self._certain:
            retry = not self._latches.answer_begun
            return EndTurn(Outcome.ANSWERED, offer_retry=retry, reason=event.reason)
        begun = self._latches.answer_begun
        return stream_failure(event, shows_words=self._shows_words, is_unfinished=begun)

    def _form_to_show(self) -> Form | None:
        """The question, without a prompt that is answer text already."""
        form = self._form
        if form is None or len(form.prompt) > _SEARCHED:
            return form
        answer = "".join(self._target or ()) or self._answer()
        if len(answer) > _SEARCHED or not contains(answer, form.prompt):
            return form
        return replace(form, prompt="") if form.fields else None


def _done(steps: Sequence[PlanStep], running: StepState = StepState.RUNNING) -> str:
    """What became of `steps`; running ones count as `running`. "" for fewer than two: one card says it."""
    if len(steps) < 2:
        return ""
    states = [running if step.state is StepState.RUNNING else step.state for step in steps]
    done, failed = states.count(StepState.DONE), states.count(StepState.FAILED)
    if done == len(steps):
        return f"{done} steps done"
    return f"{done} of {len(steps)} steps done" + (f", {failed} failed" if failed else "")


_UNSHOWN = (AgentIdle, TaskKnown, Narrated, NarrationConfirmed, StopRequested, StreamEnded)
_CARD_STATES = {
    StepState.PENDING: CardState.RUNNING,
    StepState.RUNNING: CardState.RUNNING,
    StepState.DONE: CardState.DONE,
    StepState.FAILED: CardState.ERROR,
}
