"""The playground's agent for trips: A2A 1.0 over HTTP+JSON. It asks as agents on LangGraph do, by an
interrupt with a schema of the answer, and shows its tools.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from a2a.helpers import get_data_parts, new_data_part, new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Message, TaskState

from .served_agent import ServedAgent

_TOOL_SECONDS = 0.8  # long enough to be seen as running
_MOST_NIGHTS = 14
_NO_PLACE = r"(?!Jan|Feb|March|April|May\b|June|July|August|Sept|Oct|Nov|Dec|\w+day\b)"
_NAME = rf"({_NO_PLACE}[A-ZÄÖÜÉ][\w'-]*(?: {_NO_PLACE}[A-ZÄÖÜÉ][\w'-]*){{0,2}})"
_PLACE = re.compile(rf"\b(?:to|for|in|nach|für|à|a) {_NAME}")
_BEGINS = re.compile(rf"{_NAME}(?= (?:in|on|at|by|next|this|for)\b|[,.!?]?\Z)")  # "Berlin in spring"
_ROOMS = {"train": 84, "plane": 110}  # what a night costs near the station and near the airport
_HOURS = {"train": "07:12", "plane": "09:40"}
_WORD = re.compile(r"\S+\s*")


def travel_card(url: str) -> AgentCard:
    """The card, for an agent that is reached at `url`."""
    return AgentCard(
        name="Travel",
        description="Finds a train or a flight, and a room.",
        version="1.0.0",
        supported_interfaces=[AgentInterface(url=url, protocol_binding="HTTP+JSON", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain", "application/json"],
        default_output_modes=["text/markdown"],
        skills=[
            AgentSkill(
                id="trips",
                name="Trips",
                description="Trips with their tickets and hotels.",
                tags=["trip", "travel", "flight", "hotel"],
                examples=["Plan a trip to Lisbon", "Fly to Berlin"],
            )
        ],
    )


def build_travel(url: str, pace: float) -> ServedAgent:
    """The agent, reached at `url`. `pace`: words a second; 0: at once."""
    return ServedAgent(travel_card(url), _TravelAgent(pace))


class _TravelAgent(AgentExecutor):
    def __init__(self, pace: float) -> None:
        self._pace = pace

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        task = context.current_task
        if context.message is None:
            return
        if task is None:
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
        teller = TaskUpdater(event_queue, task.id, task.context_id)
        if task.status.state != TaskState.TASK_STATE_INPUT_REQUIRED:
            await self._ask(teller, place_in(context.get_user_input()))
            return
        await self._plan(teller, trip_of(context.message))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id or "", context.context_id or "").cancel()

    async def _ask(self, teller: TaskUpdater, place: str) -> None:
        await teller.start_work(_words(teller, "I look at what I need to know."))
        interrupt = {"id": "trip", "value": "When, and how?", "response_schema": schema_for(place)}
        words = [new_text_part("A few things first."), new_data_part(interrupt)]
        await teller.requires_input(teller.new_agent_message(words))

    async def _plan(self, teller: TaskUpdater, trip: Mapping[str, Any]) -> None:
        way = "plane" if trip.get("by") == "plane" else "train"
        place = str(trip.get("to") or "there")
        await teller.start_work(_words(teller, f"I look for a {way} to {place}."))
        for number, tool in enumerate((f"find_{way}s", "find_rooms")):
            call = {"id": f"call-{number}", "name": tool}
            await teller.add_artifact([new_data_part({**call, "type": "tool_call"})], name="tool_call")
            await self._rest(_TOOL_SECONDS)
            await teller.add_artifact([new_data_part({**call, "type": "tool_result"})], name="tool_result")
        has_begun = False
        for word in _WORD.findall(plan_of(trip, place, way)):
            await teller.add_artifact(
                [new_text_part(word)],
                artifact_id="plan",
                name="plan",
                append=has_begun,
                last_chunk=False,
            )
            has_begun = True
            await self._rest(1 / self._pace if self._pace else 0)
        await teller.complete()

    async def _rest(self, seconds: float) -> None:
        await asyncio.sleep(seconds if self._pace else 0)


def _words(teller: TaskUpdater, text: str) -> Message:
    return teller.new_agent_message([new_text_part(text)])


def place_in(question: str) -> str:
    """Where to, if the question says it; else ""."""
    found = _PLACE.search(question) or _BEGINS.match(question)
    return found[1] if found else ""


def schema_for(place: str) -> dict[str, Any]:
    """What is asked, as a JSON schema."""
    return {
        "type": "object",
        "title": f"A trip to {place}" if place else "A trip",
        "properties": {
            "to": {"type": "string", "title": "Where to", **({"default": place} if place else {})},
            "day": {"type": "string", "format": "date", "title": "Day"},
            "nights": {
                "type": "integer",
                "title": "Nights",
                "minimum": 1,
                "maximum": _MOST_NIGHTS,
                "default": 2,
            },
            "by": {"enum": ["train", "plane"], "title": "How", "default": "train"},
        },
        "propertyOrdering": ["to", "day", "nights", "by"],
        "required": ["to", "by"],
    }


def trip_of(message: Message) -> Mapping[str, Any]:
    """What the person filled in: the value that the interrupt is resumed with. {} for an answer in words."""
    for data in get_data_parts(message.parts):
        resumed = data.get("resume") if isinstance(data, dict) else None
        if isinstance(resumed, dict):
            return resumed

    return {}


def plan_of(trip: Mapping[str, Any], place: str, way: str) -> str:
    """The plan in Markdown. Prices are made up."""
    try:
        nights = min(max(int(trip.get("nights") or 1), 1), _MOST_NIGHTS)
    except (TypeError, ValueError):
        nights = 1
    day, price = str(trip.get("day") or "the day that suits you"), _ROOMS[way]
    return (
        f"**{place}, {nights} night{'s' if nights > 1 else ''}**\n\n"
        f"1. The {way} at {_HOURS[way]} on {day}.\n"
        f"2. A room near the {'station' if way == 'train' else 'airport'}: {price} € a night,"
        f" {price * nights} € in all.\n"
        "3. The way back at 17:30.\n\n"
        "Nothing is booked: this is a demonstration, and the prices are made up.\n"
    )
