"""The playground's agent: a real A2A server on a2a-sdk, 1.0 and 0.3 on one port, offline and deterministic.

It is here to be asked by the bot in the playground, in tests and by the conformance suite, and to be read
by those who write an agent: `scenarios` decides what to do, `toolbox` does it, `telling` says it on the wire,
and this file is the server around them. a2a-sdk is an independent implementation: what works against it works
against more than our own idea of the protocol.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import resources
from typing import assert_never

from a2a.helpers import get_message_text
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Task, TaskState, TaskStatus
from starlette.applications import Starlette

from .hosting import host_app
from .scenarios import AskBack, CallTool, GiveUp, Narrate, Pause, ShowPlan, Thought, Write, think
from .search import Library
from .telling import Telling
from .toolbox import CAPS, Toolbox, ToolResult

PACE = 30.0
"""Tokens a second: about what a large hosted model writes."""

_EXAMPLES = (
    "what is agntcy",
    "explain how agntcy agents communicate with each other",
    "tell me everything about streaming",
    "deploy the bot",
    "tell me a joke",
    "long 8000",
)


def load_knowledge() -> dict[str, str]:
    """The bundled pages, Markdown by name, in the order of their names."""
    folder = resources.files(__package__) / "knowledge"
    names = sorted(each.name.removesuffix(".md") for each in folder.iterdir() if each.name.endswith(".md"))
    return {name: (folder / f"{name}.md").read_text(encoding="utf-8") for name in names}


class PlaygroundAgent(AgentExecutor):
    """Answers from `library`, `pace` tokens a second (0: as fast as it goes), within `caps` calls a tool."""

    def __init__(self, library: Library, pace: float = PACE, caps: Mapping[str, int] = CAPS) -> None:
        self._library = library
        self._pace = pace
        self._caps = caps

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Work on the question, or on the answer to what was asked back."""
        task = context.current_task
        asked_back = task is not None and task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
        if task is None:
            task = _new_task(context)
            await event_queue.enqueue_event(task)
        said = context.get_user_input()
        question = get_message_text(task.history[0]) if asked_back and task.history else said
        telling = Telling(event_queue, task, self._pace)
        await telling.start()
        thought = think(question, self._library, said if asked_back else None)
        await _carry_out(thought, telling, Toolbox(self._library, self._caps))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Say that the task is canceled; the SDK ends `execute`."""
        await Telling(event_queue, context.current_task or _new_task(context), self._pace).cancel()


async def _carry_out(thought: Thought, telling: Telling, tools: Toolbox) -> None:
    """Follow a thought to its end, and say how it ended."""
    result: ToolResult | None = None
    while True:
        try:
            move = thought.send(result)
        except StopIteration:
            await telling.finish()
            return
        result = None
        match move:
            case Narrate(text):
                await telling.narrate(text)
            case Write(text):
                await telling.write(text)
            case ShowPlan(steps):
                await telling.show_plan(steps)
            case Pause(seconds):
                await telling.rest(seconds)
            case CallTool(tool, argument):
                await telling.tool_started(tool)
                result = tools.call(tool, argument)
                note = f"{result.text}\n" if result.capped or result.failed else ""
                await telling.tool_ended(tool, failed=result.failed, note=note)
            case AskBack(prompt, fields):
                await telling.ask(prompt, fields)
                return
            case GiveUp(reason):
                await telling.fail(reason)
                return
            case _:
                assert_never(move)


def _new_task(context: RequestContext) -> Task:
    return Task(
        id=context.task_id,
        context_id=context.context_id,
        status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
        history=[context.message] if context.message is not None else [],
    )


def agent_card(url: str) -> AgentCard:
    """The card, for an agent that is reached at `url`."""
    return AgentCard(
        name="Playground agent",
        description="Answers questions about this bot and about AGNTCY from a small bundled knowledge base.",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=version)
            for version in ("1.0", "0.3")
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/markdown", "text/plain"],
        skills=[
            AgentSkill(
                id="knowledge",
                name="Knowledge base",
                description="Searches the bundled pages and answers with sources.",
                tags=["search", "documentation"],
                examples=list(_EXAMPLES),
            )
        ],
    )


class AgentApp:
    """The ASGI application, and the handler whose tasks must be ended with it."""

    def __init__(self, url: str, agent: AgentExecutor) -> None:
        card = agent_card(url)
        # nobody else holds these tasks, and a copy for each token would cost the square of the answer
        self._handler = DefaultRequestHandler(
            agent_executor=agent, task_store=InMemoryTaskStore(use_copying=False), agent_card=card
        )
        self.asgi = Starlette(
            routes=[
                *create_agent_card_routes(card),
                *create_jsonrpc_routes(self._handler, "/", enable_v0_3_compat=True),
            ]
        )

    async def aclose(self) -> None:
        """End all running tasks, and with them their streams."""
        await self._handler.aclose()


def build_app(url: str, *, pace: float = PACE, library: Library | None = None) -> AgentApp:
    """The agent as an application that believes to be reached at `url`."""
    return AgentApp(url, PlaygroundAgent(library or Library(load_knowledge()), pace))


@asynccontextmanager
async def serve(
    host: str = "127.0.0.1", port: int = 0, *, pace: float = PACE, library: Library | None = None
) -> AsyncIterator[str]:
    """Run the agent in this event loop; yields its base URL. Port 0 takes a free one.

    Raises:
        OSError: the port is taken.
    """
    async with host_app(lambda url: build_app(url, pace=pace, library=library), host, port) as url:
        yield url
