"""What to do: a closed union of frozen orders, which `runner` carries out. `reason` is for developers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from ..text.sanitize import LONGEST
from .acts import AgentAct
from .extras import Extra, NextQuestion, Source
from .form import Form
from .record import Outcome


class CardState(StrEnum):
    """Slack's three states of a task card that are safe to send (facts: Slack 1.4)."""

    RUNNING = "in_progress"
    DONE = "complete"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class TaskCard:
    """A task card. `details` and `sources` are deltas: Slack appends them (facts: Slack 1.4)."""

    id: str
    title: str
    state: CardState
    details: str = ""
    sources: tuple[Source, ...] = ()

    def then(self, newer: TaskCard) -> TaskCard:
        first, second = self.details, newer.details
        if len(first) > LONGEST:  # no call takes as much: an agent may change it again and again
            return replace(newer, details=first, sources=self.sources)
        apart = "\n" if first and second and not first.endswith("\n") else ""
        return replace(newer, details=f"{first}{apart}{second}", sources=self.sources + newer.sources)


@dataclass(frozen=True, slots=True)
class ShowStatus:
    """The typing status under the thread."""

    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AppendText:
    """More of the answer, to be shown live; a moment later if it is `unproven`."""

    text: str
    unproven: bool = field(default=False, kw_only=True)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FlushText:
    """Nothing follows soon: show what waits now."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class RetractText:
    """The last `chars` characters, which were never sent, are not to be shown."""

    chars: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class UpdateCard:
    """Open or change a task card."""

    card: TaskCard
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SetPlanTitle:
    """The line above the cards."""

    title: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RewriteAnswer:
    """In the end the thread must read `text`, not what it shows."""

    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ShowForm:
    """Show the agent's question: at the turn's end, or below what is shown if the turn goes on."""

    form: Form
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ShowExtra:
    """Show it below the text, when that is whole."""

    extra: Extra
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NameSources:
    """List these under the answer."""

    sources: tuple[Source, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SuggestQuestions:
    """Offer these below the answer, in place of those before."""

    questions: tuple[NextQuestion, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ActInSlack:
    """Do these things for the agent, as far as the channel allows them."""

    acts: tuple[AgentAct, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SaveIds:
    """Ids to keep with the thread. None: unchanged."""

    task_id: str | None = None
    context_id: str | None = None
    trace_id: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class EndTurn:
    """The turn is over. `note` is for the reader. `said`: the agent's own words on its failure, `code`: that
    of its error."""

    outcome: Outcome
    note: str = ""
    offer_retry: bool = False
    said: str = ""
    code: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NoOp:
    """Nothing is done; `reason` says why."""

    reason: str


Action: TypeAlias = (
    ShowStatus
    | AppendText
    | FlushText
    | RetractText
    | UpdateCard
    | SetPlanTitle
    | RewriteAnswer
    | ShowForm
    | ShowExtra
    | NameSources
    | SuggestQuestions
    | ActInSlack
    | SaveIds
    | EndTurn
    | NoOp
)
