"""What a reader learns besides the answer: a silence, how far a plan is, why a turn failed."""

from collections.abc import Sequence
from dataclasses import replace

from ..text.words import (
    AGENT_FAILED,
    AGENT_SAYS,
    CARD_NO_NEWS,
    CARD_NOTHING_NEW,
    CARD_NOTHING_NEW_YET,
    CARD_WAITING,
    PLAN_CONTINUES,
    PLAN_DONE,
    PLAN_DONE_IN_PART,
    PLAN_FAILED_STEPS,
    PLAN_RUNNING,
    STILL_WORKING,
    STILL_WORKING_WITHOUT_NEWS,
    TASK_CANCELED,
    TASK_FAILED,
    TASK_REJECTED,
    UNFINISHED,
    WAITING_FOR_AGENT,
    WAITING_FOR_SILENT_AGENT,
    WAITING_FOR_STOPPED_TASK,
)
from . import events
from .actions import CardState, EndTurn, SetPlanTitle, TaskCard
from .events import PlanStep, StepState, TaskEnd, TaskKnowledge
from .record import Outcome

_SPINS = 120.0  # seconds until the idle card is closed: an open card is carried into message after message
_MOST = 300  # characters of what the agent says about its failure
_KEPT = 2000  # characters of it that are kept for the operator
_TASK_ENDS = {
    TaskEnd.FAILED: TASK_FAILED,
    TaskEnd.CANCELED: TASK_CANCELED,
    TaskEnd.REJECTED: TASK_REJECTED,
}
_ENDED = {StepState.DONE, StepState.FAILED}


class IdleNotice:
    """What is shown while nothing comes from the agent: a status, or in an open message a card."""

    def __init__(self) -> None:
        self.card: TaskCard | None = None  # of the present wait
        self._count = 0

    def show(self, event: events.AgentIdle, *, in_message: bool) -> TaskCard | str:
        minutes = int(event.seconds // 60)
        if not in_message or (self.card is not None and self.card.state is CardState.DONE):
            return _status(event.known, minutes)
        if event.known is TaskKnowledge.QUIET:
            return ""  # answers have pauses
        self._count += self.card is None
        name = f"waiting-{self._count}"
        if event.seconds >= _SPINS:
            self.card = TaskCard(name, CARD_NO_NEWS.format(minutes), CardState.DONE)
        else:
            details = CARD_NOTHING_NEW.format(minutes) if minutes else CARD_NOTHING_NEW_YET
            self.card = TaskCard(name, CARD_WAITING, CardState.RUNNING, details)
        return self.card

    def end(self) -> TaskCard | None:
        card, self.card = self.card, None
        if card is None or card.state is CardState.DONE:
            return None
        return replace(card, state=CardState.DONE, details="")


def _status(known: TaskKnowledge, minutes: int) -> str:
    if known is TaskKnowledge.BEHIND:
        return WAITING_FOR_STOPPED_TASK
    if known is TaskKnowledge.WORKING:
        return STILL_WORKING_WITHOUT_NEWS.format(minutes) if minutes else STILL_WORKING
    is_silent = known is TaskKnowledge.UNKNOWN and minutes
    return WAITING_FOR_SILENT_AGENT.format(minutes) if is_silent else WAITING_FOR_AGENT


class PlanTitle:
    """The line above the cards: the running step, or what was done in the end."""

    def __init__(self) -> None:
        self._title = ""
        self._steps: tuple[PlanStep, ...] = ()  # of the newest plan

    def follow(self, event: events.PlanChanged, *, shows: bool) -> list[SetPlanTitle]:
        steps = self._steps = event.steps
        running = next((n for n, step in enumerate(steps, 1) if step.state is StepState.RUNNING), None)
        if running is not None:
            if len(steps) < 2 or not shows:
                return []
            self._title = PLAN_RUNNING.format(running, len(steps), steps[running - 1].title)
            return [SetPlanTitle(self._title, "the running step changed")]
        if any(step.state is StepState.PENDING for step in steps):
            return []
        return self._as_done(event.title.strip() or _done(steps), "all steps have ended")

    def end(self, outcome: Outcome) -> list[SetPlanTitle]:
        states = {step.state for step in self._steps}
        if outcome is Outcome.WATCHED and not (states and states <= _ENDED):
            return self._as_done(PLAN_CONTINUES, "the task goes on")
        if states <= _ENDED or states == {StepState.PENDING}:
            return []
        if outcome is Outcome.STOPPED:  # what ran has neither ended nor failed
            return self._as_done(_done(self._steps), "a person stopped the turn")
        went_well = outcome.has_completed or outcome is Outcome.ASKED
        title = _done(self._steps, StepState.DONE if went_well else StepState.FAILED)
        return self._as_done(title, "the turn is over")

    def _as_done(self, title: str, reason: str) -> list[SetPlanTitle]:
        if not title or title == self._title:
            return []
        self._title = title
        return [SetPlanTitle(title, reason)]


def _done(steps: Sequence[PlanStep], running: StepState = StepState.RUNNING) -> str:
    """Running steps count as `running`. "" for fewer than two: one card says it."""
    if len(steps) < 2:
        return ""
    states = [running if step.state is StepState.RUNNING else step.state for step in steps]
    done, failed = states.count(StepState.DONE), states.count(StepState.FAILED)
    if done == len(steps):
        return PLAN_DONE.format(done)
    return PLAN_DONE_IN_PART.format(done, len(steps)) + (PLAN_FAILED_STEPS.format(failed) if failed else "")


def failure(end: events.TaskEnded | events.StreamEnded, *, shows_words: bool, is_unfinished: bool) -> EndTurn:
    """The end of a turn whose task or stream ended so. `is_unfinished`: an answer was begun."""
    if isinstance(end, events.TaskEnded):
        outcome, note, reason = Outcome.FAILED, _TASK_ENDS[end.end], f"task {end.end}"
    else:
        outcome, note, reason = Outcome(end.end), end.safe or AGENT_FAILED, end.reason
    # frameworks put the text of an exception into a failed status
    words = " ".join(end.text.split())
    if words and (shows_words or end.end is TaskEnd.REJECTED):
        clipped = _clipped(words, _MOST)
        note += AGENT_SAYS.format(clipped) + ("" if clipped[-1] in ".!?…" else ".")
    note += UNFINISHED if is_unfinished else ""
    is_lasting = isinstance(end, events.StreamEnded) and end.is_lasting
    said = _clipped(words, _KEPT)
    code = end.code if isinstance(end, events.StreamEnded) else None
    return EndTurn(outcome, note, offer_retry=not is_lasting, reason=reason, said=said, code=code)


def _clipped(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"
