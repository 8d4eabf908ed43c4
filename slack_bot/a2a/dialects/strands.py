"""PURE. Strands agents: deltas in working-status text, then one artifact with all of it and a line end.

Its compliant mode streams the artifact and needs no dialect (facts: A2A 8).
"""

from __future__ import annotations

from dataclasses import replace

from .generic import GENERIC

STRANDS = replace(GENERIC, name="strands", answer_source="status")
