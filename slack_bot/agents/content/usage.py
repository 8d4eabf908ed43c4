"""PURE. Counts the tokens of a turn, if the agent reports them in the metadata of its events.

ADK and kagent report each call of the model (`adk_usage_metadata`), and repeat the report with each piece of
that call. kagent also reports the whole task (`kagent_usage_total`), which may be older than the turn, so it
is ignored. Others report the whole run: `usage` (OpenAI's names), `usage_metadata` (LangChain), `metrics`
(agno).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...turn.json_values import object_of

_CALLS = {"adk_usage_metadata": "adk_event_id", "kagent_usage_metadata": "kagent_event_id"}
"""The metadata key of a report on one call of the model, and the key that names the call."""
_NAMES = {"usage", "usage_metadata", "token_usage", "metrics", *_CALLS}
_INPUT = ("promptTokenCount", "prompt_token_count", "input_tokens", "prompt_tokens")
_OUTPUT = (
    "candidatesTokenCount",
    "candidates_token_count",
    "output_tokens",
    "completion_tokens",
    "outputTokens",
)
_TOTAL = ("totalTokenCount", "total_token_count", "total_tokens")
_COST = ("cost", "total_cost", "totalCost", "cost_usd", "response_cost")
_MEMBERS = ("task", "statusUpdate", "artifactUpdate", "message")
_MOST = 1_000  # calls of the model in one turn
_MOST_MONEY = 1e6  # of one call


@dataclass(slots=True)
class TokenUsage:
    """The tokens reported so far.

    `calls`: (input, output, total) by the id of the call, or "" for the whole run. `costs`: money, likewise.
    """

    calls: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    costs: dict[str, float] = field(default_factory=dict)

    def take(self, raw: Mapping[str, Any]) -> None:
        """Read one raw event of the agent. There may be many in a second."""
        for metadata in _metadata_in(raw):
            for name in _NAMES & metadata.keys():
                value = metadata[name]
                if isinstance(value, Mapping):
                    self._add(str(metadata.get(_CALLS.get(name, ""), "")), value)

    def _add(self, call: str, report: Mapping[str, Any]) -> None:
        counts = _count(report, _INPUT), _count(report, _OUTPUT), _count(report, _TOTAL)
        if any(counts) and (call in self.calls or len(self.calls) < _MOST):
            self.calls[call] = counts
        cost = next((report[name] for name in _COST if _is_amount(report.get(name))), None)
        if cost is not None and (call in self.costs or len(self.costs) < _MOST):
            self.costs[call] = float(cost)

    @property
    def cost(self) -> float | None:
        """Money for all calls; None if no report has it."""
        return sum(self.costs.values()) if self.costs else None

    def as_json(self) -> dict[str, int]:
        """The sums over all calls. If a call has no total, its input and output are added."""
        counts = list(self.calls.values())
        return {
            "input": sum(each[0] for each in counts),
            "output": sum(each[1] for each in counts),
            "total": sum(each[2] or each[0] + each[1] for each in counts),
        }


def _metadata_in(raw: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The metadata of the event, and of its message or artifact.

    On the 1.0 wire the event is a member of `raw`.
    """
    event = object_of(next((raw[name] for name in _MEMBERS if name in raw), raw))
    for holder in (event, event.get("artifact"), object_of(event.get("status")).get("message")):
        yield object_of(object_of(holder).get("metadata"))


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST_MONEY


def _count(report: Mapping[str, Any], names: Sequence[str]) -> int:
    values = (report.get(name) for name in names)
    return next((int(each) for each in values if isinstance(each, int | float) and each > 0), 0)
