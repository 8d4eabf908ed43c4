"""PURE. Google's ADK, in its three modes, and kagent, which is built on it.

By default each model turn comes as working-status text, and the last one again as an artifact. With streaming
it comes as status deltas, then whole, then as the artifact. With ADK's extension artifacts are streamed, then
replaced by themselves. Tool calls are data parts marked `adk_type` (facts: A2A 8). An exception's text comes
twice: in a working status with an error code, and in the failed one.
"""

from __future__ import annotations

from dataclasses import replace

from .generic import GENERIC

ADK = replace(
    GENERIC,
    name="adk",
    signs=("adk_", "kagent_"),
    narrates_before_tools=True,
    errors=("adk_error_code", "kagent_error_code"),
)
