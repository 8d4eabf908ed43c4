"""The whole playground: real sockets, the real bot, and the commands that start it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from slack_bot import cli
from slack_bot.errors import BotError
from slack_bot.playground.feed import PageUpdate
from slack_bot.playground.hosting import no_address
from slack_bot.playground.server import Playground, open_playground
from slack_bot.playground.visitor import CHANNEL, PARTNER
from slack_bot.settings.load import Settings, load
from slack_bot.settings.models import ReferenceSettings
from slack_bot.testing.harness import wait_until
from slack_bot.testing.overrides import with_overrides
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import write_tape
from tests.live_agent import live_agent
from tests.loaded_program import loaded_program
from tests.processes import child

PATIENCE = 60


async def closed(playground: Playground, order: dict[str, object]) -> PageUpdate:
    """Carry out an order and wait until the turn it causes is over."""
    over: asyncio.Future[PageUpdate] = asyncio.get_running_loop().create_future()

    def hear(update: PageUpdate) -> None:
        if update["type"] == "fact" and update["fact"]["kind"] == "closed" and not over.done():
            over.set_result(update["fact"])

    stop = playground.visitor.feed.listen(hear)
    try:
        answer = await playground.visitor.take({"user": "U0MAYA", **order})
        assert answer is None or answer["type"] == "said", answer
        return await asyncio.wait_for(over, PATIENCE)
    finally:
        stop()


def last(playground: Playground) -> PageUpdate:
    message = playground.visitor.feed.snapshot()["messages"][-1]
    assert isinstance(message, dict)
    return message


async def test_a_mention_is_answered_and_the_facts_of_it_are_told() -> None:
    async with open_playground(chosen=ReferenceSettings(pace=0)) as playground:
        end = await closed(playground, {"type": "say", "channel": CHANNEL, "text": "<@U0BOT> what is agntcy"})
        assert end["outcome"] == "answered"
        answer = last(playground)
        assert len(answer["text"]) > 300
        assert answer["state"] == "sealed"
        assert {task["status"] for task in answer["tasks"]} == {"complete"}
        kinds = {fact["kind"] for fact in playground.visitor.feed.snapshot()["facts"]}
        assert kinds == {"opened", "sent", "event", "decision", "call", "visible", "closed"}


async def test_another_agent_is_asked_in_its_place() -> None:
    async with (
        live_agent() as live,
        open_playground(theirs=with_overrides(Settings(), {"agent.url": live.url})) as playground,
    ):
        end = await closed(playground, {"type": "say", "channel": CHANNEL, "text": "<@U0BOT> echo of mine"})
        assert end["outcome"] == "answered"
        assert last(playground)["text"] == "echo of mine"


async def test_the_page_is_told_whom_it_asks_and_no_secret_of_it() -> None:
    url = "http://me:geheim@127.0.0.1:9/agent?key=geheim"
    async with open_playground(theirs=with_overrides(Settings(), {"agent.url": url})) as playground:
        shot = playground.visitor.feed.snapshot()
    assert (shot["agent"], shot["suggestions"]) == ("http://127.0.0.1:9/agent", [])
    assert "geheim" not in json.dumps(shot)
    async with open_playground(chosen=ReferenceSettings(pace=0)) as playground:
        shot = playground.visitor.feed.snapshot()
    assert shot["agent"] is None
    assert len(shot["suggestions"]) > 3


def test_where_no_agent_is_the_playground_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["play", "--url", "http://127.0.0.1:1/"]) == 1
    assert "is the agent running at this address?" in capsys.readouterr().err


async def test_a_direct_message_is_answered_and_a_question_asked_back() -> None:
    async with open_playground(chosen=ReferenceSettings(pace=0)) as playground:
        dm = playground.workspace.direct("U0MAYA")
        asked = await closed(playground, {"type": "say", "channel": dm, "text": "deploy the bot"})
        assert asked["outcome"] == "asked"
        root = playground.workspace.history(dm)[0].ts
        order = {"type": "say", "channel": dm, "text": "staging", "thread_ts": root}
        assert (await closed(playground, order))["outcome"] == "answered"
        assert "staging" in last(playground)["text"]


async def test_a_replay_is_a_thread_like_any_other() -> None:
    task = {"taskId": "t", "contextId": "c"}
    parts = [{"kind": "text", "text": "From the tape."}]
    events: list[dict[str, object]] = [
        {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "working"}},
        {
            "kind": "artifact-update",
            **task,
            "artifact": {"artifactId": "a", "name": "final_result", "parts": parts},
        },
        {"kind": "status-update", **task, "final": True, "status": {"state": "completed"}},
    ]
    tape = json.dumps(events)
    async with open_playground(chosen=ReferenceSettings(pace=0)) as playground:
        end = await closed(playground, {"type": "replay", "name": "a.json", "text": tape, "speed": 1})
        assert end["outcome"] == "answered"
        assert last(playground)["text"] == "From the tape."
        real = await closed(
            playground, {"type": "say", "channel": CHANNEL, "text": "<@U0BOT> tell me a joke"}
        )
        assert real["outcome"] == "answered"
        assert "tape" not in last(playground)["text"]


async def test_stop_ends_the_answer() -> None:
    async with open_playground(chosen=ReferenceSettings(pace=30)) as playground:
        growing = asyncio.Event()
        playground.visitor.feed.listen(lambda update: growing.set() if update["type"] == "grow" else None)
        over = asyncio.create_task(
            closed(playground, {"type": "say", "channel": CHANNEL, "text": "<@U0BOT> long 8000"})
        )
        await asyncio.wait_for(growing.wait(), PATIENCE)
        root = playground.workspace.history(CHANNEL)[0].ts
        await playground.visitor.take(
            {"type": "stop", "user": "U0MAYA", "channel": CHANNEL, "thread_ts": root}
        )
        assert (await over)["outcome"] == "stopped"
        assert playground.workspace.open_streams() == []


async def test_ending_with_an_answer_under_way_leaves_no_open_stream() -> None:
    async with open_playground(chosen=ReferenceSettings(pace=30)) as playground:
        growing = asyncio.Event()
        playground.visitor.feed.listen(lambda update: growing.set() if update["type"] == "grow" else None)
        await playground.visitor.take(
            {"type": "say", "user": "U0MAYA", "channel": CHANNEL, "text": "<@U0BOT> long 8000"}
        )
        await asyncio.wait_for(growing.wait(), PATIENCE)
        workspace = playground.workspace
    assert workspace.open_streams() == []


async def test_a_taken_port_is_said_in_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BotError, match=rf"^Port {port} on 127\.0\.0\.1 is taken: .*--port.*\.$"):
            async with open_playground(port=port):
                raise AssertionError("not reached")


async def test_an_address_that_is_not_ours_is_said_in_one_sentence() -> None:
    with pytest.raises(BotError, match="--host"):
        async with open_playground(host="192.0.2.1"):
            raise AssertionError("not reached")


def test_a_port_that_needs_rights_is_said_in_one_sentence() -> None:
    said = no_address("page", "127.0.0.1", 80, PermissionError(13, "Permission denied"))
    assert said == "Port 80 is not ours to use: choose one above 1023 with --port."


@pytest.mark.parametrize("sign", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
async def test_the_command_says_where_it_is_and_ends_on_ctrl_c(sign: signal.Signals) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "slack_bot", "play", "--port", "0"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "SLACK_BOT_TOKEN": "xoxb-not-ours", "A2A_AGENT_URL": "http://192.0.2.1/"},
    )
    assert process.stdout is not None
    line = (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).decode()
    assert line.startswith("The playground is at http://127.0.0.1:")
    url = line.split()[-1]
    async with aiohttp.ClientSession() as http, http.get(url) as answer:
        assert "slack_bot playground" in await answer.text()
    process.send_signal(sign)
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert out.decode() == "Ctrl-C ends it.\n"
    assert err.decode() == ""
    assert process.returncode == 0


@pytest.mark.parametrize("is_ours", [True, False])
async def test_the_command_shows_an_answer_of_yesterday_if_the_agent_is_its_own(is_ours: bool) -> None:
    async with live_agent() as live:
        process = await asyncio.create_subprocess_exec(
            *(*loaded_program(), "play", "--port", "0", *(() if is_ours else ("--url", live.url))),
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        try:
            url = (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).decode().split()[-1]
            async with aiohttp.ClientSession() as http:
                link = await http.ws_connect(f"{url}ws", headers={"Origin": url.rstrip("/")})
                (snapshot, *_) = await link.receive_json()
                await link.close()
        finally:
            process.send_signal(signal.SIGINT)
            await process.communicate()
    assert [message["author"] for message in snapshot["messages"]] == (
        ["U0JONAS", "U0BOT"] if is_ours else []
    )
    assert snapshot["facts"] == []


async def test_yesterday_costs_no_turn_and_a_mention_there_is_answered() -> None:
    async with open_playground(chosen=ReferenceSettings(pace=0), has_past=True) as playground:
        root = playground.workspace.history(CHANNEL)[0].ts
        here = {"type": "say", "channel": CHANNEL, "thread_ts": root}
        assert (await closed(playground, {**here, "text": "<@U0BOT> tell me a joke"}))[
            "outcome"
        ] == "answered"
        shot = playground.visitor.feed.snapshot()
        assert [fact["text"] for fact in shot["facts"] if fact["kind"] == "opened"] == ["tell me a joke"]
        assert [message["author"] for message in shot["messages"]][1:] == ["U0BOT", "U0MAYA", "U0BOT"]


async def test_the_command_says_that_the_port_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        process = await asyncio.create_subprocess_exec(
            *(*loaded_program(), "play", "--port", port),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert (out, process.returncode) == (b"", 1)
    assert err.decode().startswith(f"slack-bot play: Port {port} on 127.0.0.1 is taken: ")
    assert err.decode().count("\n") == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--port", "99999"), "There is no port 99999: give --port a number up to 65535, or 0 for any "),
        (("--port", "-1"), "There is no port -1: "),
        (("--pace", "-3"), "A pace of -3 tokens a second cannot be kept: give --pace 0 (at once) or more."),
        (("--pace", "nan"), "A pace of nan tokens a second cannot be kept: "),
        (("--pace", "inf"), "A pace of inf tokens a second cannot be kept: "),
        (("--url", "agent.example"), "agent.example is not an address; write http://HOST:PORT or "),
        (("--url", "http://a/", "--pace", "3"), "--pace and --mode are the playground agent's; leave them "),
    ],
)
def test_a_port_or_pace_that_makes_no_sense_is_refused_in_one_sentence(
    wrong: tuple[str, str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["play", *wrong]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.removeprefix("slack-bot play: ").startswith(said)
    assert told.err.count("\n") == 1


# -- `replay --play` -----------------------------------------------------------------------------------------


def facts_of(updates: list[Any]) -> list[dict[str, Any]]:
    return [update["fact"] for update in updates if update["type"] == "fact"]


async def test_the_replay_begins_when_the_page_is_opened(tmp_path: Path) -> None:
    file, around = tmp_path / "kept.jsonl", tmp_path / "around.json"
    file.write_text(write_tape(answer("One planned answer.", seconds=0.5)), "utf-8")
    around.write_text(json.dumps({"cut_after": 2, "user": "U7", "channel": "C9"}), "utf-8")
    updates, errors, status = await played(str(file), "--scenario", str(around))
    calls = [fact for fact in facts_of(updates) if fact["kind"] == "call"]
    chunks = [chunk for call in calls for chunk in call["args"].get("chunks", ())]
    assert "".join(chunk.get("text", "") for chunk in chunks) == "One planned answer."
    assert updates[0]["faults"] == {"slack_faults": {}, "cut_after": 2, "away": False}
    assert "the scenario's channel, thread_ts and team are not used" in errors
    assert status == 0


async def test_the_tape_is_read_as_its_head_says() -> None:
    """The README's own example: its stream is its answer, as its head says."""
    updates, errors, status = await played("docs/tapes/caipe-0.2.41-simple.jsonl", "--speed", "10")
    names = [fact["event"]["name"] for fact in facts_of(updates) if fact["kind"] == "decision"]
    assert names.count("AnswerText") > 100
    assert (errors, status) == ("", 0)


def test_a_setting_that_does_not_exist_is_told_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    around = tmp_path / "around.json"
    around.write_text('{"settings": {"flush_intervall": 1}}', "utf-8")
    assert (
        cli.main(["replay", "docs/tapes/caipe-0.3.0-simple.jsonl", "--play", "--scenario", str(around)]) == 2
    )
    assert "flush_intervall" in capsys.readouterr().err


async def played(*args: str) -> tuple[list[Any], str, int | None]:
    """What the page is told until the turn is over, what the command writes to stderr, and its status."""
    command, pipe = ("replay", *args, "--play", "--port", "0"), asyncio.subprocess.PIPE
    async with child(*loaded_program(), *command, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None and process.stderr is not None
        async with asyncio.timeout(60):
            said = (await process.stdout.readline()).decode()
            assert said, (await process.stderr.read()).decode()
            assert said.startswith("The replay begins when you open http://127.0.0.1:")
            url = said.split()[-1]
            async with aiohttp.ClientSession() as http:
                link = await http.ws_connect(f"{url}ws", headers={"Origin": url.rstrip("/")})
                updates = list[Any]()
                while not any(fact["kind"] == "closed" for fact in facts_of(updates)):
                    updates += await link.receive_json()
                await link.close()
            process.send_signal(signal.SIGINT)
            _, errors = await process.communicate()
    return updates, errors.decode(), process.returncode


def test_a_file_that_cannot_be_read_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["replay", "nowhere.jsonl", "--play"]) == 2
    assert "slack-bot replay: nowhere.jsonl" in capsys.readouterr().err


@pytest.mark.parametrize("port", [-1, 70_000])
def test_a_number_that_no_port_has_is_refused_first(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["replay", "docs/tapes/caipe-0.3.0-simple.jsonl", "--play", "--port", str(port)]) == 2
    assert capsys.readouterr().err.startswith(f"slack-bot replay: There is no port {port}: ")


async def test_variables_for_channels_count_here() -> None:
    env = {"SLACK_BOT_CHANNEL__EXTERNAL": "allow", "A2A_AGENT_URL": "http://192.0.2.1/"}
    async with open_playground(channels=load(env, None, None)) as playground:
        order = {"type": "say", "user": PARTNER, "channel": CHANNEL, "text": "<@U0BOT> tell me a joke"}
        assert (await closed(playground, order))["outcome"] == "answered"


async def test_who_may_ask_and_how_often_count_here(tmp_path: Path) -> None:
    config = tmp_path / "slack_bot.toml"
    config.write_text('[channels.C0INCIDENTS]\ngroups = ["S0OPS"]\n', "utf-8")
    env = {"SLACK_BOT_CONFIG": str(config), "SLACK_BOT_TURNS__HOURLY_PERSON": "1"}
    async with open_playground(channels=load(env, None, None)) as playground:
        here = {"type": "say", "channel": "C0INCIDENTS", "text": "<@U0BOT> tell me a joke"}
        assert (await closed(playground, {**here, "user": "U0MAYA"}))["outcome"] == "answered"
        for user in ("U0MAYA", "U0JONAS"):
            await playground.visitor.take({**here, "user": user})
            await told_alone(playground, user)


async def told_alone(playground: Playground, user: str) -> None:
    """Wait for what somebody is told that nobody else sees."""

    def is_told() -> bool:
        return any(message["for"] == user for message in playground.visitor.feed.snapshot()["messages"])

    await wait_until(is_told, playground.workspace)
