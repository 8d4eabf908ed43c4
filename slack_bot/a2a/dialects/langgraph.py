"""PURE. LangGraph's server: growing snapshots in working-status text, then one artifact with all of it.

Its question is an artifact named Interrupt, and the asking state has no message (facts: A2A 3, 8).
"""

from __future__ import annotations

from dataclasses import replace

from .generic import GENERIC

LANGGRAPH = replace(GENERIC, name="langgraph", answer_source="status")
