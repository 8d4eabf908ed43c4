"""The bot's way to its agent, with tapes plugged in: a question that replays a capture reaches that capture.

The bot under test has one agent, as always. Which answer a question gets is decided here, on the way, by the
id of its message; everything later about a tape's task goes to that tape too. So a replay in the page runs
the same bot, with the same Slack beneath it, as any other question.
"""

from __future__ import annotations

import json
import re

import httpx

from ..clock import Clock, loop_clock
from ..tools.tape import Recording, Tape
from ..tools.wiretap import asked_in
from .recorder import Recorder
from .scripted import ScriptedAgent, ScriptedTransport

_TASK_ID = re.compile(r'"(?:taskId|task_id)"\s*:\s*"([^"\\]+)"')
_UNTAGGED_TASK = re.compile(r'"id"\s*:\s*"([^"\\]+)"')


class Switchboard(httpx.AsyncBaseTransport):
    """An httpx transport: `network` for all that no tape has been plugged in for.

    `recorder` keeps what was answered. `cut_after` breaks each answer's stream after so many events.
    """

    def __init__(self, network: httpx.AsyncBaseTransport, clock: Clock | None = None) -> None:
        self._network = network
        self.recorder = Recorder((clock or loop_clock()).monotonic)
        self.cut_after: int | None = None
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
        names = _names_in(await request.aread()) if request.method == "POST" else ()
        known = (self._by_message.get(name) or self._by_task.get(name) for name in names)
        tape = next((tape for tape in known if tape is not None), None)
        cut_after = self.cut_after  # as it was when the question was asked
        response = await (tape or self._network).handle_async_request(request)
        if (asked := asked_in(request)) is None:
            return response
        cut = cut_after if asked.verb == "ask" else None
        return self.recorder.heard(response, asked.verb, asked.wire, names, cut)

    async def aclose(self) -> None:
        """Close the network's transport."""
        await self._network.aclose()


def _names_in(body: bytes) -> tuple[str, ...]:
    """The ids of the message and of the task that a call is about."""
    try:
        params = json.loads(body)["params"]
        message = params.get("message", {})
        names = message.get("messageId"), message.get("taskId"), params.get("id"), params.get("taskId")
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        return ()
    return tuple(name for name in names if isinstance(name, str))


def _task_ids(capture: Tape | Recording) -> set[str]:
    """Every id that may be a task's. One too many does no harm: nobody else has a tape's ids."""
    if isinstance(capture, Recording):
        texts = ["".join(chunk.decode("utf-8", "replace") for _, chunk in capture.chunks)]
    else:
        texts = [json.dumps(moment.event) for moment in capture.moments if moment.event is not None]
    found = {name for text in texts for name in _TASK_ID.findall(text)}
    return found | {name for text in texts[:1] for name in _UNTAGGED_TASK.findall(text)}
