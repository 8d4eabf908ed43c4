"""The harness: the whole bot in memory, and the same over real sockets."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from contextlib import ExitStack

import httpx
import pytest

from slack_bot.clock import system_clock
from slack_bot.errors import SettingsError, SlackError
from slack_bot.settings.load import Settings, load
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedTransport
from slack_bot.testing.harness import (
    AGENT_URL,
    CHANNEL,
    allow_bot,
    bot_on_network,
    bot_settings,
    build_in_memory,
    connected,
    emulated,
    free_port,
    keep_delivering,
    run_bot,
    set_context,
    wait_until,
)
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import BOT_TOKEN, Workspace, WorkspaceRules
from slack_bot.testing.tape.builders import answer, question
from slack_bot.testing.virtual_clock import new_clock, on_virtual_time
from slack_bot.turn.record import ThreadKey


@on_virtual_time
async def test_a_conversation_in_memory() -> None:
    async with run_bot(question("Which one?"), answer("That one."), rotate_after=100.0) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await bot.ask("the first", user="U2", thread_ts=root)
        await bot.idle()
        assert bot.read(root)[0] == "Which one?" and bot.read(root)[-1] == "That one."
        assert (bot.outcomes, bot.statuses) == (["asked", "answered"], [200] * len(bot.statuses))
        assert [call.text for call in bot.agent.questions] == ["hi", "the first"]
        assert [each["recipient_user_id"] for each in bot.calls("chat.startStream")] == ["U1", "U2"]
        assert bot.app.settings.stream.rotate_after == 100.0
        ((told, words),) = bot.ephemeral(root)
        assert (told, words.startswith("Others write in this thread now.")) == ("U1", True)


@on_virtual_time
async def test_what_slack_sends_twice_is_answered_once() -> None:
    async with run_bot() as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        envelopes = bot.workspace.take()
        assert await bot.deliver(envelopes) == await bot.deliver(envelopes, retry=1) == [200] * len(envelopes)
        await bot.idle()
        assert (bot.read(root), len(bot.agent.questions)) == (["Hello."], 1)


@on_virtual_time
async def test_faults_limits_and_the_way_to_the_agent_can_be_chosen() -> None:
    asked = list[str]()

    class Watched(httpx.AsyncBaseTransport):
        def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
            self._inner = inner

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            asked.append(request.method)
            return await self._inner.handle_async_request(request)

    faults = {"chat.startStream": ["missing_scope"]}
    async with run_bot(faults=faults, rules=WorkspaceRules(), through=Watched) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root) == ["Hello."] and "POST" in asked
        assert {message.state for message in bot.thread(root) if message.is_bot} == {"posted"}


@on_virtual_time
async def test_what_slack_sends_is_delivered_as_it_comes_and_a_context_is_known() -> None:
    workspace, clock = Workspace(rules=WorkspaceRules.real()), new_clock()
    workspace.add_channel(CHANNEL)
    agent = ScriptedAgent(answer("Hello."))
    async with await build_in_memory(workspace, bot_settings(), clock, ScriptedTransport(agent)) as app:
        delivering = asyncio.create_task(keep_delivering(app, workspace))
        root = workspace.say("U1", CHANNEL, "Hi there.", now=clock.wall(), is_told=False)
        await set_context(app, ThreadKey("T1", CHANNEL, root), "ctx-known")
        workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=clock.wall(), thread_ts=root)
        await asyncio.sleep(10)
        delivering.cancel()
        assert [seen.text for seen in workspace.thread(CHANNEL, root) if seen.is_bot] == ["Hello."]
        assert agent.questions[0].params["message"]["contextId"] == "ctx-known"


def test_settings_come_from_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A2A_AGENT_URL", "http://elsewhere.example/")
    settings = bot_settings({"rotate_after": 60})
    assert (settings.agent.url, settings.stream.rotate_after) == (AGENT_URL, 60)
    assert bot_settings(agent_url="http://other.example/").agent.url == "http://other.example/"
    with pytest.raises(SettingsError, match="rotate_aftre"):
        bot_settings({"rotate_aftre": 60})


def test_real_tokens_are_replaced() -> None:
    settings = emulated(Settings(), "http://127.0.0.1:1/api/")
    assert settings.slack.bot_token is not None
    assert settings.slack.bot_token.get_secret_value() == BOT_TOKEN
    assert (settings.slack.api_url, settings.store.url) == ("http://127.0.0.1:1/api/", "memory://")
    assert emulated(Settings()).slack.api_url == Settings().slack.api_url


def test_who_may_ask_a_real_bot_has_no_say_in_an_emulated_workspace() -> None:
    env = {
        "SLACK_BOT_CONFIG": "slack_bot.toml",
        "SLACK_BOT_CHANNEL__PEOPLE": "U0REAL",
        "SLACK_BOT_CHANNEL__GROUPS": "S0REAL",
        "SLACK_BOT_CHANNEL__BUSY": "collect",
        "SLACK_BOT_TURNS__HOURLY_PERSON": "1",
    }
    settings = emulated(load(env, env_file=None, secrets_dir=None))
    channel, turns = settings.channel, settings.turns
    assert (settings.slack.config, channel.people, channel.groups) == (None, (), ())
    assert (channel.busy, turns.hourly_person) == ("collect", 0)
    assert allow_bot(settings, "B1").slack.allowed_bots == ("B1",)


@pytest.mark.parametrize("http", [False, True])
async def test_the_same_on_the_network(http: bool) -> None:
    async with bot_on_network(answer("Hello.", seconds=0.1), http=http) as (workspace, server, app):
        now = app.clock.wall()
        root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=now)
        assert server.api_url == app.settings.slack.api_url

        def is_answered() -> bool:
            return [(seen.text, seen.state) for seen in workspace.thread(CHANNEL, root)[1:]] == [
                ("Hello.", "sealed")
            ]

        await wait_until(is_answered, workspace)
        with pytest.raises(TimeoutError):
            await wait_until(lambda: False, workspace, within=0.01)


async def test_a_bot_that_cannot_connect_says_why() -> None:
    workspace, clock = Workspace(), system_clock()
    async with SlackServer(workspace, clock) as server:
        settings = bot_settings({"app_token": "xapp-other", "api_url": server.api_url})
        async with await build_in_memory(workspace, settings, clock, None) as app:
            with pytest.raises(SlackError, match="SLACK_APP_TOKEN"):
                async with connected(app):
                    raise AssertionError("it is not connected")


def test_processes_that_run_at_once_choose_other_ports() -> None:
    """Else one takes the port that another chose, and has not begun to use."""
    own = "from slack_bot.testing.harness import free_port"
    code = f"{own}; print(free_port(), free_port(), flush=True); input()"
    chosen = [free_port()]
    with ExitStack() as stack:
        others = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
            for _ in range(3)
        ]
        for each in others:
            assert each.stdout is not None
            chosen += [int(port) for port in each.stdout.readline().split()]
        for each in others:
            each.communicate("\n")
    assert len(set(chosen)) == len(chosen) == 7


def test_a_port_is_free_again_while_the_system_still_waits_for_its_last_connection() -> None:
    """TIME_WAIT lasts a minute: with fifty servers a minute in one process no port would be left."""
    with (
        socket.create_server(("127.0.0.1", port := free_port())) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        accepted, _ = server.accept()
        accepted.close()
        assert client.recv(1) == b""
    with socket.socket() as probe, pytest.raises(OSError, match="in use"):
        probe.bind(("127.0.0.1", port))
    assert port in {free_port() for _ in range(50)}
