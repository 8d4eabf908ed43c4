"""PURE. The twelve answers that are played into a channel, to see how its threads look."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...testing.tape.builders import answer, failure, question, status, task
from ...testing.tape.tape import Moment, Tape

_CLOSED = Moment(1.4, end="closed")


@dataclass(frozen=True, slots=True)
class PlayedAnswer:
    """An answer of an agent. `stop_at`: seconds after which its asker says stop. `settings`: of the bot.

    `is_cut`: it is longer than a message, and where it goes on in the next one depends on the moment.
    """

    name: str
    tape: Tape
    stop_at: float | None = None
    is_cut: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


def _artifact(*parts: Mapping[str, Any], name: str = "streaming_result", **metadata: Any) -> dict[str, Any]:
    artifact = {"artifactId": name, "name": name, "metadata": metadata, "parts": list(parts)}
    return {
        "kind": "artifact-update", "taskId": "task-1", "contextId": "ctx-1", "append": False,
        "artifact": artifact,
    }  # fmt: skip


def _with(tape: Tape, *events: Mapping[str, Any]) -> Tape:
    """`tape`, with events before its text."""
    first, *rest = tape.moments
    early = [Moment(0.12 + 0.01 * number, event=dict(event)) for number, event in enumerate(events)]
    return replace(tape, moments=(first, *early, *rest))


def _asking(data: Mapping[str, Any], text: str) -> Tape:
    """The task asks with a form."""
    parts = [{"kind": "text", "text": text}, {"kind": "data", "data": dict(data)}]
    event = status("input-required")
    event["status"]["message"] = {
        "kind": "message", "messageId": "asks", "role": "agent", "parts": parts,
    }  # fmt: skip
    return Tape({"wire": "0.3"}, (Moment(0.1, event=task()), Moment(1.0, event=event), _CLOSED))


PARAGRAPH = "Paragraph "
_WORDS = (
    " is one of many. It has **bold words**, *slanted ones*, `code` and a [link](https://example.com/a)."
    " It says nothing else.\n\n"
)


def _paragraphs(count: int) -> str:
    return "".join(f"{PARAGRAPH}{number}{_WORDS}" for number in range(1, count + 1))


_MARKDOWN = """# One heading

- first point
- second point
  - a point below it
    1. counted
    2. twice

> quoted words

```python
def f(x):
    return x < 1 & 2
```

~~struck~~ and **bold** and _slanted_, then a line

---

The end.
"""
_TABLES = """Before the table.

| City | Degrees | Rain |
|---|---:|---|
| Rome | 21 | no |
| Oslo | 9 | yes |

Between the tables.

| a | b |
|---|---|
| `code` | **bold** |

After them.
"""
_UNICODE = (
    "Emoji \U0001f468‍\U0001f469‍\U0001f467 and \U0001f1ee\U0001f1f9, a combined é, "
    "日本語の文, العربية, עברית, ไทย, हिन्दी, "
    "\U0001d49c mathematics, zero​width, non breaking, & < > and \\* marks.\n"
)
_STEPS = {
    "steps": [
        {"step_id": "1", "title": "Search the guide", "status": "completed", "agent": "guide"},
        {"step_id": "2", "title": "Compare what was found", "status": "completed", "agent": "guide"},
    ]
}
_FORM = {
    "type": "object",
    "required": ["env"],
    "properties": {
        "env": {"title": "Where", "enum": ["dev", "prod"]},
        "why": {"title": "Why", "type": "string", "maxLength": 500},
        "sure": {"title": "Sure", "type": "boolean"},
    },
}
_FILE = {"name": "measured.csv", "mimeType": "text/csv", "bytes": base64.b64encode(b"a,b\n1,2\n").decode()}

_REPORT = _artifact({"kind": "file", "file": _FILE}, name="report")

ANSWERS = (
    PlayedAnswer("short", answer("A short answer.", seconds=0.5)),
    PlayedAnswer("markdown", answer(_MARKDOWN, seconds=2.0)),
    PlayedAnswer("tables", answer(_TABLES, seconds=2.0)),
    PlayedAnswer("unicode", answer(_UNICODE * 3, seconds=2.0)),
    PlayedAnswer("long", answer(_paragraphs(160), seconds=6.0), is_cut=True),
    PlayedAnswer(
        "cards",
        _with(
            answer("The answer after two steps.", seconds=1.0),
            _artifact({"kind": "data", "data": _STEPS}, name="execution_plan_update"),
        ),
    ),
    PlayedAnswer(
        "rotation",
        answer(_paragraphs(30), seconds=25.0),
        is_cut=True,
        settings={"rotate_after": 10.0, "rotate_grace": 1.0},
    ),
    PlayedAnswer("stop", answer(_paragraphs(60), seconds=30.0), stop_at=6.0),
    PlayedAnswer("form", _asking(_FORM, "Where should it go?")),
    PlayedAnswer("question", question("Which of the two do you mean?")),
    PlayedAnswer("failure", failure("The tool could not be reached.")),
    PlayedAnswer("file", _with(answer("The file is below.", seconds=1.0), _REPORT)),
)
