"""The playground's agent, asked by a2a-sdk's own client and by plain HTTP on both wires."""

import argparse
import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.client import ClientConfig, create_client
from a2a.helpers import get_message_text, new_text_message
from a2a.types import CancelTaskRequest, GetTaskRequest, Role, SendMessageRequest, StreamResponse, TaskState

from slack_bot.cli import main
from slack_bot.errors import BotError
from slack_bot.playground.command_line import MODES
from slack_bot.playground.reference.agent import agent_card, chosen_agent, load_knowledge, serve
from slack_bot.settings.models import ReferenceSettings
from slack_bot.testing.harness import free_port
from slack_bot.tools.replay.scenario import make_scenario
from tests.live_agent import replay_live

Json = dict[str, Any]
ROOT = Path(__file__).parents[3]


def args(**given: object) -> argparse.Namespace:
    return argparse.Namespace(**{"port": 0, "pace": None, "mode": None, **given})


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with serve(ReferenceSettings(pace=0)) as address:
        yield address


async def ask_sdk(url: str, text: str, **ids: str) -> list[StreamResponse]:
    async with httpx.AsyncClient(timeout=60) as http:
        client = await create_client(url, ClientConfig(streaming=True, httpx_client=http))
        message = new_text_message(text, role=Role.ROLE_USER, **ids)
        return [event async for event in client.send_message(SendMessageRequest(message=message))]


def answer_of(events: list[StreamResponse]) -> str:
    return "".join(
        event.artifact_update.artifact.parts[0].text
        for event in events
        if event.HasField("artifact_update") and "is_final_answer" in event.artifact_update.artifact.metadata
    )


def last_state(events: list[StreamResponse]) -> "TaskState.ValueType":
    return [event.status_update.status.state for event in events if event.HasField("status_update")][-1]


async def raw(url: str, text: str, wire: str, **message: str) -> list[Json]:
    """The results of a stream, read byte by byte: line readers break at U+2028."""
    parts = [{"kind": "text", "text": text} if wire == "0.3" else {"text": text}]
    asked = {"messageId": "m-1", "role": "user" if wire == "0.3" else "ROLE_USER", "parts": parts, **message}
    method = "message/stream" if wire == "0.3" else "SendStreamingMessage"
    body = {"jsonrpc": "2.0", "id": "q-1", "method": method, "params": {"message": asked}}
    headers = {"A2A-Version": "1.0"} if wire == "1.0" else {}
    async with httpx.AsyncClient(timeout=60) as http:
        response = await http.post(url, json=body, headers=headers)
    lines = [
        line.removeprefix(b"data: ") for line in response.content.splitlines() if line.startswith(b"data: ")
    ]
    return [json.loads(line)["result"] for line in lines]


def updates(results: list[Json]) -> list[Json]:
    """The artifact updates of either wire, flat."""
    found = [result.get("artifactUpdate", result) for result in results]
    return [each for each in found if "artifact" in each]


FACES = [("1.0", "JSONRPC"), ("0.3", "JSONRPC"), ("1.0", "HTTP+JSON"), ("0.3", "HTTP+JSON")]


async def test_the_card_names_both_wires_in_both_bindings(url: str) -> None:
    async with httpx.AsyncClient() as http:
        card = (await http.get(url + ".well-known/agent-card.json")).json()
    faces = card["supportedInterfaces"]
    assert [(each["protocolVersion"], each["protocolBinding"]) for each in faces] == FACES
    assert {each["url"] for each in faces} == {url}
    assert card["url"] == url
    assert card["capabilities"]["streaming"] is True
    assert agent_card(url).skills[0].examples


@pytest.mark.parametrize(("wire", "binding"), FACES)
async def test_each_face_answers_the_same(url: str, wire: str, binding: str) -> None:
    settings = {"protocol_version": wire, "binding": binding}
    result = await replay_live(make_scenario({"text": "what is agntcy", "settings": settings}), url)
    assert result["outcome"] == "answered"
    assert result["visible"].startswith("AGNTCY (say ")


async def test_the_card_names_the_address_by_which_the_asker_reaches_the_agent(url: str) -> None:
    async with httpx.AsyncClient() as http:
        card = (await http.get(url + ".well-known/agent-card.json", headers={"host": "agent:9000"})).json()
    assert {each["url"] for each in card["supportedInterfaces"]} == {card["url"]} == {"http://agent:9000/"}


@pytest.mark.parametrize(
    "question", ["what is agntcy", "explain how agntcy agents communicate with each other"]
)
async def test_the_sdks_client_gets_a_knowledge_answer(url: str, question: str) -> None:
    events = await ask_sdk(url, question)
    assert events[0].HasField("task")
    assert len(answer_of(events)) > 300
    names = [event.artifact_update.artifact.name for event in events if event.HasField("artifact_update")]
    assert {
        "tool_notification_start",
        "tool_notification_end",
        "execution_plan_update",
        "final_result",
    } <= set(names)
    assert last_state(events) == TaskState.TASK_STATE_COMPLETED


@pytest.mark.parametrize("question", ["tell me a joke", "how is the weather in San Francisco?"])
async def test_small_talk_is_live_and_without_tools(url: str, question: str) -> None:
    events = await ask_sdk(url, question)
    assert len(answer_of(events)) > 20
    names = {event.artifact_update.artifact.name for event in events if event.HasField("artifact_update")}
    assert names == {"streaming_result", "final_result"}


@pytest.mark.parametrize("wire", ["1.0", "0.3"])
async def test_the_wire_is_that_of_caipes_supervisor(url: str, wire: str) -> None:
    results = await raw(url, "what is agntcy", wire)
    task = results[0].get("task", results[0])
    assert "submitted" in task["status"]["state"].lower()
    chunks = [each for each in updates(results) if each["artifact"]["name"] == "streaming_result"]
    narration = [each for each in chunks if each["artifact"].get("metadata", {}).get("is_narration") is True]
    answer = [each for each in chunks if each["artifact"].get("metadata", {}).get("is_final_answer") is True]
    assert len(narration) + len(answer) == len(chunks)
    assert [bool(each.get("append")) for each in answer] == [False] + [True] * (len(answer) - 1)
    assert len({each["artifact"]["artifactId"] for each in answer}) == 1
    assert all(each["artifact"]["metadata"]["plan_step_id"].startswith("step-") for each in answer)
    final = [each for each in updates(results) if each["artifact"]["name"] == "final_result"]
    text = "".join(each["artifact"]["parts"][0]["text"] for each in answer)
    assert [each["artifact"]["parts"][0]["text"] for each in final] == [text]
    assert final[0]["lastChunk"] is True
    last = results[-1].get("statusUpdate", results[-1])
    assert "completed" in last["status"]["state"].lower()
    assert last["metadata"]["trace_id"] == final[0]["artifact"]["metadata"]["trace_id"]
    if wire == "0.3":
        assert last["final"] is True


@pytest.mark.parametrize("wire", ["1.0", "0.3"])
async def test_tools_and_plan_on_the_wire(url: str, wire: str) -> None:
    found = updates(await raw(url, "what is agntcy", wire))
    starts = [each["artifact"] for each in found if each["artifact"]["name"] == "tool_notification_start"]
    ends = [each["artifact"] for each in found if each["artifact"]["name"] == "tool_notification_end"]
    assert [each["description"] for each in starts][:2] == [
        "Tool call started: search",
        "Tool call started: fetch_document",
    ]
    assert len(starts) == len(ends)
    assert starts[0]["parts"][0]["text"] == "🔧 Supervisor: Calling Agent Search...\n"
    assert ends[0]["parts"][0]["text"] == "✅ Supervisor: Agent task Search completed\n"
    assert starts[0]["metadata"]["sourceAgent"] == "search"
    assert [each["metadata"]["tool_title"] for each in starts] == [
        "Search “what is agntcy”",
        "Read “What AGNTCY is”",
        "Read “How AGNTCY agents communicate”",
    ]
    plans = [each["artifact"] for each in found if each["artifact"]["name"].startswith("execution_plan")]
    assert [each["name"] for each in plans] == ["execution_plan_update"] + [
        "execution_plan_status_update"
    ] * 3
    assert len({each["artifactId"] for each in plans}) == 1
    steps = plans[-1]["parts"][0]["data"]["steps"]
    assert [step["status"] for step in steps] == ["completed"] * 3
    assert [step["order"] for step in steps] == [0, 1, 2]
    titles = [plan["parts"][0]["data"].get("title") for plan in plans]
    assert titles == [None, None, None, "Searched 2 pages"]


async def test_a_capped_tool_does_not_stop_others(url: str) -> None:
    found = updates(await raw(url, "tell me everything about streaming", "1.0"))
    ends = [each["artifact"] for each in found if each["artifact"]["name"] == "tool_notification_end"]
    capped = [each for each in ends if "limit reached" in each["parts"][0]["text"]]
    assert [each["metadata"]["sourceAgent"] for each in capped] == ["search", "search"]
    after = [each["metadata"]["sourceAgent"] for each in ends[ends.index(capped[-1]) + 1 :]]
    assert after == ["fetch_document"] * 4
    assert any(each["artifact"]["name"] == "final_result" for each in found)


async def test_unicode_of_8_kb_arrives_whole(url: str) -> None:
    """On 1.0 too, and through the bot: `tests/e2e/test_invariants.py`."""
    found = updates(await raw(url, "unicode 8000", "0.3"))
    final = next(
        each["artifact"]["parts"][0]["text"] for each in found if each["artifact"]["name"] == "final_result"
    )
    streamed = "".join(
        each["artifact"]["parts"][0]["text"]
        for each in found
        if each["artifact"].get("metadata", {}).get("is_final_answer")
    )
    assert streamed == final
    assert len(final.encode()) > 8000
    assert "\u2028" in final
    assert "👨‍👩‍👧‍👦" in final


async def test_it_asks_back_and_answers_the_reply_to_the_same_task(url: str) -> None:
    asked = await ask_sdk(url, "deploy the bot")
    status = asked[-1].status_update.status
    assert status.state == TaskState.TASK_STATE_INPUT_REQUIRED
    assert get_message_text(status.message) == "Which environment: staging or production?"
    task = asked[0].task
    again = await ask_sdk(url, "somewhere", task_id=task.id, context_id=task.context_id)
    assert last_state(again) == TaskState.TASK_STATE_INPUT_REQUIRED
    answered = await ask_sdk(url, "staging", task_id=task.id, context_id=task.context_id)
    assert last_state(answered) == TaskState.TASK_STATE_COMPLETED
    assert answer_of(answered).startswith("The bot is deployed to staging, ")
    ids = [
        event.artifact_update.artifact.artifact_id
        for events in (asked, answered)
        for event in events
        if event.HasField("artifact_update") and not event.artifact_update.append
    ]
    assert len(ids) - 3 == len(set(ids)), "only the plan's updates replace an artifact"


@pytest.mark.parametrize("mode", MODES)
async def test_in_every_mode_a_reply_to_the_same_task_is_answered(mode: str) -> None:
    async with serve(chosen_agent(args(mode=mode, pace=0.0))) as url:
        asked = await ask_sdk(url, "deploy the bot")
        assert last_state(asked) == TaskState.TASK_STATE_INPUT_REQUIRED
        assert answer_of(asked) == "", "a question is no answer"
        task = asked[0].task
        answered = await ask_sdk(url, "staging", task_id=task.id, context_id=task.context_id)
        assert last_state(answered) == TaskState.TASK_STATE_COMPLETED
        assert answer_of(answered).startswith("The bot is deployed to staging, ")


@pytest.mark.parametrize("wire", ["1.0", "0.3"])
async def test_structured_output_is_a_data_part_on_both_wires(wire: str) -> None:
    structured = ReferenceSettings(response_mode="structured", structured_output=True, pace=0)
    async with serve(structured) as url:
        found = updates(await raw(url, "tell me a joke", wire))
    (final,) = (each["artifact"] for each in found if each["artifact"]["name"] == "final_result")
    assert final["parts"][0]["data"]["content"].startswith("There are two hard things")
    assert final["metadata"]["response"] == {
        "is_task_complete": True,
        "require_user_input": False,
        "was_task_successful": True,
    }


async def test_a_form_names_its_fields(url: str) -> None:
    found = updates(await raw(url, "fill in a form", "0.3"))
    form = next(each["artifact"] for each in found if each["artifact"]["name"] == "UserInputMetaData")
    fields = form["parts"][0]["data"]["input_fields"]
    assert [field["field_name"] for field in fields] == ["environment", "version", "reason"]
    assert fields[0]["field_values"] == ["staging", "production"]


async def test_fail_fails_with_its_reason_and_a_failed_tool(url: str) -> None:
    results = await raw(url, "fail late", "0.3")
    assert results[-1]["status"]["state"] == "failed"
    assert "archive broke" in results[-1]["status"]["message"]["parts"][0]["text"]
    end = next(
        each["artifact"] for each in updates(results) if each["artifact"]["name"] == "tool_notification_end"
    )
    assert end["parts"][0]["text"].startswith("❌")
    assert end["description"] == "Tool call failed: archive"


async def test_slow_pauses_take_no_time_without_a_pace(url: str) -> None:
    results = await raw(url, "slow 600", "1.0")
    assert results[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"


async def test_an_empty_question_is_answered(url: str) -> None:
    results = await raw(url, "", "0.3")
    assert results[-1]["status"]["state"] == "completed"


async def test_cancel_ends_a_running_task() -> None:
    async with serve(ReferenceSettings(pace=20)) as url, httpx.AsyncClient(timeout=60) as http:
        client = await create_client(url, ClientConfig(streaming=True, httpx_client=http))
        message = new_text_message("long 8000", role=Role.ROLE_USER)
        states = []
        async for event in client.send_message(SendMessageRequest(message=message)):
            if event.HasField("task"):
                task_id = event.task.id
            if event.HasField("artifact_update") and not states:
                canceled = await client.cancel_task(CancelTaskRequest(id=task_id))
                states.append(canceled.status.state)
        assert states == [TaskState.TASK_STATE_CANCELED]
        task = await client.get_task(GetTaskRequest(id=task_id))
        assert task.status.state == TaskState.TASK_STATE_CANCELED


async def test_what_came_before_is_known_in_the_same_context_only(url: str) -> None:
    await ask_sdk(url, "what does it cost", context_id="one")
    follow_up = answer_of(await ask_sdk(url, "is there a free version?", context_id="one"))
    assert follow_up.startswith("There are no editions, tiers or trials")
    assert "cannot tell what this is about" in answer_of(await ask_sdk(url, "why?", context_id="two"))


async def test_a_canceled_answer_goes_on_where_it_was() -> None:
    async with serve(ReferenceSettings(pace=400)) as url, httpx.AsyncClient(timeout=60) as http:
        client = await create_client(url, ClientConfig(streaming=True, httpx_client=http))
        message = new_text_message("write a long answer", role=Role.ROLE_USER, context_id="one")
        written, task_id, is_canceled = "", "", False
        async for event in client.send_message(SendMessageRequest(message=message)):
            task_id = event.task.id or task_id
            written += answer_of([event])
            if "## 3." in written and not is_canceled:
                is_canceled = True
                await client.cancel_task(CancelTaskRequest(id=task_id))
        rest = answer_of(await ask_sdk(url, "go on", context_id="one"))
        assert rest.startswith("## 3.") and rest.endswith("**This is the end of the long answer.**")


async def test_the_pace_is_kept() -> None:
    async with serve(ReferenceSettings(pace=200)) as url:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        events = await ask_sdk(url, "tell me a joke")
        chunks = sum(event.HasField("artifact_update") for event in events)
        assert loop.time() - begun >= (chunks - 1) / 200


async def test_the_same_question_gets_the_same_answer_twice(url: str) -> None:
    first, second = await ask_sdk(url, "what is agntcy"), await ask_sdk(url, "what is agntcy")
    assert answer_of(first) == answer_of(second)
    assert len(first) == len(second)


def test_the_bundled_pages_are_there() -> None:
    pages = load_knowledge()
    assert {"what-this-bot-is", "cost-and-licence", "data-and-security", "how-streaming-works"} <= set(pages)
    assert {"agntcy", "agntcy-communication"} <= set(pages)
    assert all(text.startswith("# ") for text in pages.values())
    assert len(pages["how-streaming-works"].split("\n## ")) > 5


# -- `slack-bot agent` ---------------------------------------------------------------------------------------


@pytest.fixture
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    for name in ("PACE", "RESPONSE_MODE"):
        monkeypatch.delenv(f"SLACK_BOT_REFERENCE__{name}", raising=False)
    yield


def test_the_command_line_counts_more_than_the_settings(
    nothing_set: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_BOT_REFERENCE__RESPONSE_MODE", "marker")
    assert (chosen_agent(args()).response_mode, chosen_agent(args()).pace) == ("marker", 30.0)
    chosen = chosen_agent(args(mode="structured", pace=0.0))
    assert (chosen.response_mode, chosen.pace) == ("structured", 0.0)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"port": 70_000}, "There is no port 70000: give --port a number up to 65535"),
        ({"pace": -3.0}, "A pace of -3 tokens a second cannot be kept"),
        ({"pace": float("nan")}, "A pace of nan tokens a second cannot be kept"),
    ],
)
def test_what_makes_no_sense_is_refused(nothing_set: None, given: dict[str, object], told: str) -> None:
    with pytest.raises(BotError, match=told):
        chosen_agent(args(**given))


def test_it_serves_its_mode_until_it_is_ended(tmp_path: Path) -> None:
    port = free_port()
    words = [
        sys.executable,
        "-m",
        "slack_bot",
        "agent",
        "--mode",
        "marker",
        "--pace",
        "0",
        "--port",
        str(port),
    ]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            assert (
                running.stdout.readline()
                == f"The agent is at http://127.0.0.1:{port}/ (marker, the local model).\n"
            )
            card = httpx.get(f"http://127.0.0.1:{port}/.well-known/agent-card.json").json()
            assert card["capabilities"]["streaming"] is True
        finally:
            running.terminate()
        assert running.wait(10) == 0


@pytest.mark.parametrize(
    ("host", "told"),
    [("127.0.0.1", "is taken: choose another one"), ("203.0.113.1", "an address of this machine")],
)
def test_an_address_that_cannot_be_had_is_one_sentence(
    nothing_set: None, host: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["agent", "--host", host, "--port", str(taken.getsockname()[1])]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("slack-bot agent: ")
    assert told in line


def test_an_unknown_mode_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["agent", "--mode", "loud"])
    assert ended.value.code == 2
    assert "hybrid, marker, structured" in capsys.readouterr().err.replace("'", "")  # quoted until 3.13
