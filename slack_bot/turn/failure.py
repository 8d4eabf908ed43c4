"""PURE. Words for a program or an operator, who do not see the thread: why a turn failed, and who asked."""

from collections.abc import Mapping

from ..text.feature_words import (
    AGENT_FAILED,
    ANSWER_LOST,
    BECAUSE,
    HOOK_IN_WORDS,
    KEY_IN_WORDS,
    NOT_ASKED,
    SCHEDULE_IN_WORDS,
)
from ..text.sanitize import sanitize
from .progress import Stage, TurnRecord
from .record import Outcome

_MOST_REASON = 300  # characters
_WORDS: Mapping[Outcome | None, str] = {
    Outcome.FAILED: AGENT_FAILED,
    Outcome.LOST: ANSWER_LOST,
    Outcome.REFUSED: NOT_ASKED,
}
_PROGRAMS = {"schedule": SCHEDULE_IN_WORDS, "key": KEY_IN_WORDS, "hook": HOOK_IN_WORDS}


def why_failed(turn: TurnRecord | None, secrets: tuple[str, ...] = ()) -> str:
    """One sentence, with what the agent or the bot said of it; "" if the turn did not fail, or not yet."""
    if turn is None or turn.stage is not Stage.ENDED or (words := _WORDS.get(turn.outcome, "")) == "":
        return ""
    why = " ".join(sanitize(turn.said or turn.reason, secrets).split()).strip(".")
    return BECAUSE.format(words.strip("."), _cut(why)) + "." if why else words


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_REASON else f"{text[: _MOST_REASON - 1]}…"


def program_in_words(program: str) -> str:
    """What asks in place of a person (`Question.program`); "" for a person."""
    kind, name = program.partition(":")[::2]
    return _PROGRAMS.get(kind, "{}").format(name) if name else ""
