"""PURE. LangGraph's server: growing snapshots in working-status text, then one artifact with all of it.

Its question to the human is an artifact named Interrupt, and the state that asks has no message; the generic
table knows that name (facts: A2A 3, 8).
"""

from __future__ import annotations

from dataclasses import replace

from .generic import GENERIC

LANGGRAPH = replace(GENERIC, name="langgraph", answer_source="status")
