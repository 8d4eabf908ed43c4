"""What the playground's agent shows besides text when it is asked for it by name: a table, a chart, a file,
its sources.
"""

import re
from collections.abc import Mapping
from typing import Any

from a2a.helpers import new_data_part
from a2a.types import Part

from .event_writer import EventWriter
from .voice_splitter import Voice

EXAMPLES = ("Show me a table", "Show me a chart", "Show me a file", "Show me your sources")
"""Questions that lead here."""
_ASKED = re.compile(
    r"\s*(?:please )?(?:(?:show|give|send) me )?(?:an? |the |your )?(table|chart|file|sources)"
    r"(?:,? please)?\W*\Z",
    re.IGNORECASE,
)
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri")
_ASKED_A_DAY, _ANSWERED_A_DAY = (31, 42, 38, 47, 29), (30, 42, 37, 45, 29)
_PAGES = (
    ("https://a2a-protocol.org/latest/specification/", "The A2A protocol"),
    ("https://docs.agntcy.org/", "AGNTCY documentation"),
)
_TABLE: Mapping[str, Any] = {
    "type": "table",
    "title": "Questions of last week",
    "columns": ["day", "asked", "answered"],
    "rows": [list(row) for row in zip(_DAYS, _ASKED_A_DAY, _ANSWERED_A_DAY, strict=True)],
}
_CHART: Mapping[str, Any] = {
    "type": "chart",
    "chart": "bar",
    "title": "Questions of last week",
    "categories": list(_DAYS),
    "series": [
        {"name": "asked", "data": list(_ASKED_A_DAY)},
        {"name": "answered", "data": list(_ANSWERED_A_DAY)},
    ],
    "x_label": "day",
}
_SOURCES: Mapping[str, Any] = {
    "type": "citations",
    "citations": [{"url": url, "title": title} for url, title in _PAGES],
}
_CODE = b'def greet(name: str) -> str:\n    return f"Hello, {name}."\n'


def asked_for(question: str) -> str:
    """`table`, `chart`, `file` or `sources`; "" for any other question."""
    found = _ASKED.match(question)
    return found[1].lower() if found else ""


async def show(what: str, writer: EventWriter) -> None:
    """The text first, then what it is about, then the end."""
    text, part, about = {
        "table": ("Here is how last week went.\n", new_data_part(dict(_TABLE)), "A table"),
        "chart": ("Here is how last week went, as a chart.\n", new_data_part(dict(_CHART)), "A chart"),
        "file": (
            "Here is a small program for you.\n",
            Part(raw=_CODE, filename="greet.py", media_type="text/x-python"),
            "A Python program that greets by name",
        ),
        "sources": (
            "Agents speak A2A with each other [1], and AGNTCY lets them find each other [2].\n",
            new_data_part(dict(_SOURCES)),
            "Sources",
        ),
    }[what]
    await writer.say(text, Voice.ANSWER)
    await writer.attach(part, about)
    await writer.finish(text)
