"""PURE. Finds the next questions that an agent suggests, in metadata and in data parts.

The names are those that chat front ends and frameworks use: `suggestions`, `follow_up_questions`,
`suggested_questions` and their like. The last list that an agent sends counts.
"""

from collections.abc import Sequence
from typing import Any

from ...text.sanitize import LONGEST
from ...turn.extras import NextQuestion
from ...turn.json_values import Object, object_of, text_of
from ..wire.frames import Metadata, Part

SUGGESTIONS = frozenset(
    {
        "suggestions",
        "follow_up_questions",
        "followup_questions",
        "followUpQuestions",
        "follow_ups",
        "followups",
        "next_questions",
        "suggested_questions",
        "suggestedQuestions",
        "suggested_prompts",
    }
)
_ROWS = ("items", "questions")
_VAGUE = frozenset({"suggestions", "follow_ups", "followups"})  # alone in data they may be the answer itself
_TEXTS = ("text", "prompt", "message", "question")
_LABELS = ("label", "title")
_MOST = 20  # suggestions of one event


def names_suggestions(data: Any) -> bool:
    """Whether a data part is only a list of next questions."""
    if not isinstance(data, dict):
        return False
    if text_of(data.get("type")) in SUGGESTIONS:
        return True
    return len(data) == 1 and next(iter(data)) in SUGGESTIONS - _VAGUE


def suggestions_in(metadata: Metadata) -> tuple[NextQuestion, ...] | None:
    """The next questions that metadata names; None: it names no list of them."""
    listed = (_listed(value) for key, value in metadata.items() if key in SUGGESTIONS)
    return next((each for each in listed if each is not None), None)


def suggestions_of(part: Part) -> tuple[NextQuestion, ...] | None:
    """The same of a part, which may also be such a list."""
    if not (part.has_data and names_suggestions(part.data)):
        return suggestions_in(part.metadata)
    rows = (part.data[key] for key in part.data if key in SUGGESTIONS or key in _ROWS)
    return next((found for each in rows if (found := _listed(each)) is not None), None)


def _listed(rows: Any) -> tuple[NextQuestion, ...] | None:
    """None: it is no list."""
    if not isinstance(rows, list):
        return None
    found = []
    for row in rows[:_MOST]:
        about = {"text": row} if isinstance(row, str) else object_of(row)
        text, label = (_first(about, keys) for keys in (_TEXTS, _LABELS))
        if text or label:
            found.append(NextQuestion(text or label, label))
    return tuple(found)


def _first(about: Object, keys: Sequence[str]) -> str:
    found = (text_of(about.get(key)).strip() for key in keys)
    return next((text[:LONGEST] for text in found if text), "")
