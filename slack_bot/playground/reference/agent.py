"""The playground's agent: a real A2A server on a2a-sdk, 1.0 and 0.3, JSON-RPC and HTTP+JSON on one port."""

import argparse
import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from importlib import resources

from a2a.helpers import get_message_text
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Task,
    TaskState,
    TaskStatus,
)
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...errors import BotError, UnreadableInput
from ...settings.load import load
from ...settings.models import ReferenceSettings
from ...settings.secret_values import secrets_of
from ..hosting import check_port, host_app, no_address, serve_until_stopped, set_up_logs
from . import showcase
from .conversations import TalkContexts
from .demonstrations import meant
from .deploying import think_of_deploying
from .endpoint import EndpointModel, endpoint_client
from .event_writer import EventWriter
from .files import ReceivedFile, described, look_at, received_files
from .local import LocalModel
from .pages import chapters
from .requests import EXTENSIONS, decision_in, think_of_request
from .run import AgentRun
from .scenarios import THOROUGH
from .search import Library
from .toolbox import ModelTurn, Prompt, Toolbox

SKILL = "deep-research"
_DEFAULTS = ReferenceSettings()


def load_knowledge() -> dict[str, str]:
    """What the agent knows, Markdown by name: the chapters of the bot's own guide, then the bundled pages.

    The guide is `docs/questions.md`: a link in the repository, a copy in the wheel.
    """
    package = resources.files(__package__)
    guide = dict(chapters((package / "questions.md").read_text(encoding="utf-8")))
    folder = package / "knowledge"
    names = sorted(each.name.removesuffix(".md") for each in folder.iterdir() if each.name.endswith(".md"))
    return guide | {name: (folder / f"{name}.md").read_text(encoding="utf-8") for name in names}


@cache
def bundled_library() -> Library:
    """What the agent knows, ready to be searched. Read once, because that takes half a second."""
    return Library(load_knowledge())


class PlaygroundAgent(AgentExecutor):
    """Answers from `library`: with the model at the endpoint of `settings`, else with the local one."""

    def __init__(self, library: Library, settings: ReferenceSettings) -> None:
        if not settings.middleware:  # the master switch
            switches = (name for name in type(settings).model_fields if name.endswith("_middleware"))
            settings = settings.model_copy(update=dict.fromkeys(switches, False))
        self._library, self._settings = library, settings
        self._contexts = TalkContexts(library)
        self._http = None if settings.model_url is None else endpoint_client(settings)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        task, settings = context.current_task, self._settings
        said = self._words(context.message)
        if task is not None and task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED:
            question = self._words(task.history[0]) if task.history else said
            asked, decision = get_message_text(task.status.message), decision_in(context.message)
            prompt = Prompt(question, reply=said, asked=asked, decision=decision)
        else:
            prompt = Prompt(said)
        if self._http is None:
            prompt = replace(prompt, question=meant(prompt.question))
        if task is None:
            task = _new_task(context)
            await event_queue.enqueue_event(task)
        writer = EventWriter(event_queue, task)
        await writer.status(TaskState.TASK_STATE_WORKING)
        if self._http is None and (shown := showcase.asked_for(prompt.question)):
            self._contexts.of(task.context_id).saw(prompt.question)
            await showcase.show(shown, writer)
            return
        async with writer.beating(settings.heartbeat):
            if settings.skills_middleware and THOROUGH.search(prompt.question):
                prompt = replace(prompt, skill=SKILL)
                await writer.announce(f"[SKILL] {SKILL}", f"📚 Supervisor: Using the skill {SKILL}\n")
            tools = Toolbox(self._library, settings)
            turn = self._turn(prompt, received_files(context.message), task.context_id)
            await AgentRun(writer, turn, tools, settings).carry_out()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Say that the task is canceled; the SDK ends `execute`."""
        writer = EventWriter(event_queue, context.current_task or _new_task(context))
        await writer.status(TaskState.TASK_STATE_CANCELED)

    async def aclose(self) -> None:
        if self._http is not None:
            await self._http.aclose()

    def _words(self, message: Message | None) -> str:
        """What a person asks. Quotes come in the parts behind it: a model reads them, a search does not."""
        texts = [part.text for part in message.parts if part.text] if message is not None else []
        return "\n".join(texts if self._http is not None else texts[:1])

    def _turn(self, prompt: Prompt, files: Sequence[ReceivedFile], context_id: str) -> ModelTurn:
        if self._http is not None:
            prompt = replace(prompt, question=described(prompt.question, files))
            return EndpointModel(self._http, self._settings, prompt).turn
        if files:
            return LocalModel(look_at(prompt.question, files), self._settings).turn
        talk = self._contexts.of(context_id)
        shown = think_of_request(prompt) or think_of_deploying(prompt, self._library)
        if shown is not None:
            talk.saw(prompt.question)
        return LocalModel(shown or talk.think(prompt.question), self._settings).turn


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
            AgentInterface(url=url, protocol_binding=binding, protocol_version=version)
            for binding in ("JSONRPC", "HTTP+JSON")
            for version in ("1.0", "0.3")
        ],
        capabilities=AgentCapabilities(streaming=True, extensions=EXTENSIONS),
        default_input_modes=["text/plain", "image/*", "application/octet-stream"],
        default_output_modes=["text/markdown", "text/plain", "application/json", "text/x-python"],
        skills=[
            AgentSkill(
                id="knowledge",
                name="Knowledge base",
                description="Searches the bundled pages and answers with sources.",
                tags=["search", "documentation"],
                examples=[  # the first four are suggested in a direct message
                    "What can you do?",
                    "Plan a release",
                    "Show me a chart",
                    "How does streaming work?",
                    "Tell me everything about streaming",
                    "What is AGNTCY?",
                    "Restart the search service",
                    "Deploy the bot",
                    "Connect my calendar",
                    "Tell me a joke",
                    "Write a long answer",
                    *(each for each in showcase.EXAMPLES if each != "Show me a chart"),
                ],
            )
        ],
    )


async def _card(request: Request) -> Response:
    """The card with the address the asker used: 0.0.0.0, or a name inside a container, leads nobody back."""
    (route,) = create_agent_card_routes(agent_card(str(request.base_url)))
    answer: Response = await route.endpoint(request)
    return answer


class AgentApp:
    """The agent as an ASGI application at `url`."""

    def __init__(self, url: str, settings: ReferenceSettings = _DEFAULTS) -> None:
        card = agent_card(url)
        self._agent = PlaygroundAgent(bundled_library(), settings)
        # a copy for each token would cost the square of the answer
        store = InMemoryTaskStore(use_copying=False)
        self._handler = DefaultRequestHandler(agent_executor=self._agent, task_store=store, agent_card=card)
        rpc = create_jsonrpc_routes(self._handler, "/", enable_v0_3_compat=True)
        rest = create_rest_routes(self._handler, enable_v0_3_compat=True)
        self.asgi = Starlette(routes=[Route(AGENT_CARD_WELL_KNOWN_PATH, _card), *rpc, *rest])

    async def aclose(self) -> None:
        """End all running tasks, and with them their streams."""
        await self._handler.aclose()
        await self._agent.aclose()


@asynccontextmanager
async def serve(
    settings: ReferenceSettings = _DEFAULTS, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[str]:
    """Run the agent in this event loop; yields its base URL. Port 0 takes a free one.

    Raises OSError where the port is taken.
    """
    async with host_app(lambda url: AgentApp(url, settings), host, port) as url:
        yield url


def main(args: argparse.Namespace) -> int:
    """`slack-bot agent`. `args`: host, port, pace, mode (None for what the settings say). Returns the status.

    Raises BotError if one of them makes no sense, or the address cannot be had.
    """
    chosen = chosen_agent(args)
    set_up_logs(secrets_of(load()))
    model = "the local model" if chosen.model_url is None else chosen.model_name
    serving = serve(chosen, args.host, args.port)
    mode = f"({chosen.response_mode}, {model})"
    try:
        asyncio.run(serve_until_stopped(serving, lambda url: f"The agent is at {url} {mode}."))
    except OSError as error:
        raise BotError(no_address("agent", args.host, args.port, error)) from error
    return 0


def chosen_agent(args: argparse.Namespace) -> ReferenceSettings:
    """The settings, with what the command line says. Raises UnreadableInput, also for the port."""
    check_port(args.port)
    pace = args.pace
    if pace is not None and not (math.isfinite(pace) and pace >= 0):
        raise UnreadableInput(
            f"A pace of {pace:g} tokens a second cannot be kept: give --pace 0 (at once) or more."
        )
    return adjusted(load().reference, pace, args.mode)


def adjusted(settings: ReferenceSettings, pace: float | None, mode: str | None) -> ReferenceSettings:
    """`settings` with another pace and another mode, where they are given."""
    given = {"pace": pace, "response_mode": mode}
    return settings.model_copy(update={name: each for name, each in given.items() if each is not None})
