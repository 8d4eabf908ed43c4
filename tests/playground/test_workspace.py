"""`slack-bot workspace`, with `slack-bot run` as a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot import cli
from slack_bot.errors import BotError
from slack_bot.playground.visitor import CHANNEL
from slack_bot.playground.workspace import RunningWorkspace, open_workspace, ports_of
from slack_bot.settings.measured_rules import as_file
from slack_bot.testing.harness import wait_until
from slack_bot.testing.slack.rules import AppManifest
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET
from tests.live_agent import HELD, live_agent
from tests.loaded_program import loaded_program
from tests.processes import child

PATIENCE = 60
OTHER_FACTS = {"type": "export", "turn": "C1:1.0"}


@asynccontextmanager
async def bot_of(
    alone: RunningWorkspace, agent: str, folder: Path, *options: str, **more: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "SLACK_API_URL": alone.api_url,
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_APP_TOKEN": APP_TOKEN,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "A2A_AGENT_URL": agent,
        **more,
    }
    command = (*loaded_program(), "run", *options)
    async with child(*command, env=env, cwd=folder, stderr=asyncio.subprocess.PIPE) as process:
        yield process


async def ask(alone: RunningWorkspace, text: str) -> str:
    order = {"type": "say", "user": "U0MAYA", "channel": CHANNEL, "text": f"<@U0BOT> {text}"}
    said = await alone.visitor.take(order)
    assert said is not None
    assert said["type"] == "said", said
    return str(said["ts"])


def answer(alone: RunningWorkspace, thread: str) -> str:
    seen = alone.workspace.thread(CHANNEL, thread)
    return "\n".join(each.text for each in seen if each.is_bot and not each.ephemeral_for)


async def test_a_bot_that_connects_answers_and_one_killed_in_its_answer_goes_on_when_it_is_started(
    tmp_path: Path,
) -> None:
    async with live_agent() as live, open_workspace() as alone:
        async with bot_of(alone, live.url, tmp_path):
            thread = await ask(alone, "echo of the bot")
            await wait_until(lambda: answer(alone, thread) == "echo of the bot", alone.workspace)
            live.hold = 3
            held = await ask(alone, "held")
            await wait_until(lambda: bool(answer(alone, held)), alone.workspace)
        whole = "".join(HELD).strip()
        assert answer(alone, held) != whole
        live.release.set()
        async with bot_of(alone, live.url, tmp_path):
            await wait_until(lambda: answer(alone, held) == whole, alone.workspace)


def free_port() -> int:
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        return int(chosen.getsockname()[1])


async def test_events_are_posted_to_a_bot_in_http_mode(tmp_path: Path) -> None:
    port = free_port()
    events = f"http://127.0.0.1:{port}/slack/events"
    async with live_agent() as live, open_workspace(events=events) as alone:
        settings = {"SLACK_BOT_SLACK__HTTP_PORT": str(port), "SLACK_BOT_SLACK__HTTP_HOST": "127.0.0.1"}
        async with bot_of(alone, live.url, tmp_path, "--http", **settings) as process:
            await heard(process, "waiting for Slack at")
            thread = await ask(alone, "echo over HTTP")
            await wait_until(lambda: answer(alone, thread) == "echo over HTTP", alone.workspace)


async def heard(process: asyncio.subprocess.Process, word: str) -> None:
    assert process.stderr is not None
    async with asyncio.timeout(PATIENCE):
        while word not in (line := (await process.stderr.readline()).decode()):
            assert line, f"the log ended without {word!r}"


async def test_what_needs_the_bot_in_this_process_is_refused_with_another_way() -> None:
    async with open_workspace() as alone:
        visitor = alone.visitor
        assert visitor.feed.snapshot()["bot_elsewhere"] is True
        for order, way in (
            ({"type": "replay", "name": "a.jsonl", "text": "{}", "speed": 1}, "slack-bot replay FILE"),
            (OTHER_FACTS, "export-tape"),
            ({"type": "faults", "slack_faults": {}, "away": True}, "only Slack's calls"),
        ):
            refused = await visitor.take(order)
            assert refused is not None
            assert refused["type"] == "refused"
            assert way in refused["text"]
        faults = {"type": "faults", "slack_faults": {"chat.startStream": ["ratelimited:1"]}}
        assert await visitor.take(faults) is None


async def test_the_scopes_of_a_manifest_are_enforced(tmp_path: Path) -> None:
    manifest = AppManifest(frozenset({"chat:write"}), frozenset())
    async with open_workspace(manifest=manifest) as alone:
        await ask(alone, "hello?")
        assert alone.workspace.outbox == [], "the app has no events of mentions"


async def test_it_behaves_as_the_workspace_in_which_the_rules_were_measured(tmp_path: Path) -> None:
    measured = tmp_path / "rules.json"
    measured.write_text(as_file({"post.empty": "ok", "update.chars": 9}, "2026-11-29T01:02:03Z", {}))
    measured.chmod(0o600)
    words = ("workspace", "--port", "0", "--api-port", "0", "--rules", str(measured))
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2])}
    command = *loaded_program(), *words
    async with child(*command, env=env, cwd=tmp_path, stdout=asyncio.subprocess.PIPE) as process:
        assert process.stdout is not None
        url = ""
        async with asyncio.timeout(PATIENCE):
            while "SLACK_API_URL" not in url:
                url = (await process.stdout.readline()).decode()
        client = AsyncWebClient(token=BOT_TOKEN, base_url=url.strip().partition("=")[2])
        posted = await client.api_call("chat.postMessage", json={"channel": CHANNEL, "text": " "})
        with pytest.raises(SlackApiError, match="msg_too_long"):
            await client.chat_update(channel=CHANNEL, ts=posted["ts"], text="ten letters")


async def test_a_taken_port_of_the_web_api_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(BotError, match=r"^Port \d+ on 127.0.0.1 is taken.*--api-port"):
            async with open_workspace(api_port=taken.getsockname()[1]):
                pass


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--manifest", "none.json"], "none.json cannot be read"),
        (["--manifest", "half.json"], "half.json is no manifest"),
        (["--rules", "none.json"], "none.json is no file; slack-bot rules --real writes one"),
        (["--events", "bot.example.com"], "--events is 'bot.example.com'"),
        (["--events", "http://["], "--events is 'http://['"),
        (["--api-port", "99999"], "There is no port 99999"),
    ],
)
def test_wrong_options_are_one_sentence(
    options: list[str],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "half.json").write_text(json.dumps({"oauth_config": {}}))
    assert cli.main(["workspace", *options]) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith(f"slack-bot workspace: {sentence}")


@pytest.mark.parametrize(
    ("program", "options", "needs"),
    [
        ((sys.executable, "-m", "slack_bot"), (), f"SLACK_APP_TOKEN={APP_TOKEN}"),
        ((), ("--events", "http://127.0.0.1:3011/slack/events"), " SLACK_BOT_SLACK__HTTP_PORT=3011\n"),
    ],
    ids=["started", "loaded"],
)
async def test_the_verb_says_what_a_bot_needs_and_ends_on_sigterm(
    tmp_path: Path, program: tuple[str, ...], options: tuple[str, ...], needs: str
) -> None:
    program = program or loaded_program()
    command = (*program, "workspace", "--port", "0", "--api-port", "0", *options)
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2])}
    async with child(*command, env=env, cwd=tmp_path, stdout=asyncio.subprocess.PIPE) as process:
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            said = (await process.stdout.readuntil(b"Ctrl-C ends it.")).decode()
            assert "export SLACK_API_URL=http://127.0.0.1:" in said
            assert needs in said
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0


@pytest.mark.parametrize(
    "given,printed",
    [
        ({}, "http://127.0.0.1:8001/"),
        ({"A2A_AGENT_URL": "http://127.0.0.1:9999/mine"}, "http://127.0.0.1:9999/mine"),
        ({"A2A_AGENT_URL": "https://bot:pass-word@agent.example/"}, "https://agent.example/"),
    ],
)
async def test_the_address_of_the_agent_that_is_set_is_printed(
    given: dict[str, str], printed: str, tmp_path: Path
) -> None:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2]), **given}
    ports = "--port", "0", "--api-port", "0"
    command = *loaded_program(), "workspace", *ports
    async with child(*command, env=env, cwd=tmp_path, stdout=asyncio.subprocess.PIPE) as process:
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            lines = [line async for line in _until_run(process.stdout)]
    assert f"export A2A_AGENT_URL={printed}" in lines


async def _until_run(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    while (line := (await stream.readline()).decode().rstrip("\n")) != "slack-bot run":
        yield line


@pytest.mark.parametrize(
    ("page", "api", "expected"),
    [
        (None, None, (8765, 8766)),
        (9000, None, (9000, 8766)),
        (None, 9001, (8765, 9001)),
        (0, None, (0, 0)),
        (None, 0, (0, 0)),
        (0, 9001, (0, 9001)),
        (9000, 0, (9000, 0)),
    ],
)
def test_any_free_port_for_one_is_any_for_the_other(
    page: int | None, api: int | None, expected: tuple[int, int]
) -> None:
    assert ports_of(page, api) == expected
