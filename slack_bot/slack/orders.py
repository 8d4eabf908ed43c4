"""PURE. What the runner hands to the sink, and what the sink answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..turn.actions import TaskCard
from ..turn.form import Form
from ..turn.record import Outcome


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a turn is shown, and for whom.

    `can_stream` is false for askers that Slack refuses as recipients (bots). `asked_ts` is the ts of the
    question, "" for the thread's: what the turn writes is newer.
    """

    turn: str
    channel: str
    thread_ts: str
    user: str
    user_team: str
    can_stream: bool = True
    asked_ts: str = ""

    @property
    def log_fields(self) -> dict[str, str]:
        return {"turn": self.turn, "thread_ts": self.thread_ts}


@dataclass(frozen=True, slots=True)
class Batch:
    """What is to be shown with the next call. `text` is more of the answer that may be sent at once."""

    text: str = ""
    cards: tuple[TaskCard, ...] = ()
    plan_title: str | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.text or self.cards or self.plan_title)


class WriteResult(StrEnum):
    """What became of a write."""

    SHOWN = "shown"  # Slack said ok to all released text
    HELD = "held"  # released text is not confirmed yet: `tick` or `finish` shows it
    GONE = "gone"  # the thread was deleted: the turn ends quietly
    STOPPED = "stopped"  # the human stopped the stream: no answer text may appear any more


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn ends in the thread.

    `rest` is answer text that was never shown. `rewrite`, where set, is the whole text the thread must show
    in the end, instead of what was streamed. `note` is for the reader ("" where the answer says all). `cards`
    and `plan_title` are what waited to be shown when the turn ended.
    """

    outcome: Outcome
    rest: str = ""
    rewrite: str | None = None
    note: str = ""
    offer_retry: bool = False
    form: Form | None = None
    cards: tuple[TaskCard, ...] = ()
    plan_title: str | None = None
