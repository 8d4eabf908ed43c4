"""The playground's agent: a real A2A server on a2a-sdk, 1.0 and 0.3 on one port, offline and deterministic.

The playground, tests and `conform` ask it, and authors of agents can read it. a2a-sdk is an independent
implementation of the protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources

from a2a.helpers import get_message_text
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Task, TaskState, TaskStatus
from starlette.applications import Starlette

from ...settings.models import ReferenceSettings
from ..hosting import host_app
from .endpoint import EndpointModel
from .event_writer import EventWriter
from .heartbeat import Heartbeat
from .local import LocalModel
from .middleware import Middleware
from .model import Mode, Model, Prompt
from .run import AgentRun, ToolRunner
from .search import Library
from .toolbox import FETCH, SEARCH, Toolbox

_DEFAULTS = ReferenceSettings()

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
    """Answers from `library`, as `settings` say."""

    def __init__(self, library: Library, settings: ReferenceSettings = _DEFAULTS) -> None:
        self._library = library
        self._settings = settings
        self._model = _model(library, settings)
        self._middleware = Middleware(
            settings.middleware,
            deterministic=settings.deterministic_middleware,
            self_service=settings.self_service_middleware,
            policy=settings.policy_middleware,
            skills=settings.skills_middleware,
            file_arg=settings.file_arg_middleware,
        )

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Work on the question, or on the answer to what was asked back."""
        task = context.current_task
        asked_back = task is not None and task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
        if task is None:
            task = _new_task(context)
            await event_queue.enqueue_event(task)
        said = context.get_user_input()
        question = get_message_text(task.history[0]) if asked_back and task.history else said
        asked = get_message_text(task.status.message) if asked_back else ""
        heart = Heartbeat(self._settings.heartbeat, lambda silent: writer.beat(silent))
        writer = EventWriter(event_queue, task, heart.touch)
        await writer.start()
        prompt = Prompt(
            question,
            Mode(self._settings.response_mode),
            said if asked_back else None,
            asked,
            self._middleware.skills_for(question),
            self._middleware.plans_itself,
        )
        async with heart.beating():
            await self._run(writer, prompt)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Say that the task is canceled; the SDK ends `execute`."""
        await EventWriter(event_queue, context.current_task or _new_task(context)).cancel()

    async def aclose(self) -> None:
        """Give back what the model holds."""
        if isinstance(self._model, EndpointModel):
            await self._model.aclose()

    async def _run(self, writer: EventWriter, prompt: Prompt) -> None:
        for skill in prompt.skills:
            await writer.announce(f"[SKILL] {skill}", f"📚 Supervisor: Using the skill {skill}\n")
        settings = self._settings
        tools = Toolbox(self._library, {SEARCH: settings.search_calls, FETCH: settings.fetch_calls})
        runner = ToolRunner(tools, self._middleware, self._rest)
        talk = self._model.converse(prompt)
        await AgentRun(writer, talk, runner, prompt.mode, structured=settings.structured_output).carry_out()

    async def _rest(self, seconds: float) -> None:
        await asyncio.sleep(seconds if self._settings.pace else 0)


def _model(library: Library, settings: ReferenceSettings) -> Model:
    """The model behind the endpoint that the settings name; without one, the local one."""
    if settings.model_url is None:
        return LocalModel(library, settings.pace)
    return EndpointModel(settings)


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

    def __init__(self, url: str, agent: PlaygroundAgent) -> None:
        card = agent_card(url)
        self._agent = agent
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
        await self._agent.aclose()


def build_app(
    url: str,
    *,
    pace: float | None = None,
    mode: Mode | str | None = None,
    library: Library | None = None,
    settings: ReferenceSettings = _DEFAULTS,
) -> AgentApp:
    """The agent as an application that believes to be reached at `url`.

    `pace` (tokens a second) and `mode`, where they are given, count more than the settings.
    """
    given = {"pace": pace, "response_mode": None if mode is None else Mode(mode).value}
    chosen = settings.model_copy(update={name: value for name, value in given.items() if value is not None})
    return AgentApp(url, PlaygroundAgent(library or Library(load_knowledge()), chosen))


@asynccontextmanager
async def serve(
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    pace: float | None = None,
    mode: Mode | str | None = None,
    library: Library | None = None,
    settings: ReferenceSettings = _DEFAULTS,
) -> AsyncIterator[str]:
    """Run the agent in this event loop; yields its base URL. Port 0 takes a free one.

    Raises:
        OSError: the port is taken.
    """

    def build(url: str) -> AgentApp:
        return build_app(url, pace=pace, mode=mode, library=library, settings=settings)

    async with host_app(build, host, port) as url:
        yield url
