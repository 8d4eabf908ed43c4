"""A bot with keys and webhooks, on the network, and a client that knows a key."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import aiohttp
from pydantic import SecretStr

from slack_bot.app import App, build
from slack_bot.clock import system_clock
from slack_bot.features.api.keys import hash_of
from slack_bot.store.contracts import Store
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.harness import CHANNEL, bot_settings, connected, emulated, free_port, wait_until
from slack_bot.testing.overrides import with_overrides
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import Workspace
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import Tape
from tests.e2e.several_teams import tokens

KEY, POOR_KEY = "sbk_all-that-it-may", "sbk_little"
SECRET = "a secret that is long enough"
FILE = f"""
[keys.ci]
hash = "{hash_of(KEY)}"
channels = ["{CHANNEL}"]
may_dm = true
may_ask = true

[keys.poor]
hash = "{hash_of(POOR_KEY)}"
channels = ["{CHANNEL}"]
rate = 2

[hooks.github]
verify = "hmac"
once_header = "X-GitHub-Delivery"
channel = "{CHANNEL}"
headline = "{{action}} issue {{issue.number}}"
ask = "What is known of {{issue.title}}?"
only = {{ action = ["opened", "reopened"] }}

[hooks.alerts]
verify = "bearer"
once = "{{groupKey}} {{status}}"
channel = "{CHANNEL}"
text = "{{commonLabels.alertname}}: {{alerts.0.annotations.summary}}"
"""
SECRETS = {f"SLACK_BOT_HOOKS__{name}__SECRET": SecretStr(SECRET) for name in ("GITHUB", "ALERTS")}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the API answered."""

    status: int
    body: Any
    headers: Mapping[str, str]

    @property
    def sentence(self) -> str:
        return str(self.body["message"])


@dataclass
class Place:
    """One bot and who talks to it."""

    app: App
    workspace: Workspace
    agent: ScriptedAgent
    session: aiohttp.ClientSession
    port: int

    async def send(self, method: str, path: str, data: bytes | None = None, **headers: str) -> Answer:
        url = f"http://127.0.0.1:{self.port}{path}"
        async with self.session.request(method, url, data=data, headers=headers) as response:
            return Answer(response.status, await response.json(), response.headers)

    async def post(self, body: object, once: str = "1", key: str = KEY) -> Answer:
        named = {"Idempotency-Key": once} if once else {}
        proof = {"Authorization": f"Bearer {key}"} if key else {}
        about = {"Content-Type": "application/json", **named, **proof}
        return await self.send("POST", "/v1/messages", json.dumps(body).encode(), **about)

    async def look(self, message_id: str, key: str = KEY) -> Answer:
        return await self.send("GET", f"/v1/messages/{message_id}", Authorization=f"Bearer {key}")

    async def hook(self, name: str, body: object, **headers: str) -> Answer:
        data = json.dumps(body).encode()
        if name == "github":
            signature = hmac.new(SECRET.encode(), data, sha256).hexdigest()
            headers = {"X-Hub-Signature-256": f"sha256={signature}", **headers}
        else:
            headers = {"Authorization": f"Bearer {SECRET}", **headers}
        about = {"Content-Type": "application/json", **headers}
        return await self.send("POST", f"/v1/hooks/{name}", data, **about)

    def say(self, text: str, thread_ts: str | None = None) -> str:
        return self.workspace.say("U1", CHANNEL, text, now=self.app.clock.wall(), thread_ts=thread_ts)

    def roots(self) -> list[str]:
        return [seen.ts for seen in self.workspace.history(CHANNEL)]

    def read(self, root: str, channel: str = CHANNEL) -> list[str]:
        return [seen.text for seen in self.workspace.thread(channel, root) if seen.is_bot]

    async def until(self, condition: Any) -> None:
        await wait_until(condition, self.workspace, within=20.0)

    async def until_ended(self, message_id: str, key: str = KEY) -> Any:
        """The state of a message once nothing is to be done for it."""
        async with asyncio.timeout(20.0):
            while True:
                body = (await self.look(message_id, key)).body
                if body["state"] != "waiting" and body.get("answer") != "running":
                    return body
                await asyncio.sleep(0.05)


@asynccontextmanager
async def place(
    folder: Path,
    *tapes: Tape,
    text: str = FILE,
    secrets: Mapping[str, SecretStr] = SECRETS,
    http: bool = True,
    store: Store | None = None,
    teams: Sequence[Workspace] = (),
    **overrides: Any,
) -> AsyncIterator[Place]:
    """`teams`: several workspaces, in place of one."""
    (file := folder / "slack_bot.toml").write_text(text, "utf-8")
    clock, port, own_port = system_clock(), free_port(), free_port()
    workspace = teams[0] if teams else Workspace()
    workspace.add_channel(CHANNEL).members.update(workspace.add_user(user).id for user in ("U1", "U2"))
    agent = ScriptedAgent(*(tapes or (answer("Hello.", seconds=0.1),) * 9))
    url = f"http://127.0.0.1:{port}/slack/events" if http else None
    async with (
        serve_scripted(agent) as agent_url,
        SlackServer(teams or workspace, clock, bot_url=url) as face,
        aiohttp.ClientSession() as session,
    ):
        settings = emulated(
            bot_settings({"http_port": port, "http_host": "127.0.0.1"}, agent_url), face.api_url
        )
        values: dict[str, Any] = {
            "config": str(file),
            "api.port": own_port,
            "api.host": "127.0.0.1",
            "outbound_interval": 0.05,
        }
        if teams:
            values |= {"bot_token": None, "bot_tokens": tokens(len(teams))}
        settings = with_overrides(settings, {**values, **overrides})
        settings = settings.model_copy(update={"hook_variables": secrets})
        async with await build(settings, clock=clock, store=store) as app, connected(app, http=http):
            yield Place(app, workspace, agent, session, port if http else own_port)
