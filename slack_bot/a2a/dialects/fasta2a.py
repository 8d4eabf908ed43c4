"""PURE. fasta2a (Pydantic AI): one artifact that every chunk appends to, the first one too.

At the end it is replaced by the result, from which the text before a tool call is gone; so what was told
live is measured against it (facts: A2A 8).
"""

from __future__ import annotations

from dataclasses import replace

from .generic import GENERIC

FASTA2A = replace(GENERIC, name="fasta2a", answer_source="artifact")
