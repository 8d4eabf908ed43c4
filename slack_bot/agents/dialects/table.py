"""PURE. All dialects, one row each, and the keys and marks of all of them."""

from dataclasses import replace

from .adk import ADK
from .caipe import CAIPE, OLD_CAIPE
from .dialect import GENERIC

DIALECTS = (
    GENERIC,
    CAIPE,
    OLD_CAIPE,
    ADK,
    replace(GENERIC, name="strands", answer_source="status"),  # deltas, then all of it as an artifact
    replace(GENERIC, name="langgraph", answer_source="status"),  # growing snapshots, then an artifact
    replace(GENERIC, name="agno", answer_source="message"),  # deltas with one id, then a task with all of it
    replace(GENERIC, name="fasta2a", answer_source="artifact"),  # appended, the first chunk too
)
BY_NAME = {each.name: each for each in DIALECTS}
RECOGNISED = tuple(each for each in DIALECTS if each.keys or each.is_shown_by_names)
"""The dialects that an event can show."""
KEYS = tuple(dict.fromkeys(key for each in DIALECTS for key in each.keys))
ANSWER_MARKS = tuple(dict.fromkeys(mark for each in DIALECTS for mark in each.answer_marks))
NARRATION_MARKS = tuple(dict.fromkeys(mark for each in DIALECTS for mark in each.narration_marks))
