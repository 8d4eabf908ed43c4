"""`slack-bot replay --spans`: the spans that the bot would have sent, as JSON Lines."""

import json
from collections.abc import Sequence
from itertools import count

from ...features.traces.spans import TraceSpan, TurnSpans
from ...observe.facts import Fact
from ...testing.tape.json_file import Json
from ..turn_log import TurnLog


class SpanLog(TurnLog):
    """A log that makes spans too. Their times are the clock's, their ids the same each time."""

    def __init__(self) -> None:
        super().__init__()
        self.spans: list[TraceSpan] = []
        self._of_turns = TurnSpans(self.spans.append, lambda: 0.0, count(1).__next__)

    def take(self, fact: Fact) -> None:
        super().take(fact)
        self._of_turns(fact)


def as_lines(spans: Sequence[TraceSpan]) -> str:
    """A line each, in the order they began. Times are seconds from the first one."""
    first = min((each.began for each in spans), default=0.0)
    ordered = sorted(spans, key=lambda each: (each.began, each.parent is not None, -each.ended))
    return "".join(f"{json.dumps(_as_json(each, first))}\n" for each in ordered)


def _as_json(span: TraceSpan, first: float) -> Json:
    """`span`, without what it does not have."""
    found = {
        "trace": f"{span.trace:032x}",
        "id": f"{span.id:016x}",
        "parent": None if span.parent is None else f"{span.parent:016x}",
        "name": span.name,
        "start": round(span.began - first, 3),
        "end": round(span.ended - first, 3),
        "attributes": dict(span.attributes),
        "error": span.error or None,
        "link": f"{span.link[0]:032x}-{span.link[1]:016x}" if span.link else None,
    }
    return {name: value for name, value in found.items() if value is not None or name == "parent"}
