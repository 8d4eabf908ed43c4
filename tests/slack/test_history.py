"""Reading back in the background: what is read, and what a refusal means."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import pytest

from slack_bot.errors import SlackError
from slack_bot.slack.history import History
from slack_bot.testing import virtual_clock
from slack_bot.testing.virtual_clock import WALL_ZERO
from slack_bot.turn.record import ThreadKey
from tests.slack.scene import Scene

HISTORY, REPLIES = "conversations.history", "conversations.replies"
CHANNEL = ThreadKey("T1", "C1", "")
LATER = WALL_ZERO + 1_000

Story = Callable[[Scene, History], Awaitable[None]]


def play(story: Story, faults: dict[str, list[str | None]] | None = None) -> Scene:
    async def go() -> Scene:
        scene = Scene(faults)
        await story(scene, History(scene.api))
        return scene

    return virtual_clock.run(go())


def test_a_channel_is_its_roots_and_a_thread_its_replies_with_the_root() -> None:
    async def story(scene: Scene, history: History) -> None:
        say, root = scene.workspace.say, scene.root
        reply = say("U1", "C1", "early", now=WALL_ZERO + 10, thread_ts=root)
        late = say("U1", "C1", "late", now=WALL_ZERO + 20, thread_ts=root)
        other = say("U1", "C1", "another root", now=WALL_ZERO + 30)
        found = await history.read(CHANNEL, WALL_ZERO - 10, LATER)
        assert found is not None
        assert [message["ts"] for message in found] == [other, root]
        for oldest, latest, expected in (
            (WALL_ZERO + 5, LATER, [root, reply, late]),
            (WALL_ZERO + 15, LATER, [root, late]),
            (WALL_ZERO + 5, WALL_ZERO + 15, [root, reply]),
        ):
            found = await history.read(ThreadKey("T1", "C1", root), oldest, latest)
            assert found is not None
            assert [message["ts"] for message in found] == expected

    play(story)


@pytest.mark.parametrize("refusal", ["thread_not_found", "not_in_channel", "channel_not_found"])
def test_what_cannot_be_read_is_nothing(refusal: str) -> None:
    async def story(scene: Scene, history: History) -> None:
        assert await history.read(ThreadKey("T1", "C1", scene.root), 0, LATER) is None
        assert await history.read(ThreadKey("T1", "C1", scene.root), 0, LATER) is not None

    play(story, {REPLIES: [refusal, None]})


@pytest.mark.parametrize("entry", ["ratelimited:60", "connect", "token_revoked", "timeout", "http:503"])
def test_what_ends_all_reading(entry: str) -> None:
    async def story(scene: Scene, history: History) -> None:
        with pytest.raises(SlackError, match="no more now" if entry == "ratelimited:60" else HISTORY):
            await history.read(CHANNEL, 0, LATER)

    play(story, {HISTORY: [entry]})


def test_a_refusal_is_not_waited_for_and_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    async def story(scene: Scene, history: History) -> None:
        for _ in range(2):
            with pytest.raises(SlackError):
                await history.read(CHANNEL, 0, LATER)
        assert scene.clock.monotonic() == 0

    with caplog.at_level(logging.INFO):
        scene = play(story, {HISTORY: ["ratelimited:60"]})
    assert (len(scene.workspace.calls), caplog.messages) == (1, [])


def test_a_scope_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    async def story(scene: Scene, history: History) -> None:
        manifest = scene.workspace.state.manifest
        scene.workspace.state.manifest = type(manifest)(frozenset({"im:history"}), manifest.events)
        for channel in ("C1", "C2"):
            scene.workspace.add_channel(channel)
            assert await history.read(ThreadKey("T1", channel, ""), 0, LATER) is None
            assert await history.read(ThreadKey("T1", channel, scene.root), 0, LATER) is None
        assert await history.read(ThreadKey("T1", scene.workspace.direct("U1"), ""), 0, LATER) == []

    with caplog.at_level(logging.INFO):
        play(story)
    (sentence,) = caplog.messages
    assert "the scope channels:history" in sentence
