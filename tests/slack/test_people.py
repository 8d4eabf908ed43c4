"""Reads of people are remembered, and so is that Slack did not say."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from slack_bot.settings.models import SlackSettings
from slack_bot.slack.people import People
from slack_bot.testing import virtual_clock
from tests.slack.scene import Scene

SETTINGS = SlackSettings()
USER, GROUP = "users.info", "usergroups.users.list"
Story = Callable[[Scene, People], Awaitable[None]]


def play(story: Story, faults: dict[str, list[str | None]] | None = None) -> list[str]:
    """The methods that were called."""

    async def go() -> list[str]:
        scene = Scene(faults)
        scene.workspace.add_user("U2", "gwen", guest="single")
        scene.workspace.add_group("S1", "U1", "U2")
        await story(scene, People(scene.api, SETTINGS, scene.clock))
        return [call.method for call in scene.workspace.calls]

    return virtual_clock.run(go())


def test_people_and_groups_are_asked_for_once_an_hour() -> None:
    async def story(scene: Scene, people: People) -> None:
        for _ in range(2):
            found = await people.user("U2")
            assert found is not None
            assert (found["team_id"], found["is_ultra_restricted"]) == ("T1", True)
            assert await people.members("S1") == {"U1", "U2"}
        await asyncio.sleep(SETTINGS.lookup_ttl + 1)
        assert await people.user("U2") is not None

    assert play(story) == [USER, GROUP, USER]


@pytest.mark.parametrize("fault", ["missing_scope", "user_not_found", "ratelimited:60", "timeout", "cut"])
def test_what_slack_does_not_say_is_asked_again_after_a_while_and_in_time(fault: str) -> None:
    async def story(scene: Scene, people: People) -> None:
        begun = scene.clock.monotonic()
        assert await people.user("U1") is None
        assert scene.clock.monotonic() - begun <= SETTINGS.lookup_timeout
        asked = len(scene.workspace.calls)
        assert await people.user("U1") is None
        assert len(scene.workspace.calls) == asked
        await asyncio.sleep(SETTINGS.lookup_retry + 1)
        assert (await people.user("U1") is None) == (fault == "missing_scope")  # until the next start

    play(story, {USER: [fault, None]})


def test_an_answer_that_comes_too_late_counts_for_who_asks_after_it() -> None:
    async def story(scene: Scene, people: People) -> None:
        assert await asyncio.gather(people.user("U2"), people.user("U2")) == [None, None]
        await asyncio.sleep(5)
        assert await people.user("U2") is not None

    assert play(story, {USER: ["slow:5!"]}) == [USER]


def test_a_group_that_does_not_exist_has_no_members() -> None:
    async def story(scene: Scene, people: People) -> None:
        assert await people.members("S9") is None

    play(story)
