"""The probes of a whole bot, asked over HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from slack_bot.app import App, build, check_agent, check_slack, run
from slack_bot.clock import system_clock
from slack_bot.errors import SettingsError
from slack_bot.inbound.health_server import serving_health
from slack_bot.observe.health import Health, HealthCheck
from slack_bot.settings.load import Settings
from slack_bot.settings.models import HealthSettings
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.harness import (
    CHANNEL,
    bot_on_network,
    bot_settings,
    connected,
    emulated,
    free_port,
    wait_until,
)
from slack_bot.testing.overrides import with_overrides
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import Workspace
from slack_bot.testing.tape.builders import answer

ALL_WELL = dict.fromkeys(("slack", "token", "store", "running", "agent"), "ok")


class Probe:
    """Asks one bot."""

    def __init__(self, port: int) -> None:
        self._at = f"http://127.0.0.1:{port}"

    async def ask(self, path: str = "/readyz") -> tuple[int, dict[str, Any]]:
        async with aiohttp.ClientSession() as session, session.get(self._at + path) as response:
            return response.status, await response.json()

    async def until_metrics(self, *wanted: str) -> None:
        """Return once `/metrics` has these lines of the bot's, and the process's own."""
        lines = {"process_max_fds", *(f"slack_bot_{each}" for each in wanted)}
        async with asyncio.timeout(60), aiohttp.ClientSession() as session:
            while True:
                async with session.get(f"{self._at}/metrics") as response:
                    assert response.headers["Content-Type"].startswith("text/plain; version=")
                    text = await response.text()
                if lines <= {*text.splitlines(), *(line.split()[0] for line in text.splitlines())}:
                    return
                await asyncio.sleep(0.02)

    async def until(self, condition: Callable[[dict[str, Any]], bool]) -> int:
        """The status once the checks are so."""
        async with asyncio.timeout(60):
            while True:
                status, body = await self.ask()
                if condition(body["checks"]):
                    return status
                await asyncio.sleep(0.02)


@asynccontextmanager
async def probed(http: bool = False, **overrides: Any) -> AsyncIterator[tuple[SlackServer, App, Probe]]:
    """A bot that is connected and checked, as `run` does it."""
    settings = {"health.port": free_port(), "health.store_interval": 0.05, **overrides}
    async with bot_on_network(answer("Hello.", seconds=1.0), http=http, **settings) as (_, face, app):
        await check_slack(app)
        await check_agent(app.agent, app.agents.label(app.agent))
        async with serving_health(app.settings.health, app.health):
            yield face, app, Probe(app.settings.health.port)


@pytest.mark.parametrize("http", [False, True])
async def test_a_bot_that_works_is_live_and_ready_in_both_modes(http: bool) -> None:
    async with probed(http) as (_, _, probe):
        assert await probe.ask("/livez") == (200, {"live": True})
        assert await probe.ask() == (200, {"ready": True, "checks": ALL_WELL})


async def test_a_probe_asks_neither_slack_nor_the_agent() -> None:
    async with probed(socket_connections=1) as (face, _, probe):  # no second one comes meanwhile
        before = len(face.workspace.calls)
        for _ in range(50):
            assert (await probe.ask())[0] == 200
        assert len(face.workspace.calls) == before


async def test_without_a_port_there_is_none() -> None:
    async with serving_health(HealthSettings(), Health()):
        assert HealthSettings().port == 0


async def test_a_port_that_is_taken_is_one_sentence() -> None:
    taken = HealthSettings(port=free_port())
    async with serving_health(taken, Health()):
        with pytest.raises(
            SettingsError, match=rf"Port {taken.port} cannot .* set SLACK_BOT_HEALTH__PORT to"
        ):
            async with serving_health(taken, Health()):
                pytest.fail("it must not begin")


async def test_before_slack_is_reached_a_bot_is_live_but_not_ready() -> None:
    settings = HealthSettings(port=free_port())
    async with serving_health(settings, Health()):
        probe = Probe(settings.port)
        assert (await probe.ask("/livez"))[0] == 200
        status, body = await probe.ask()
        assert (status, body["ready"], body["checks"]["slack"]) == (503, False, "Not connected to Slack yet.")


async def test_a_store_that_fails_is_seen_without_a_question_and_so_is_its_end(tmp_path: Path) -> None:
    file = tmp_path / "bot.sqlite"
    async with probed(**{"store.url": f"sqlite:///{file}"}) as (_, _, probe):
        assert await probe.until(lambda checks: checks == ALL_WELL) == 200
        lock = sqlite3.connect(file, isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        said = "The store failed: new questions are not taken; see the log."
        assert await probe.until(lambda checks: checks == {**ALL_WELL, "store": said}) == 503
        lock.close()
        assert await probe.until(lambda checks: checks == ALL_WELL) == 200


async def test_a_dead_connection_to_slack_is_seen_and_so_is_the_next_one() -> None:
    quick = {"socket_ping_interval": 0.1, "socket_connections": 1}
    async with probed(**quick) as (face, _, probe):
        face.sockets.breaks = 1_000_000
        face.sockets.freeze()
        assert await probe.until(lambda checks: checks["slack"] != "ok") == 503
        face.sockets.breaks = 0
        assert await probe.until(lambda checks: checks == ALL_WELL) == 200


async def test_a_token_that_slack_no_longer_takes_is_seen() -> None:
    async with probed() as (face, app, probe):
        for method in ("assistant.threads.setStatus", "chat.startStream", "chat.postMessage"):
            face.workspace.faults.set(method, ["token_revoked"] * 20)
        now = system_clock().wall()
        face.workspace.say("U1", CHANNEL, f"<@{face.workspace.bot.user_id}> hi", now=now)
        said = "Slack refuses the bot's token (token_revoked)."
        assert await probe.until(lambda checks: checks["token"] == said) == 503
        await app.threads.idle()


async def test_an_agent_that_is_away_is_a_warning_only_until_it_answers_again() -> None:
    workspace, port = Workspace(), free_port()
    workspace.add_channel(CHANNEL)
    async with SlackServer(workspace, system_clock()) as face:
        settings = with_overrides(running(f"http://127.0.0.1:{port}", face), {"connect_retries": 0})
        probe = Probe(settings.health.port)

        async def ask_and_look(is_there: bool) -> None:
            now = system_clock().wall()
            root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=now)
            await wait_until(lambda: len(workspace.thread(CHANNEL, root)) > 1, workspace)
            await app.threads.idle()
            status, body = await probe.ask()
            assert (status, body["ready"], body["checks"]["agent"] == "ok") == (200, True, is_there)

        async with await build(settings) as app, connected(app), serving_health(settings.health, app.health):
            await check_slack(app)
            await check_agent(app.agent, app.agents.label(app.agent))
            assert (await probe.ask())[1]["checks"]["agent"].startswith("The agent could not be reached")
            async with serve_scripted(ScriptedAgent(answer("Here.")), port=port):
                await ask_and_look(is_there=True)
            await ask_and_look(is_there=False)  # its card is known
            async with serve_scripted(ScriptedAgent(answer("Again.")), port=port):
                await ask_and_look(is_there=True)


def docker_command() -> list[str]:
    """What the image's HEALTHCHECK runs."""
    text = (Path(__file__).parents[2] / "Dockerfile").read_text("utf-8")
    found = re.search(r"(?m)^HEALTHCHECK(?:.*\\\n)*.*CMD (\[.*\])$", text)
    assert found
    _, *words = json.loads(found[1])
    return [sys.executable, *words]


async def test_the_healthcheck_of_the_image_says_the_same_with_nothing_but_python() -> None:
    settings, health = HealthSettings(port=free_port()), Health()

    async def check() -> int:
        env = {"SLACK_BOT_HEALTH__PORT": str(settings.port), "http_proxy": "http://127.0.0.1:1"}
        devnull = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(*docker_command(), env=env, stderr=devnull)
        return await process.wait()

    async with serving_health(settings, health):
        assert await check() == 1
        for each in (HealthCheck.SLACK, HealthCheck.TOKEN, HealthCheck.STORE):
            health.passed(each)
        assert await check() == 0
    assert await check() == 1


def running(agent_url: str, face: SlackServer) -> Settings:
    """For `run`."""
    found = emulated(bot_settings(agent_url=agent_url), face.api_url)
    return with_overrides(found, {"health.port": free_port()})


async def test_the_next_process_on_one_machine_waits_for_the_port_and_the_store(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A rolling restart: the old process has an answer to finish."""
    caplog.set_level(logging.INFO)
    workspace, loop = Workspace(), asyncio.get_running_loop()
    workspace.add_channel(CHANNEL)
    agent = ScriptedAgent(answer("Finished before the end.", seconds=2.0))
    async with serve_scripted(agent) as agent_url, SlackServer(workspace, system_clock()) as face:
        settings = with_overrides(running(agent_url, face), {"store.url": f"sqlite:///{tmp_path}/store"})
        try:
            old = asyncio.create_task(run(settings))
            await face.sockets.connected()
            root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=system_clock().wall())
            await wait_until(lambda: workspace.open_streams(), workspace)
            os.kill(os.getpid(), signal.SIGTERM)
            probe = Probe(settings.health.port)
            await probe.until(lambda checks: checks["running"] != "ok")
            new = asyncio.create_task(run(settings))
            await asyncio.wait_for(old, 60)
            while caplog.text.count("probes are answered") < 2:  # noqa: ASYNC110  no event reports it
                await asyncio.sleep(0.02)
            assert await probe.until(lambda checks: checks == ALL_WELL) == 200
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.wait_for(new, 60)
        finally:
            loop.remove_signal_handler(signal.SIGTERM)
            loop.remove_signal_handler(signal.SIGINT)
        assert [m.text for m in workspace.thread(CHANNEL, root) if m.is_bot] == ["Finished before the end."]
    assert sum("waiting up to" in line for line in caplog.messages) == 1


async def test_a_bot_that_is_told_to_end_is_not_ready_at_once_and_live_while_its_answers_finish() -> None:
    workspace, loop = Workspace(), asyncio.get_running_loop()
    workspace.add_channel(CHANNEL)
    agent = ScriptedAgent(answer("Finished before the end.", seconds=2.0))
    async with serve_scripted(agent) as agent_url, SlackServer(workspace, system_clock()) as face:
        settings = running(agent_url, face)
        task, probe = asyncio.create_task(run(settings)), Probe(settings.health.port)
        try:
            await face.sockets.connected()
            assert await probe.until(lambda checks: checks == ALL_WELL) == 200
            root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=system_clock().wall())
            await wait_until(lambda: workspace.open_streams(), workspace)
            await probe.until_metrics(
                "running 1.0", "ready 1.0", "connections 2.0", 'first_text_seconds_count{agent="default"} 1.0'
            )
            os.kill(os.getpid(), signal.SIGTERM)
            assert await probe.until(lambda checks: checks["running"] != "ok") == 503
            assert (await probe.ask("/livez"))[0] == 200
            assert workspace.open_streams(), "the answer runs"
            await asyncio.wait_for(task, 60)
        finally:
            loop.remove_signal_handler(signal.SIGTERM)
            loop.remove_signal_handler(signal.SIGINT)
        assert [m.text for m in workspace.thread(CHANNEL, root) if m.is_bot] == ["Finished before the end."]
    with pytest.raises(aiohttp.ClientConnectionError):
        await probe.ask("/livez")


async def test_heads_that_never_end_do_not_stay_and_keep_no_probe_out() -> None:
    settings = HealthSettings(port=free_port(), max_connections=20, header_timeout=0.3)
    async with asyncio.timeout(60), serving_health(settings, Health()):
        half = b"GET /livez HTTP/1.1\r\nHost: bot\r\n"
        heads = [await asyncio.open_connection("127.0.0.1", settings.port) for _ in range(400)]
        for _, writer in heads:
            writer.write(half)
        assert (await Probe(settings.port).ask("/livez"))[0] == 200
        for reader, writer in heads:
            assert await _rest(reader) == b""
            writer.close()


async def _rest(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("POST", 405)])
async def test_it_is_only_read(method: str, status: int) -> None:
    settings = HealthSettings(port=free_port())
    async with (
        serving_health(settings, Health()),
        aiohttp.ClientSession() as session,
        session.request(method, f"http://127.0.0.1:{settings.port}/livez") as response,
    ):
        assert response.status == status
