"""PURE. The dialect of Google's ADK, and of kagent, which is built on it.

The text of an exception comes in a working status too, with a code.
"""

from dataclasses import replace

from .dialect import GENERIC

KAGENT_KEY = "kagent_"
ADK_KEYS = ("adk_", KAGENT_KEY)
"""How the metadata keys begin that no other dialect uses."""
ADK = replace(
    GENERIC,
    name="adk",
    mixes_ids=True,
    narrates_before_tools=True,
    answer_source="status",  # where it streams; else an artifact
    errors=("adk_error_code", "kagent_error_code"),
    keys=ADK_KEYS,
)
