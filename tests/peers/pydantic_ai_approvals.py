"""A pydantic-ai agent whose tool wants an approval, on a2a-sdk (see the package for how it is run).

fasta2a ends the task with the deferred calls as its result, and takes no data part, so nobody could approve
there. Here the task waits: its question is `DeferredToolRequests`, its answer `DeferredToolResults`, both as
pydantic writes them.
"""

from __future__ import annotations

import sys

import uvicorn
from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, Part, TaskState
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value
from pydantic import TypeAdapter
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from starlette.applications import Starlette

ASKED, GIVEN = TypeAdapter(DeferredToolRequests), TypeAdapter(DeferredToolResults)


def _model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    results = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
    if results:
        return ModelResponse([TextPart(f"The tool said: {results[0].content}.")])
    return ModelResponse([ToolCallPart("pay", {"amount": 5, "to": "Ada"}, tool_call_id="call-1")])


agent = Agent(FunctionModel(_model), output_type=[str, DeferredToolRequests])


@agent.tool_plain(requires_approval=True)
def pay(amount: float, to: str) -> str:
    """Pay somebody."""
    return f"paid {amount:g} to {to}"


class Approvals(AgentExecutor):
    """Keeps what was said, by task, until the calls are approved or denied."""

    def __init__(self) -> None:
        self._said: dict[str, list[ModelMessage]] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        message, task = context.message, context.current_task
        assert message is not None
        if task is None:
            task = new_task_from_user_message(message)
            await event_queue.enqueue_event(task)
        news = TaskUpdater(event_queue, task.id, task.context_id)
        given = [MessageToDict(part.data) for part in message.parts if part.HasField("data")]
        if (said := self._said.pop(task.id, None)) is None:
            ran = await agent.run(" ".join(part.text for part in message.parts))
        else:
            results = GIVEN.validate_python(given[0])
            ran = await agent.run(message_history=said, deferred_tool_results=results)
        if isinstance(ran.output, DeferredToolRequests):
            self._said[task.id] = ran.all_messages()
            question = Part(data=ParseDict(ASKED.dump_python(ran.output, mode="json"), Value()))
            await news.requires_input(news.new_agent_message([question]))
            return
        await news.add_artifact([Part(text=ran.output)], name="result")
        await news.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.task_id is not None and context.context_id is not None
        await TaskUpdater(event_queue, context.task_id, context.context_id).update_status(
            TaskState.TASK_STATE_CANCELED
        )


if __name__ == "__main__":
    port = int(sys.argv[1])
    card = AgentCard(
        name="payer",
        description="Pays, once that is approved.",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(
                url=f"http://127.0.0.1:{port}/", protocol_binding="JSONRPC", protocol_version="1.0"
            )
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain", "application/json"],
        default_output_modes=["text/plain", "application/json"],
    )
    handler = DefaultRequestHandler(
        agent_executor=Approvals(), task_store=InMemoryTaskStore(), agent_card=card
    )
    app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")])
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
