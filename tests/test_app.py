"""The composition root: what it builds, what it closes, and how `slack-bot run` begins and ends."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest
from slack_bolt.request.async_request import AsyncBoltRequest

from slack_bot.app import build, check_agent, check_slack, run, serve
from slack_bot.clock import system_clock
from slack_bot.errors import SettingsError, SlackError, StoreError
from slack_bot.inbound.http_mode import EVENTS_PATH
from slack_bot.observe.outage import Outage
from slack_bot.settings.load import Settings, load
from slack_bot.store.collection import Ages
from slack_bot.store.sqlite import open_sqlite
from slack_bot.store.stores import open_store
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.harness import (
    CHANNEL,
    bot_on_network,
    bot_settings,
    connected,
    free_port,
    run_bot,
    wait_until,
)
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, Workspace
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.record import Question
from tests.inbound.payloads import mention
from tests.loaded_program import loaded_program
from tests.log_watch import log_watch
from tests.processes import child
from tests.redis_server import RedisServer
from tests.store import subjects
from tests.store.small_disk import add_yesterday_keys, count_keys, fill, small_disk


async def test_building_talks_to_nobody_and_closing_twice_is_fine(tmp_path: Path) -> None:
    settings = bot_settings(
        {"store.url": f"sqlite:///{tmp_path}/bot.sqlite", "api_url": "http://127.0.0.1:1/"}
    )
    app = await build(settings)
    assert (tmp_path / "bot.sqlite").exists()
    await app.close()
    await app.close()
    assert app.web_client.session is not None
    assert app.web_client.session.closed


async def test_what_was_handed_in_stays_open() -> None:
    class Handed(MemoryStore):
        closed = False

        async def close(self) -> None:
            self.closed = True

    store = Handed()
    async with await build(bot_settings(), store=store):
        pass
    assert not store.closed


async def test_a_store_that_cannot_be_opened_leaves_nothing_open(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="create it"):
        await build(bot_settings({"store.url": f"sqlite:///{tmp_path}/nowhere/bot.sqlite"}))


async def test_bolt_looks_nothing_up_in_the_environment(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "SLACK_API_URL"):
        monkeypatch.setenv(name, "from-the-environment")
    async with await build(bot_settings({"signing_secret": None}), store=MemoryStore()) as app:
        assert app.web_client.token == BOT_TOKEN
        assert "from-the-environment" not in repr(vars(app.bolt))
    assert caplog.records == []
    assert logging.getLogger("slack_bot").level == logging.NOTSET  # Bolt has left our own logging alone


@on_virtual_time
async def test_another_app_s_oauth_variables_change_nothing() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLACK_CLIENT_ID", "1.2")
        patch.setenv("SLACK_CLIENT_SECRET", "s")
        async with run_bot(answer("Yes.")) as bot:
            root = await bot.ask("hi")
            await bot.idle()
            assert bot.read(root) == ["Yes."]


# -- checks at the start


def settings_for(**env: str) -> Settings:
    given = {
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_APP_TOKEN": APP_TOKEN,
        "SLACK_BOT_STORE__URL": "memory://",
    }
    return load({**given, **env}, env_file=None, secrets_dir=None)


async def test_who_we_are_is_logged_and_a_wrong_token_is_one_sentence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "slack_bot")
    async with bot_on_network() as (_, _, app):
        await check_slack(app)
        await check_agent(app.agent, app.agents.label(app.agent))
    assert "signed in to Slack as" in caplog.text
    assert "the agent is ready" in caplog.text
    with pytest.raises(SlackError, match=r"Slack refused SLACK_BOT_TOKEN \(invalid_auth\)"):
        async with bot_on_network(bot_token="xoxb-wrong") as (_, _, app):
            await check_slack(app)


@pytest.mark.parametrize(
    "transport",
    [
        httpx.MockTransport(lambda request: httpx.Response(404)),
        httpx.MockTransport(lambda request: httpx.Response(200, html="<html>Sign in</html>")),
        None,
    ],
    ids=["card missing", "HTML instead of JSON", "agent down"],
)
async def test_an_agent_that_is_not_there_is_warned_about_in_one_sentence(
    transport: httpx.MockTransport | None, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_for(A2A_AGENT_URL=f"http://127.0.0.1:{free_port()}")
    async with await build(settings, http_transport=transport) as app:
        await check_agent(app.agent, app.agents.label(app.agent))
    (warned,) = [record for record in caplog.records if record.name == "slack_bot.app"]
    assert warned.levelno == logging.WARNING
    assert warned.getMessage().startswith("the agent is not ready, questions will say so until it is: ")
    assert "\n" not in warned.getMessage() and "; " in warned.getMessage(), "with a remedy"


async def test_all_that_is_wrong_in_the_file_is_told_before_anything_is_opened(tmp_path: Path) -> None:
    (file := tmp_path / "slack_bot.toml").write_text(
        '[channel]\nbsuy = "queue"\n[schedules.news]\ncron = "x"\n'
    )
    store = tmp_path / "bot.sqlite"
    settings = settings_for(SLACK_BOT_CONFIG=str(file), SLACK_BOT_STORE__URL=f"sqlite:///{store}")
    with pytest.raises(SettingsError) as caught:
        await build(settings)
    assert [line.partition(": ")[2].split()[0] for line in caught.value.problems] == [
        "channel.bsuy", "schedules.news.cron", "schedules.news.ask", "schedules.news:",
    ]  # fmt: skip
    assert not store.exists()


def is_answered(workspace: Workspace, root: str) -> bool:
    return any(message.state == "sealed" for message in workspace.thread(CHANNEL, root))


async def test_what_is_known_of_a_thread_outlives_the_process(tmp_path: Path) -> None:
    agent = ScriptedAgent(answer("One.", seconds=0.1), answer("Two.", seconds=0.1))
    root, store_url = "1700000000.000100", f"sqlite:///{tmp_path}/bot.sqlite"
    async with serve_scripted(agent) as url:
        for number in (1, 2):
            async with bot_on_network(**{"agent.url": url, "store.url": store_url}) as (workspace, _, app):
                workspace.say("U1", CHANNEL, "Hello.", now=0.0, ts=root, is_told=False)
                text = f"<@{workspace.bot.user_id}> {number}"
                workspace.say("U1", CHANNEL, text, now=1700000000.0 + number, thread_ts=root)
                await wait_until(partial(is_answered, workspace, root), workspace)
                await app.threads.idle()
    sent = [call.params["message"] for call in agent.questions]
    assert ["contextId" in message for message in sent] == [False, True]


async def test_two_replicas_on_one_redis_know_the_same_threads(redis_server: RedisServer) -> None:
    agent, root = ScriptedAgent(answer("Hello.", seconds=0.1)), "1700000000.000100"
    async with serve_scripted(agent) as url:
        options = {"agent.url": url, "store.url": redis_server.url, "share_interval": 0.1}
        async with (
            bot_on_network(**options) as (one, _, first),
            bot_on_network(**options) as (two, _, second),
        ):
            for number, (workspace, app) in enumerate(((one, first), (two, second)), 1):
                workspace.say("U1", CHANNEL, "Hello.", now=0.0, ts=root, is_told=False)
                text = f"<@{workspace.bot.user_id}> {number}"
                workspace.say("U1", CHANNEL, text, now=1700000000.0 + number, thread_ts=root)
                await wait_until(partial(is_answered, workspace, root), workspace)
                await app.threads.idle()
            ((thread, ts),) = await first.store.active_threads(0.0)
            question = Question(thread, ts, "U1", "T1", "again")
            assert not await second.threads.intake.accept(question)
            assert await second.store.unfinished() == []
    sent = [call.params["message"] for call in agent.questions]
    assert ["contextId" in message for message in sent] == [False, True]


# -- a store in trouble


async def until(condition: Callable[[], object]) -> None:
    """Wait for a condition without an event."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  there is no event to wait for
            await asyncio.sleep(0)


def is_being_stored() -> bool:
    """Whether a question is on its way into the store."""
    return any(task.get_name().startswith("accept ") for task in asyncio.all_tasks())


async def test_a_question_that_was_being_stored_when_the_bot_ended_is_answered_after_the_restart(
    tmp_path: Path,
) -> None:
    workspace = Workspace()
    workspace.add_channel(CHANNEL)
    file, agent = tmp_path / "bot.sqlite", ScriptedAgent(answer("After the restart.", seconds=0.1))
    async with (
        serve_scripted(agent) as agent_url,
        SlackServer(workspace, system_clock(), ack_timeout=1.5, retry_delays=(0.05, 0.05, 0.05)) as face,
    ):
        settings = settings_for(
            A2A_AGENT_URL=agent_url,
            SLACK_API_URL=face.api_url,
            SLACK_BOT_STORE__URL=f"sqlite:///{file}",
        )
        app, stop = await build(settings), asyncio.Event()
        serving = asyncio.create_task(serve(app, stop))
        await face.sockets.connected()
        lock = sqlite3.connect(file, isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")  # as a backup does: the store waits for it
        root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=system_clock().wall())
        await until(is_being_stored)
        stop.set()
        await serving
        ending = asyncio.create_task(app.close())
        await asyncio.sleep(0)  # it takes no more questions now
        lock.close()
        await ending
        async with await build(settings) as app:
            stop = asyncio.Event()
            serving = asyncio.create_task(serve(app, stop))
            await face.settle()
            await app.threads.idle()
            stop.set()
            await serving
    assert face.lost == []
    assert [m.text for m in workspace.thread(CHANNEL, root) if m.is_bot] == ["After the restart."]


class _BreakingStore(MemoryStore):
    async def remove_old(self, now: float) -> None:
        raise ZeroDivisionError


async def test_work_beside_the_answers_that_breaks_is_logged_and_answers_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    workspace, agent = Workspace(), ScriptedAgent(answer("Still answered.", seconds=0.1))
    workspace.add_channel(CHANNEL)
    async with (
        serve_scripted(agent) as agent_url,
        SlackServer(workspace, system_clock()) as face,
        await build(
            settings_for(A2A_AGENT_URL=agent_url, SLACK_API_URL=face.api_url), store=_BreakingStore()
        ) as app,
        connected(app),
    ):
        root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=system_clock().wall())
        await wait_until(partial(is_answered, workspace, root), workspace)
        assert "a background task broke" in [record.getMessage() for record in caplog.records]


async def test_a_question_is_answered_though_the_request_that_brought_it_was_cancelled(
    tmp_path: Path,
) -> None:
    """As a time limit of the HTTP server does. The redelivery counts as accepted before, which is true."""
    file = tmp_path / "bot.sqlite"
    async with bot_on_network(answer("Still answered."), **{"store.url": f"sqlite:///{file}"}) as (
        workspace,
        _,
        app,
    ):
        lock = sqlite3.connect(file, isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        body = mention(text=f"<@{workspace.bot.user_id}> hi")
        root = body["event"]["ts"]
        workspace.say("U1", CHANNEL, body["event"]["text"], now=0.0, ts=root, is_told=False)
        request = AsyncBoltRequest(body=body, mode="socket_mode")
        delivery = asyncio.create_task(app.bolt.async_dispatch(request))
        await until(is_being_stored)
        delivery.cancel()
        with pytest.raises(asyncio.CancelledError):
            await delivery
        lock.close()
        await wait_until(partial(is_answered, workspace, root), workspace)
        again = await app.bolt.async_dispatch(AsyncBoltRequest(body=body, mode="socket_mode"))
        assert again.status == 200
        await app.threads.idle()
        assert [m.text for m in workspace.thread(CHANNEL, root) if m.is_bot] == ["Still answered."]


@pytest.mark.parametrize("http", [False, True], ids=["Socket Mode", "HTTP"])
async def test_a_run_whose_store_is_gone_finishes_its_answers_tells_the_asker_and_ends(
    tmp_path: Path, http: bool
) -> None:
    workspace = Workspace()
    workspace.add_channel(CHANNEL)
    file, port = tmp_path / "bot.sqlite", free_port()
    agent = ScriptedAgent(answer("Finished before the end.", seconds=3.0))
    async with (
        serve_scripted(agent) as agent_url,
        SlackServer(
            workspace,
            system_clock(),
            bot_url=f"http://127.0.0.1:{port}{EVENTS_PATH}" if http else None,
            ack_timeout=0.2,
            retry_delays=(0.05, 0.05, 0.05),
        ) as face,
    ):
        settings = settings_for(
            SLACK_SIGNING_SECRET=SIGNING_SECRET,
            A2A_AGENT_URL=agent_url,
            SLACK_API_URL=face.api_url,
            SLACK_BOT_STORE__URL=f"sqlite:///{file}",
            SLACK_BOT_STORE__MAX_FAILURES="8",
            SLACK_BOT_SLACK__HTTP_HOST="127.0.0.1",
            SLACK_BOT_SLACK__HTTP_PORT=str(port),
        )
        with log_watch() as log:
            running = asyncio.create_task(run(settings, http=http))
            await log.wait_for("waiting for Slack at" if http else "connected to Slack")
            text = f"<@{workspace.bot.user_id}> hi"
            first = workspace.say("U1", CHANNEL, text, now=system_clock().wall())
            await wait_until(lambda: workspace.open_streams(), workspace)
            file.unlink()
            second = workspace.say("U1", CHANNEL, text, now=system_clock().wall())
            with pytest.raises(
                StoreError, match=r"^8 questions in a row .* removed or replaced .* The bot ends"
            ):
                await asyncio.wait_for(running, 60)
            assert sum("The bot ends as soon as no answer runs." in line for line in log.messages) == 1
    assert [m.text for m in workspace.thread(CHANNEL, first) if m.is_bot] == ["Finished before the end."]
    (notice,) = [m.read for m in workspace.thread(CHANNEL, second) if m.is_bot]
    assert "could not take this question" in notice


async def test_a_store_that_recovers_lets_the_bot_live(tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk, log_watch() as log:
        options = {"store.url": f"sqlite:///{disk}/bot.sqlite", "http": True, "retry_delays": (0.5, 0.5)}
        tapes = (answer("Long.", seconds=4.0), answer("At last.", seconds=0.1))
        async with bot_on_network(*tapes, max_failures=2, **options) as (workspace, face, app):
            text = f"<@{workspace.bot.user_id}> hi"
            workspace.say("U1", CHANNEL, text, now=system_clock().wall())
            await wait_until(lambda: workspace.open_streams(), workspace)
            filler = fill(disk, leave=0)
            root = workspace.say("U1", CHANNEL, text, now=system_clock().wall())
            await log.wait_for("The bot ends as soon as no answer runs.")
            filler.unlink()
            await wait_until(partial(is_answered, workspace, root), workspace)
            await app.threads.idle()
            again = workspace.say("U1", CHANNEL, text, now=system_clock().wall())
            await wait_until(partial(is_answered, workspace, again), workspace)
            await face.settle()
            await app.threads.idle()
            assert sum("The bot ends as soon as no answer runs." in line for line in log.messages) == 1


async def test_old_keys_are_removed_by_a_timer(tmp_path: Path) -> None:
    file = tmp_path / "bot.sqlite"
    await (await open_sqlite(file, Ages())).close()
    settings = {"store.url": f"sqlite:///{file}", "cleanup_interval": 0.01}
    async with bot_on_network(**settings):
        for _ in range(2):
            add_yesterday_keys(file, system_clock().wall())
            await until(lambda: not count_keys(file))
    assert count_keys(file) == 0


# -- the whole run


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
async def test_a_run_serves_until_it_is_told_to_end_and_finishes_what_it_began(
    sign: signal.Signals, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "slack_bot")
    workspace = Workspace()
    workspace.add_channel(CHANNEL)
    agent = ScriptedAgent(answer("Finished before the end.", seconds=1.0))
    loop = asyncio.get_running_loop()
    async with serve_scripted(agent) as agent_url, SlackServer(workspace, system_clock()) as face:
        settings = settings_for(A2A_AGENT_URL=agent_url, SLACK_API_URL=face.api_url)
        running = asyncio.create_task(run(settings))
        try:
            await face.sockets.connected()
            root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=system_clock().wall())
            await wait_until(lambda: workspace.open_streams(), workspace)
            os.kill(os.getpid(), sign)
            await asyncio.wait_for(running, 60)
        finally:
            loop.remove_signal_handler(signal.SIGTERM)
            loop.remove_signal_handler(signal.SIGINT)
        assert [m.text for m in workspace.thread(CHANNEL, root) if m.is_bot] == ["Finished before the end."]
        assert workspace.open_streams() == []
    expected = ["turn begins", "ending", "running answers: 1; they get 20 s", "turn ends: answered", "ended"]
    assert [each for record in caplog.records if (each := record.getMessage()) in expected] == expected


async def test_a_run_that_answers_nothing_ends_at_once_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "slack_bot")
    agent = ScriptedAgent(answer("Not asked for.", seconds=0.1))
    loop = asyncio.get_running_loop()
    async with serve_scripted(agent) as agent_url, SlackServer(Workspace(), system_clock()) as face:
        running = asyncio.create_task(run(settings_for(A2A_AGENT_URL=agent_url, SLACK_API_URL=face.api_url)))
        try:
            await face.sockets.connected()
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.wait_for(running, 60)
        finally:
            loop.remove_signal_handler(signal.SIGTERM)
            loop.remove_signal_handler(signal.SIGINT)
    assert [each.getMessage() for each in caplog.records][-2:] == ["ending", "ended"]


@pytest.mark.parametrize(
    ("url", "sentence"),
    [("sqlite:///nowhere/bot.sqlite", "create it"), ("redis://127.0.0.1:1", "whether Redis runs")],
)
async def test_a_store_that_cannot_be_used_is_told_before_a_port_is_waited_for(
    url: str, sentence: str
) -> None:
    async with SlackServer(Workspace(), system_clock()) as face:
        busy = re.findall(r":(\d+)/", face.api_url)[0]
        settings = settings_for(
            A2A_AGENT_URL="http://127.0.0.1:1", SLACK_BOT_STORE__URL=url, SLACK_BOT_HEALTH__PORT=busy
        )
        with pytest.raises(StoreError, match=sentence):
            await asyncio.wait_for(run(settings), 10)


# -- the file with settings of channels


async def test_the_file_is_read_again_on_sighup_and_a_bad_one_is_not(tmp_path: Path) -> None:
    """A real process: a turn goes on while the file changes."""
    workspace, file = Workspace(), tmp_path / "slack_bot.toml"
    workspace.add_channel(CHANNEL)
    agent = ScriptedAgent(answer("Hello.", seconds=1.0))

    def ask(user: str) -> str:
        text = f"<@{workspace.bot.user_id}> hi"
        return workspace.say(user, CHANNEL, text, now=system_clock().wall())

    def told(user: str) -> int:
        return sum(call.args.get("user") == user for call in workspace.calls if "phemeral" in call.method)

    async with serve_scripted(agent) as agent_url, SlackServer(workspace, system_clock()) as face:
        env = {
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_API_URL": face.api_url,
            "A2A_AGENT_URL": agent_url,
            "SLACK_BOT_STORE__URL": "memory://",
            "SLACK_BOT_CONFIG": str(file),
        }
        file.write_text('[channel]\npeople = ["U1"]\n')
        async with bot_process(env, tmp_path) as (process, log):
            await asyncio.wait_for(face.sockets.connected(), PATIENCE)
            ask("U2")
            await wait_until(lambda: told("U2") == 1, workspace, PATIENCE)
            running = ask("U1")
            await wait_until(workspace.open_streams, workspace, PATIENCE)
            file.write_text('[channel]\npeople = ["U2"]\n')
            process.send_signal(signal.SIGHUP)
            await read_until(log, "read again")
            ask("U1")
            await wait_until(lambda: told("U1") == 1, workspace, PATIENCE)
            file.write_text('[channel]\npeople = 3\nbusy = "never"\n')
            process.send_signal(signal.SIGHUP)
            line = await read_until(log, "was not read again")
            assert "channel.people is 3: should be" in line
            assert "; " in line
            assert "channel.busy is 'never': should be queue, collect or interrupt" in line
            root = ask("U2")
            for each in (running, root):
                await wait_until(partial(is_answered, workspace, each), workspace, PATIENCE)
            assert (told("U1"), told("U2")) == (1, 1)


PATIENCE = 60.0


@asynccontextmanager
async def bot_process(
    env: dict[str, str], folder: Path
) -> AsyncIterator[tuple[asyncio.subprocess.Process, asyncio.StreamReader]]:
    """`slack-bot run`, and its log."""
    words = *loaded_program(), "run"
    async with child(*words, env=env, cwd=folder, stderr=asyncio.subprocess.PIPE) as process:
        assert process.stderr is not None
        yield process, process.stderr


async def read_until(log: asyncio.StreamReader, text: str) -> str:
    async with asyncio.timeout(PATIENCE):
        while line := (await log.readline()).decode():
            if text in line:
                return line
    raise AssertionError(f"the log ended without {text!r}")


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
async def test_a_run_that_waits_for_the_store_of_another_one_ends_at_once_when_it_is_told_to(
    sign: signal.Signals, tmp_path: Path
) -> None:
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(__file__).parent.parent),
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_APP_TOKEN": APP_TOKEN,
        "A2A_AGENT_URL": "http://127.0.0.1:1",
        "SLACK_BOT_STORE__LOCK_WAIT": "600",
    }
    held = await open_store(subjects.options(f"sqlite:///{tmp_path / 'slack_bot.sqlite'}"), Outage())
    try:
        async with bot_process(env, tmp_path) as (process, log):
            await read_until(log, "another process has the store open")
            process.send_signal(sign)
            await read_until(log, "ended")
            assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
    finally:
        await held.close()


async def test_a_bad_file_is_told_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[channel]\nbusy = 1\n")
    for file, sentence in (("bad.toml", "channel.busy is 1"), ("none.toml", "SLACK_BOT_CONFIG names")):
        with pytest.raises(SettingsError, match=sentence):
            await build(bot_settings({"config": str(tmp_path / file)}), store=MemoryStore())
