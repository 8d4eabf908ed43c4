"""PURE. Why a turn failed, in words for a program or an operator, who do not see its thread."""

from collections.abc import Mapping

from ..text.feature_words import AGENT_FAILED, ANSWER_LOST, BECAUSE, NOT_ASKED
from ..text.sanitize import sanitize
from .progress import Stage, TurnRecord
from .record import Outcome

_MOST_REASON = 300  # characters
_WORDS: Mapping[Outcome | None, str] = {
    Outcome.FAILED: AGENT_FAILED,
    Outcome.LOST: ANSWER_LOST,
    Outcome.REFUSED: NOT_ASKED,
}


def why_failed(turn: TurnRecord | None, secrets: tuple[str, ...] = ()) -> str:
    """One sentence, with what the agent or the bot said of it; "" if the turn did not fail, or not yet."""
    if turn is None or turn.stage is not Stage.ENDED or (words := _WORDS.get(turn.outcome, "")) == "":
        return ""
    why = " ".join(sanitize(turn.said or turn.reason, secrets).split()).strip(".")
    return BECAUSE.format(words.strip("."), _cut(why)) + "." if why else words


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_REASON else f"{text[: _MOST_REASON - 1]}…"
