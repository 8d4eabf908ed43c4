"""A second opinion on what we send to Slack: its own SDK reads every block and every chunk.

What the recordings of real servers and the reference agent bring about is parsed with `slack_sdk.models` and
checked by its validators, and nothing in it is unknown there. The SDK has no model for `data_table` and
`data_visualization`, and its `TaskUpdateChunk` does not know `hide_title` and `icon` (facts: Slack 1.4, 5).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.basic_objects import JsonObject
from slack_sdk.models.blocks import Block
from slack_sdk.models.messages.chunk import Chunk

from slack_bot.playground.server import Playground, open_playground
from slack_bot.playground.visitor import CHANNEL
from slack_bot.settings.models import ReferenceSettings
from slack_bot.slack.blocks import buttons, cards, context, feedback, footer, sources_block, task_chunk
from slack_bot.testing.tape.recording import read_recording
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.replay.scenario import make_scenario
from slack_bot.turn.actions import CardState, TaskCard
from slack_bot.turn.extras import Source
from slack_bot.turn.thread_state import ListensTo

CAPTURES = Path(__file__).parents[1] / "captures"
FILES = sorted([*CAPTURES.glob("a2a/*.txt"), *CAPTURES.glob("frameworks/*.sse")])
QUESTIONS = (
    "what is agntcy",
    "fail",
    "long 4000",
    "create a github pull request",
)
SOURCES = tuple(Source(f"https://x.example/{number}{'a' * 1_900}", "t" * 300) for number in range(12))
NO_MODEL = {"data_table", "data_visualization"}
NOT_KNOWN_OF_CHUNKS = {"task_update": {"hide_title", "icon"}}
PATIENCE = 60

Json = dict[str, Any]


def payloads(calls: Iterable[Mapping[str, Any]]) -> Iterator[tuple[type[Any], Json]]:
    """Every block and every chunk of some calls, with the SDK's base class for it."""
    for args in calls:
        for block in args.get("blocks") or ():
            yield Block, block
        for chunk in args.get("chunks") or ():
            yield Chunk, chunk
            for block in chunk.get("blocks") or ():
                yield Block, block


def judge(model: type[Any], payload: Json) -> None:
    """Parse and validate. What the model does not know must not be in the payload."""
    kind = payload["type"]
    if model is Block and kind in NO_MODEL:
        return
    known = set(payload) - (NOT_KNOWN_OF_CHUNKS.get(kind, set()) if model is Chunk else set())
    read = model.parse({name: payload[name] for name in known})
    assert isinstance(read, JsonObject), payload
    read.validate_json()
    assert known <= set(read.attributes), (kind, known - set(read.attributes))
    assert set(read.to_dict()) == {name for name in known if payload[name] not in (None, "", [], {})}


def judged(calls: Iterable[Mapping[str, Any]], caplog: pytest.LogCaptureFixture) -> set[str]:
    """Judge all of them. Returns the kinds that were there."""
    kinds = set()
    with caplog.at_level(logging.WARNING, "slack_sdk"):
        for model, payload in payloads(calls):
            judge(model, payload)
            kinds.add(payload["type"])
    said = [record.getMessage() for record in caplog.records if record.name.startswith("slack_sdk")]
    assert said == []  # the SDK warns of what it skips and of what it does not know
    return kinds


@pytest.mark.slow
def test_what_the_recordings_bring_about_is_what_the_sdk_knows(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[Mapping[str, Any]] = []

    edited = {"slack_faults": {"chat.startStream": ["feature_disabled"]}}
    for path in FILES:
        recording = read_recording(path.read_bytes())
        assert recording is not None
        ways: list[Json] = [{}]
        if path.parent.name == "frameworks":  # these have tools, so cards
            ways += [edited, {**edited, "settings": {"task_display_mode": "timeline"}}]
        for way in ways:
            log = replayed(recording, make_scenario(way)).log
            calls += [call.args for turn in log.turns for call in turn.calls]
    kinds = judged(calls, caplog)
    assert {"markdown_text", "task_update"} <= kinds  # chunks
    assert {"markdown", "plan", "task_card", "context", "context_actions", "actions"} <= kinds


async def over(playground: Playground, text: str) -> None:
    """Ask the reference agent and wait until the turn is over."""
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def hear(update: Mapping[str, Any]) -> None:
        if update["type"] == "fact" and update["fact"]["kind"] == "closed" and not ended.done():
            ended.set_result(None)

    stop = playground.visitor.feed.listen(hear)
    try:
        order = {"type": "say", "user": "U0MAYA", "channel": CHANNEL, "text": f"<@U0BOT> {text}"}
        await playground.visitor.take(order)
        await asyncio.wait_for(ended, PATIENCE)
    finally:
        stop()


async def test_what_the_reference_agent_brings_about_is_what_the_sdk_knows(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_playground(chosen=ReferenceSettings(pace=0)) as playground:
        for question in QUESTIONS:
            await over(playground, question)
        calls = [call.args for call in playground.workspace.calls]
    kinds = judged(calls, caplog)
    assert {"markdown_text", "task_update", "plan_update", "context", "context_actions", "actions"} <= kinds


def test_the_longest_values_that_we_send_are_what_the_sdk_takes(caplog: pytest.LogCaptureFixture) -> None:
    shown = [
        TaskCard(f"card-{number}", "t" * 300, state, details="d" * 300, sources=SOURCES)
        for number, state in enumerate(CardState)
    ]
    under = [feedback("t" * 2_000), footer(ListensTo.ASKER), context("c" * 4_000), buttons("t" * 3_000)]
    under.append(sources_block(SOURCES))
    for display in ("plan", "timeline"):
        assert judged([{"blocks": [*cards(shown, "t" * 300, display, 256), *under]}], caplog)
    assert judged([{"chunks": [task_chunk(card, 256) for card in shown]}], caplog)


@pytest.mark.parametrize(
    ("model", "payload"),
    [
        (Block, {"type": "context", "elements": [{"type": "plain_text", "text": "a"}] * 11}),
        (Block, {"type": "task_card", "task_id": "t", "title": "T", "status": "complete", "sauce": []}),
        (Block, {"type": "no_such_block"}),
        (Chunk, {"type": "task_update", "id": "t", "title": "T", "status": "complete", "detail": "x"}),
    ],
)
def test_this_opinion_is_one(model: type[Any], payload: Json) -> None:
    with pytest.raises((AssertionError, SlackObjectFormationError)):
        judge(model, payload)
