"""The agents of the crash run, in a process that outlives the bot's: `python -m tests.bench.crash_agent`.

Two servers on a2a-sdk, one for each wire, and two scripted ones. They keep their tasks, work on when nobody
listens, and count each question by its message id. The first line that is printed names their addresses; GET
`/asked` at that of `ledger` tells what was asked.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from a2a.helpers import new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Role,
    Task,
    TaskState,
    TaskStatus,
)
from aiohttp import web
from starlette.applications import Starlette
from starlette.requests import Request

from slack_bot.playground.hosting import host_app
from slack_bot.playground.reference.event_writer import EventWriter
from slack_bot.playground.reference.requests import HumanRequest
from slack_bot.playground.reference.voice_splitter import Voice
from slack_bot.testing.agent.playback import Playback
from slack_bot.testing.agent.scripted import AgentCall, ScriptedAgent, ScriptedAnswer, serve_scripted
from slack_bot.testing.tape.builders import answer, on_wire

from .crash_cases import answer_lines, prompt

SIGN_IN = 1.5  # seconds until the person has signed in, elsewhere
_TOOLS = 3


FIELDS = ("Name", "Reason", "Place", "Month", "Team", "Note")
"""The fields of the form of `fills`, too many for a message."""
_CHOICE = {
    "type": "object",
    "required": ["one"],
    "properties": {"one": {"title": "One", "enum": ["this", "that"]}},
}
_CALL = {
    "action_requests": [{"name": "deploy", "args": {"to": "prod"}}],
    "review_configs": [{"action_name": "deploy", "allowed_decisions": ["approve", "reject"]}],
}
_FIELDS = {
    "type": "object",
    "required": [*FIELDS],
    "properties": {name: {"title": name, "type": "string", "maxLength": 500} for name in FIELDS},
}
_FORMS: dict[str, dict[str, Any]] = {
    "chooses": _CHOICE,
    "approves": {"id": "call", "value": _CALL},
    "fills": _FIELDS,
}


@dataclass
class Received:
    """One message to an agent. `first`: when the agent first said something to it, 0: not yet.

    `continues`: the task that it is for, "": a new one.
    """

    text: str
    continues: str = ""
    times: int = 0
    at: float = 0.0
    first: float = 0.0
    task: str = ""


@dataclass
class Ledger:
    """What all agents were asked, by message id, and the tasks that were cancelled."""

    received: dict[str, Received] = field(default_factory=dict)
    cancelled: list[str] = field(default_factory=list)

    def note(self, message_id: str, text: str, continues: str = "") -> Received:
        found = self.received.setdefault(message_id, Received(text, continues, at=time.time()))
        found.times += 1
        return found

    def said(self, message_id: str, task: str = "") -> None:
        found = self.received[message_id]
        found.first, found.task = found.first or time.time(), task or found.task


class _Executor(AgentExecutor):
    """Does what the question orders: `TOKEN KIND LINES SECONDS`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._forms: dict[str, str] = {}  # the questions of tasks that wait for a form

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None
        text = self._forms.pop(context.task_id or "", context.get_user_input())
        token, kind, lines, seconds = text.split()[:4]
        message_id, pieces = context.message.message_id, _pieces(token, int(lines))
        if kind == "message":
            await asyncio.sleep(float(seconds))
            self._ledger.said(message_id)
            await event_queue.enqueue_event(new_text_message("".join(pieces), role=Role.ROLE_AGENT))
            return
        task = context.current_task
        if task is None:
            task = Task(
                id=context.task_id,
                context_id=context.context_id,
                status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
                history=[context.message],
            )
            await event_queue.enqueue_event(task)
        self._ledger.said(message_id, task.id)
        if kind in _FORMS:
            self._forms[task.id] = text.replace(kind, "plain", 1)
        await _Run(EventWriter(event_queue, task), token, pieces, float(seconds)).work(kind)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """The SDK ends `execute`."""
        task = context.current_task
        assert task is not None
        self._ledger.cancelled.append(task.id)
        await EventWriter(event_queue, task).status(TaskState.TASK_STATE_CANCELED)


def _pieces(token: str, lines: int) -> list[str]:
    """The answer, cut wherever it falls."""
    text = "".join(answer_lines(token, lines))
    return [text[at : at + 67] for at in range(0, len(text), 67)]


@dataclass(frozen=True, slots=True)
class _Run:
    writer: EventWriter
    token: str
    pieces: list[str]
    seconds: float

    async def work(self, kind: str) -> None:
        await self.writer.status(TaskState.TASK_STATE_WORKING)
        match kind:
            case "asks":
                await self.writer.status(TaskState.TASK_STATE_INPUT_REQUIRED, prompt(self.token))
                return
            case "signs":
                await self.writer.status(TaskState.TASK_STATE_AUTH_REQUIRED, prompt(self.token))
                await asyncio.sleep(SIGN_IN)
                await self.writer.status(TaskState.TASK_STATE_WORKING)
            case "chooses" | "approves" | "fills":
                await self.writer.request(prompt(self.token), HumanRequest(_FORMS[kind]))
                return
            case "late":
                await self.writer.say(self.pieces[0], Voice.ANSWER)
                await asyncio.sleep(self.seconds)
                await self.writer.say("".join(self.pieces[1:]), Voice.ANSWER)
                await self.writer.status(TaskState.TASK_STATE_COMPLETED)
                return
            case "cards":
                for n in range(_TOOLS):
                    await self.writer.announce(f"tool {n}", f"Tool {n} runs")
                    await asyncio.sleep(self.seconds / 4 / _TOOLS)
                    await self.writer.tool_ended(f"tool {n}")
        voice = Voice.UNMARKED if kind == "untagged" else Voice.ANSWER
        for piece in self.pieces:
            await self.writer.say(piece, voice)
            await asyncio.sleep(self.seconds / len(self.pieces))
        await self.writer.status(TaskState.TASK_STATE_COMPLETED)


class _SdkServer:
    def __init__(self, ledger: Ledger, version: str, url: str) -> None:
        card = AgentCard(
            name=f"Agent {version}",
            description="Answers for as long as it is told.",
            version="1",
            supported_interfaces=[
                AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=version)
            ],
            capabilities=AgentCapabilities(streaming=True),
            default_input_modes=["text/plain"],
            default_output_modes=["text/plain"],
            skills=[AgentSkill(id="test", name="Test", description="A test.", tags=["test"])],
        )
        self._ledger = ledger
        self._handler = DefaultRequestHandler(_Executor(ledger), InMemoryTaskStore(use_copying=False), card)
        routes = create_jsonrpc_routes(self._handler, "/", enable_v0_3_compat=version == "0.3")
        self._inner = Starlette(routes=[*create_agent_card_routes(card), *routes])

        async def asgi(scope: Any, receive: Any, send: Any) -> None:
            await self._serve(scope, receive, send)

        self.asgi = asgi  # uvicorn takes a method for another kind of application

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        """As the SDK's, with each question noted before the SDK has it."""
        if scope["method"] != "POST":
            await self._inner(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        _note(self._ledger, json.loads(body))
        given = iter([{"type": "http.request", "body": body}])

        async def again() -> Any:
            return next(given, None) or await receive()

        await self._inner(scope, again, send)

    async def aclose(self) -> None:
        await self._handler.aclose()


def _note(ledger: Ledger, call: Mapping[str, Any]) -> None:
    message = (call.get("params") or {}).get("message")
    if message is not None:
        text = "".join(part.get("text", "") for part in message["parts"])
        ledger.note(message["messageId"], text, message.get("taskId") or "")


class _Scripted(ScriptedAgent):
    """Plays to each question a tape of its own."""

    def __init__(self, ledger: Ledger, wire: str) -> None:
        super().__init__(on_wire(answer("unused"), wire))
        self._ledger, self._asked = ledger, 0

    async def _dispatch(self, call: AgentCall) -> ScriptedAnswer:
        message = call.params.get("message")
        if message is None:
            if "ancel" in call.method:
                self._ledger.cancelled.append(str(call.params.get("id")))
            return await super()._dispatch(call)
        _note(self._ledger, {"params": call.params})
        token, _, lines, seconds = call.text.split()[:4]
        said = "".join(answer_lines(token, int(lines)))
        tape = on_wire(answer(said, seconds=float(seconds), ids=message["messageId"]), self.wire)
        self._playbacks.insert(self._asked, Playback(tape))
        self._asked += 1
        played = await super()._dispatch(call)
        return replace(played, body=self._watched(played.body, message["messageId"]))

    async def _watched(self, body: AsyncGenerator[bytes, None], message_id: str) -> AsyncGenerator[bytes]:
        async with aclosing(body):
            async for data in body:
                self._ledger.said(message_id, f"task-{message_id}")
                yield data


async def _serve() -> None:
    ledger = Ledger()

    async def asked(_: web.Request) -> web.Response:
        return web.json_response(asdict(ledger))

    async with AsyncExitStack() as stack:
        urls = {}
        for version in ("0.3", "1.0"):
            host = host_app(lambda url, version=version: _SdkServer(ledger, version, url), "127.0.0.1", 0)
            urls[version] = await stack.enter_async_context(host)
            scripted = serve_scripted(_Scripted(ledger, version))
            urls[f"scripted {version}"] = await stack.enter_async_context(scripted)
        app = web.Application()
        app.router.add_get("/asked", asked)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        urls["ledger"] = f"http://127.0.0.1:{runner.addresses[0][1]}/"
        print(json.dumps(urls), flush=True)
        await asyncio.to_thread(sys.stdin.read)  # as long as the process that started this one


if __name__ == "__main__":
    asyncio.run(_serve())
