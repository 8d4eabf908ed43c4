"""The whole bot between an emulated workspace and a scripted agent, in memory, on virtual time.

@on_virtual_time
async def test_it() -> None:
    async with whole_bot(answer("Hello.")) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root) == ["Hello."]
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import httpx
from slack_bolt.request.async_request import AsyncBoltRequest

from slack_bot.app import App, build, serve
from slack_bot.clock import loop_clock
from slack_bot.observe.facts import Fact, TurnEnded
from slack_bot.settings.load import Settings, load, with_overrides
from slack_bot.store.contracts import Store
from slack_bot.store.memory import MemoryStore
from slack_bot.testing import virtual_clock
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedTransport
from slack_bot.testing.agent.server import serve_scripted
from slack_bot.testing.slack.in_process import SlackSession
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import (
    APP_TOKEN,
    BOT_TOKEN,
    SIGNING_SECRET,
    Envelope,
    SeenMessage,
    Workspace,
    WorkspaceRules,
)
from slack_bot.testing.tape.tape import Moment, Tape

CHANNEL = "C1"
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_PORTS = itertools.count(20_000 + 1_000 * (_WORKER % 10))


def on_virtual_time(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run an async test on a loop of its own whose time is virtual."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        async def story() -> None:
            await test(*args, **kwargs)

        virtual_clock.run(story())

    return run


# -- what the agent says


def task(state: str = "submitted", *, text: str = "", ids: str = "1") -> dict[str, Any]:
    status: dict[str, Any] = {"state": state}
    if text:
        status["message"] = {
            "kind": "message",
            "messageId": "m1",
            "role": "agent",
            "parts": [{"kind": "text", "text": text}],
        }
    return {"kind": "task", "id": f"task-{ids}", "contextId": f"ctx-{ids}", "status": status}


def status(state: str, text: str = "", *, ids: str = "1") -> dict[str, Any]:
    whole = task(state, text=text, ids=ids)
    over = state not in ("submitted", "working")
    return {
        "kind": "status-update",
        "taskId": whole["id"],
        "contextId": whole["contextId"],
        "status": whole["status"],
        "final": over,
    }


def chunk(text: str, *, ids: str = "1") -> dict[str, Any]:
    return {
        "kind": "artifact-update",
        "taskId": f"task-{ids}",
        "contextId": f"ctx-{ids}",
        "append": True,
        "artifact": {
            "artifactId": f"streaming_result-{ids}",
            "name": "streaming_result",
            "metadata": {"is_final_answer": True},
            "parts": [{"kind": "text", "text": text}],
        },
    }


def answer(text: str, *, seconds: float = 3.0, ids: str = "1") -> Tape:
    """A streamed answer that takes `seconds`, a word at a time."""
    words = [f"{word} " for word in text.split(" ")]
    words[-1] = words[-1][:-1]
    step = seconds / len(words)
    moments = [Moment(0.1, event=task(ids=ids))]
    moments += [Moment(0.2 + step * n, event=chunk(word, ids=ids)) for n, word in enumerate(words)]
    moments += [
        Moment(0.3 + seconds, event=status("completed", ids=ids)),
        Moment(0.4 + seconds, end="closed"),
    ]
    return Tape({"wire": "0.3"}, tuple(moments))


def question(text: str, *, ids: str = "1") -> Tape:
    """The agent asks back."""
    moments = [Moment(0.1, event=task(ids=ids)), Moment(0.5, event=status("input-required", text, ids=ids))]
    return Tape({"wire": "0.3"}, (*moments, Moment(0.6, end="closed")))


def failure(text: str, *, ids: str = "1") -> Tape:
    moments = [Moment(0.1, event=task(ids=ids)), Moment(0.5, event=status("failed", text, ids=ids))]
    return Tape({"wire": "0.3"}, (*moments, Moment(0.6, end="closed")))


def on_wire(tape: Tape, wire: str) -> Tape:
    """The same, as it would be said on this wire."""
    if wire == "0.3":
        return tape
    moments = tuple(
        moment if moment.event is None else replace(moment, event=_said_on_1_0(moment.event))
        for moment in tape.moments
    )
    return Tape({**tape.head, "wire": wire}, moments)


def _said_on_1_0(event: dict[str, Any]) -> dict[str, Any]:
    names = {"task": "task", "status-update": "statusUpdate", "artifact-update": "artifactUpdate"}
    return {names[event["kind"]]: _newer(event)}


def _newer(value: Any) -> Any:
    """Without kinds and `final`, with the newer names of states and roles."""
    if isinstance(value, list):
        return [_newer(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _newer(each) for key, each in value.items() if key not in ("kind", "final")}
    if isinstance(kept.get("state"), str):
        kept["state"] = "TASK_STATE_" + kept["state"].upper().replace("-", "_")
    if isinstance(kept.get("role"), str):
        kept["role"] = "ROLE_" + kept["role"].upper()
    return kept


# -- the bot


class Bot:
    """One bot with its workspace and its agent. `answers` holds what Bolt said to each delivery."""

    def __init__(self, app: App, workspace: Workspace, agent: ScriptedAgent, facts: list[Fact]) -> None:
        self.app, self.workspace, self.agent, self.facts = app, workspace, agent, facts
        self.answers: list[int] = []

    @property
    def now(self) -> float:
        return self.app.clock.wall()

    @property
    def ends(self) -> list[str]:
        """How the turns ended, in order."""
        return [str(fact.outcome) for fact in self.facts if isinstance(fact, TurnEnded)]

    async def ask(self, text: str, *, user: str = "U1", thread_ts: str | None = None) -> str:
        """Mention the bot and deliver that. Returns the message's ts."""
        return await self.say(f"<@{self.workspace.bot.user_id}> {text}", user=user, thread_ts=thread_ts)

    async def say(
        self, text: str, *, user: str = "U1", thread_ts: str | None = None, channel: str = CHANNEL
    ) -> str:
        ts = self.workspace.say(user, channel, text, now=self.now, thread_ts=thread_ts)
        await self.deliver()
        return ts

    async def deliver(self, envelopes: Sequence[Envelope] | None = None, *, retry: int = 0) -> list[int]:
        """Give Bolt what Slack wants to deliver, for the `retry`-th time again.

        Returns the statuses of its answers.
        """
        headers: dict[str, Sequence[str]] = {"x-slack-retry-num": [str(retry)]} if retry else {}
        given: list[int] = []
        for envelope in self.workspace.take() if envelopes is None else envelopes:
            request = AsyncBoltRequest(body=dict(envelope.payload), mode="socket_mode", headers=headers)
            given.append((await self.app.bolt.async_dispatch(request)).status)
        self.answers += given
        await asyncio.sleep(0)
        return given

    async def idle(self) -> None:
        """Let everything happen that was begun."""
        await asyncio.sleep(0.01)
        await self.app.dispatcher.idle()
        await self.deliver()
        await self.app.dispatcher.idle()

    def thread(self, root: str, channel: str = CHANNEL) -> list[SeenMessage]:
        return self.workspace.thread(channel, root)

    def read(self, root: str, channel: str = CHANNEL) -> list[str]:
        """What the bot wrote in a thread, whatever everybody sees of it."""
        mine = (seen for seen in self.thread(root, channel) if seen.is_bot and seen.ephemeral_for is None)
        return [seen.text for seen in mine]

    def whispers(self, root: str) -> list[tuple[str, str]]:
        return [
            (seen.ephemeral_for, seen.text) for seen in self.thread(root) if seen.ephemeral_for is not None
        ]

    def calls(self, method: str) -> list[Mapping[str, Any]]:
        return [call.args for call in self.workspace.calls if call.method == method]


def bot_settings(**overrides: Any) -> Settings:
    env = {
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "A2A_AGENT_URL": "http://agent.test/",
    }
    return with_overrides(load(env, env_file=None, secrets_dir=None), overrides)


def _people(workspace: Workspace) -> None:
    members = workspace.add_channel(CHANNEL).members
    members.update(workspace.add_user(user).id for user in ("U1", "U2"))


@asynccontextmanager
async def whole_bot(
    *tapes: Tape,
    store: Store | None = None,
    faults: Mapping[str, Sequence[str | None]] | None = None,
    cut_after: int | None = None,
    rules: WorkspaceRules | None = None,
    through: Callable[[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport] = lambda inner: inner,
    **overrides: Any,
) -> AsyncIterator[Bot]:
    """A bot whose agent answers the n-th question with the n-th tape, cut after so many events.

    `rules`: Slack's limits; None: all of them. `through` stands between the bot and its agent.
    """
    clock = virtual_clock.new_clock()
    workspace = Workspace(rules=rules or WorkspaceRules.real(), faults=faults)
    _people(workspace)
    agent = ScriptedAgent(*(tapes or (answer("Hello."),)), cut_after=cut_after, clock=clock)
    facts: list[Fact] = []
    app = await build(
        bot_settings(**overrides),
        clock=clock,
        observer=lambda fact: facts.append(fact),
        http_transport=through(ScriptedTransport(agent)),
        slack_session=SlackSession(workspace, clock),
        store=store or MemoryStore(),
    )
    async with app:
        yield Bot(app, workspace, agent, facts)


# -- on the network


@asynccontextmanager
async def bot_on_network(
    *tapes: Tape, http: bool = False, retry_delays: Sequence[float] = (0.05, 0.05), **overrides: Any
) -> AsyncIterator[tuple[Workspace, SlackServer, App]]:
    """The same with real sockets and real time: Slack's HTTP and Socket Mode, the agent's HTTP."""
    clock = loop_clock()
    workspace = Workspace(rules=WorkspaceRules.real())
    _people(workspace)
    port = free_port()
    agent = ScriptedAgent(*(tapes or (answer("Hello.", seconds=0.2),)))
    bot_url = f"http://127.0.0.1:{port}/slack/events" if http else None
    async with (
        serve_scripted(agent) as agent_url,
        SlackServer(workspace, clock, bot_url=bot_url, retry_delays=retry_delays) as face,
    ):
        env = {
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "A2A_AGENT_URL": agent_url,
            "SLACK_API_URL": face.api_url,
            "SLACK_BOT_STORE__URL": "memory://",
            "SLACK_BOT_SLACK__HTTP_HOST": "127.0.0.1",
            "SLACK_BOT_SLACK__HTTP_PORT": str(port),
        }
        settings = with_overrides(load(env, env_file=None, secrets_dir=None), overrides)
        async with await build(settings, clock=clock) as app:
            stop, ready = asyncio.Event(), asyncio.Event()
            serving = asyncio.create_task(serve(app, stop, http=http, ready=ready.set))
            await asyncio.wait(
                {serving, asyncio.create_task(ready.wait())}, return_when=asyncio.FIRST_COMPLETED
            )
            if serving.done():
                await serving
            yield workspace, face, app
            stop.set()
            await serving


def free_port() -> int:
    """A port nobody listens on: below those the system gives out, and never that of another worker."""
    while True:
        port = next(_PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


async def seen(condition: Callable[[], object], workspace: Workspace, within: float = 10.0) -> None:
    """Wait until `condition` holds, looking again whenever the workspace changes."""
    changed = asyncio.Event()
    stop = workspace.listen(lambda _: changed.set())
    try:
        async with asyncio.timeout(within):
            while not condition():
                changed.clear()
                await changed.wait()
    finally:
        stop()
