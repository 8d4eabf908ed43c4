"""More than the messages of a thread may hold: said at once, a file in the end, and never an untrue word."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from slack_bot.slack.file_fallback import COMING
from slack_bot.slack.model import Batch, Ending, WriteResult
from slack_bot.testing import virtual_clock
from slack_bot.testing.slack.workspace import SeenMessage
from slack_bot.text.words import WRITING_FILE
from slack_bot.turn.record import Outcome
from tests.bench.reading import reads_as
from tests.slack.scene import Scene, run

UPDATE = "chat.update"
GET_URL, SHOW = "files.getUploadURLExternal", "files.completeUploadExternal"
LINES = [f"Line {number} of a long answer.\n" for number in range(60)]
TEXT = "".join(LINES)
FEEDBACK = ("Helpful Not helpful", "Mention me in this thread to go on.")
IN_FILE = "This answer is too long for the thread. All of it is in answer.md."
ANSWERED = Ending(Outcome.ANSWERED)


def play(story: Callable[[Scene], Coroutine[Any, Any, None]], faults: Any = None, **settings: Any) -> Scene:
    async def go() -> Scene:
        scene = Scene(faults, rotate_bytes=300, max_segments=2, **settings)
        await story(scene)
        return scene

    scene = virtual_clock.run(go())
    assert scene.workspace.status_rows(scene.channel, scene.root) == []
    return scene


async def until_full(scene: Scene) -> int:
    """Write lines, one a second, until no more can be shown. Returns how many were written."""
    for number, text in enumerate(LINES, start=1):
        await asyncio.sleep(1)
        if await run(scene.answer.show(Batch(text))) is WriteResult.HELD:
            return number
    raise AssertionError("it never was full")


async def the_rest(scene: Scene, written: int, *, a_line: float = 1.0) -> None:
    """The agent goes on, and what it says can only be kept."""
    for text in LINES[written:]:
        await asyncio.sleep(a_line)
        scene.answer.state.add(Batch(text))


def status(scene: Scene) -> str | None:
    return scene.workspace.status_line(scene.channel, scene.root, now=scene.clock.wall())


def answers(scene: Scene) -> list[SeenMessage]:
    return [message for message in scene.thread() if not message.files]


@pytest.mark.parametrize("surface", ["stream", "edits"])
def test_the_reader_is_told_at_once_and_a_status_goes_on_until_the_file_stands(surface: str) -> None:
    silences: list[float] = []

    async def story(scene: Scene) -> None:
        written = await until_full(scene)
        full_at = scene.clock.wall()
        await asyncio.sleep(0.5)
        assert scene.thread()[-1].extras == (COMING,)
        silences.append(scene.workspace.calls[-1].now - full_at)
        assert status(scene) == WRITING_FILE
        await the_rest(scene, written, a_line=20.0)
        assert status(scene) == WRITING_FILE  # twenty minutes later, though Slack drops one after two
        await run(scene.answer.ending.finish(ANSWERED))
        assert status(scene) is None

    scene = play(story, edit_interval=0.1, can_stream=surface == "stream")
    assert max(silences) <= 0.5
    assert [file.content for message in scene.thread() for file in message.files] == [TEXT.encode()]
    assert answers(scene)[-1].extras == (IN_FILE, *FEEDBACK)
    assert COMING not in str([message.extras for message in scene.thread()])


def test_the_status_goes_on_while_the_file_is_slow() -> None:
    async def story(scene: Scene) -> None:
        await the_rest(scene, await until_full(scene))
        ending = asyncio.ensure_future(run(scene.answer.ending.finish(ANSWERED)))
        for _ in range(12):
            await asyncio.sleep(10)
            assert status(scene) == WRITING_FILE
        await ending
        assert status(scene) is None

    scene = play(story, {SHOW: ["ratelimited:50", "ratelimited:80", None]}, retry_timeout=200)
    assert answers(scene)[-1].extras == (IN_FILE, *FEEDBACK)


@pytest.mark.parametrize("refused", [{GET_URL: ["missing_scope"]}, {SHOW: ["missing_scope"]}])
def test_where_slack_takes_no_file_nobody_is_told_of_one_in_the_end(refused: Any) -> None:
    async def story(scene: Scene) -> None:
        await the_rest(scene, await until_full(scene))
        assert scene.thread()[-1].extras == (COMING,)
        await run(scene.answer.ending.finish(ANSWERED))

    scene = play(story, refused)
    assert reads_as(scene.texts(), TEXT)
    assert [message.extras for message in scene.thread()][:-1] == [()] * (len(scene.thread()) - 1)
    assert scene.thread()[-1].extras == FEEDBACK


def test_a_stop_takes_the_place_of_what_was_to_come() -> None:
    async def story(scene: Scene) -> None:
        await until_full(scene)
        scene.writer.give_up_writes()
        await run(scene.answer.ending.finish(Ending(Outcome.STOPPED, note="Stopped.")))

    scene = play(story)
    assert scene.thread()[-1].extras == ("Stopped.",)
    assert GET_URL not in scene.methods()


def test_an_agent_that_breaks_off_leaves_a_file_of_what_it_said() -> None:
    note = "The agent could not finish this."

    async def story(scene: Scene) -> None:
        await the_rest(scene, await until_full(scene))
        await run(scene.answer.ending.finish(Ending(Outcome.FAILED, note=note, offer_retry=True)))

    scene = play(story)
    told = f"This answer is too long for the thread. What there is of it is in answer.md. {note}"
    assert answers(scene)[-1].extras == (told, "Try again")


def test_another_final_answer_that_fits_is_no_file() -> None:
    async def story(scene: Scene) -> None:
        await until_full(scene)
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rewrite="Right.")))

    scene = play(story)
    assert (scene.only().text, scene.only().extras) == ("Right.", FEEDBACK)


def test_a_note_that_is_refused_costs_nothing() -> None:
    async def story(scene: Scene) -> None:
        await the_rest(scene, await until_full(scene))
        assert scene.thread()[-1].extras == ()
        await run(scene.answer.ending.finish(ANSWERED))

    scene = play(story, {UPDATE: ["invalid_blocks", "internal_error", "internal_error", None]})
    assert answers(scene)[-1].extras == (IN_FILE, *FEEDBACK)
