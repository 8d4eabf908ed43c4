"""From one agent to three, as `docs/configure.md` has it, but for its ports: each command is a process."""

from __future__ import annotations

import asyncio
import base64
import os
import re
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp

from slack_bot.testing.harness import free_port
from tests.e2e.test_first_hour import PATIENCE, ROOT, said, started
from tests.loaded_program import loaded_program
from tests.playground.others.test_three_agents import sign_in

GUIDE = (ROOT / "docs" / "configure.md").read_text("utf-8")
STEPS = GUIDE.partition("**The same with three agents on this machine**")[2].partition("**Which agent")[0]
COMMANDS = re.findall(r"(?m)^ *slack-bot (.*)$", STEPS)
(FILE,) = re.findall(r"(?s)```toml\n(.*?)```", STEPS)
LINK = r"'url': '(http[^']+)'"
MAYA, PLACE, CHANNEL = "U0MAYA", "D0MAYA", "C0GENERAL"


def two_ports() -> int:
    """A free port with a free one behind it."""
    while (port := free_port()) + 1 != free_port():
        pass
    return port


class Visit:
    """What a visitor of the page does and sees."""

    def __init__(self, link: aiohttp.ClientWebSocketResponse) -> None:
        self._link = link
        self.messages: dict[str, dict[str, Any]] = {}

    async def say(self, channel: str, text: str) -> None:
        await self._link.send_json({"type": "say", "user": MAYA, "channel": channel, "text": text})

    async def until(self, words: str, but: str = "\0") -> dict[str, Any]:
        """The message that has these words in the end, and not the others."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for message in self.messages.values():
                    text = f"{message['text']} {message['blocks']}"
                    if words in text and but not in text:
                        return message
                for update in await self._link.receive_json():
                    if update["type"] == "message":
                        self.messages[update["message"]["ts"]] = update["message"]
                    elif update["type"] == "grow":
                        self.messages[update["ts"]]["text"] += update["text"]


def loaded(
    command: str, folder: Path, env: dict[str, str], *options: str
) -> AbstractAsyncContextManager[asyncio.subprocess.Process]:
    return started(command, folder, env, *options, program=loaded_program())


async def output(command: str, folder: Path, env: dict[str, str]) -> str:
    """What a command says that ends well."""
    async with loaded(command, folder, env) as process:
        assert process.stdout is not None
        text = (await process.stdout.read()).decode()
        assert await process.wait() == 0, text
    return text


async def test_the_way_from_one_agent_to_three(tmp_path: Path) -> None:
    tickets = two_ports()
    ports = {"8001": free_port(), "8002": free_port(), "8003": tickets, "8004": tickets + 1}

    def moved(text: str) -> str:
        return re.sub(r"\b800[1-4]\b", lambda found: str(ports[found[0]]), text)

    guide, travel, third, check, manifest, workspace, doctor, run = map(moved, COMMANDS)
    bot = free_port()
    env = {
        "SLACK_BOT_CONFIG": "slack_bot.toml",
        "A2A_AGENT_URL": f"http://127.0.0.1:{ports['8001']}/",
        "SLACK_BOT_SIGN_IN__BASE_URL": f"http://127.0.0.1:{bot}",
        "SLACK_BOT_SIGN_IN__PORT": str(bot),
        "SLACK_BOT_SIGN_IN__KEYS": base64.b64encode(os.urandom(32)).decode(),
    }
    assert set(re.findall(r"\b(A2A_\w+|SLACK_\w+)=", STEPS)) == {*env} - {"SLACK_BOT_SIGN_IN__PORT"}
    file = moved(re.sub(r"(?m)^   ", "", FILE))
    (tmp_path / "slack_bot.toml").write_text(file, "utf-8")
    async with AsyncExitStack() as stack:
        for command in (guide, travel, third):
            process = await stack.enter_async_context(loaded(command, tmp_path, env))
            told = await said(process, "Ctrl-C ends it.")
            lines = told.partition("of its file:\n")[2].replace("Ctrl-C ends it.\n", "").strip()
            assert lines in file, "the guide has what the agent prints"
        assert "default is asked if none is named" in await output(check, tmp_path, env)
        verb, _, target = manifest.partition(" > ")
        (tmp_path / target).write_text(await output(verb, tmp_path, env), "utf-8")
        emulated = await stack.enter_async_context(
            loaded(workspace, tmp_path, env, "--port", "0", "--api-port", "0")
        )
        printed = await said(emulated, "Ctrl-C ends it.")
        env |= dict(re.findall(r"(\w+)=(\S+)", printed))
        page = re.findall(r"workspace is at (\S+)", printed)[0]
        report = await output(doctor, tmp_path, env)
        assert "the bot can run" in report
        await said(await stack.enter_async_context(loaded(run, tmp_path, env)), "connected to Slack")
        http = await stack.enter_async_context(aiohttp.ClientSession())
        link = await stack.enter_async_context(http.ws_connect(f"{page}ws", origin=page.rstrip("/")))
        visit = Visit(link)
        await visit.say(CHANNEL, "<@U0BOT> what is agntcy")
        assert (await visit.until("open source project"))["look"] == {"username": "Playground agent"}
        await visit.say(CHANNEL, "<@U0BOT> plan a trip to Lisbon")
        assert (await visit.until("When, and how?"))["look"]["username"] == "Travel"
        await visit.say(CHANNEL, "<@U0BOT> tickets for Lisbon")
        assert "choose_agent-1" in str(await visit.until("Which one shall I ask?"))
        await visit.say(PLACE, "show my tickets")
        asked = await visit.until("shows only what you may see")
        (url,) = re.findall(LINK, str(asked))
        assert "You are not the person who asked" in await sign_in(url, "jonas")
        await visit.until("is not yours")
        await visit.say(PLACE, "show my tickets, please")
        (other,) = re.findall(LINK, str(await visit.until("shows only what you may see", but=url)))
        assert "You are signed in" in await sign_in(other, "maya")
        assert (await visit.until("T-104"))["look"]["username"] == "Tickets"
