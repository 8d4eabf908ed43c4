"""PURE. Google's ADK, and kagent, which is built on it.

An exception's text comes in a working status too, with a code.
"""

from dataclasses import replace

from .dialect import GENERIC

KAGENT_KEY = "kagent_"
ADK_KEYS = ("adk_", KAGENT_KEY)
"""Beginnings of metadata keys that no other dialect uses."""
ADK = replace(
    GENERIC,
    name="adk",
    mixes_ids=True,
    narrates_before_tools=True,
    answer_source="status",  # where it streams; else an artifact
    errors=("adk_error_code", "kagent_error_code"),
    keys=ADK_KEYS,
)
