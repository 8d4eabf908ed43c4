"""PURE. Any A2A agent: artifacts are the answer, working-status text is narration, the flags are honoured.

Only names that cannot mean an answer have a meaning: thinking, tool calls, an interrupt. Thoughts are shown
if nothing else came.
"""

from __future__ import annotations

import re

from .dialect import ArtifactKind, Dialect

PATTERNS = (
    (
        re.compile(
            r"^(agent[ _-])?(thoughts?|thinking|reasoning|scratchpad|chain[ _-]of[ _-]thought)$", re.I
        ),
        ArtifactKind.THOUGHT,
    ),
    (
        re.compile(r"^(tool|function)[ _-]?(call|use|result|output|response|invocation)s?$", re.I),
        ArtifactKind.TOOL,
    ),
    (re.compile(r"^interrupt$", re.I), ArtifactKind.FORM),
)

GENERIC = Dialect(name="generic", default=ArtifactKind.ANSWER, patterns=PATTERNS)
