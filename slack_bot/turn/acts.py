"""PURE. What an agent asks the bot to do in Slack besides answering, and what of it may be done."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ..text.act_words import ACT_NOT_ALLOWED, ACT_UNKNOWN, NO_EMOJI, NO_MESSAGE, TOO_MANY_ACTS
from .record import MESSAGE_TS

REACT = "react"
MOST_ACTS = 5
"""Acts of one turn; more are not carried out."""
_EMOJI = re.compile(r"[a-z0-9_+'-]{1,80}(?:::skin-tone-[2-6])?")


@dataclass(frozen=True, slots=True)
class AgentAct:
    """One act, as the agent asked for it. `kind`: such as `react`, with the emoji `name` on the message `ts`.

    `ts` "": the message with the question.
    """

    kind: str
    name: str = ""
    ts: str = ""


class TurnActs:
    """Carries out what the agent of one turn asks for. This one does nothing."""

    def take(self, acts: Sequence[AgentAct]) -> None:
        """Carry out `acts`, soon. Must not block."""


def why_not(act: AgentAct, allowed: Collection[str], before: int) -> str:
    """Why `act` is not carried out, in words for the log and the thread; "": it is.

    `allowed`: the kinds of acts of the channel. `before`: how many acts of the turn came before it.
    """
    if act.kind != REACT:
        return ACT_UNKNOWN
    if act.kind not in allowed:
        return ACT_NOT_ALLOWED
    if before >= MOST_ACTS:
        return TOO_MANY_ACTS.format(MOST_ACTS)
    if not _EMOJI.fullmatch(act.name):
        return NO_EMOJI
    if act.ts and not MESSAGE_TS.fullmatch(act.ts):
        return NO_MESSAGE
    return ""


def new_acts(acts: Iterable[AgentAct], known: Collection[AgentAct]) -> list[AgentAct]:
    """Those that are not known yet, each once and in their order."""
    return [each for each in dict.fromkeys(acts) if each not in known]
