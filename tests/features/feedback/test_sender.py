"""Feedback goes on out of the store: once it is taken, or until it is too old."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import httpx
import pytest

from slack_bot.errors import StoreError
from slack_bot.features.feedback.sender import FeedbackSender
from slack_bot.features.feedback.targets import LANGFUSE, WEBHOOK
from slack_bot.observe.facts import Fact, FeedbackSent
from slack_bot.settings.feedback import FeedbackSettings
from slack_bot.store.collection import CollectionStore
from slack_bot.testing import virtual_clock
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.feedback import FeedbackRecord
from tests.store import subjects
from tests.tapped_store import TappedStore

from .test_targets import GIVEN


class Receiver(httpx.AsyncBaseTransport):
    """`answers`: a status for each request, the last one repeats; None: it cannot be reached."""

    def __init__(self, *answers: int | None) -> None:
        self.answers, self.got = list(answers or (200,)), list[dict[str, Any]]()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.got.append(json.loads(request.content))
        await asyncio.sleep(0.1)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is None:
            raise httpx.ConnectError("refused")
        return httpx.Response(answer)


class Stand:
    """A store with feedback in it, and who sends it."""

    def __init__(
        self, receiver: Receiver, *targets: str, store: CollectionStore | None = None, **more: Any
    ) -> None:
        self.receiver, self.targets = receiver, targets or (WEBHOOK,)
        self.store = store or MemoryStore()
        self.clock, self.facts = virtual_clock.new_clock(), list[Fact]()
        self.settings = FeedbackSettings(**{**GIVEN, **more})

    def sender(self) -> FeedbackSender:
        http = httpx.AsyncClient(transport=self.receiver)
        return FeedbackSender(self.store, self.settings, self.clock, self.facts.append, http)

    async def say(self, words: str = "", turn: str = "turn") -> None:
        said = FeedbackRecord(turn, "U1", "negative", self.clock.wall(), words=words, trace_id="trace")
        await subjects.change_feedback(self.store, turn, "U1", lambda _: said.to_send(tuple(self.targets)))

    async def kept(self) -> FeedbackRecord:
        found = await subjects.change_feedback(self.store, "turn", "U1", lambda _: None)
        assert found is not None
        return found

    async def run(self, seconds: float, *senders: FeedbackSender) -> None:
        tasks = [asyncio.create_task(each.run()) for each in senders or (self.sender(),)]
        await asyncio.sleep(seconds)
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    @property
    def reported(self) -> Sequence[tuple[str, bool]]:
        return [(fact.target, fact.ok) for fact in self.facts if isinstance(fact, FeedbackSent)]


@on_virtual_time
async def test_it_goes_to_each_target_once() -> None:
    stand = Stand(Receiver(), WEBHOOK, LANGFUSE)
    await stand.say("no")
    await stand.run(3600)
    webhook, score = stand.receiver.got
    assert (webhook["words"], score["traceId"]) == ("no", "trace")
    assert ((await stand.kept()).due, (await stand.kept()).unsent) == (None, ())
    assert stand.reported == [(WEBHOOK, True), (LANGFUSE, True)]


@pytest.mark.parametrize("problem", [500, 429, 302, None])
@on_virtual_time
async def test_what_is_not_taken_is_sent_again_to_that_target(problem: int | None) -> None:
    stand = Stand(Receiver(problem, 200), WEBHOOK, LANGFUSE, retry_first=30)
    await stand.say()
    await stand.run(20)
    assert ((await stand.kept()).unsent, len(stand.receiver.got)) == ((WEBHOOK,), 2)
    await stand.run(30)
    assert [("turn" in each, "traceId" in each) for each in stand.receiver.got] == [
        (True, False), (False, True), (True, False),
    ]  # fmt: skip
    assert (await stand.kept()).due is None


@on_virtual_time
async def test_what_nobody_takes_is_given_up_said_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    stand = Stand(Receiver(500), retry_first=10, retry_longest=100, send_for=1000)
    await stand.say()
    with caplog.at_level(logging.INFO):
        await stand.run(5000)
    kept = await stand.kept()
    assert (kept.due, kept.unsent, kept.value) == (None, (), "negative")
    assert stand.reported == [(WEBHOOK, False)]
    assert 10 < len(stand.receiver.got) < 20
    assert len([each for each in caplog.records if each.levelno == logging.WARNING]) == 1


@on_virtual_time
async def test_a_restart_in_the_middle_loses_nothing() -> None:
    stand = Stand(Receiver())
    await stand.say()
    await stand.run(0.05)  # ends while the first request is on its way
    assert ((await stand.kept()).unsent, len(stand.receiver.got)) == ((WEBHOOK,), 1)
    await stand.run(120)
    assert ((await stand.kept()).due, len(stand.receiver.got)) == (None, 2)
    assert stand.receiver.got[0]["id"] == stand.receiver.got[1]["id"]


@on_virtual_time
async def test_of_two_processes_one_sends_it() -> None:
    stand = Stand(Receiver())
    turns = [f"turn{number:02}" for number in range(30)]
    for each in turns:
        await stand.say(turn=each)
    await stand.run(60, stand.sender(), stand.sender())
    assert sorted(each["turn"] for each in stand.receiver.got) == turns


@on_virtual_time
async def test_what_is_said_meanwhile_is_sent_too() -> None:
    stand = Stand(Receiver())
    await stand.say("")
    running = asyncio.create_task(stand.run(20))
    await asyncio.sleep(0.05)
    await stand.say("and why")
    await running
    assert [each["words"] for each in stand.receiver.got] == ["", "and why"]
    assert (await stand.kept()).due is None


@on_virtual_time
async def test_a_target_that_is_gone_from_the_settings_is_forgotten() -> None:
    stand = Stand(Receiver(), "carrier pigeon")
    await stand.say()
    await stand.run(20)
    assert ((await stand.kept()).due, stand.receiver.got) == (None, [])


@on_virtual_time
async def test_a_store_that_fails_is_asked_again() -> None:
    class Failing(TappedStore):
        fails = 0

        async def tap(self, kind: str) -> None:
            if self.fails:
                self.fails -= 1
                raise StoreError("away")

    stand = Stand(Receiver(), store=(store := Failing()))
    await stand.say()
    store.fails = 1
    await stand.run(60)
    assert len(stand.receiver.got) == 1


@on_virtual_time
async def test_without_targets_it_ends_at_once() -> None:
    sender = FeedbackSender(
        MemoryStore(), FeedbackSettings(), virtual_clock.new_clock(), lambda fact: None, httpx.AsyncClient()
    )
    await asyncio.wait_for(sender.run(), 1)
    assert not sender._requests
