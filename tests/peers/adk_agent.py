"""An ADK agent with a scripted model, served by ADK (see the package for how it is run)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from typing import Any

import uvicorn
from google.adk.a2a.converters.request_converter import convert_a2a_request_to_agent_run_request
from google.adk.a2a.executor.a2a_agent_executor import A2aAgentExecutor, A2aAgentExecutorConfig
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.genai import types

from . import CHAT, FOUND, NARRATION, RESEARCHED, WORDS_A_SECOND, words_of


def _response(*parts: types.Part, partial: bool = False) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=list(parts)), partial=partial)


class ScriptedModel(BaseLlm):
    """Streams word by word where it is asked to, and then says all of it again, as ADK's own models do."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = llm_request.contents[-1].parts or []
        asked = " ".join(part.text or "" for part in parts)
        call = None
        if any(part.function_response for part in parts):
            text = RESEARCHED
        elif "fail" in asked:
            raise RuntimeError("model exploded")
        elif "agntcy" in asked:
            text, call = NARRATION, types.Part.from_function_call(name="search", args={"query": "agntcy"})
        else:
            text = CHAT
        for word in words_of(text):
            await asyncio.sleep(1 / WORDS_A_SECOND)
            if stream:
                yield _response(types.Part(text=word), partial=True)
        whole = types.Part(text=text)
        yield _response(whole, call) if call else _response(whole)


async def search(query: str) -> str:
    """Search for the query."""
    await asyncio.sleep(0.5)
    return FOUND


def _streamed(context: Any, convert_part: Any) -> Any:
    request = convert_a2a_request_to_agent_run_request(context, convert_part)
    return request.model_copy(update={"run_config": RunConfig(streaming_mode=StreamingMode.SSE)})


if __name__ == "__main__":
    port, mode = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "whole"

    def executor(runner: Runner) -> A2aAgentExecutor:
        config = A2aAgentExecutorConfig(request_converter=_streamed) if mode != "whole" else None
        return A2aAgentExecutor(runner=runner, config=config, force_new_version=mode == "extension")

    agent = LlmAgent(name="fox", model=ScriptedModel(model="scripted"), tools=[search])
    app = to_a2a(agent, host="127.0.0.1", port=port, agent_executor_factory=executor)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
