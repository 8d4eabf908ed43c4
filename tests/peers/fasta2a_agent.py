"""A pydantic-ai agent with a scripted model, served by fasta2a (see the package for how it is run)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator

import uvicorn
from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from . import CHAT, FOUND, NARRATION, RESEARCHED, WORDS_A_SECOND, words_of


async def _written(text: str) -> AsyncIterator[str]:
    for word in words_of(text):
        await asyncio.sleep(1 / WORDS_A_SECOND)
        yield word


async def _model(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
    last = messages[-1].parts
    if any(isinstance(part, ToolReturnPart) for part in last):
        async for word in _written(RESEARCHED):
            yield word
        return
    asked = " ".join(str(part.content) for part in last if isinstance(part, UserPromptPart))
    if "fail" in asked:
        raise RuntimeError("model exploded")
    if "agntcy" in asked:
        async for word in _written(NARRATION):
            yield word
        yield {1: DeltaToolCall(name="search", json_args='{"query": "agntcy"}', tool_call_id="call-1")}
        return
    async for word in _written(CHAT):
        yield word


agent = Agent(FunctionModel(stream_function=_model), name="fox")


@agent.tool_plain
async def search(query: str) -> str:
    """Search for the query."""
    await asyncio.sleep(0.5)
    return FOUND


if __name__ == "__main__":
    port = int(sys.argv[1])
    app = agent_to_a2a(agent, name="fox", url=f"http://127.0.0.1:{port}")
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
