"""A live A2A server on a2a-sdk, an implementation that is not ours, in this event loop on a free port.

What it does is the question's first word: `echo`, `unicode`, `long`, `ask`, `fail`, `raise`, `slow`,
`held`, `login`, `permit`, `file`.
`reply:` begins with the task as it waited, as servers on the JavaScript SDK do, and works without saying so.
`login` answers with the token that it got; where it is to `hold`, once `release` is set. `permit` waits
until its asker has signed in by the security scheme that is the second word; what comes then, it repeats.
`file` answers with a file beside its words. `held` answers in five chunks and stops behind `LiveAsker.hold`
of them until `LiveAsker.release` is set.

python -m tests.live_agent PORT     as a process of its own that holds for ever; prints its URL when it is up
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import httpx
from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Part,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from slack_bot.clock import Clock, system_clock
from slack_bot.playground.hosting import host_app
from slack_bot.testing.harness import bot_settings
from slack_bot.testing.tape.json_file import Json
from slack_bot.tools.replay.replay import observe
from slack_bot.tools.replay.scenario import Scenario
from slack_bot.tools.turn_log import TurnLog

UNICODE = (
    "Line\u2028separator, paragraph\u2029separator, next\u0085line, \U0001f468‍\U0001f469‍\U0001f467 and Grüße."
)
LONG = "".join(
    f"Line {number:04}: the quick brown fox jumps over the lazy dog. \U0001f98a\n" for number in range(150)
)
HELD = ("The first. ", "The second. ", "The *third*. ", "四つ目。 ", "The last.")
FILE = ("größe.csv", "text/csv", "ä,\0,漢字".encode())
WORK = 0.5
"""Seconds for which `reply:` works."""
Push: TypeAlias = Literal["no", "card", "yes"]
Guard: TypeAlias = Callable[[dict[str, str]], Awaitable[tuple[int, str] | None]]
"""Looks at the headers of a call: an HTTP status with its `WWW-Authenticate`, or None to let it in."""
ANSWERS = {"unicode": UNICODE, "long": LONG}


@dataclass
class Live:
    """A running agent: its base URL, the headers of all requests so far, and the messages it was sent.

    `calls`: the headers and the body of each. `tasks`: the words with which each task began, by its id.
    `pushes`: where it was told to post. `before_push` is awaited before it takes such an address. `publish`
    makes each card, public or extended, that it sends.
    """

    url: str = ""
    headers: list[dict[str, str]] = field(default_factory=list)
    calls: list[tuple[dict[str, str], Json]] = field(default_factory=list)
    messages: list[Json] = field(default_factory=list)
    tasks: dict[str, str] = field(default_factory=dict)
    hold: int = 0
    release: asyncio.Event = field(default_factory=asyncio.Event)
    called: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Event = field(default_factory=asyncio.Event)  # a task
    done: asyncio.Event = field(default_factory=asyncio.Event)  # a task is completed
    pushes: list[TaskPushNotificationConfig] = field(default_factory=list)
    before_push: Callable[[], Awaitable[object]] | None = None
    extended: str = ""
    publish: Callable[[AgentCard], AgentCard] = lambda card: card

    async def published(self, card: AgentCard, *_: object) -> AgentCard:
        """A card as it is sent: a copy that `publish` may change and sign."""
        found = AgentCard()
        found.CopyFrom(card)
        return self.publish(found)


class _Executor(AgentExecutor):
    def __init__(self, live: Live) -> None:
        self._live = live

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        said = context.get_user_input()
        self._live.messages.append(MessageToDict(context.message))
        task = context.current_task
        if task is None:
            assert context.message is not None
            task = new_task_from_user_message(context.message)
            self._live.tasks[task.id] = said
            self._live.begun.set()
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        if said.startswith("reply:"):
            await event_queue.enqueue_event(task)
            await asyncio.sleep(WORK)
            await _write(updater, said)
            await updater.complete()
            return
        await updater.start_work()
        match said.split()[0]:
            case "ask":
                await updater.requires_input(updater.new_agent_message([Part(text="Which one?")]))
            case "fail":
                await updater.failed(updater.new_agent_message([Part(text="It did not work.")]))
            case "raise":
                raise RuntimeError("boom in the middle")
            case "slow":
                await asyncio.sleep(30)
            case "held":
                await self._held(updater)
            case "login" | "permit":
                await self._act_for_asker(updater, said)
            case "file":
                name, kind, content = FILE
                file = Part(raw=content, filename=name, media_type=kind)
                await updater.add_artifact([Part(text=said), file], artifact_id="answer")
                await updater.complete()
            case word:
                await _write(updater, ANSWERS.get(word, said))
                await updater.complete()

    async def _act_for_asker(self, updater: TaskUpdater, said: str) -> None:
        token = self._live.headers[-1]["authorization"].removeprefix("Bearer ")
        word, *schemes = said.split()
        if word == "permit":
            wanted = Part(data=ParseDict({"securityRequirements": [{"schemes": {schemes[0]: {}}}]}, Value()))
            asked = updater.new_agent_message([Part(text="I need more rights."), wanted])
            await updater.update_status(TaskState.TASK_STATE_AUTH_REQUIRED, asked)
            if self._live.hold:
                await self._live.release.wait()
            return
        if self._live.hold:
            await self._live.release.wait()
        await _write(updater, f"You are {token}, I think.")
        await updater.complete()

    async def _held(self, updater: TaskUpdater) -> None:
        for n, text in enumerate(HELD):
            if n == self._live.hold:
                await self._live.release.wait()
            await updater.add_artifact(
                [Part(text=text)], artifact_id="a", append=n > 0, last_chunk=text == HELD[-1]
            )
        if self._live.hold >= len(HELD):
            await self._live.release.wait()
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.task_id is not None
        assert context.context_id is not None
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def _read(receive: Receive) -> tuple[bytes, Receive]:
    """The body of a request, and what gives it once more."""
    messages = [await receive()]
    while messages[-1].get("more_body"):
        messages.append(await receive())
    body, again = b"".join(each.get("body", b"") for each in messages), iter(messages)

    async def replayed() -> Message:
        return next(again, None) or await receive()

    return body, replayed


async def _write(updater: TaskUpdater, answer: str) -> None:
    """The answer in chunks of 37 characters, which cut wherever they fall."""
    starts = range(0, len(answer), 37)
    for start in starts:
        await updater.add_artifact(
            [Part(text=answer[start : start + 37])],
            artifact_id="answer",
            name="answer",
            append=start > 0,
            last_chunk=start == starts[-1],
        )


class _Configs(InMemoryPushNotificationConfigStore):
    def __init__(self, live: Live) -> None:
        super().__init__()
        self._live = live

    async def set_info(self, *args: Any) -> TaskPushNotificationConfig:
        if self._live.before_push is not None:
            await self._live.before_push()
        self._live.pushes.append(await super().set_info(*args))
        return self._live.pushes[-1]


class _Tasks(InMemoryTaskStore):
    def __init__(self, live: Live) -> None:
        super().__init__()
        self._live = live

    async def save(self, task: Task, context: Any) -> None:
        await super().save(task, context)
        if task.status.state == TaskState.TASK_STATE_COMPLETED:
            self._live.done.set()


class _App:
    def __init__(
        self,
        live: Live,
        versions: Sequence[str],
        modes: Sequence[str],
        streaming: bool,
        compat: bool,
        push: Push,
        bindings: Sequence[str],
        guard: Guard | None,
    ) -> None:
        card = AgentCard(
            name="Live agent",
            description="A test.",
            version="1",
            supported_interfaces=[
                AgentInterface(url=live.url, protocol_binding=binding, protocol_version=version)
                for version in versions
                for binding in bindings
            ],
            capabilities=AgentCapabilities(
                streaming=streaming, push_notifications=push != "no", extended_agent_card=bool(live.extended)
            ),
            default_input_modes=modes,
            default_output_modes=["text/plain"],
            skills=[AgentSkill(id="test", name="Test", description="A test.", tags=["test"])],
        )
        self._http = httpx.AsyncClient(verify=False)  # no TLS here: reading what to trust takes long
        pushing: dict[str, Any] = {}
        if push == "yes":
            configs = _Configs(live)
            sender = BasePushNotificationSender(self._http, configs)
            pushing = {"push_config_store": configs, "push_sender": sender}
        if live.extended:
            secret = AgentSkill(id="x", name=live.extended, description="For those who may.", examples=["q?"])
            pushing["extended_agent_card"] = more = AgentCard()
            more.CopyFrom(card)
            more.skills.append(secret)
            pushing["extended_card_modifier"] = live.published
        self._handler = DefaultRequestHandler(_Executor(live), _Tasks(live), card, **pushing)
        routes: list[Any] = []
        if "JSONRPC" in bindings:
            routes += create_jsonrpc_routes(self._handler, "/", enable_v0_3_compat=compat)
        if "HTTP+JSON" in bindings:
            routes += create_rest_routes(self._handler, enable_v0_3_compat=compat)
        inner = Starlette(routes=[*create_agent_card_routes(card, live.published), *routes])

        async def asgi(scope: Scope, receive: Receive, send: Send) -> None:
            headers = {key.decode(): value.decode() for key, value in scope["headers"]}
            live.headers.append(headers)
            if scope["method"] == "POST":
                body, receive = await _read(receive)
                live.calls.append((headers, json.loads(body)))
                live.called.set()
            refused = None if guard is None or scope["method"] == "GET" else await guard(headers)
            if refused is not None:
                status, challenge = refused
                await Response(status_code=status, headers={"WWW-Authenticate": challenge})(
                    scope, receive, send
                )
                return
            await inner(scope, receive, send)

        self.asgi = asgi

    async def aclose(self) -> None:
        await self._handler.aclose()
        await self._http.aclose()


@asynccontextmanager
async def live_agent(
    versions: Sequence[str] = ("1.0", "0.3"),
    *,
    modes: Sequence[str] = ("text/plain",),
    streaming: bool = True,
    compat: bool = True,
    push: Push = "no",
    bindings: Sequence[str] = ("JSONRPC",),
    port: int = 0,
    guard: Guard | None = None,
    extended: str = "",
) -> AsyncIterator[Live]:
    """Run one; `versions` and `modes` are what its card announces, `compat` whether it speaks 0.3 at all.

    `push`: "card" only promises it. `bindings`: of each version, in the card's order; it serves no other.
    `guard`: of its calls; anybody may read its card. `extended`: a skill that only its extended card names.
    """
    live = Live(extended=extended)

    def build(url: str) -> Any:
        live.url = url
        return _App(live, versions, modes, streaming, compat, push, bindings, guard)

    async with host_app(build, "127.0.0.1", port):
        yield live


async def _alone(port: int) -> None:
    async with live_agent(port=port) as live:
        live.hold = 3
        print(live.url, flush=True)
        await asyncio.Event().wait()


async def replay_live(
    scenario: Scenario,
    url: str,
    log: TurnLog | None = None,
    *,
    clock: Clock | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Json:
    """The object of `replay --json` for the scenario's question to the agent at `url`."""
    settings = bot_settings(scenario.settings, url)
    return (await observe(scenario, settings, clock or system_clock(), transport, log)).result()


if __name__ == "__main__":
    asyncio.run(_alone(int(sys.argv[1])))
