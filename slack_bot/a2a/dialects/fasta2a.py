"""PURE. fasta2a (Pydantic AI): one artifact that every chunk appends to, the first one too.

At the end it is replaced by the result, which lacks the text before a tool call (facts: A2A 8).
"""

from __future__ import annotations

from dataclasses import replace

from .generic import GENERIC

FASTA2A = replace(GENERIC, name="fasta2a", answer_source="artifact")
