"""Agents by what their makers' servers put on the wire, as their sources and issues tell it.

What a reader should see was written down before any of them was replayed. Each is told as it comes, and once
more with every word cut in two: how a model's tokens fall is nobody's choice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

import pytest

from slack_bot.testing.tape.tape import read_tape
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.replay.scenario import make_scenario
from tests.e2e.test_every_agent import DONE, artifact, message, read, status, task

Json = dict[str, Any]
Stream = list[Json]
Make = Callable[[list[str]], Stream]

ANSWER = "The quick fox **ran**.\n\n- It's 3.5 miles\n- The mill turned"
THOUGHT = "Perhaps there are two of them."
CUTS = {"words": r"\S+\s*", "halves": r"\s?\w{1,3}|\s|[^\w\s]"}


def numbered(pieces: list[str]) -> Iterator[tuple[str, str, bool]]:
    """Each piece with an id of its own, and whether it is not the first."""
    for number, piece in enumerate(pieces):
        yield piece, f"n{number}", number > 0


def grown(pieces: list[str], key: str = "a", **more: Any) -> Stream:
    """One artifact, in chunks."""
    return [artifact(piece, key=key, append=later, **more) for piece, _, later in numbered(pieces)]


def apart(pieces: list[str], name: str = "") -> Stream:
    """An artifact for each piece, all of one name or counted."""
    return [artifact(piece, key=key, name=name or key[1:]) for piece, key, _ in numbered(pieces)]


def marked(event: Json, **metadata: Any) -> Json:
    """The event, its status message's parts with this metadata."""
    for part in event["status"]["message"]["parts"]:
        part["metadata"] = metadata
    return event


def block(kind: str) -> Json:
    return {"metadata": {"shared": {"stream": {"block_type": kind}}}}


CALL = {"id": "c1", "name": "search", "args": {"q": "fox"}}
RESULT = {"id": "c1", "name": "search", "response": "three"}


def kagent(pieces: list[str]) -> Stream:
    """kagent's CrewAI executor: every step is a status, the crew's output too, then an artifact."""
    return [
        task("submitted"),
        status("working", "Task started: research", key="1"),
        status("working", "Agent 3f2a started working on task: find the fox", key="2"),
        marked(status("working", CALL, key="3"), kagent_type="function_call"),
        marked(status("working", RESULT, key="4"), kagent_type="function_response"),
        status("working", ANSWER, key="5"),
        status("working", "Task completed: research\n", key="6"),
        artifact(ANSWER, key="r"),
        DONE,
    ]


def opencode(pieces: list[str]) -> Stream:
    """opencode-a2a: a lane for thoughts, one a tool call, one for text, which is replaced in the end."""
    call = {"call_id": "c1", "tool": "search"}
    return [
        task("submitted"),
        *grown([THOUGHT[:9], THOUGHT[9:]], key="reasoning", **block("reasoning")),
        artifact({**call, "status": "running"}, key="tool", **block("tool_call")),
        artifact({**call, "status": "completed"}, key="tool", append=True, **block("tool_call")),
        *grown(pieces, key="text", **block("text")),
        artifact(ANSWER, key="text", append=False, **block("text")),
        DONE,
    ]


def agentscope(pieces: list[str]) -> Stream:
    """AgentScope Java: the whole so far, said to append, and whole again in the end."""
    return [task("submitted"), *grown(list(accumulate(pieces))), status("completed", ANSWER, final=True)]


def agent_engine(pieces: list[str]) -> Stream:
    """The REST wire of 0.3: proto names, `content` for parts."""
    about = {"taskId": "t", "contextId": "c"}
    said = {"messageId": "w", "role": "ROLE_AGENT", "content": [{"text": "Consulting the library"}]}
    working = {"statusUpdate": {**about, "status": {"state": "TASK_STATE_WORKING", "update": said}}}
    chunks = [
        {
            "artifactUpdate": {
                **about,
                "append": later,
                "artifact": {"artifactId": "g", "parts": [{"text": p}]},
            }
        }
        for p, _, later in numbered(pieces)
    ]
    return [working, *chunks, {"statusUpdate": {**about, "status": {"state": "TASK_STATE_COMPLETED"}}}]


def snake_case(pieces: list[str]) -> Stream:
    """A model that was dumped without its aliases."""
    about = {"task_id": "t", "context_id": "c"}
    chunks = [
        {
            **{"kind": "artifact-update", **about, "append": later, "last_chunk": False},
            "artifact": {"artifact_id": "s", "parts": [{"kind": "text", "text": piece}]},
        }
        for piece, _, later in numbered(pieces)
    ]
    return [*chunks, {"kind": "status-update", **about, "final": True, "status": {"state": "completed"}}]


def growing_task(pieces: list[str]) -> Stream:
    """Each event is the task as it stands."""
    parts = [[artifact(so_far, key="g")["artifact"]] for so_far in accumulate(pieces)]
    return [*(task("working", artifacts=each) for each in parts), task("completed", artifacts=parts[-1])]


MAKERS: dict[str, Make] = {
    "kagent, crewai": kagent,
    "opencode": opencode,
    "agentscope": agentscope,
    "agent engine": agent_engine,
    "snake case": snake_case,
    "growing task": growing_task,
    "travel planner": lambda pieces: [*apart(pieces, "current_result"), DONE],
    "spring ai alibaba": lambda pieces: [task("submitted"), *apart(pieces), DONE],
    "agent framework": lambda pieces: [message(piece, key=key) for piece, key, _ in numbered(pieces)],
    "mastra": lambda pieces: [
        task("working", message=message("Generating response...")), *grown(pieces), DONE,
    ],
    "ag2": lambda pieces: [*grown([*pieces, "\n"]), status("completed", ANSWER, final=True)],
    "beeai": lambda pieces: [
        *(status("working", piece, key=key) for piece, key, _ in numbered(pieces)),
        status("completed", ANSWER, final=True),
    ],
    "litellm": lambda pieces: [status("working", "Processing request..."), artifact(ANSWER), DONE],
    "any, final_result": lambda pieces: [*grown(pieces, name="final_result"), DONE],
    "an open model": lambda pieces: [*grown(["<think>\n", THOUGHT, "</think>\n\n", *pieces]), DONE],
    "five times": lambda pieces: [
        *(status("working", piece, key=key) for piece, key, _ in numbered(pieces)),
        status("working", ANSWER),
        artifact(ANSWER),
        status("completed", ANSWER, final=True),
        task("completed", artifacts=[artifact(ANSWER)["artifact"]], history=[message(ANSWER)]),
    ],
}  # fmt: skip


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("maker", MAKERS)
def test_the_answer_stands_once_and_nothing_else_does(maker: str, cut: str) -> None:
    pieces = re.findall(CUTS[cut], ANSWER)
    assert "".join(pieces) == ANSWER
    result = read(MAKERS[maker](pieces))
    assert result["outcome"] == "answered"
    assert result["visible"].strip() == ANSWER
    assert all(card["status"] == "complete" for each in result["thread"] for card in each["tasks"])


@pytest.mark.parametrize(
    "maker", ["travel planner", "spring ai alibaba", "agent framework", "mastra", "snake case"]
)
def test_what_is_the_answer_for_certain_is_told_while_it_comes(maker: str) -> None:
    events = MAKERS[maker](re.findall(CUTS["words"], ANSWER * 4))
    slowly = [{"t": number / 5, "result": event} for number, event in enumerate(events)]
    assert read(slowly)["live_share"] > 0.5


@pytest.mark.parametrize("after", [1, 2, 5, -1])
@pytest.mark.parametrize("maker", ["any, final_result", "travel planner", "agentscope", "opencode", "mastra"])
def test_a_cut_changes_nothing(maker: str, after: int) -> None:
    events = MAKERS[maker](re.findall(CUTS["words"], ANSWER))
    tape = read_tape(json.dumps(events), maker)
    result = replayed(tape, make_scenario({"cut_after": after % len(events)})).result()
    assert (result["outcome"], result["visible"].strip()) == ("answered", ANSWER)


def test_a_tool_between_chunks_parts_them_for_good() -> None:
    """The task that is asked for after the cut does not tell of the tool."""
    called = status("working", {"type": "tool-call", "name": "look", "id": "c"}, key="w")
    events = [
        *apart(["Let ", "me ", "look"], "r"),
        called,
        *apart(["It ", "is "], "r"),
        artifact("wet.", key="z", name="r"),
    ]
    for event in events[4:6]:
        event["artifact"]["artifactId"] += "x"
    tape = read_tape(json.dumps([*events, DONE]), "tools")
    result = replayed(tape, make_scenario({"cut_after": 6})).result()
    assert result["visible"].strip() == "Let me look\n\nIt is wet."


def test_a_chat_that_ends_each_answer_as_a_question() -> None:
    result = read([status("working", "Parsing document..."), status("input-required", ANSWER, final=True)])
    assert (result["outcome"], result["visible"].strip()) == ("asked", ANSWER)


def test_a_form_in_a_form_is_asked_as_one() -> None:
    fields = {"date": {"title": "Date"}, "amount": {"title": "Amount"}}
    schema = {"type": "object", "properties": fields, "required": ["date"]}
    form = {"type": "form", "form": schema, "form_data": {"amount": "20"}, "instructions": "Fill it in."}
    result = read([task("submitted"), status("input-required", form, final=True)])
    (message,) = result["thread"]
    labels = [block["label"]["text"] for block in message["blocks"] if block["type"] == "input"]
    assert (result["outcome"], message["text"], labels) == ("asked", "Fill it in.", ["Date", "Amount"])


def test_a_call_that_the_client_should_make_is_shown_in_words() -> None:
    call = {"id": "ct1", "name": "open_door", "arguments": '{"door": 3}'}
    result = read([artifact(call, name="client_tool_call"), status("input-required", final=True)])
    text = result["thread"][-1]["text"]
    assert result["outcome"] == "asked"
    assert "door" in text and "{" not in text
