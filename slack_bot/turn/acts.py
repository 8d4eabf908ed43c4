"""PURE. What an agent asks the bot to do in Slack besides answering, and what of it may be done."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ..text.feature_words import (
    ACT_NOT_ALLOWED,
    ACT_UNKNOWN,
    NO_CHANNEL,
    NO_EMOJI,
    NO_MESSAGE,
    NO_TEXT,
    POST_NOT_LISTED,
    TEXT_TOO_LONG,
    TOO_MANY_ACTS,
)
from .record import MESSAGE_TS

REACT, POST = "react", "post"
MOST_ACTS = 5
"""Acts of one turn; more are not carried out."""
MOST_TEXT = 3_000
"""Characters of a message that an agent posts."""
_CHANNEL = re.compile(r"[CG][A-Z0-9]{1,30}")
_EMOJI = re.compile(r"[a-z0-9_+'-]{1,80}(?:::skin-tone-[2-6])?")


@dataclass(frozen=True, slots=True)
class AgentAct:
    """One act, as the agent asked for it. `kind`: such as `react`, with the emoji `name` on the message `ts`,
    or `post`, with the Markdown `text` in `channel`.

    `ts` "": the message with the question.
    """

    kind: str
    name: str = ""
    ts: str = ""
    channel: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class AllowedActs:
    """What a channel allows: kinds of acts, and the channels into which an agent may post from there."""

    kinds: Collection[str] = ()
    post_to: Collection[str] = ()


class TurnActs:
    """Carries out what the agent of one turn asks for. This one does nothing."""

    def take(self, acts: Sequence[AgentAct]) -> None:
        """Carry out `acts`, soon. Must not block."""


def why_not(act: AgentAct, allowed: AllowedActs, before: int) -> str:
    """Why `act` is not carried out, in words for the log and the thread; "": it is.

    `allowed`: by the channel. `before`: how many acts of the turn came before it.
    """
    if act.kind not in (REACT, POST):
        return ACT_UNKNOWN
    if act.kind not in allowed.kinds:
        return ACT_NOT_ALLOWED
    if before >= MOST_ACTS:
        return TOO_MANY_ACTS.format(MOST_ACTS)
    return _why_no_post(act, allowed) if act.kind == POST else _why_no_reaction(act)


def _why_no_reaction(act: AgentAct) -> str:
    if not _EMOJI.fullmatch(act.name):
        return NO_EMOJI
    if act.ts and not MESSAGE_TS.fullmatch(act.ts):
        return NO_MESSAGE
    return ""


def _why_no_post(act: AgentAct, allowed: AllowedActs) -> str:
    if not _CHANNEL.fullmatch(act.channel):
        return NO_CHANNEL
    if act.channel not in allowed.post_to:
        return POST_NOT_LISTED.format(f"<#{act.channel}>")
    if not act.text.strip():
        return NO_TEXT
    return TEXT_TOO_LONG.format(MOST_TEXT) if len(act.text) > MOST_TEXT else ""


def new_acts(acts: Iterable[AgentAct], known: Collection[AgentAct]) -> list[AgentAct]:
    """Those that are not known yet, each once and in their order."""
    return [each for each in dict.fromkeys(acts) if each not in known]
