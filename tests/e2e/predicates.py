"""Predicates over a replay's result: what a reader must, or must not, see.

They were written about another bot's calls, so each is read here by what it means for the reader: `where:
post` is any message that is not a stream, text in `chat.startStream` counts as appended, and what that bot's
handler returned is our outcome of the same name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Json = dict[str, Any]
Predicate = Mapping[str, Any]

APPENDING = ("chat.startStream", "chat.appendStream")
STREAMING = (*APPENDING, "chat.stopStream")
TROUBLE = ("failed", "refused", "lost", "watched")


def holds(predicate: Predicate, result: Json, final: str = "") -> bool:
    """Whether `predicate` is true of `result`. `final` is the text of the agent's last final result.

    KeyError for a predicate that is not known.
    """
    return _TABLE[predicate["op"]](predicate, result, final)


def _calls(result: Json, *methods: str, ok: bool = True) -> list[Json]:
    wanted = {_dotted(method) for method in methods}
    return [call for call in result["calls"] if call["method"] in wanted and (call["ok"] or not ok)]


def _dotted(method: str) -> str:
    return method if "." in method else method.replace("_", ".")


def _chunks(call: Json) -> list[Json]:
    chunks = call["args"].get("chunks") or []
    return json.loads(chunks) if isinstance(chunks, str) else list(chunks)


def _chunk_text(result: Json, *methods: str) -> str:
    chunks = [chunk for call in _calls(result, *methods) for chunk in _chunks(call)]
    return "".join(chunk.get("text", "") for chunk in chunks if chunk.get("type") == "markdown_text")


def _block_text(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for part in value:
            yield from _block_text(part)
    elif isinstance(value, dict):
        for name, part in value.items():
            if name == "text" and isinstance(part, str):
                yield part
            else:
                yield from _block_text(part)


def _posted(result: Json) -> list[Json]:
    return [message for message in result["thread"] if message["state"] == "posted"]


def _text_of(message: Json) -> str:
    return "\n".join([message["text"], *_block_text(message["blocks"])])


def _place(where: str, result: Json) -> str:
    places: dict[str, Callable[[], str]] = {
        "append": lambda: _chunk_text(result, *APPENDING),
        "stop": lambda: _chunk_text(result, "chat.stopStream"),
        "post": lambda: "\n".join(_text_of(message) for message in _posted(result)),
        "visible": lambda: str(result["visible"]),
        "visible_or_post": lambda: "\n".join(_text_of(message) for message in result["thread"]),
        "any": lambda: "\n".join(_text_of(message) for message in result["thread"]),
        "post_any": lambda: json.dumps(
            [[m["blocks"], m["text"]] for m in _posted(result)], ensure_ascii=False
        ),
    }
    return places[where]()


def _tasks(result: Json, task: str | None = None) -> list[Json]:
    tasks = [card for message in result["thread"] for card in message["tasks"]]
    return [card for card in tasks if task is None or card["id"] == task]


def _updates(result: Json, task: str | None = None) -> list[Json]:
    chunks = [chunk for call in _calls(result, *STREAMING) for chunk in _chunks(call)]
    cards = [chunk for chunk in chunks if chunk.get("type") == "task_update"]
    return [card for card in cards if task is None or card["id"] == task]


def _statuses(result: Json, after: float | None = None) -> list[str]:
    calls = _calls(result, "assistant.threads.setStatus")
    return [str(call["args"].get("status", "")) for call in calls if after is None or call["t"] > after]


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _contains(p: Predicate, result: Json, _: str) -> bool:
    return p["value"] in _place(p["where"], result)


def _has_retry(result: Json) -> bool:
    return any('"retry"' in json.dumps(message["blocks"]) for message in result["thread"])


def _error_shown(p: Predicate, result: Json, final: str) -> bool:
    return result["outcome"] in TROUBLE and bool(_place("any", result).strip())


def _order(p: Predicate, result: Json, _: str) -> bool:
    methods = [call["method"] for call in result["calls"]]
    first, then = _dotted(p["first"]), _dotted(p["then"])
    return first in methods and then in methods and methods.index(first) < methods.index(then)


def _first_call(p: Predicate, result: Json, _: str) -> bool:
    calls = _calls(result, p["method"], ok=False)
    if not calls:
        return False
    args = calls[0]["args"]
    named = all(name in args for name in p.get("has", p.get("present", ())))
    return named and all(args.get(name) == value for name, value in p.get("args", {}).items())


def _no_status_after_start(p: Predicate, result: Json, _: str) -> bool:
    starts = _calls(result, "chat.startStream")
    return not starts or not any(_statuses(result, after=starts[0]["t"]))


def _details(p: Predicate, result: Json, _: str) -> bool:
    details = "".join(str(card.get("details") or "") for card in _tasks(result, p["id"]))
    wanted = p.get("contains") is None or p["contains"] in details
    return wanted and (p.get("not_contains") is None or p["not_contains"] not in details)


def _outcome(p: Predicate, result: Json, _: str) -> bool:
    match p["path"]:
        case "retry_needed":
            return bool(p["eq"]) == (result["outcome"] in TROUBLE and _has_retry(result))
        case "thread_deleted":
            return bool(p["eq"]) == (result["outcome"] == "gone")
        case "skipped":
            return bool(p["eq"]) == (not result["thread"])
        case "reason":
            return p["eq"] in ("defer", "low_confidence") and not result["thread"]
        case path:
            raise KeyError(path)


def _session(p: Predicate, result: Json, _: str) -> bool:
    operation, *_thread, value = p["value"]
    kept = {"set_trace_id": "trace_id", "set_context_id": "context_id"}
    return bool(result[kept[operation]] == value)


def _count(p: Predicate, result: Json) -> int:
    return len(_calls(result, p["method"], ok=False))


def _chunk_sizes(result: Json) -> list[int]:
    chunks = [chunk for call in _calls(result, *STREAMING) for chunk in _chunks(call)]
    return [len(chunk["text"]) for chunk in chunks if chunk.get("type") == "markdown_text"]


def _last_status(p: Predicate, result: Json, _: str) -> bool:
    cards = _tasks(result, p["id"])
    return bool(cards) and cards[-1]["status"] == p["eq"]


_TABLE: dict[str, Callable[[Predicate, Json, str], bool]] = {
    "count": lambda p, r, f: _count(p, r) == p["eq"],
    "count_ge": lambda p, r, f: _count(p, r) >= p["ge"],
    "total_calls": lambda p, r, f: len(r["calls"]) == p["eq"],
    "text_contains": _contains,
    "text_not_contains": lambda p, r, f: not _contains(p, r, f),
    "text_empty": lambda p, r, f: not _place(p["where"], r).strip(),
    "visible_equals": lambda p, r, f: r["visible"].strip() == p["value"].strip(),
    "visible_equals_ws": lambda p, r, f: _squeezed(r["visible"]) == _squeezed(p["value"]),
    "visible_equals_final": lambda p, r, f: bool(f) and _squeezed(r["visible"]) == _squeezed(f),
    "stop_called_once": lambda p, r, f: len(_calls(r, "chat.stopStream", ok=False)) == 1,
    "live_streamed": lambda p, r, f: bool(_place("append", r).strip()),
    "first_call": _first_call,
    "order": _order,
    "task_details": _details,
    "task_details_len": lambda p, r, f: any(
        len(t.get("details") or "") == p["eq"] for t in _tasks(r, p["id"])
    ),
    "last_task_status": _last_status,
    "no_open_tasks": lambda p, r, f: all(t["status"] in ("complete", "error") for t in _tasks(r)),
    "task_update_count": lambda p, r, f: len(_updates(r, p.get("id"))) == p["eq"],
    "task_title": lambda p, r, f: any(t["title"] == p["eq"] for t in _tasks(r, p["id"])),
    "append_chunk_types_subset": lambda p, r, f: (
        {chunk["type"] for call in _calls(r, *APPENDING) for chunk in _chunks(call)} <= set(p["value"])
    ),
    "result": _outcome,
    "session": _session,
    "session_not": lambda p, r, f: not _session(p, r, f),
    "footer_contains": lambda p, r, f: all(value in _place("any", r) for value in p["value"]),
    "status_seen": lambda p, r, f: p["value"] in _statuses(r),
    "status_not_seen": lambda p, r, f: p["value"] not in _statuses(r),
    "no_status_after_start": _no_status_after_start,
    "append_text_startswith": lambda p, r, f: _place("append", r).startswith(p["value"]),
    "max_markdown_chunk_gt": lambda p, r, f: max(_chunk_sizes(r), default=0) > p["value"],
    "max_markdown_chunk_le": lambda p, r, f: max(_chunk_sizes(r), default=0) <= p["value"],
    "form_fields": lambda p, r, f: all(name in _place("any", r) for name in p["value"]),
    "error_shown": _error_shown,
    "retry_offered": lambda p, r, f: _has_retry(r),
}
