"""The six invariants of streaming, end to end: a live a2a-sdk agent, real HTTP to it, the bot as it ships.

Where time has to be exact, or a stream has to be wrong, a tape is replayed on the virtual clock instead.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from slack_bot.observe.facts import AgentEvent, Fact
from slack_bot.playground.reference.agent import serve
from slack_bot.settings.models import ReferenceSettings
from slack_bot.testing.tape.tape import read_tape
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.replay.scenario import make_scenario
from slack_bot.tools.turn_log import TurnLog
from tests.live_agent import replay_live

Json = dict[str, Any]


class Heard(TurnLog):
    """All facts of a turn, and what the agent itself called its answer."""

    def __init__(self) -> None:
        super().__init__()
        self.facts: list[Fact] = []

    def take(self, fact: Fact) -> None:
        super().take(fact)
        self.facts.append(fact)

    @property
    def artifacts(self) -> list[Json]:
        raws = [fact.raw for fact in self.facts if isinstance(fact, AgentEvent)]
        updates: list[Mapping[str, Any]] = [raw.get("artifactUpdate") or raw for raw in raws]
        return [update["artifact"] for update in updates if "artifact" in update]

    def text_of(self, name: str) -> str:
        return "".join(
            part.get("text", "")
            for artifact in self.artifacts
            if artifact.get("name") == name
            for part in artifact.get("parts", [])
        )


@asynccontextmanager
async def live_agent(pace: float = 0.0) -> AsyncIterator[str]:
    async with serve(ReferenceSettings(pace=pace)) as url:
        yield url


async def ask(url: str, text: str, **settings: Any) -> tuple[Json, Heard]:
    heard = Heard()
    scenario = make_scenario({"text": text, "settings": settings})
    return await replay_live(scenario, url, heard), heard


def streamed(result: Json, *methods: str) -> list[str]:
    """The text chunks of the calls that Slack took, one string a call."""
    calls = [call for call in result["calls"] if call["method"] in methods and call["ok"]]
    return [
        "".join(chunk["text"] for chunk in call["args"].get("chunks", ()) if chunk["type"] == "markdown_text")
        for call in calls
    ]


def update(text: str, name: str = "streaming_result", **metadata: Any) -> Json:
    artifact = {
        "artifactId": name,
        "name": name,
        "metadata": metadata,
        "parts": [{"kind": "text", "text": text}],
    }
    return {"kind": "artifact-update", "taskId": "t", "contextId": "c", "append": True, "artifact": artifact}


def played(*events: Json) -> Json:
    done = {
        "kind": "status-update",
        "taskId": "t",
        "contextId": "c",
        "status": {"state": "completed"},
        "final": True,
    }
    task = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "submitted"}}
    return replayed(read_tape(json.dumps([task, *events, done]), "events")).result()


# -- 1: every query is answered ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "wire"),
    [
        ("tell me a joke", "1.0"),
        ("how is the weather in San Francisco?", "0.3"),
        ("what is agntcy", "1.0"),
        ("explain how agntcy agents communicate with each other", "0.3"),
        ("tell me everything about streaming", "1.0"),
    ],
)
async def test_1_every_query_is_answered(query: str, wire: str) -> None:
    async with live_agent() as url:
        result, heard = await ask(url, query, protocol_version=wire)
    assert result["outcome"] == "answered"
    assert len(result["visible"].strip()) > 20
    assert " ".join(result["visible"].split()) == " ".join(heard.text_of("final_result").split())
    assert all(message["state"] != "streaming" for message in result["thread"])


@pytest.mark.parametrize(
    "query,outcome", [("fail", "failed"), ("fail late", "failed"), ("deploy the bot", "asked")]
)
async def test_1_no_query_ends_in_silence(query: str, outcome: str) -> None:
    async with live_agent() as url:
        result, _ = await ask(url, query)
    assert result["outcome"] == outcome
    assert any(message["text"].strip() or message["blocks"] for message in result["thread"])
    assert all(message["state"] != "streaming" for message in result["thread"])
    assert all(
        task["status"] in ("complete", "error") for message in result["thread"] for task in message["tasks"]
    )


# -- the answer, letter by letter, from both sides of a live server ------------------------------------------


@pytest.mark.parametrize("wire", ["1.0", pytest.param("0.3", marks=pytest.mark.slow)])
async def test_eight_thousand_letters_of_every_kind_arrive_as_written(wire: str) -> None:
    async with live_agent() as url:
        result, heard = await ask(url, "unicode 8000", protocol_version=wire)
    wrote = heard.text_of("final_result")
    assert len(wrote.encode()) >= 8000
    assert "\u2028" in wrote and "👨‍👩‍👧‍👦" in wrote
    assert result["visible"] == wrote


# -- 2: nothing twice between append and stop ----------------------------------------------------------------


async def test_2_no_text_is_both_appended_and_stopped_with() -> None:
    async with live_agent() as url:
        result, heard = await ask(url, "what is agntcy")
    assert streamed(result, "chat.stopStream") == [""]
    appended = "".join(streamed(result, "chat.startStream", "chat.appendStream"))
    assert appended == result["visible"]
    assert appended.split() == heard.text_of("final_result").split()


# -- 3: the latch decides what the final result means --------------------------------------------------------


def test_3_a_final_result_that_was_delivered_is_not_delivered_again() -> None:
    chunk = update("All of it. ", is_final_answer=True)
    result = played(
        chunk,
        update("And the rest.\n", is_final_answer=True),
        update("All of it. And the rest.", "final_result"),
    )
    assert result["visible"].split() == ["All", "of", "it.", "And", "the", "rest."]
    assert result["latches"]["final_seen"]


def test_3_a_longer_final_result_gives_only_its_rest() -> None:
    result = played(
        update("Would you like to ", is_final_answer=True),
        update("Would you like to know more", "final_result"),
    )
    assert result["visible"] == "Would you like to know more"


def test_3_a_different_final_result_takes_the_place_of_what_stood_there() -> None:
    result = played(update("A guess.\n", is_final_answer=True), update("The truth.", "final_result"))
    assert result["visible"].strip() == "The truth."


def test_3_narration_latches_nothing() -> None:
    result = played(update("I'll look.\n", is_narration=True), update("Found it.", "final_result"))
    assert result["visible"] == "Found it."
    assert "I'll look" not in json.dumps(result["thread"])


# -- 4: tagged text opens the stream, tools or not -----------------------------------------------------------


async def test_4_the_stream_opens_for_an_answer_without_tools() -> None:
    async with live_agent() as url:
        result, heard = await ask(url, "tell me a joke")
    assert not any("tool" in artifact["name"] for artifact in heard.artifacts)
    assert [call["ok"] for call in result["calls"] if call["method"] == "chat.startStream"] == [True]
    assert [message["state"] for message in result["thread"]] == ["sealed"]


# -- 5: a tool at its limit stops no other -------------------------------------------------------------------


async def test_5_a_capped_tool_does_not_stop_the_others() -> None:
    async with live_agent() as url:
        result, heard = await ask(url, "tell me everything about streaming")
    names = [artifact.get("metadata", {}).get("sourceAgent") for artifact in heard.artifacts]
    texts = [part.get("text", "") for artifact in heard.artifacts for part in artifact["parts"]]
    capped = next(n for n, text in enumerate(texts) if "limit reached" in text)
    assert "fetch_document" in names[capped:]
    assert result["outcome"] == "answered"
    assert len(result["visible"]) > 300


# -- 6: live appends are preferred ---------------------------------------------------------------------------


async def test_6_an_answer_that_takes_time_is_shown_while_it_is_written() -> None:
    async with live_agent(pace=60.0) as url:
        result, _ = await ask(url, "long 800")
    assert result["first_visible"] <= result["first_answer_event"] + 1.0
    assert result["live_share"] >= 0.8
    assert result["longest_gap"] <= 2.0
