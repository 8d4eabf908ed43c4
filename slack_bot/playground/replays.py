"""Captures on the page: each question of a tape is asked when the one before it is answered.

They are asked by a person of their own, whom no visitor can be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ..clock import Clock
from ..observe.facts import Fact, TurnClosed
from ..tools.tape import Recording, Tape, turns_of
from ..turn.record import Question, ThreadKey
from .switchboard import Switchboard
from .workspace import Workspace

REPLAYER = "U0REPLAY"


@dataclass(frozen=True, slots=True)
class Planned:
    """A capture to replay. `speed` is how much faster than it was; 0: at once."""

    name: str
    capture: Tape | Recording
    speed: float
    key: str | None = None


@dataclass(frozen=True, slots=True)
class _Further:
    """What is still to be asked in a thread."""

    thread_ts: str
    speed: float
    turns: Sequence[tuple[str | None, Tape | Recording]]


class Replays:
    """Asks what captures answer, in `channel`. A watcher: it hears when a turn is over."""

    def __init__(self, workspace: Workspace, switchboard: Switchboard, clock: Clock, channel: str) -> None:
        self._workspace, self._switchboard, self._clock = workspace, switchboard, clock
        self._channel = channel
        self._further: dict[str, _Further] = {}

    def begin(self, planned: Planned) -> str:
        """Ask the first question of a capture. Returns its ts."""
        capture, chosen = planned.capture, planned.key
        turns = turns_of(capture) if isinstance(capture, Tape) else ((None, capture),)
        asked = turns[0][0]
        shown = f"`{planned.name}`" + (f" ({chosen})" if chosen else "") + (f": {asked}" if asked else "")
        return self._ask(f"Replay of {shown}", turns, None, planned.speed)

    def __call__(self, fact: Fact) -> None:
        """A turn that is over may have a sequel."""
        further = self._further.pop(fact.turn, None) if isinstance(fact, TurnClosed) else None
        if further is not None:
            said = further.turns[0][0] or "(a follow-up)"
            self._ask(said, further.turns, further.thread_ts, further.speed)

    def _ask(
        self,
        said: str,
        turns: Sequence[tuple[str | None, Tape | Recording]],
        thread_ts: str | None,
        speed: float,
    ) -> str:
        """Ask what the first of `turns` answers. Returns the question's ts."""
        text = f"<@{self._workspace.bot.user_id}> {escape(said, quote=False)}"
        # Delivery to the bot is a task of its own, so the tape is plugged in before the question can arrive.
        ts = self._workspace.say(REPLAYER, self._channel, text, now=self._clock.wall(), thread_ts=thread_ts)
        team, root = self._workspace.state.team, thread_ts or ts
        question = Question(ThreadKey(team, self._channel, root), ts, REPLAYER, team, text)
        self._switchboard.plug(question.message_id, turns[0][1], speed if speed > 0 else math.inf)
        if further := turns[1:]:
            self._further[question.key] = _Further(root, speed, further)
        return ts
