"""The playground's agent for trips: what it asks, and what it makes of the reply."""

from __future__ import annotations

import httpx
import pytest
from a2a.helpers import new_data_part, new_text_part
from a2a.types import Message

from slack_bot.playground.others.served_agent import serve_agent
from slack_bot.playground.others.travel import build_travel, place_in, plan_of, schema_for, trip_of


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("Plan a trip to Lisbon", "Lisbon"),
        ("a train to New York City on Monday", "New York City"),
        ("Tickets for São Paulo, please", "São Paulo"),
        ("travel with me", ""),
        ("to be or not to be", ""),
        ("Berlin in spring", "Berlin"),
        ("New York City by train", "New York City"),
        ("Lisbon?", "Lisbon"),
        ("Rome in May", "Rome"),
        ("to Oslo on Friday", "Oslo"),
        ("leave for December", ""),
        ("Help me", ""),
    ],
)
def test_where_to_is_read_from_the_question(question: str, place: str) -> None:
    assert place_in(question) == place


def test_the_form_has_the_place_that_is_known() -> None:
    assert schema_for("Lisbon")["properties"]["to"]["default"] == "Lisbon"
    assert "default" not in schema_for("")["properties"]["to"]


def test_the_reply_is_what_the_interrupt_is_resumed_with() -> None:
    filled = {"to": "Lisbon", "by": "plane", "nights": 3}
    assert dict(trip_of(Message(parts=[new_data_part({"resume": filled})]))) == filled
    for part in (new_text_part("by plane"), new_data_part(filled), new_data_part({"resume": "plane"})):
        assert trip_of(Message(parts=[part])) == {}


@pytest.mark.parametrize(
    ("nights", "shown"),
    [
        (2, "2 nights"),
        (1, "1 night*"),
        (99, "14 nights"),
        (-1, "1 night*"),
        ("many", "1 night*"),
        (None, "1"),
    ],
)
def test_nights_are_within_reason(nights: object, shown: str) -> None:
    assert shown in plan_of({"nights": nights}, "Lisbon", "train")


def test_the_plan_says_that_nothing_is_booked() -> None:
    plan = plan_of({"nights": 3, "day": "2026-12-01"}, "Lisbon", "plane")
    assert "330 € in all" in plan and "on 2026-12-01" in plan and "Nothing is booked" in plan


async def test_its_card_names_one_way_to_ask() -> None:
    async with serve_agent(lambda url: build_travel(url, 0)) as url, httpx.AsyncClient() as http:
        card = (await http.get(f"{url}.well-known/agent-card.json")).json()
    (interface,) = card["supportedInterfaces"]
    assert (interface["protocolBinding"], interface["protocolVersion"]) == ("HTTP+JSON", "1.0")
