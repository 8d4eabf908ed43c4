"""Agents of every make through the whole path: the thread holds the answer, once.

The two dialects under "unseen" were written down from their makers' documents after the generic dialect
was finished, and it was not changed for them.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any

import pytest

from slack_bot.testing.tape.tape import read_tape
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.replay.scenario import make_scenario

FOX = "The quick brown fox"
WORDS = ("The ", "quick ", "brown ", "fox")
Json = dict[str, Any]


# -- what comes over the wire, in 0.3's words ----------------------------------------------------------------


def part(value: Any) -> Json:
    """A part by what it is given: text, a file's address, or data."""
    if isinstance(value, str):
        return {"kind": "text", "text": value}
    return {"kind": "file", "file": value} if "uri" in value else {"kind": "data", "data": value}


def message(*values: Any, key: str = "m1") -> Json:
    return {"kind": "message", "role": "agent", "messageId": key, "parts": [part(value) for value in values]}


def status(state: str, *values: Any, key: str = "m1", **more: Any) -> Json:
    about: Json = {"state": state}
    if values:
        about["message"] = message(*values, key=key)
    return {"kind": "status-update", "taskId": "t", "contextId": "c", "status": about, **more}


def artifact(*values: Any, key: str = "a1", append: bool | None = None, **more: Any) -> Json:
    found = {"artifactId": key, "parts": [part(value) for value in values], **more}
    event: Json = {"kind": "artifact-update", "taskId": "t", "contextId": "c", "artifact": found}
    return event if append is None else {**event, "append": append}


def task(state: str, **more: Any) -> Json:
    return {"kind": "task", "id": "t", "contextId": "c", "status": {"state": state}, **more}


DONE = status("completed", final=True)


def read(events: list[Json], **settings: Any) -> Json:
    """What a reader has in the end, as `replay` tells it."""
    result = replayed(read_tape(json.dumps(events), "events"), make_scenario({"settings": settings})).result()
    assert all(message["state"] != "streaming" for message in result["thread"])
    return result


# -- the ones that are known by their recordings or measured streams -----------------------------------------

LANGGRAPH = [
    {"task": {"id": "ctx:run", "contextId": "c", "status": {"state": "TASK_STATE_SUBMITTED"}}},
    *(status("TASK_STATE_WORKING", so_far, key=so_far, final=False) for so_far in accumulate(WORDS)),
    {**artifact(FOX, append=False), "lastChunk": True},
    status("TASK_STATE_COMPLETED", final=True),
]
AGNO = [
    status("working", final=False),
    *(message(word) for word in WORDS),
    DONE,
    task("completed", history=[message(FOX)]),
]
CREWAI = [task("completed", artifacts=[artifact(FOX)["artifact"]], history=[message(FOX)])]
CHUNKS = [artifact(word, append=word != "The ") for word in WORDS]
DELTAS = [status("working", word, key=word) for word in WORDS]
ALL_APPENDED = [artifact(word, append=True) for word in WORDS]
SNAPSHOTS = [artifact(so_far, append=False) for so_far in accumulate(WORDS)]
AGAIN = task("completed", history=[message(FOX)])
KNOWN = {
    "one artifact in chunks": [task("submitted"), *CHUNKS, DONE],
    "strands": [task("submitted"), *DELTAS, artifact(FOX + "\n"), DONE],
    "langgraph, a hybrid wire": LANGGRAPH,
    "agno, a task after the final status": AGNO,
    "crewai, one task and nothing else": CREWAI,
    "beeai, in the final status": [task("submitted"), status("working", "Hm."), status("completed", FOX)],
    "fasta2a, replaced": [*ALL_APPENDED, artifact(FOX, append=False), DONE],
    "four times": [status("working", FOX), artifact(FOX), status("completed", FOX), AGAIN],
    "a task that ends without a word": [task("working", history=[message(FOX)]), DONE],
    "cumulative artifacts": [*SNAPSHOTS, DONE],
}


@pytest.mark.parametrize("agent", KNOWN)
def test_the_answer_stands_once(agent: str) -> None:
    result = read(KNOWN[agent])
    assert result["outcome"] == "answered"
    assert result["visible"].strip() == FOX


def test_an_answer_that_shrinks_is_what_it_shrank_to() -> None:
    events = [artifact("Let me look that up. ", append=True), *KNOWN["fasta2a, replaced"]]
    assert read(events)["visible"].strip() == FOX


def test_data_stands_as_words() -> None:
    shown = read([artifact({"fox": "brown", "legs": 4.0}), DONE])["visible"]
    assert shown.strip() == "- **fox**: brown\n- **legs**: 4"


# -- unseen --------------------------------------------------------------------------------------------------


def delta(*values: str, append: bool, reason: str = "chunk_streaming") -> Json:
    """An agent whose one artifact is called stream_delta, says its state in metadata, and may be rebuilt."""
    state = "active" if reason == "chunk_streaming" else "finalized"
    metadata = {"status": state, "status_reason": reason}
    return artifact(*values, key="stream_delta", name="stream_delta", append=append, metadata=metadata)


def test_unseen_one_artifact_that_is_rebuilt_in_the_end() -> None:
    chunks = [delta(word, append=word != "The ") for word in WORDS]
    whole = delta(*WORDS, append=False, reason="complete_message")
    result = read([task("submitted"), *chunks, whole, DONE])
    assert result["visible"].strip() == FOX
    assert result["live_share"] is not None


def test_unseen_one_artifact_that_is_interrupted_and_begun_anew() -> None:
    first = [delta("I need ", append=False), delta("a colour.", append=True)]
    stopped = delta("I need ", "a colour.", append=False, reason="interrupt")
    asked = read([task("submitted"), *first, stopped, status("input-required", "Which colour?")])
    assert asked["outcome"] == "asked"
    said = "\n".join(message["text"] for message in asked["thread"])
    assert said.count("I need a colour.") == said.count("Which colour?") == 1
    anew = [*first, stopped, *(delta(word, append=word != "The ") for word in WORDS), DONE]
    assert read([task("submitted"), *anew])["visible"].strip() == FOX


# -- one answer in many artifacts, many messages, and snapshots that append ----------------------------------


ANSWER = "It's the quick fox. It ran.\n\n- The mill turned 3.5 times\n- Nobody saw."
TOKENS = re.findall(r" ?\w+|\n+|[^\w\s]| ", ANSWER)


def apart(name: str | None) -> list[Json]:
    """An artifact for each token. `name` None: they are counted."""
    return [
        artifact(token, key=f"u{number}", name=str(number) if name is None else name)
        for number, token in enumerate(TOKENS)
    ]


MANY = {
    "an artifact a token, all of one name": [task("submitted"), *apart("current_result"), DONE],
    "an artifact a token, named by numbers": [task("submitted"), *apart(None), DONE],
    "an artifact a token, then the whole": [*apart(""), artifact(ANSWER, key="w", name="whole"), DONE],
    "an artifact a token, and the task": [
        *apart("r"),
        task("completed", artifacts=[each["artifact"] for each in apart("r")]),
    ],
    "the task only": [task("completed", artifacts=[each["artifact"] for each in apart("r")])],
    "a message a token": [message(token, key=f"m{number}") for number, token in enumerate(TOKENS)],
    "snapshots that append": [
        *(artifact(so_far, append=so_far != TOKENS[0]) for so_far in accumulate(TOKENS)),
        status("completed", ANSWER, final=True),
    ],
    "snapshots that append, and the task": [
        task("completed", artifacts=[artifact(*accumulate(TOKENS))["artifact"]]),
    ],
}


@pytest.mark.parametrize("agent", MANY)
def test_an_answer_in_many_pieces_stands_once_and_in_one_piece(agent: str) -> None:
    result = read(MANY[agent])
    assert result["outcome"] == "answered"
    assert result["visible"].strip() == ANSWER


def test_answers_that_are_several_stay_apart() -> None:
    several = [artifact(said, key=said, name="result") for said in ("Oslo", "Bergen", "Both are wet.")]
    assert read([*several, DONE])["visible"].strip() == "Oslo\n\nBergen\n\nBoth are wet."


REPLIES = {"quickReplies": ["Yes", "No"], "type": "quick_replies"}


def test_unseen_each_output_an_artifact_and_the_last_one_twice() -> None:
    outputs = [
        artifact("Hello there.", key="u-0", append=False),
        artifact("Shall I go on?\nYes\nNo", REPLIES, key="u-1", append=False),
    ]
    again = {**outputs[-1], "lastChunk": True}
    result = read([status("working", final=False), *outputs, again, DONE])
    text = result["visible"]
    assert text.startswith("Hello there.\n\nShall I go on?\nYes\nNo")
    assert text.count("Shall I go on?") == 1
    assert "{" not in text


def test_unseen_each_output_a_status_message() -> None:
    outputs = [status("working", said, key=said, final=False) for said in ("Hello there.", "How can I help?")]
    assert read([status("working", final=False), *outputs, DONE])["visible"].strip() == (
        "Hello there.\n\nHow can I help?"
    )
