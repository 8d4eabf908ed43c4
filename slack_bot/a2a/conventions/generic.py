"""PURE. Any A2A agent: artifacts are the answer, working-status text is narration, the flags are honoured.

Only names that cannot mean an answer are known by name: thinking, tool calls, an interrupt. What an agent
thinks is kept all the same, and shown if it said nothing else.
"""

from __future__ import annotations

import re

from .table import Convention, Kind

PATTERNS = (
    (
        re.compile(
            r"^(agent[ _-])?(thoughts?|thinking|reasoning|scratchpad|chain[ _-]of[ _-]thought)$", re.I
        ),
        Kind.THOUGHT,
    ),
    (re.compile(r"^(tool|function)[ _-]?(call|use|result|output|response|invocation)s?$", re.I), Kind.TOOL),
    (re.compile(r"^interrupt$", re.I), Kind.FORM),
)

GENERIC = Convention(name="generic", default=Kind.ANSWER, patterns=PATTERNS)
