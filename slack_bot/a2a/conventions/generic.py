"""PURE. Any A2A agent: artifacts are the answer, working-status text is narration, the flags are honoured."""

from __future__ import annotations

from .table import Convention, Kind

GENERIC = Convention(name="generic", default=Kind.ANSWER)
