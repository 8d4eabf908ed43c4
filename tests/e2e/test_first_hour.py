"""`docs/first-hour.md` as it is written, but for its ports: each command is a process. Then mistakes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from email.utils import formatdate
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from tests.processes import child
from tests.tools.doctor.guarded_agent import guarded_agent

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "first-hour.md").read_text("utf-8")
WORKSPACE, AGENT, DOCTOR, RUN = re.findall(r"(?m)^ *slack-bot ((?:workspace|agent|doctor|run)\b.*)$", GUIDE)[
    :4
]
GIVEN = dict(re.findall(r"(\w+)=(\S+)", GUIDE.partition("slack-bot doctor")[0]))
QUESTION = "how does streaming work?"
PATIENCE = 60
BEGUN = 50  # characters
PLAN = re.compile(
    r"(?:Search the knowledge base|Read what was found|Write the answer)(?: \(continues below\))?"
)

MISTAKES: dict[str, tuple[dict[str, str], str, str]] = {
    "no token": ({"SLACK_BOT_TOKEN": ""}, "SLACK_BOT_TOKEN is not set", "OAuth & Permissions"),
    "the tokens swapped": (
        {"SLACK_BOT_TOKEN": GIVEN["SLACK_APP_TOKEN"], "SLACK_APP_TOKEN": GIVEN["SLACK_BOT_TOKEN"]},
        "SLACK_BOT_TOKEN is not a bot token", "swap the two",
    ),
    "an old token": ({"SLACK_BOT_TOKEN": "xoxb-old"}, "(invalid_auth)", "copy the token again"),
    "an app token of nobody": ({"SLACK_APP_TOKEN": "xapp-old"}, "SLACK_APP_TOKEN", "copy the token again"),
    "no Slack": ({"SLACK_API_URL": "http://127.0.0.1:1/api/"}, "cannot be reached", "SLACK_API_URL"),
    "a misspelt setting": (
        {"SLACK_BOT_STORE__TURNDAYS": "3"}, "is not a setting", "SLACK_BOT_STORE__TURN_DAYS",
    ),
    "a word for a number": ({"SLACK_BOT_HEALTH__PORT": "many"}, "is 'many'", "a whole number"),
    "no agent": ({"A2A_AGENT_URL": "http://127.0.0.1:1"}, "cannot be reached", "whether the agent runs"),
    "no agent's address": (
        {"A2A_AGENT_URL": "{SLACK_API_URL}"}, "no agent card at", "the agent's base address",
    ),
    "an address of something else": (
        {"A2A_AGENT_URL": "{SLACK_API_URL}something.json"}, "is no agent card", "the agent's base address",
    ),
    "half an address": ({"A2A_AGENT_URL": "localhost:8001"}, "is 'localhost:8001'", "begins with http://"),
    "no place for the store": (
        {"SLACK_BOT_STORE__URL": "sqlite:////nowhere/bot.sqlite"}, "there is no directory", "make it",
    ),
    "a place that is not to be written": (
        {"SLACK_BOT_STORE__URL": "sqlite:////proc/bot.sqlite"},
        "nothing can be written into /proc", "let the bot's user write there",
    ),
    "no Redis": ({"SLACK_BOT_STORE__URL": "redis://127.0.0.1:1"}, "cannot be used", "whether Redis runs"),
    "no file of channels": ({"SLACK_BOT_CONFIG": "no.toml"}, "does not exist", "take SLACK_BOT_CONFIG away"),
    "a misspelt line": (
        {"SLACK_BOT_CONFIG": "bad.toml"}, "channel.respnd is not a setting", "did you mean respond?",
    ),
    "a file without its scheme": ({"SLACK_BOT_STORE__URL": "bot.sqlite"}, "is 'bot.sqlite'", "write sqlite:///"),
    "a proxy that is not there": (
        {"HTTPS_PROXY": "http://127.0.0.1:1"}, "cannot be reached", "the proxy if there is one (HTTPS_PROXY)",
    ),
}  # fmt: skip
EXPLAINED = re.findall("`(.*?)`", "".join(re.findall(r"(?m)^\| (`.*?) \|", GUIDE.partition("|---|")[2])))
OF_THE_AGENT = ("no credentials are set for it", "refuses the bot's credentials")
OF_APP_AND_AGENT = {"Socket Mode is off", *OF_THE_AGENT}
# The bot is in each channel of `workspace`; tests/tools/doctor/test_place_checks.py has one without it.
OF_A_CHANNEL = "the bot is not in the channel"
NEEDED = "the app does not subscribe to app_mention", "chat:write is missing: no answer can be written"


STARTED = (sys.executable, "-m", "slack_bot")


@asynccontextmanager
async def started(
    command: str,
    folder: Path,
    env: Mapping[str, str] | None = None,
    *options: str,
    program: tuple[str, ...] = STARTED,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """What it says on both ways is read together."""
    pipe = asyncio.subprocess.PIPE
    words = *program, *shlex.split(command), *options
    around = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **(env or {})}
    both = {"stdout": pipe, "stderr": asyncio.subprocess.STDOUT}
    async with child(*words, env=around, cwd=folder, **both) as process:
        yield process


async def said(process: asyncio.subprocess.Process, words: str) -> str:
    """What it says until it has said `words`."""
    assert process.stdout is not None
    lines = ""
    async with asyncio.timeout(PATIENCE):
        while words not in lines:
            line = (await process.stdout.readline()).decode()
            assert line, f"ended without {words!r}: {lines}"
            lines += line
    return lines


@asynccontextmanager
async def set_up(folder: Path, *more: str) -> AsyncIterator[tuple[dict[str, str], str]]:
    """Steps 2 to 4: the workspace, the agent, and what the workspace printed to be exported. And the page.

    `more`: options of the workspace.
    """
    async with AsyncExitStack() as stack:
        ports = "--port", "0", "--api-port", "0", *more
        workspace = await stack.enter_async_context(started(WORKSPACE, folder, None, *ports))
        agent = await stack.enter_async_context(started(AGENT, folder, None, "--port", "0"))
        printed = await said(workspace, "Ctrl-C ends it.")
        env = dict(re.findall(r"(\w+)=(\S+)", printed))
        assert env.keys() == GIVEN.keys()
        assert {**GIVEN, "SLACK_API_URL": env["SLACK_API_URL"]} == env
        env["A2A_AGENT_URL"] = re.findall(r"http://\S+", await said(agent, "Ctrl-C ends it."))[0]
        yield env, re.findall(r"workspace is at (\S+)", printed)[0]


async def ask(http: aiohttp.ClientSession, page: str) -> str:
    """Ask on the page. Returns the thread, once an answer has begun there."""
    order = {"type": "say", "user": "U0MAYA", "channel": "C0INCIDENTS", "text": f"<@U0BOT> {QUESTION}"}
    shown = thread = ""
    async with asyncio.timeout(PATIENCE), http.ws_connect(f"{page}ws", origin=page.rstrip("/")) as socket:
        await socket.send_json(order)
        while len(shown) < BEGUN:
            for update in await socket.receive_json():
                if update["type"] == "said":
                    thread = update["ts"]
                elif update["type"] == "grow" and thread:
                    shown += update["text"]
    return thread


async def answer(http: aiohttp.ClientSession, env: Mapping[str, str], thread: str) -> str:
    """The words of what the bot has written there, without its plan."""
    async with http.post(
        f"{env['SLACK_API_URL']}conversations.replies",
        data={"channel": "C0INCIDENTS", "ts": thread},
        headers={"Authorization": f"Bearer {env['SLACK_BOT_TOKEN']}"},
    ) as response:
        seen = await response.json()
    assert seen["ok"], seen
    text = "\n".join(each["text"] for each in seen["messages"] if each.get("bot_id"))
    return " ".join(PLAN.sub("", text).split())


async def look(
    folder: Path, env: Mapping[str, str], *options: str, state: str = "failed"
) -> tuple[int | None, list[dict[str, str]]]:
    """Its exit status, and what the doctor says in `state`: what the bot cannot run with, or a warning."""
    async with started(DOCTOR, folder, env, "--json", *options) as doctor:
        assert doctor.stdout is not None
        status = await asyncio.wait_for(doctor.wait(), PATIENCE)
        found = json.loads(await doctor.stdout.read())["findings"]
    return status, [each for each in found if each["state"] == state]


@asynccontextmanager
async def another_time(api_url: str, seconds: float) -> AsyncIterator[str]:
    """The same Slack, whose clock is behind by `seconds`."""

    async def forward(request: web.Request) -> web.Response:
        sent = {name: request.headers[name] for name in ("Authorization", "Content-Type")}
        url = f"{api_url}{request.match_info['method']}"
        async with http.request(
            request.method, url, params=request.query, data=await request.read(), headers=sent
        ) as answered:
            headers = {"Date": formatdate(time.time() - seconds, usegmt=True)}
            if "x-oauth-scopes" in answered.headers:
                headers["x-oauth-scopes"] = answered.headers["x-oauth-scopes"]
            return web.json_response(await answered.json(), headers=headers)

    app = web.Application()
    app.router.add_route("*", "/api/{method}", forward)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        async with aiohttp.ClientSession() as http:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
    finally:
        await runner.cleanup()


@pytest.mark.slow
async def test_from_an_empty_directory_to_an_answer_and_one_that_goes_on_after_a_kill(tmp_path: Path) -> None:
    async with set_up(tmp_path) as (env, page), aiohttp.ClientSession() as http:
        async with started(DOCTOR, tmp_path, env) as doctor:
            await said(doctor, "the bot can run")
            assert await doctor.wait() == 0
        async with started(RUN, tmp_path, env) as bot:
            await said(bot, "connected to Slack")
            thread = await ask(http, page)
            await said(bot, "turn ends: answered")
            whole = await answer(http, env, thread)
            thread = await ask(http, page)
        assert BEGUN <= len(await answer(http, env, thread)) < len(whole)
        async with started(RUN, tmp_path, env) as bot:
            await said(bot, "turn ends: answered")
            assert await answer(http, env, thread) == whole


@pytest.mark.slow
async def test_the_doctor_finds_each_mistake_and_names_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('[channel]\nrespnd = "thread"\n')
    (tmp_path / "nowhere.toml").write_text('[channels.C0NOWHERE]\nrespond = "thread"\n')
    told = ""
    async with set_up(tmp_path) as (env, _):
        for mistake, (wrong, text, remedy) in MISTAKES.items():
            mistaken = {**env, **{name: value.format(**env) for name, value in wrong.items()}}
            status, failed = await look(tmp_path, mistaken)
            assert status == 1, mistake
            assert any(text in each["text"] and remedy in each["remedy"] for each in failed), (
                mistake,
                failed,
            )
            told += str(failed)
        elsewhere = {**env, "SLACK_BOT_CONFIG": "nowhere.toml"}
        status, warned = await look(tmp_path, elsewhere, state="warning")
        (nowhere,) = (each for each in warned if "there is no channel C0NOWHERE" in each["text"])
        assert (status, "correct the id" in nowhere["remedy"]) == (0, True)
        told += nowhere["text"]
        async with another_time(env["SLACK_API_URL"], 400) as api_url:
            signed = {**env, "SLACK_API_URL": api_url, "SLACK_SIGNING_SECRET": "0" * 32}
            status, (late,) = await look(tmp_path, signed, "--http")
            assert (status, late["check"], "NTP" in late["remedy"]) == (1, "clock", True)
            assert re.search(r"this machine's is (399|40\d) s ahead of Slack's", late["text"])
    assert {words for words in EXPLAINED if words not in told} == {
        *OF_APP_AND_AGENT, OF_A_CHANNEL,
    }  # fmt: skip


@pytest.mark.slow
async def test_the_doctor_finds_what_is_wrong_with_the_app_and_the_agents_token(tmp_path: Path) -> None:
    async with started("manifest", tmp_path) as printed:
        assert printed.stdout is not None
        app = json.loads(await printed.stdout.read())
    app["oauth_config"]["scopes"]["bot"].remove("chat:write")
    app["settings"]["event_subscriptions"]["bot_events"].remove("app_mention")
    (tmp_path / "app.json").write_text(json.dumps(app))
    async with set_up(tmp_path, "--manifest", "app.json") as (env, _):
        status, failed = await look(tmp_path, env)
        assert (status, *sorted(each["text"] for each in failed)) == (1, *sorted(NEEDED))
        pages = {each["page"].rpartition("/")[2]: each["remedy"] for each in failed}
        assert pages.keys() == {"oauth", "event-subscriptions"}
        assert "install the app again" in pages["oauth"]
    app["settings"]["socket_mode_enabled"] = False
    (tmp_path / "app.json").write_text(json.dumps(app))
    async with (
        set_up(tmp_path, "--manifest", "app.json") as (env, _),
        guarded_agent("s3cret", is_said=False) as url,
    ):
        _, failed = await look(tmp_path, {**env, "A2A_AGENT_URL": url})
        found = {each["check"]: each for each in failed}
        _, refused = await look(
            tmp_path, {**env, "A2A_AGENT_URL": url, "SLACK_BOT_AGENT__BEARER_TOKEN": "wrong"}
        )
        texts = [each["text"] for each in (*failed, *refused)]
        told = {words for words in OF_APP_AND_AGENT if any(words in text for text in texts)}
        assert told == OF_APP_AND_AGENT
        assert "switch it on" in found["connections"]["remedy"]
        assert "SLACK_BOT_AGENT__BEARER_TOKEN" in found["agent login"]["remedy"]
        given = {**env, "A2A_AGENT_URL": url, "SLACK_BOT_AGENT__BEARER_TOKEN": "s3cret"}
        _, failed = await look(tmp_path, given, "--http")
        assert [each["text"] for each in failed] == ["SLACK_SIGNING_SECRET is not set", NEEDED[1]]
        assert "Basic Information" in failed[0]["remedy"]
