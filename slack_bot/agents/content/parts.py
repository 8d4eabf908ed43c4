"""PURE. Reads the parts of a message or an artifact: text, thoughts, tool calls, plans.

Text parts are joined with nothing in between, because chunks are parts (facts: A2A 8.1). A data part is a
tool call or its result if a type says so: in its metadata, in itself, or in its message or artifact. A name
proves nothing.
"""

import re
from collections import Counter, OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...text.words import CARD_UNNAMED_TOOL, CARD_UNTITLED_STEP
from ...turn.events import Event, Narrated, PlanStep, StepState, ToolEnded, ToolStarted
from ...turn.extras import Extra, LinkedFile
from ...turn.json_values import object_of, objects_of, text_of
from ..dialects.dialect import Dialect
from ..wire.frames import AgentMessage, Artifact, Metadata, Part
from .acts import act_in
from .data_markdown import TextBeside, beside, from_json
from .extras import extra_in
from .sources import names_sources
from .suggestions import names_suggestions

_STATES = {
    "in_progress": StepState.RUNNING,
    "running": StepState.RUNNING,
    "completed": StepState.DONE,
    "complete": StepState.DONE,
    "done": StepState.DONE,
    "failed": StepState.FAILED,
    "error": StepState.FAILED,
}  # any other word: pending
_UNNAMED_AGENTS = frozenset({"", "supervisor"})

_BEGINS = frozenset(
    {"functioncall", "toolcall", "tooluse", "toolstart", "toolcallstart", "toolinvocation", "toolcallstarted"}
)
_ENDS = ("functionresponse", "functioncalloutput", "toolresult", "toolresponse", "tooloutput", "toolend")
_ALL = _BEGINS | {*_ENDS, "toolcallend", "toolcallcompleted", "toolcallfailed", "toolcallerror"}
_LISTS = {"tool_calls": True, "tool_results": False}  # keys of lists of calls, or of results (LangGraph)
_FAILED = frozenset({"failed", "error"})
_OVER = _FAILED | {"completed", "complete", "success", "succeeded", "done", "finished"}
_DEEPEST = 2  # objects inside metadata in which a type is looked for
_TYPE_KEYS = re.compile(r"(?:^|_)(?:type|kind)\Z")
_NAMES = ("name", "tool_name", "toolName", "tool")
_IDS = ("id", "call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId")
DELTA_TYPE = ".chunk"
"""How the type of an event ends that carries a delta."""
_THOUGHTS = frozenset({"thought", "thinking", "reasoning"})
_THOUGHT = re.compile(r"(?:^|_)(?:is_)?(?:thought|thinking|reasoning)\Z")
_HANDOFF = re.compile(r"(?:^|_)event_type\Z")
_NEW_AGENT = re.compile(r"(?:^|_)new_agent_name\Z")
_LONG_RUNNING = re.compile(r"(?:^|_)is_long_running\Z")

# of artifacts
_TOOL_KEYS = ("tool_name", "toolName", "name", "tool", "function_name", "functionName", "function")
_CALL_IDS = ("tool_call_id", "toolCallId", "call_id")
_DESCRIBED = re.compile(r"Tool call (?:started|completed|failed):\s*(.+)", re.DOTALL)
_IN_TEXT = re.compile(r"(?:Running|Calling|Executing|Tool):\s*(\S+)")
_FAILURE = re.compile(r"^\s*❌|Tool call failed:")


def first_text(data: Mapping[str, Any], keys: Sequence[str]) -> str:
    """The first non-empty text under one of these keys, else ""."""
    return next((data[key] for key in keys if isinstance(data.get(key), str) and data[key]), "")


def is_true(metadata: Metadata, *keys: str) -> bool:
    """Whether one of these flags is true, or the word "true"."""
    for key in keys:
        value = metadata.get(key)
        if value is True or (isinstance(value, str) and value.lower() == "true"):
            return True
    return False


@dataclass(frozen=True, slots=True)
class ToolPart:
    """A tool call (`begins`) or its result.

    `waits`: it waits for a person or a program outside. `id` may be "".
    """

    name: str
    id: str
    begins: bool
    failed: bool = False
    waits: bool = False


def tool_part(part: Part, types: Collection[str] = ()) -> ToolPart | None:
    """The tool call or result in `part`, if any.

    `types`: the types (`tool_words`) that the message or artifact of the part has.
    """
    data = from_json(part.text) if part.text is not None and types else part.data
    if not isinstance(data, dict):
        return None
    own_types = (_types(part.metadata, 0) | _types(data, 0)) & _ALL or types
    if not own_types:
        return None
    waits = any(_LONG_RUNNING.search(key) and value is True for key, value in part.metadata.items())
    return _tool_of(data, begins=not _BEGINS.isdisjoint(own_types), waits=waits)


def handoff_to(metadata: Metadata) -> str:
    """The name of the agent that speaks from now on, if a message only says that (kagent-openai); else ""."""
    if not any(value == "agent_handoff" and _HANDOFF.search(key) for key, value in metadata.items()):
        return ""
    return next((text_of(value) for key, value in metadata.items() if _NEW_AGENT.search(key)), "")


def is_list_of_tools(part: Part) -> bool:
    """Whether the part is a list of calls or results: `{"tool_results": [...]}`."""
    return _listed_tools(part) is not None


def _listed_tools(part: Part) -> list[ToolPart] | None:
    """The calls or results in such a list; None if the part is no such list."""
    data = part.data
    if not isinstance(data, dict) or len(data) != 1:
        return None
    key, rows = next(iter(data.items()))
    if key not in _LISTS or not isinstance(rows, list):
        return None
    return [_tool_of(row, begins=_LISTS[key]) for row in rows if isinstance(row, dict)]


def _tool_of(data: Mapping[str, Any], *, begins: bool, waits: bool = False) -> ToolPart:
    status = str(data.get("status")).lower()
    return ToolPart(
        name=first_text(data, _NAMES)
        or first_text(object_of(data.get("function")), _NAMES)
        or CARD_UNNAMED_TOOL,
        id=first_text(data, _IDS),
        begins=begins and status not in _OVER,
        failed=data.get("is_error") is True or status in _FAILED,
        waits=waits,
    )


def is_thought(metadata: Metadata) -> bool:
    """Whether the text with this metadata is a thought of the model."""
    flags = (value for key, value in metadata.items() if _THOUGHT.search(key))
    says_so = any(value is True or value == "true" for value in flags)
    return says_so or not _THOUGHTS.isdisjoint(_types(metadata))


def is_type(value: str) -> bool:
    """Whether a framework uses this word for a tool call, its result, a thought or a delta."""
    return _normalized(value) in _ALL | _THOUGHTS or value.endswith(DELTA_TYPE)


def tool_words(metadata: Metadata | None) -> set[str]:
    """The types in `metadata` that say that everything it describes belongs to a tool."""
    return _types(metadata) & _ALL if metadata else set()


def tool_name(artifact: Artifact) -> str:
    """The agent's name for the tool."""
    if name := first_text(artifact.metadata, _TOOL_KEYS):
        return name
    if match := _DESCRIBED.search(artifact.description):
        return match.group(1).strip()
    for part in artifact.parts:
        if name := first_text(object_of(part.data), _TOOL_KEYS):
            return name
    if match := _IN_TEXT.search(artifact.text):
        return match.group(1)
    return text_of(artifact.metadata.get("sourceAgent")) or CARD_UNNAMED_TOOL


def tool_failed(artifact: Artifact) -> bool:
    """Whether the agent says that the tool failed. The word "error" in a tool's output proves nothing."""
    says_so = _FAILURE.search(artifact.text) or _FAILURE.search(artifact.description)
    return bool(says_so) or text_of(artifact.metadata.get("status")).lower() in _FAILED


class ToolCalls:
    """The tool calls of a turn. If the agent gives no ids, the oldest call of a name ends first."""

    def __init__(self) -> None:
        self._begun: Counter[str] = Counter()
        self._running: dict[str, OrderedDict[str, None]] = {}

    def start_of(self, artifact: Artifact, dialect: Dialect) -> Event:
        name = tool_name(artifact)
        if dialect.announcements.search(name):
            return Narrated(name, passing=True, reason="an announcement, not a tool")
        step = text_of(artifact.metadata.get("plan_step_id")) or None
        call = self._begin(name, first_text(artifact.metadata, _CALL_IDS))
        label = text_of(artifact.metadata.get("tool_title")).strip()
        return ToolStarted(call, name, step, reason=artifact.name, label=label)

    def end_of(self, artifact: Artifact) -> Event:
        name = tool_name(artifact)
        call = self._end(name, first_text(artifact.metadata, _CALL_IDS))
        if call is None:
            return Narrated("", reason="a tool's output, or the end of a tool that is not running")
        return ToolEnded(call, name, failed=tool_failed(artifact), reason=artifact.name)

    def part(self, tool: ToolPart) -> Event:
        if tool.begins and tool.waits:
            return Narrated("", reason="a call that waits for somebody: it is asked, not shown as running")
        if tool.begins:
            call = self._begin(tool.name, tool.id)
            return ToolStarted(call, tool.name, reason="a tool call among the parts")
        ended_call = self._end(tool.name, tool.id)
        if ended_call is None:
            return Narrated("", reason="the result of a tool that is not running")
        return ToolEnded(ended_call, tool.name, tool.failed, reason="a tool's result among the parts")

    def _begin(self, name: str, call_id: str) -> str:
        self._begun[name] += 1
        call = call_id or f"{name}#{self._begun[name]}"
        self._running.setdefault(name, OrderedDict()).setdefault(call)
        return call

    def _end(self, name: str, call_id: str) -> str | None:
        running = self._running.get(name)
        if not running:
            return None
        call = call_id or next(iter(running))
        running.pop(call, None)
        return call


def _types(metadata: Metadata, depth: int = _DEEPEST) -> set[str]:
    """The types in metadata, also in objects inside it: `{"shared": {"stream": {"block_type": ..}}}`."""
    types = {_normalized(value) for key, value in metadata.items() if _TYPE_KEYS.search(key)}
    if depth:
        for value in metadata.values():
            if isinstance(value, dict):
                types |= _types(value, depth - 1)
    return types


def _normalized(value: Any) -> str:
    return re.sub(r"[-_ ]", "", value).lower() if isinstance(value, str) else ""


class Content(NamedTuple):
    """The parts, sorted by kind. `is_block`: the text begins with data or a file, or comes after an extra."""

    text: str = ""
    thoughts: str = ""
    tools: tuple[ToolPart, ...] = ()
    is_block: bool = False
    extras: tuple[Extra, ...] = ()

    @property
    def calls_a_tool(self) -> bool:
        """Whether a tool call begins; then the text next to it says what for."""
        return any(tool.begins for tool in self.tools)


def extract_answer(artifact: Artifact) -> Content:
    """The content of an answer's artifact, with tables, charts and files apart from the text."""
    return extract_content(
        artifact.parts, artifact.metadata, keeps_extras=True, description=artifact.description
    )


def extract_content(
    parts: tuple[Part, ...],
    metadata: Metadata | None = None,
    *,
    keeps_extras: bool = False,
    description: str = "",
) -> Content:
    """The content of `parts`.

    `metadata`, `description`: of the message or artifact. `keeps_extras`: return tables, charts and files
    apart; otherwise they become text.
    """
    if len(parts) == 1 and parts[0].text is not None and not parts[0].metadata and not metadata:
        return Content(parts[0].text)
    types, tools, thoughts, content_parts = tool_words(metadata), list[ToolPart](), "", list[Part]()
    for part in parts:
        if (tool_parts := _listed_tools(part)) is not None:
            tools += tool_parts
        elif (tool := tool_part(part, types)) is not None:
            tools.append(tool)
        elif is_thought(part.metadata):
            thoughts += part.text or ""
        elif not types:
            content_parts.append(part)
    keeps_extras = keeps_extras and not (metadata and is_thought(metadata))
    text, is_block, extras = _joined(content_parts, keeps_extras=keeps_extras, description=description)
    if metadata and is_thought(metadata):
        return Content("", thoughts + text, tuple(tools))
    return Content(text, thoughts, tuple(tools), is_block, extras)


def _is_beside(data: Any) -> bool:
    """Whether a data part is shown below the text, and is none of it."""
    return names_sources(data) or names_suggestions(data) or act_in(data) is not None


def _joined(
    parts: list[Part], *, keeps_extras: bool, description: str
) -> tuple[str, bool, tuple[Extra, ...]]:
    """The text, whether it begins with data or a file, and the extras. There may be 100,000 parts."""
    text_beside = TextBeside("".join(part.text for part in parts if part.text))
    pieces: list[str] = []
    extras: list[Extra] = []
    is_block = False
    for part in parts:
        if part.text:
            before = "".join(pieces[-2:])
            if is_block and before and part.text.strip() and not before.endswith("\n\n"):
                pieces.append("\n\n")
            pieces.append(part.text)
            is_block = False
        elif part.text is None and not (part.has_data and _is_beside(part.data)):
            extra = extra_in(part, text_beside, description) if keeps_extras else None
            extras += [extra] if extra is not None else []
            is_text = extra is None or isinstance(extra, LinkedFile)
            block = beside(part, text_beside) if is_text else ""
            if block:
                while pieces and not pieces[-1].rstrip():
                    pieces.pop()
                pieces[-1:] = [each.rstrip() for each in pieces[-1:]]
                pieces += ["\n\n", block] if pieces else [block]
            is_block = is_block or bool(block) or not is_text
    text = "".join(pieces)
    return text, bool(parts) and parts[0].text is None and bool(text or extras), tuple(extras)


def last_message(history: Sequence[AgentMessage]) -> str:
    """The text of the agent's last message, or "" if that is of an earlier turn.

    It is of an earlier turn if the human's last message comes after it. With one question the order means
    nothing: some servers list the newest first.
    """
    human_positions = [at for at, each in enumerate(history) if each.role == "user"]
    since = history[human_positions[-1] + 1 :] if len(human_positions) > 1 else history
    messages = [each for each in reversed(since) if each.role == "agent"]
    texts = (extract_content(each.parts, each.metadata).text for each in messages)
    return next((text for text in texts if text.strip()), "")


def plan_in(parts: tuple[Part, ...]) -> tuple[tuple[PlanStep, ...], str]:
    """The steps, in order, of the first data part that lists any, and the title next to them, or ""."""
    plans = (object_of(part.data) for part in parts)
    plan = next((data for data in plans if isinstance(data.get("steps"), list)), {})
    rows = sorted(objects_of(plan.get("steps")), key=_order)
    return tuple(_step(number, row) for number, row in enumerate(rows)), text_of(plan.get("title"))


def _order(row: Mapping[str, Any]) -> float:
    order = row.get("order")
    return order if isinstance(order, int | float) else 0.0  # not made a float: JSON's integers have no end


def _step(number: int, row: Mapping[str, Any]) -> PlanStep:
    title = first_text(row, ("title", "description")) or CARD_UNTITLED_STEP.format(number + 1)
    agent = text_of(row.get("agent")).strip()
    if agent.lower() not in _UNNAMED_AGENTS and not title.startswith(f"[{agent}]"):
        title = f"[{agent}] {title}"
    state = _STATES.get(text_of(row.get("status")).lower(), StepState.PENDING)
    return PlanStep(first_text(row, ("step_id", "id")) or f"step-{number}", title, state)
