"""PURE. agno: the answer as message deltas with one id, a final status, then a task that has it again."""

from __future__ import annotations

from dataclasses import replace

from .generic import GENERIC

AGNO = replace(GENERIC, name="agno", answer_source="message")
