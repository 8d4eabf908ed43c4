"""A server on the last a2a-sdk of 0.3, as a process of its own. It posts news of its tasks.

PYTHONPATH=DIRECTORY python -m tests.peers.a2a_sdk_03 [no|yes]     prints its URL; whether it has push

`pip install --no-deps --target DIRECTORY -r tests/peers/a2a_sdk_03.txt` beside the test lock. The question
`held` is answered half, and to the end when somebody asks `release`.
"""

from __future__ import annotations

import asyncio
import socket
import sys

import httpx
import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TextPart
from a2a.utils import new_task


class Executor(AgentExecutor):
    """Answers "half done"."""

    def __init__(self) -> None:
        self._release = asyncio.Event()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        task = new_task(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        await updater.add_artifact([Part(root=TextPart(text="half "))], artifact_id="a")
        if context.get_user_input() == "release":
            self._release.set()
        await self._release.wait()
        await updater.add_artifact([Part(root=TextPart(text="done"))], artifact_id="a", append=True)
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def main(push: str) -> None:
    bound = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{bound.getsockname()[1]}/"
    card = AgentCard(
        name="Live agent of 0.3",
        description="A test.",
        url=url,
        version="1",
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="test", name="Test", description="A test.", tags=["test"])],
    )
    pushing = {}
    if push == "yes":
        configs = InMemoryPushNotificationConfigStore()
        sender = BasePushNotificationSender(httpx.AsyncClient(), configs)
        pushing = {"push_config_store": configs, "push_sender": sender}
    handler = DefaultRequestHandler(Executor(), InMemoryTaskStore(), **pushing)
    app = A2AStarletteApplication(card, handler).build()
    print(url, flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve([bound])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
