"""PURE. How many tokens a turn took, where its agent says so in the metadata of its events.

ADK and kagent say it of each call of the model (`adk_usage_metadata`), and repeat it with each piece of that
call; kagent also of the whole task (`kagent_usage_total`), which may be older than the turn, so it is left
out. Others say it of the whole run: `usage` (OpenAI's names), `usage_metadata` (LangChain), `metrics` (agno).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...turn.json_values import object_of

_CALLS = {"adk_usage_metadata": "adk_event_id", "kagent_usage_metadata": "kagent_event_id"}
"""What is said of a call, and what names the call."""
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
_MEMBERS = ("task", "statusUpdate", "artifactUpdate", "message")
_MOST = 1_000  # calls of the model in one turn


@dataclass(slots=True)
class TokenUsage:
    """What was said so far. `calls`: (input, output, total) by the id of a call, "" for the whole run."""

    calls: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    def take(self, raw: Mapping[str, Any]) -> None:
        """An event of the agent, as it came. There may be many a second."""
        for metadata in _metadata_in(raw):
            for name in _NAMES & metadata.keys():
                value = metadata[name]
                if isinstance(value, Mapping):
                    self._add(str(metadata.get(_CALLS.get(name, ""), "")), value)

    def _add(self, call: str, value: Mapping[str, Any]) -> None:
        counts = _count(value, _INPUT), _count(value, _OUTPUT), _count(value, _TOTAL)
        if any(counts) and (call in self.calls or len(self.calls) < _MOST):
            self.calls[call] = counts

    def as_json(self) -> dict[str, int]:
        """The sums. Without a total of its own a call has that of its parts."""
        given = list(self.calls.values())
        return {
            "input": sum(each[0] for each in given),
            "output": sum(each[1] for each in given),
            "total": sum(each[2] or each[0] + each[1] for each in given),
        }


def _metadata_in(raw: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Of the event, and of the message or artifact in it; on the 1.0 wire the event is a member of `raw`."""
    event = object_of(next((raw[name] for name in _MEMBERS if name in raw), raw))
    for holder in (event, event.get("artifact"), object_of(event.get("status")).get("message")):
        yield object_of(object_of(holder).get("metadata"))


def _count(found: Mapping[str, Any], names: tuple[str, ...]) -> int:
    values = (found.get(name) for name in names)
    return next((int(each) for each in values if isinstance(each, int | float) and each > 0), 0)
