"""The prompt for a model behind an endpoint: how to mark its answer, and its tools.

The tools are described as OpenAI's chat completions want it, which every compatible endpoint understands.
"""

from __future__ import annotations

from typing import Any

from .middleware import SKILLS
from .model import ASK, PLAN, RESPONSE, Mode, Prompt
from .toolbox import FETCH, SEARCH

_BASE = (
    "You answer questions from a small knowledge base. Search it before you answer a question about it, and"
    " read what you found. For work of several steps keep a plan with write_todos. A tool that says that its"
    " limit is reached is not to be called again; the others still are. Write Markdown."
)
_MARKED = (
    " Say in a short sentence what you do before you do it. When you have all you need, write"
    " [FINAL ANSWER] on a line of its own and then the answer, and nothing else. Never write the marker for"
    " another reason. If you still call a tool behind it, write the marker again before you go on with the"
    " answer. Ask the human, where you must, with ask_human."
)
_STRUCTURED = (
    " Give your answer by calling PlatformEngineerResponse, once, as the last thing you do; its content is"
    " all that the reader sees. If you must ask the human, set require_user_input, write the question as"
    " content, and name what you need in metadata.input_fields."
)

Json = dict[str, Any]


def system_prompt(prompt: Prompt) -> str:
    """The first message."""
    how = _STRUCTURED if prompt.mode is Mode.STRUCTURED else _MARKED
    return _BASE + how + "".join(f" {SKILLS[name][1]}" for name in prompt.skills)


def opening(prompt: Prompt) -> list[Json]:
    """The messages that a conversation begins with."""
    messages = [
        {"role": "system", "content": system_prompt(prompt)},
        {"role": "user", "content": prompt.question},
    ]
    if prompt.reply is not None:
        messages.append({"role": "assistant", "content": prompt.asked})
        messages.append({"role": "user", "content": prompt.reply})
    return messages


def tools(mode: Mode) -> list[Json]:
    """The tools a model is given."""
    last = _RESPONSE if mode is Mode.STRUCTURED else _ASK
    return [_SEARCH, _FETCH, _PLAN, last]


def _tool(name: str, about: str, properties: Json, required: list[str]) -> Json:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


_STRING: Json = {"type": "string"}
_TRUTH: Json = {"type": "boolean"}
_FIELDS: Json = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "field_name": _STRING,
            "field_description": _STRING,
            "field_values": {"type": "array", "items": _STRING},
            "required": _TRUTH,
        },
        "required": ["field_name", "field_description"],
    },
}
_SEARCH = _tool(SEARCH, "Find sections of the knowledge base.", {"query": _STRING}, ["query"])
_FETCH = _tool(FETCH, "Read a whole page of the knowledge base by its name.", {"name": _STRING}, ["name"])
_PLAN = _tool(
    PLAN,
    "Show the whole plan as it now stands.",
    {
        "todos": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "title": _STRING,
                    "agent": _STRING,
                    "status": {"enum": ["pending", "in_progress", "completed", "failed"]},
                },
                "required": ["title", "status"],
            },
        },
        "title": {"type": "string", "description": "When all is done: what was done, in a few words."},
    },
    ["todos"],
)
_ASK = _tool(
    ASK, "Ask the human and wait for the answer.", {"prompt": _STRING, "input_fields": _FIELDS}, ["prompt"]
)
_RESPONSE = _tool(
    RESPONSE,
    "Give the answer.",
    {
        "is_task_complete": _TRUTH,
        "require_user_input": _TRUTH,
        "was_task_successful": _TRUTH,
        "content": _STRING,
        "metadata": {"type": "object", "properties": {"user_input": _TRUTH, "input_fields": _FIELDS}},
    },
    ["is_task_complete", "require_user_input", "content"],
)
