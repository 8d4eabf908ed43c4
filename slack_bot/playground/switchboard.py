"""The bot's way to its agent, with tapes plugged in: a question that replays a capture reaches that capture.

The bot under test has one agent, as always. Which answer a question gets is decided here, on the way, by the
id of its message; everything later about a tape's task goes to that tape too. So a replay in the page runs
the same bot, with the same Slack beneath it, as any other question.
"""

from __future__ import annotations

import json
import re

import httpx

from ..tools.tape import Recording, Tape
from .scripted import ScriptedAgent, ScriptedTransport

_TASK_ID = re.compile(r'"(?:taskId|task_id)"\s*:\s*"([^"\\]+)"')
_UNTAGGED_TASK = re.compile(r'"id"\s*:\s*"([^"\\]+)"')


class Switchboard(httpx.AsyncBaseTransport):
    """An httpx transport: `network` for all that no tape has been plugged in for."""

    def __init__(self, network: httpx.AsyncBaseTransport) -> None:
        self._network = network
        self._by_message: dict[str, ScriptedTransport] = {}
        self._by_task: dict[str, ScriptedTransport] = {}

    def plug(self, message_id: str, capture: Tape | Recording, speed: float) -> None:
        """Answer the question with this A2A message id by `capture`, `speed` times as fast as it was."""
        tape = ScriptedTransport(ScriptedAgent(capture, speed=speed))
        self._by_message[message_id] = tape
        for task_id in _task_ids(capture):
            self._by_task[task_id] = tape

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Pass `request` on to where it belongs."""
        tape = self._tape(await request.aread()) if request.method == "POST" else None
        return await (tape or self._network).handle_async_request(request)

    def _tape(self, body: bytes) -> ScriptedTransport | None:
        try:
            call = json.loads(body)
            params = call["params"]
            message = params.get("message", {})
            names = message.get("messageId"), message.get("taskId"), params.get("id"), params.get("taskId")
        except (ValueError, TypeError, AttributeError, KeyError):
            return None
        known = (
            self._by_message.get(name) or self._by_task.get(name) for name in names if isinstance(name, str)
        )
        return next((tape for tape in known if tape is not None), None)

    async def aclose(self) -> None:
        """Close the network's transport."""
        await self._network.aclose()


def _task_ids(capture: Tape | Recording) -> set[str]:
    """Every id that may be a task's. One too many does no harm: nobody else has a tape's ids."""
    if isinstance(capture, Recording):
        texts = ["".join(chunk.decode("utf-8", "replace") for _, chunk in capture.chunks)]
    else:
        texts = [json.dumps(moment.event) for moment in capture.moments if moment.event is not None]
    found = {name for text in texts for name in _TASK_ID.findall(text)}
    return found | {name for text in texts[:1] for name in _UNTAGGED_TASK.findall(text)}
