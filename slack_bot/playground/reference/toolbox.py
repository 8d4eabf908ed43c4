"""The tools of the playground's agent: `search` and `fetch_document`, each with its own limit.

A model that searches in circles must be stopped, but a spent tool says nothing about the others: a call
beyond the limit is answered with a sentence, never with an error, and never ends the run.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from .search import Hit, Library

SEARCH = "search"
FETCH = "fetch_document"
CAPS: Mapping[str, int] = {SEARCH: 5, FETCH: 10}
"""Calls of each tool in one run. The numbers are those of CAIPE's supervisor (facts: CAIPE 6)."""
_ARGUMENTS: Mapping[str, str] = {SEARCH: "query", FETCH: "name"}


def argument_name(tool: str) -> str:
    """What the one argument of `tool` is called in a call's JSON."""
    return _ARGUMENTS.get(tool, "input")


_LABELS: Mapping[str, str] = {SEARCH: "Search", FETCH: "Read"}


def argument_of(tool: str, arguments: str) -> str:
    """The argument in a call's JSON; empty where a model wrote something else."""
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return ""
    value = found.get(argument_name(tool)) if isinstance(found, dict) else None
    return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back. `text` is for the model; `capped`: it was not run, its limit is reached."""

    text: str
    hits: tuple[Hit, ...] = ()
    capped: bool = False
    failed: bool = False


@dataclass(slots=True)
class Toolbox:
    """The tools of one run."""

    library: Library
    caps: Mapping[str, int] = field(default_factory=lambda: CAPS)
    calls: Counter[str] = field(default_factory=Counter)

    def label(self, tool: str, argument: str) -> str:
        """What a call does, for a person: a page is named by its title."""
        found = self.library.sections_of(argument) if tool == FETCH else []
        shown = found[0].title if found else " ".join(argument.split())
        name = _LABELS.get(tool) or tool.replace("_", " ").capitalize()
        return f"{name} “{shown}”" if shown else name

    def call(self, tool: str, argument: str) -> ToolResult:
        """Run `tool`. An unknown tool or document is a failed result, not an exception."""
        self.calls[tool] += 1
        cap = self.caps.get(tool)
        if cap is not None and self.calls[tool] > cap:
            return ToolResult(f"limit reached: {tool} may be called {cap} times in one run", capped=True)
        if tool == SEARCH:
            hits = tuple(self.library.search(argument))
            return ToolResult("\n".join(f"{hit.section.page}: {hit.section.heading}" for hit in hits), hits)
        page = self.library.fetch(argument) if tool == FETCH else None
        if page is None:
            return ToolResult(f"{tool} has nothing for {argument!r}", failed=True)
        return ToolResult(page)
