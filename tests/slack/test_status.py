"""The typing status: the latest wins, at most one a second, and never beside an answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest

from slack_bot.settings.models import GovernorSettings
from slack_bot.slack.api import SlackApi
from slack_bot.slack.rate_limiter.local import RateLimiter
from slack_bot.slack.status import WAITING_REACTION, QueuedReaction, TypingStatus
from slack_bot.testing import virtual_clock
from tests.slack.scene import Scene, waiting_for

Story = Callable[[Scene, TypingStatus], Coroutine[Any, Any, None]]


def told(story: Story, faults: Any = None) -> tuple[Scene, list[tuple[float, str]]]:
    """Run `story`; returns when each status was sent, and its text."""

    async def go() -> Scene:
        scene = Scene(faults)
        await story(scene, scene.status())
        return scene

    scene = virtual_clock.run(go())
    calls = [call for call in scene.workspace.calls if call.method == "assistant.threads.setStatus"]
    return scene, [(call.now - virtual_clock.WALL_ZERO, call.args["status"]) for call in calls]


async def shown(scene: Scene) -> str | None:
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return scene.workspace.status_line(scene.channel, scene.root, now=scene.clock.wall())


def test_it_is_shown_at_once_and_without_waiting() -> None:
    async def story(scene: Scene, line: TypingStatus) -> None:
        line.show("is thinking...")
        await asyncio.sleep(0.001)
        assert await shown(scene) == "is thinking..."

    assert told(story)[1] == [(0.0, "is thinking...")]


def test_within_a_second_the_latest_waits_and_wins() -> None:
    async def story(scene: Scene, line: TypingStatus) -> None:
        for text in ("a", "b", "c", "d"):
            line.show(text)
            await asyncio.sleep(0.2)
        await asyncio.sleep(5)

    assert told(story)[1] == [(0.0, "a"), (1.0, "d")]


def test_one_that_waits_is_dropped_when_the_shown_one_is_wanted_again() -> None:
    async def story(scene: Scene, line: TypingStatus) -> None:
        for text in ("a", "b", "a"):
            line.show(text)
            await asyncio.sleep(0.2)
        await asyncio.sleep(5)

    assert told(story)[1] == [(0.0, "a")]


def test_the_same_again_is_sent_only_when_slack_is_about_to_drop_it() -> None:
    async def story(scene: Scene, line: TypingStatus) -> None:
        line.show("a")
        for _ in range(10):
            await asyncio.sleep(20)
            line.show("a")
            await asyncio.sleep(0.001)
            assert scene.workspace.status_line(scene.channel, scene.root, now=scene.clock.wall()) == "a"

    assert [round(at) for at, _ in told(story)[1]] == [0, 90, 180]


def test_nothing_to_keep_is_not_kept() -> None:
    async def story(scene: Scene, line: TypingStatus) -> None:
        line.show("")
        await asyncio.sleep(1)

    assert told(story)[1] == []


def test_it_is_cut_to_what_slack_shows() -> None:
    async def story(scene: Scene, line: TypingStatus) -> None:
        line.show("x" * 60)
        await asyncio.sleep(1)

    assert told(story)[1] == [(0.0, "x" * 49 + "…")]


def test_once_closed_nothing_is_sent_not_even_what_waited() -> None:
    async def story(scene: Scene, line: TypingStatus) -> None:
        line.show("a")
        await asyncio.sleep(0.1)
        line.show("b")
        await asyncio.sleep(0.1)
        await line.close()
        line.show("c")
        await asyncio.sleep(5)
        await line.close()

    assert told(story)[1] == [(0.0, "a")]


def test_closing_waits_for_one_that_is_under_way_but_not_for_ever() -> None:
    async def story(scene: Scene, line: TypingStatus) -> None:
        line.show("a")
        await asyncio.sleep(0.1)
        await line.close()
        assert scene.clock.monotonic() == 0.1 + 2.0

    told(story, {"assistant.threads.setStatus": ["timeout"]})


def test_it_is_cleared_only_if_it_may_stand() -> None:
    async def story(scene: Scene, line: TypingStatus) -> None:
        await line.clear()
        line.show("a")
        await asyncio.sleep(1)
        await line.close()
        await line.clear()
        await line.clear()
        assert await shown(scene) is None

    assert told(story)[1] == [(0.0, "a"), (1.0, "")]


def test_a_refusal_ends_it_quietly() -> None:
    async def story(scene: Scene, line: TypingStatus) -> None:
        line.show("a")
        await asyncio.sleep(2)
        line.show("b")
        await asyncio.sleep(2)
        await line.clear()

    assert told(story, {"assistant.threads.setStatus": ["missing_scope"]})[1] == [(0.0, "a")]


def test_a_limit_drops_that_one_and_the_next_is_sent() -> None:
    async def story(scene: Scene, line: TypingStatus) -> None:
        line.show("a")
        await asyncio.sleep(2)
        line.show("b")
        await asyncio.sleep(2)
        assert await shown(scene) == "b"

    assert told(story, {"assistant.threads.setStatus": ["ratelimited:1", None]})[1] == [
        (0.0, "a"),
        (2.0, "b"),
    ]


def test_below_a_message_that_is_over_it_may_stand_again() -> None:
    async def story(scene: Scene, line: TypingStatus) -> None:
        line.reopen(forget=True)  # nothing was closed
        line.show("a")
        await asyncio.sleep(5)
        await line.close()
        line.show("ignored")
        line.reopen(forget=True)
        line.show("a")
        await asyncio.sleep(5)
        await line.clear()

    assert told(story)[1] == [(0.0, "a"), (5.0, "a"), (10.0, "")]


def test_where_slack_refused_it_once_it_is_not_tried_again() -> None:
    async def story(scene: Scene, line: TypingStatus) -> None:
        line.show("a")
        await asyncio.sleep(5)
        line.reopen(forget=True)
        line.show("b")
        await asyncio.sleep(5)

    assert told(story, {"assistant.threads.setStatus": ["missing_scope"]})[1] == [(0.0, "a")]


def test_it_is_kept_until_it_is_closed() -> None:
    async def story(scene: Scene, line: TypingStatus) -> None:
        line.show("is busy...")
        for _ in range(60):
            await asyncio.sleep(10)
            assert await shown(scene) == "is busy..."
        await line.close()
        line.show("too late")
        await asyncio.sleep(100)

    _, sent = told(story)
    assert [at for at, _ in sent] == [pytest.approx(90.0 * n, abs=0.5) for n in range(7)]
    assert {text for _, text in sent} == {"is busy..."}


def test_closing_takes_no_longer_than_the_call_under_way() -> None:
    async def story(scene: Scene, line: TypingStatus) -> None:
        line.show("a")
        await asyncio.sleep(0.1)
        await line.close()
        assert scene.clock.monotonic() == pytest.approx(1.0)

    told(story, {"assistant.threads.setStatus": ["slow:1!"]})


# -- the mark on a queued question --------------------------------------------------------------------------

ADD, REMOVE = "reactions.add", "reactions.remove"


def mark_calls(
    over_after: float, *, before: int = 0, faults: dict[str, Sequence[str | None]] | None = None
) -> list[str]:
    """The calls of a mark whose question waits so long, `before` others of a budget of one a minute."""

    async def story() -> Scene:
        scene = Scene(faults)
        settings = GovernorSettings(others_per_minute=1, rate_utilization=1, burst_share=1)
        limiter = RateLimiter(settings, scene.clock)
        api = SlackApi(scene.client, scene.clock, scene.facts.append, 0.0, limiter)
        for _ in range(before):
            await api.call(ADD, {"channel": "C1", "timestamp": scene.root, "name": "eyes"})
        mark = QueuedReaction(api.for_turn("turn"), "C1", scene.root)
        showing = asyncio.create_task(mark.show())
        await asyncio.sleep(over_after)
        mark.over()
        await showing
        assert not waiting_for(limiter)
        (message,) = scene.workspace.thread("C1", scene.root)
        assert not (message.reactions or {}).get(WAITING_REACTION)
        return scene

    return virtual_clock.run(story()).methods()[before:]


def test_a_mark_is_set_as_long_as_the_question_waits() -> None:
    assert mark_calls(10) == [ADD, REMOVE]


def test_a_mark_is_not_set_any_more_when_the_turn_came_first() -> None:
    assert mark_calls(10, before=1) == []
    assert mark_calls(100, before=1) == [ADD, REMOVE]


@pytest.mark.parametrize(
    ("fault", "made"),
    [("missing_scope", [ADD]), ("timeout!", [ADD, REMOVE]), ("already_reacted", [ADD, REMOVE])],
)
def test_what_was_refused_is_not_taken_away(fault: str, made: list[str]) -> None:
    assert mark_calls(100, faults={ADD: [fault]}) == made


def test_a_mark_that_the_next_process_takes_away_stays() -> None:
    async def story() -> Scene:
        scene = Scene()
        mark = QueuedReaction(scene.api.for_turn("turn"), "C1", scene.root)
        showing = asyncio.create_task(mark.show())
        await asyncio.sleep(10)
        mark.over(stays=True)
        await showing
        return scene

    assert virtual_clock.run(story()).methods() == [ADD]


@pytest.mark.parametrize(("is_shown", "refused"), [(False, "already_reacted"), (True, "no_reaction")])
def test_a_mark_that_is_as_it_should_be_is_no_error(
    is_shown: bool, refused: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        scene = Scene(faults={ADD: [refused], REMOVE: [refused]})
        mark = QueuedReaction(scene.api.for_turn("turn"), "C1", scene.root, is_shown=is_shown)
        showing = asyncio.create_task(mark.show())
        await asyncio.sleep(10)
        mark.over()
        await showing

    virtual_clock.run(story())
    assert [record.getMessage() for record in caplog.records if record.levelno > logging.INFO] == []
