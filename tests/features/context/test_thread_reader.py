"""Reading a thread while a question waits: how much, how long, and what a refusal means."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from slack_bot.features.context.thread_reader import ThreadRead, ThreadReader
from slack_bot.settings.context import ContextSettings
from slack_bot.testing import virtual_clock
from slack_bot.testing.virtual_clock import WALL_ZERO
from slack_bot.turn.record import ThreadKey
from tests.slack.scene import Scene, workspaces_of

REPLIES = "conversations.replies"
UNTIL = f"{WALL_ZERO + 1000:.6f}"


class Thread:
    """A thread with so many replies, and its reader."""

    def __init__(
        self, replies: int, faults: dict[str, list[str | None]] | None = None, **settings: Any
    ) -> None:
        self.scene = Scene(faults)
        say, self.root = self.scene.workspace.say, self.scene.root
        self.replies = [
            say("U1", "C1", str(number), now=WALL_ZERO + 1 + number, thread_ts=self.root)
            for number in range(replies)
        ]
        self.reader = ThreadReader(workspaces_of(self.scene), ContextSettings(**settings), 50)

    async def read(self, oldest: str = "0", latest: str = UNTIL) -> ThreadRead:
        return await self.reader.read(ThreadKey("T1", "C1", self.root), oldest, latest)

    @property
    def calls(self) -> int:
        return len([call for call in self.scene.workspace.calls if call.method == REPLIES])


def play(story: Callable[[], Awaitable[None]]) -> None:
    async def go() -> None:
        await story()

    virtual_clock.run(go())


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]


def times(read: ThreadRead) -> list[str]:
    return [str(each["ts"]) for each in read.messages]


def test_what_was_said_between_two_times_is_read_page_by_page() -> None:
    async def story() -> None:
        thread = Thread(450)
        found = await thread.read(latest=thread.replies[-1])
        assert times(found) == [thread.root, *thread.replies[:-1]]
        assert (found.is_failed, found.is_cut, thread.calls) == (False, False, 3)
        found = await thread.read(oldest=thread.replies[-3])
        assert times(found) == [thread.root, *thread.replies[-2:]]

    play(story)


def test_no_more_pages_are_read_than_the_setting_says() -> None:
    async def story() -> None:
        thread = Thread(450, pages=2)
        found = await thread.read()
        assert (len(found.messages), found.is_failed, found.is_cut, thread.calls) == (400, False, True, 2)

    play(story)


@pytest.mark.parametrize("page", [0, 1, 2])
def test_what_was_read_before_a_refusal_is_kept(page: int, caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        thread = Thread(450, {REPLIES: [*[None] * page, "ratelimited:5", None]})
        found = await thread.read()
        assert times(found) == [thread.root, *thread.replies][: 200 * page]
        assert (found.is_failed, thread.reader.is_limited("T1")) == (True, False)
        assert not (await thread.read(oldest=thread.replies[-2], latest=thread.replies[-1])).messages[2:]

    play(story)
    assert len(told(caplog)) == 1


@pytest.mark.parametrize("page", [0, 1])
def test_a_slow_slack_is_waited_for_only_so_long(page: int, caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        thread = Thread(450, {REPLIES: [*[None] * page, "slow:20", None]})
        began = thread.scene.clock.monotonic()
        found = await thread.read()
        assert thread.scene.clock.monotonic() - began == pytest.approx(3.0)
        assert (len(found.messages), found.is_failed) == (200 * page, True)

    play(story)
    (problem,) = told(caplog)
    assert "not read in time" in problem


def test_an_app_that_may_read_once_a_minute_is_refused_the_second_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        thread = Thread(3, {REPLIES: [None, "ratelimited:57", None]})
        assert not (await thread.read()).is_failed
        assert (await thread.read()).is_failed
        assert thread.reader.is_limited("T1") and thread.calls == 2

    play(story)
    (problem,) = told(caplog)
    assert "remembered as it is said" in problem


def test_a_missing_scope_is_said_once_with_its_remedy(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        thread = Thread(3, {REPLIES: ["missing_scope"]})
        for _ in range(3):
            assert (await thread.read()).is_failed
        assert not thread.reader.is_limited("T1")

    play(story)
    (problem,) = told(caplog)
    assert "OAuth & Permissions" in problem


@pytest.mark.parametrize("error", ["thread_not_found", "not_in_channel", "invalid_auth", "http:503", "cut"])
def test_what_cannot_be_read_is_said_once(error: str, caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        thread = Thread(3, {REPLIES: [error]})
        for _ in range(2):
            assert (await thread.read()).is_failed

    play(story)
    assert len([each for each in told(caplog) if "a thread was not read" in each]) == 1
