"""PURE. Strands agents: deltas in working-status text, then one artifact with all of it and a line end.

In its compliant mode the artifact itself is streamed; that needs no dialect. A first question is answered
live if the settings name this one, later ones are by what was learned (facts: A2A 8).
"""

from __future__ import annotations

from dataclasses import replace

from .generic import GENERIC

STRANDS = replace(GENERIC, name="strands", answer_source="status")
