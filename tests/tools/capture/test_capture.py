"""A live agent is asked, and everything it says is on the tape: replayed, the thread is the same."""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from slack_bot.clock import Clock
from slack_bot.errors import BotError, UnreadableInput
from slack_bot.settings.load import Settings, load
from slack_bot.testing import virtual_clock
from slack_bot.testing.tape.items import INTERRUPTED, Moment
from slack_bot.testing.tape.json_file import Json
from slack_bot.testing.tape.tape import Recording, Tape, turns_of
from slack_bot.tools.capture.capture import CaptureProgress, CaptureRequest, capture, main
from slack_bot.tools.capture.http_tap import HttpTap
from slack_bot.tools.capture.tape_writer import TappedCall
from slack_bot.tools.files import OutputFile, open_capture, taped
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.replay.scenario import Scenario
from tests.agents.memory_server import JSON, SSE, Body, Server, json_reply, reply, sse_reply
from tests.live_agent import LONG, live_agent, replay_live
from tests.live_agent import UNICODE as SENT
from tests.loaded_program import loaded_program
from tests.processes import child

UNICODE = SENT.replace("\x85", "")  # a control character, which the bot lets nobody see
ROOT = Path(__file__).parents[3]
TASK = {"kind": "task", "id": "t1", "contextId": "c1", "status": {"state": "working"}}
DONE = {
    "kind": "status-update",
    "taskId": "t1",
    "contextId": "c1",
    "status": {"state": "completed"},
    "final": True,
}
CARD = {
    "name": "a",
    "url": "http://agent.example/",
    "protocolVersion": "0.3.0",
    "capabilities": {"streaming": True},
}


def result_of(capture: Tape | Recording) -> Json:
    return replayed(capture).result()


def artifact(text: str) -> dict[str, Any]:
    return {"artifactId": "a", "parts": [{"kind": "text", "text": text}]}


def settings_for(url: str, **more: str) -> Settings:
    env = {"A2A_AGENT_URL": url, **{f"SLACK_BOT_AGENT__{name.upper()}": text for name, text in more.items()}}
    return load(env, env_file=None, secrets_dir=None)


async def captured(
    path: Path, url: str, wanted: CaptureRequest, server: Server | None = None, **more: str
) -> tuple[int, Tape | Recording, str]:
    """The exit status, what was captured, and what was said about it."""
    said = io.StringIO()
    with OutputFile(str(path)) as file:
        status = await capture(
            wanted, settings_for(url, **more), file, CaptureProgress(said), transport=server
        )
    return status, open_capture(path), said.getvalue()


def answering(*answers: Any) -> Server:
    """An agent's server: its card, then an answer to each call, the last one again and again."""
    left = list(answers)

    def answer(request: httpx.Request) -> Any:
        if request.method == "GET":
            return json_reply(CARD)
        found = left.pop(0) if len(left) > 1 else left[0]
        return found(json.loads(request.content)) if callable(found) else found

    return Server(answer)


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
@pytest.mark.parametrize("versions", [("1.0",), ("0.3",)])
@pytest.mark.parametrize("question,answer", [("unicode", UNICODE), ("long", LONG)])
async def test_tape_and_live_thread_say_the_same(
    versions: tuple[str, ...], question: str, answer: str, binding: str, tmp_path: Path
) -> None:
    async with live_agent(versions, bindings=(binding,)) as live:
        status, tape, said = await captured(tmp_path / "tape", live.url, CaptureRequest((question,)))
        seen = await replay_live(Scenario(text=question), live.url)
    assert status == 0
    assert isinstance(tape, Tape)
    assert (tape.head["wire"], tape.head["question"]) == (versions[0], question)
    assert tape.moments[-1].end == "closed"
    again = await asyncio.to_thread(result_of, tape)
    assert again["visible"] == seen["visible"] == answer
    assert [message["state"] for message in again["thread"]] == [each["state"] for each in seen["thread"]]
    assert f"-> {tmp_path / 'tape'}" in said


@pytest.mark.parametrize(
    ("binding", "asked"), [("JSONRPC", "SendStreamingMessage"), ("HTTP+JSON", "/message:stream")]
)
async def test_without_streaming_and_as_raw_bytes(binding: str, asked: str, tmp_path: Path) -> None:
    async with live_agent(bindings=(binding,)) as live:
        status, tape, _ = await captured(
            tmp_path / "one", live.url, CaptureRequest(("unicode",), streaming=False)
        )
        assert (status, len(taped(tape).moments)) == (0, 2)
        status, raw, _ = await captured(tmp_path / "two", live.url, CaptureRequest(("unicode",), raw=True))
    assert status == 0
    assert isinstance(raw, Recording) and raw.status == 200 and len(raw.chunks) > 3
    assert (tmp_path / "two").read_text().startswith(f"# >>> POST {asked}\n")
    for each in (tape, raw):
        assert (await asyncio.to_thread(result_of, each))["visible"] == UNICODE


async def test_follow_ups_go_into_the_same_context_and_answer_what_was_asked(tmp_path: Path) -> None:
    async with live_agent() as live:
        wanted = CaptureRequest(("ask me", "unicode", "long"))
        status, tape, _ = await captured(tmp_path / "tape", live.url, wanted, input_required_grace="0.1")
    assert status == 0
    assert isinstance(tape, Tape)
    turns = turns_of(tape)
    assert [text for text, _ in turns] == ["ask me", "unicode", "long"]
    ids = [json.dumps([moment.event for moment in turn.moments]) for _, turn in turns]
    context = json.loads(ids[0])[0]["task"]["contextId"]
    assert all(context in each for each in ids)
    got = await asyncio.to_thread(result_of, tape)
    texts = [message["text"] for message in got["thread"]]
    assert "Which one?" in texts[0]
    assert texts[1] == UNICODE
    assert "".join(texts[2:]) == LONG


async def test_a_stream_dropped_on_purpose_is_followed_from_the_side(tmp_path: Path) -> None:
    polls = [
        {**TASK, "artifacts": []},
        {**TASK, "artifacts": []},
        {**TASK, "status": {"state": "completed"}, "artifacts": [artifact("All of it.")]},
    ]
    never = ending(60.0, b"data: " + json.dumps({"result": TASK}).encode() + b"\n\n", b": ping\n\n")
    server = answering(never, *({"result": poll} for poll in polls))
    server.answer = _json_unless_response(server.answer)
    wanted = CaptureRequest(("q",), cut_after=0.2, poll=True)
    status, tape, said = await captured(tmp_path / "tape", "http://agent.example/", wanted, server)
    assert status == 0
    assert isinstance(tape, Tape)
    assert [moment.end for moment in tape.moments] == [None, None, "cut", None, None]
    assert said.count("from the side") == 2

    got = await asyncio.to_thread(result_of, tape)
    assert (got["outcome"], got["visible"]) == ("answered", "All of it.")


def ending(at: float, *chunks: bytes) -> httpx.Response:
    """A stream that stays open until `at`, in seconds."""
    return httpx.Response(200, headers=SSE, stream=Body([(0.0, chunk) for chunk in chunks], ended=at))


def _json_unless_response(answer: Any) -> Any:
    def wrapped(request: httpx.Request) -> Any:
        found = answer(request)
        return json_reply(found) if isinstance(found, dict) else found

    return wrapped


async def test_a_wrong_event_is_kept_and_what_follows_it_too(tmp_path: Path) -> None:
    stream = reply(
        b"data: " + json.dumps({"result": TASK}).encode() + b"\n\ndata: {oops\n\n",
        b"data: " + json.dumps({"result": DONE}).encode() + b"\n\n",
    )
    status, tape, said = await captured(
        tmp_path / "tape", "http://agent.example/", CaptureRequest(("q",)), answering(stream)
    )
    assert status == 1
    assert [(moment.event, moment.raw, moment.end) for moment in taped(tape).moments] == [
        (TASK, None, None),
        (None, "data: {oops\n\n", None),
        (DONE, None, None),
        (None, None, "closed"),
    ]
    assert ", 1 error in " in said
    got = await asyncio.to_thread(result_of, tape)
    # what is no JSON ends the stream for the bot, and it asks for the task instead
    assert (set(got["events"]), got["outcome"]) == ({"task"}, "no_text")


async def test_a_cut_stream_leaves_a_tape_that_ends_so(tmp_path: Path) -> None:
    gone = httpx.RemoteProtocolError("gone")
    cut = reply(b"data: " + json.dumps({"result": TASK}).encode() + b"\n\n", error=gone)
    status, tape, said = await captured(
        tmp_path / "tape", "http://agent.example/", CaptureRequest(("q",)), answering(cut)
    )
    assert status == 1
    assert [moment.end for moment in taped(tape).moments] == [None, None, "cut"]
    assert "and then: agent.example broke the connection" in said


REPLY = {"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "Yes."}]}


@pytest.mark.parametrize(
    ("event", "note"),
    [
        (TASK, "its last state was working"),
        ({"kind": "artifact-update", "taskId": "t1", "contextId": "c1", "artifact": artifact("Yes.")},
         "no state came at all"),
        ({"kind": "status-updat", "status": {"state": "completed"}},
         "no state came at all (1 event of unknown kinds; slack-bot replay names them)"),
        (DONE, None),
        ({**TASK, "status": {"state": "input-required"}}, None),
        (REPLY, None),
    ],
)  # fmt: skip
async def test_an_answer_without_an_end_is_named(
    event: dict[str, Any], note: str | None, tmp_path: Path
) -> None:
    stream = reply(b"data: " + json.dumps({"result": event}).encode() + b"\n\n")
    status, _, said = await captured(
        tmp_path / "tape", "http://agent.example/", CaptureRequest(("q",)), answering(stream)
    )
    assert status == 0
    assert said.count("stopped without an end") == (note is not None)
    assert note is None or f"stopped without an end: {note}, and the agent must close" in said


async def test_the_other_wire_is_tried_and_only_its_answer_counts(tmp_path: Path) -> None:
    refused = json_reply(
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}}
    )
    status, tape, _ = await captured(
        tmp_path / "tape",
        "http://agent.example/",
        CaptureRequest(("q",)),
        answering(refused, sse_reply(TASK, DONE)),
    )
    assert status == 0
    assert isinstance(tape, Tape)
    assert tape.head["wire"] == "1.0"
    assert [moment.error for moment in tape.moments] == [None] * 4


async def test_no_secret_is_written(tmp_path: Path) -> None:
    answer = sse_reply({**TASK, "metadata": {"echo": "Bearer hunter2-token, key-3"}}, DONE)
    server = answering(answer)
    path = tmp_path / "tape"
    more = {"bearer_token": "hunter2-token", "header_name": "X-Key", "header_value": "key-3"}
    await captured(path, "http://me:pass-4@agent.example/", CaptureRequest(("q",)), server, **more)
    assert server.asked[-1].headers["authorization"] == "Bearer hunter2-token"
    written = path.read_text()
    assert not [word for word in ("hunter2", "key-3", "pass-4", "me:") if word in written]
    assert "[secret removed]" in written


KEY = "hunter2-0042-abcdefgh"
ECHOES: dict[str, tuple[int, dict[str, str], bytes]] = {
    "an error of JSON-RPC": (200, JSON, json.dumps({"error": {"code": 1, "message": f"No: {KEY}"}}).encode()),
    "HTTP 500": (500, {"content-type": "text/plain"}, f"boom {KEY}".encode()),
    "where the terminal's line is cut": (500, {"content-type": "text/plain"}, b"x" * 65 + KEY.encode()),
    "where the tape's quotation is cut": (500, {"content-type": "text/plain"}, b"x" * 285 + KEY.encode()),
    "what is no event": (200, SSE, f"data: no JSON {KEY}\n\n".encode()),
    "a comment": (200, SSE, f": {KEY}\n\n".encode()),
}


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("name", ECHOES)
async def test_a_secret_that_comes_back_is_neither_said_nor_written(
    name: str, raw: bool, tmp_path: Path
) -> None:
    status, headers, body = ECHOES[name]
    pieces = [(0.0, body[:-7]), (0.0, body[-7:])] if headers is not SSE else [(0.0, body)]
    path = tmp_path / "tape"
    _, _, said = await captured(
        path,
        "http://agent.example/",
        CaptureRequest((f"is it {KEY}?",), raw=raw),
        answering(httpx.Response(status, headers=headers, stream=Body(pieces))),
        bearer_token=KEY,
    )
    assert KEY[:8] not in said
    assert KEY[:8] not in path.read_text()
    assert "[secret removed]" in said


async def test_how_the_answer_is_read_goes_with_the_tape(tmp_path: Path) -> None:
    untagged = {"kind": "artifact-update", "taskId": "t1", "contextId": "c1", "append": False}
    untagged["artifact"] = {**artifact("Hi.\n"), "name": "streaming_result"}
    chunks = [b"data: " + json.dumps({"result": each}).encode() + b"\n\n" for each in (TASK, untagged, DONE)]
    streams = [
        httpx.Response(200, headers=SSE, stream=Body(list(zip((0.0, 0.0, 0.4), chunks, strict=True))))
        for _ in range(2)
    ]
    _, plain, _ = await captured(
        tmp_path / "1", "http://agent.example/", CaptureRequest(("q",)), answering(streams[0])
    )
    _, told, _ = await captured(
        tmp_path / "2",
        "http://agent.example/",
        CaptureRequest(("q",)),
        answering(streams[1]),
        dialect="caipe-0.2",
    )
    firsts = [(await asyncio.to_thread(result_of, tape))["first_answer_event"] for tape in (plain, told)]
    assert firsts[1] < 0.3 < firsts[0]
    assert taped(told).head["settings"] == {"dialect": "caipe-0.2"}


REFUSALS: dict[str, tuple[int, dict[str, str], bytes]] = {
    "a lost page": (404, {"content-type": "text/html"}, b"<html>Not here.</html>"),
    "no method": (405, JSON, b'{"detail": "Method Not Allowed"}'),
    "too many, soon": (429, {"retry-after": "2"}, b""),
    "too many, late": (429, {"retry-after": "7200"}, b""),
    "too many": (429, {}, b""),
    "down": (503, {"retry-after": "3"}, b"<h1>down</h1>"),
    "broken": (500, {"content-type": "text/plain"}, b"Internal Server Error"),
    "a gateway": (502, {"content-type": "text/html"}, b"<html>Bad Gateway</html>"),
    "elsewhere": (302, {"location": "http://other.example/"}, b""),
    "an error with a status": (400, JSON, b'{"error": {"code": -32602, "message": "Invalid parameters"}}'),
    "an error without a number": (500, JSON, b'{"error": {"message": "No."}}'),
    "an error": (200, JSON, b'{"error": {"code": -32603, "message": "Internal error"}}'),
    "a web page": (200, {"content-type": "text/html"}, b"<html>Log in.</html>"),
    "an event of no kind": (200, {"content-type": "text/plain"}, json.dumps({"result": DONE}).encode()),
    "other JSON": (200, JSON, b'{"hello": 1}'),
    "no JSON": (200, JSON, b"{"),
    "nothing": (200, {}, b""),
    "a stream with a status": (500, SSE, b"data: {}\n\n"),
}


@pytest.mark.parametrize("streaming,raw", [(True, False), (False, False), (True, True)])
@pytest.mark.parametrize("name", REFUSALS)
async def test_what_stood_in_place_of_an_answer_replays_to_what_the_reader_saw(
    name: str, streaming: bool, raw: bool, tmp_path: Path
) -> None:
    status, headers, body = REFUSALS[name]
    card = {**CARD, "capabilities": {"streaming": streaming}}

    def server() -> Server:
        refused = lambda: reply(body, status=status, headers=headers)  # noqa: E731
        return Server(lambda request: json_reply(card) if request.method == "GET" else refused())

    wanted = CaptureRequest(("q",), raw=raw)
    code, tape, _ = await captured(tmp_path / "tape", "http://agent.example/", wanted, server())
    assert code == 1
    live = await asyncio.to_thread(
        lambda: virtual_clock.run(
            replay_live(
                Scenario(text="q"),
                "http://agent.example/",
                clock=virtual_clock.new_clock(),
                transport=server(),
            )
        )
    )
    for each in (tape, taped(tape)):
        again = await asyncio.to_thread(result_of, each)
        assert (again["outcome"], again["reason"]) == (live["outcome"], live["reason"])
        assert [shown(message) for message in again["thread"]] == [shown(each) for each in live["thread"]]
    assert "Try again" in json.dumps(live["thread"])


LOCKED_OUT: dict[str, tuple[tuple[int, dict[str, str], bytes], str]] = {
    "a login": ((401, JSON, b'{"error": "login first"}'), "no credentials are set for it"),
    "a refusal": ((403, {}, b"no"), "HTTP 403"),
    "an error of the login": (
        (401, JSON, b'{"error": {"code": -32603, "message": "No."}}'),
        "no credentials are set for it",
    ),
}


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("name", LOCKED_OUT)
async def test_a_refused_login_leaves_no_file(name: str, raw: bool, tmp_path: Path) -> None:
    (status, headers, body), why = LOCKED_OUT[name]

    def answer(request: httpx.Request) -> httpx.Response:
        return json_reply(CARD) if request.method == "GET" else reply(body, status=status, headers=headers)

    wanted = CaptureRequest(("q",), raw=raw)
    with pytest.raises(BotError, match=why):
        await captured(tmp_path / "tape", "http://agent.example/", wanted, Server(answer))
    assert not (tmp_path / "tape").exists()


def shown(message: dict[str, Any]) -> tuple[object, ...]:
    return message["text"], message["state"], json.dumps(message["blocks"]), message["tasks"]


async def test_nobody_there_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(BotError, match="is the agent running at this address"):
        await captured(tmp_path / "tape", "http://127.0.0.1:1/", CaptureRequest(("q",)))
    assert not (tmp_path / "tape").exists()


async def test_a_follow_up_needs_a_context(tmp_path: Path) -> None:
    message = {
        "kind": "message",
        "messageId": "m",
        "role": "agent",
        "parts": [{"kind": "text", "text": "Hi."}],
    }
    status, _, said = await captured(
        tmp_path / "tape",
        "http://agent.example/",
        CaptureRequest(("q", "more")),
        answering(sse_reply(message)),
    )
    assert status == 1
    assert "named no context" in said


async def test_following_needs_a_task(tmp_path: Path) -> None:
    pings = ending(60.0, b": ping\n\n")
    wanted = CaptureRequest(("q",), cut_after=0.1, poll=True)
    status, _, said = await captured(tmp_path / "tape", "http://agent.example/", wanted, answering(pings))
    assert status == 1
    assert "named no task" in said


ARGS = {
    **{"url": "http://a/", "text": "q", "output": "o", "then": [], "cut_after": None},
    **{"no_stream": False, "sse": False, "poll": False, "force": False},
}


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": " "},
        {"then": [""]},
        {"poll": True},
        {"cut_after": -1.0},
        {"cut_after": float("nan")},
        {"cut_after": 1.0, "no_stream": True},
        {"cut_after": 1.0, "then": ["x"]},
        {"sse": True, "then": ["x"]},
        {"sse": True, "cut_after": 1.0, "poll": True},
        {"url": "file:///etc/passwd"},
        {"output": "/missing/tape"},
    ],
)
def test_wrong_usage_is_said_before_anything_is_asked(wrong: dict[str, Any]) -> None:
    with pytest.raises(UnreadableInput):
        main(argparse.Namespace(**{**ARGS, **wrong}))


async def test_ctrl_c_leaves_a_tape_that_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    env = {"PATH": os.environ["PATH"]}
    async with live_agent() as live:
        command = *loaded_program(), "capture", live.url, "slow", "-o", str(path)
        async with child(*command, cwd=ROOT, stderr=subprocess.PIPE, env=env) as process:
            assert process.stderr is not None
            await asyncio.wait_for(process.stderr.readline(), 60)
            while not path.exists() or path.read_text().count("\n") < 2:  # noqa: ASYNC110  a file tells nobody
                await asyncio.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, told = await asyncio.wait_for(process.communicate(), 60)
            assert process.returncode == 130
    last = told.decode().splitlines()[-1]
    kept = rf"interrupted; what came until then is in {path}: \d+ events?, \d+ characters?, the last one: .+"
    assert re.fullmatch(kept, last)
    moments = taped(open_capture(path)).moments
    assert (moments[-2].end, moments[-1].comment) == ("cut", INTERRUPTED)


class Held(httpx.AsyncByteStream):
    """A body that says so much and then nothing any more; `said` tells when."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks, self.said = chunks, asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk
        self.said.set()
        await asyncio.sleep(3600)


PIECE = {"kind": "artifact-update", "taskId": "t1", "contextId": "c1", "append": False}
PIECE["artifact"] = {**artifact("Half an answer\n"), "metadata": {"is_final_answer": True}}


async def interrupted(
    path: Path, wanted: CaptureRequest, held: Held, *before: httpx.Response
) -> Tape | Recording:
    """What is in the file after a capture that was ended when `held` had said all."""
    server = answering(*before, httpx.Response(200, headers=SSE, stream=held))
    task = asyncio.create_task(captured(path, "http://agent.example/", wanted, server))
    await asyncio.wait_for(held.said.wait(), 60)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return open_capture(path)


def said(*events: Any) -> list[bytes]:
    return [b"data: " + json.dumps({"result": each}).encode() + b"\n\n" for each in events]


@pytest.mark.parametrize("raw", [False, True])
async def test_an_interrupted_capture_replays_to_the_thread_as_it_stood(raw: bool, tmp_path: Path) -> None:
    tape = await interrupted(tmp_path / "tape", CaptureRequest(("q",), raw=raw), Held(*said(TASK, PIECE)))
    for each in (tape, taped(tape)):
        got = await asyncio.to_thread(result_of, each)
        assert (got["visible"], got["outcome"]) == ("Half an answer\n", "interrupted")
        assert "nobody waited longer" in got["reason"]
        assert max(call["t"] for call in got["calls"]) < 5
        assert [message["state"] for message in got["thread"]] == ["streaming"]


async def test_an_interrupted_follow_up_is_the_only_turn_without_an_end(tmp_path: Path) -> None:
    first = sse_reply(TASK, {**PIECE, "artifact": artifact("The whole first answer.")}, DONE)
    tape = await interrupted(tmp_path / "tape", CaptureRequest(("q", "and then?")), Held(b": hi\n\n"), first)
    assert isinstance(tape, Tape)
    got = await asyncio.to_thread(result_of, tape)
    assert got["outcome"] == "interrupted"
    assert got["visible"] == "The whole first answer."
    assert next(message["state"] for message in got["thread"]) != "streaming"


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


class Silent(Server):
    """Shows its card, and then never answers."""

    def __init__(self) -> None:
        super().__init__(lambda request: json_reply(CARD))
        self.was_asked = asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            self.was_asked.set()
            await asyncio.sleep(3600)
        return await super().handle_async_request(request)


@pytest.mark.parametrize("raw", [False, True])
async def test_a_stream_that_is_dropped_and_left_alone_is_no_lost_task(raw: bool, tmp_path: Path) -> None:
    server = answering(ending(60.0, *said(TASK, PIECE)))
    wanted = CaptureRequest(("q",), raw=raw, cut_after=0.1)
    status, tape, _ = await captured(tmp_path / "tape", "http://agent.example/", wanted, server)
    assert status == 0
    got = await asyncio.to_thread(result_of, tape)
    assert (got["visible"], got["outcome"]) == ("Half an answer\n", "interrupted")
    assert max(call["t"] for call in got["calls"]) < 5


@pytest.mark.parametrize("raw", [False, True])
async def test_an_interruption_before_anything_came_leaves_nothing(raw: bool, tmp_path: Path) -> None:
    server = Silent()
    wanted = CaptureRequest(("q",), raw=raw)
    task = asyncio.create_task(captured(tmp_path / "tape", "http://agent.example/", wanted, server))
    await asyncio.wait_for(server.was_asked.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert names_in(tmp_path) == []


async def test_interrupting_the_wait_behind_the_end_takes_nothing_from_the_answer(tmp_path: Path) -> None:
    tape = await interrupted(tmp_path / "tape", CaptureRequest(("q",)), Held(*said(TASK, PIECE, DONE)))
    got = await asyncio.to_thread(result_of, tape)
    assert (got["visible"], got["outcome"]) == ("Half an answer\n", "answered")


async def test_following_from_the_side_may_be_interrupted_too(tmp_path: Path) -> None:
    polls = asyncio.Event()

    def poll(body: Any) -> Any:
        polls.set()
        return json_reply({"result": {**TASK, "artifacts": [artifact("Half of it.")]}})

    server = answering(ending(60.0, *said(TASK)), poll)
    wanted = CaptureRequest(("q",), cut_after=0.1, poll=True)
    task = asyncio.create_task(captured(tmp_path / "tape", "http://agent.example/", wanted, server))
    await asyncio.wait_for(polls.wait(), 60)
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    tape = open_capture(tmp_path / "tape")
    assert isinstance(tape, Tape)
    assert [moment.end or moment.comment for moment in tape.moments] == [None, "cut", None, INTERRUPTED]
    got = await asyncio.to_thread(result_of, tape)
    assert got["outcome"] == "interrupted"
    assert max(call["t"] for call in got["calls"]) < 10


async def test_a_secret_in_pieces_is_not_written_either(tmp_path: Path) -> None:
    pieces = ["The key is hun", "ter2", "-token, and ", "hundred", " more."]
    chunks = [
        {
            "kind": "artifact-update",
            "taskId": "t1",
            "contextId": "c1",
            "append": n > 0,
            "artifact": artifact(text),
        }
        for n, text in enumerate(pieces)
    ]
    path = tmp_path / "tape"
    server = answering(sse_reply(TASK, *chunks, DONE))
    await captured(
        path, "http://agent.example/", CaptureRequest(("q",)), server, bearer_token="hunter2-token"
    )
    assert (await asyncio.to_thread(result_of, open_capture(path)))["visible"].startswith("The key is")
    assert not [word for word in ("hunter", "ter2", "-token") if word in path.read_text()]
    assert "hundred" in path.read_text()


# -- what it says while it runs ------------------------------------------------------------------------------


class Watched(io.StringIO):
    def __init__(self) -> None:
        super().__init__()
        self.written = asyncio.Event()

    def write(self, text: str) -> int:
        self.written.set()
        return super().write(text)


class Terminal(Watched):
    def isatty(self) -> bool:
        return True


def update(text: str) -> dict[str, Any]:
    return {
        "kind": "artifact-update",
        "artifact": {"name": "answer", "parts": [{"kind": "text", "text": text}]},
    }


@pytest.mark.parametrize(
    "event,expected",
    [
        (update("abc"), ("answer", 3)),
        ({"kind": "task", "id": "t", "status": {"state": "working"}}, ("task working", 0)),
        ({"kind": "status-update", "status": {"state": "completed"}}, ("status completed", 0)),
        ({"kind": "message", "role": "agent", "parts": [{"kind": "text", "text": "hi"}]}, ("message", 2)),
        ({"kind": "strange"}, ("unknown", 0)),
        ({"error": {"code": 1}}, ("unknown", 0)),
    ],
)
def test_what_an_event_brings(event: dict[str, Any], expected: tuple[str, int]) -> None:
    counted = CaptureProgress(io.StringIO())
    counted.on_data(0.0, b"", Moment(0.0, event=event))
    assert (counted.last, counted.chars) == expected


def test_it_counts_and_names_what_is_wrong() -> None:
    out = io.StringIO()
    progress = CaptureProgress(out)
    progress.on_request(0.0, TappedCall("message/stream", "ask", "0.3", "1", "what\nnow " + "x" * 100), b"")
    progress.on_request(0.0, TappedCall("tasks/get", "get", "0.3", "2"), b"")
    progress.on_response(0.1, 503, {})
    progress.on_data(0.2, b"", None)
    progress.on_data(0.2, b"", Moment(0.2, event=update("abc")))
    progress.on_data(0.3, b"", Moment(0.3, error={"code": 1, "message": "boom"}))
    progress.on_data(0.4, b"", Moment(0.4, raw="data: {"))
    progress.on_data(0.4, b"", Moment(0.4, comment="ping"))
    progress.on_end(0.5, "closed")
    assert (progress.events, progress.chars, progress.errors, progress.last) == (1, 3, 2, "answer")
    lines = out.getvalue().splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("   0.00 s  asking (message/stream): what now xxx") and lines[0].endswith(
        "..."
    )
    assert "HTTP 503" in lines[1] and "boom" in lines[2] and "data: {" in lines[3]


async def test_a_terminal_has_one_line_that_is_redrawn_and_elsewhere_there_is_one_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out, times = Terminal(), iter([1.0] * 3 + [6.0] * 100)
    async with httpx.AsyncClient() as http:
        tap = HttpTap(http, (), Clock(lambda: next(times), lambda: 0.0), 100)
        tap._start = 0.0
        progress = CaptureProgress(out)
        async with progress.ticking(tap):
            out.written.clear()
            await out.written.wait()
            assert "nothing yet" in out.getvalue()
            progress.say("a\x1b[2J line that stays [bold]")
        assert "\x1b[2K" in out.getvalue().rpartition("\n")[0], "the line is erased before one that stays"
        assert "a [2J line that stays [bold]\n" in out.getvalue()
        plain = Watched()
        async with CaptureProgress(plain).ticking(tap):
            await plain.written.wait()
        assert plain.getvalue().count("\n") == 1


def late(at: float, *data: bytes, kind: dict[str, str] = SSE) -> httpx.Response:
    return httpx.Response(200, headers=kind, stream=Body([(at, each) for each in data], ended=10_000.0))


PINGS = httpx.Response(
    200, headers=SSE, stream=Body([(15.0 * n, b": ping\n\n") for n in range(60)], ended=10_000.0)
)


async def test_an_answer_that_ends_with_an_error_has_an_end(tmp_path: Path) -> None:
    async with live_agent() as live:
        status, tape, told = await captured(tmp_path / "tape", live.url, CaptureRequest(("raise",)))
    assert status == 1 and "boom in the middle" in told
    assert "without an end" not in told
    got = await asyncio.to_thread(result_of, tape)
    assert got["outcome"] == "failed"


async def test_a_long_wait_says_once_how_it_ends(tmp_path: Path) -> None:
    out, held, settings = io.StringIO(), Held(*said(TASK, PIECE)), settings_for("http://agent.example/")
    with OutputFile(str(tmp_path / "tape")) as file:
        progress = CaptureProgress(out, ": Ctrl-C ends it", long_wait=0.2)
        server = answering(httpx.Response(200, headers=SSE, stream=held))
        task = asyncio.create_task(
            capture(CaptureRequest(("q",)), settings, file, progress, transport=server)
        )
        async with asyncio.timeout(60):
            while "has not ended" not in out.getvalue():  # noqa: ASYNC110  a stream tells nobody
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    told = [line for line in out.getvalue().splitlines() if "has not ended yet" in line]
    assert [line.strip().partition(" s  ")[2] for line in told] == [
        "the answer has not ended yet: Ctrl-C ends it; when nothing comes for 120 s, it ends by itself"
    ]


@pytest.mark.parametrize("answer", [PINGS, late(0.0, b"data: {", b"1"), late(0.0, b"{", kind=JSON)])
def test_a_stream_that_falls_silent_is_left(answer: httpx.Response, tmp_path: Path) -> None:
    async def run() -> tuple[int, bool, float]:
        wanted = CaptureRequest(("q",))
        status, _, said = await captured(
            tmp_path / "tape", "http://agent.example/", wanted, answering(answer), idle_timeout="40"
        )
        return status, "the agent sent no event for 40 s" in said, asyncio.get_running_loop().time()

    assert virtual_clock.run(run()) == (1, True, 40.0)


def test_the_silence_counts_from_event_to_event(tmp_path: Path) -> None:
    events = [
        (39.0 * n, b"data: " + json.dumps({"result": each}).encode() + b"\n\n")
        for n, each in enumerate((TASK, TASK, TASK, DONE))
    ]
    answer = httpx.Response(200, headers=SSE, stream=Body(events))

    async def run() -> int:
        wanted = CaptureRequest(("q",))
        status, _, _ = await captured(
            tmp_path / "tape", "http://agent.example/", wanted, answering(answer), idle_timeout="40"
        )
        return status

    assert virtual_clock.run(run()) == 0


def test_a_whole_answer_may_take_the_time_of_a_turn(tmp_path: Path) -> None:
    body = json.dumps({"result": {"kind": "message", "parts": [{"kind": "text", "text": "Yes."}]}}).encode()
    answer = httpx.Response(200, headers=JSON, stream=Body([(500.0, body)]))

    async def run() -> int:
        wanted = CaptureRequest(("q",), streaming=False)
        status, _, _ = await captured(
            tmp_path / "tape", "http://agent.example/", wanted, answering(answer), idle_timeout="40"
        )
        return status

    assert virtual_clock.run(run()) == 0
