"""The agent asks while its stream stays open: the reader sees the question at once.

A sign-in happens elsewhere, and the agent may go on by itself when it has seen it (facts: A2A 2.1). So the
link stands in the thread while the turn goes on; the turn ends as asked where the stream ends, where the
turn's time is up, or where the asker writes.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from slack_bot.testing.harness import BotHarness, run_bot
from slack_bot.testing.tape.builders import answer, chunk, on_wire, question, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.agents.memory_server import capture

LINK = "Sign in at the link"
ADDRESS = "https://login.example/x"
WAITS = "is waiting for you to sign in..."
HINT = "The agent goes on when you have signed in. If nothing happens then, reply in this thread."
REPLY = "Reply in this thread to answer."


def waiting(state: str, text: str = f"Sign in at {ADDRESS}", **changes: Any) -> dict[str, Any]:
    return {**status(state, text), "final": False, **changes}


def tape(*moments: tuple[float, dict[str, Any]], end: float | None = None, wire: str = "1.0") -> Tape:
    last = [] if end is None else [Moment(end, end="closed")]
    said = [Moment(t, event=event) for t, event in moments]
    return on_wire(Tape({"wire": "1.0"}, (Moment(0.1, event=task()), *said, *last)), wire)


def forever(*moments: tuple[float, dict[str, Any]]) -> Tape:
    """A stream that nobody closes within a day."""
    return tape(*moments, (86_400.0, status("completed")))


def signs(bot: BotHarness, root: str) -> list[str]:
    """What stands in small letters below the bot's messages."""
    blocks = [block for seen in bot.thread(root) if seen.is_bot for block in seen.blocks]
    return [each["text"] for block in blocks if block["type"] == "context" for each in block["elements"]]


def line(bot: BotHarness, root: str) -> str | None:
    return bot.thread(root)[-1].status_line


@pytest.mark.parametrize("name", ["a2asdk130_auth", "a2asdk130compat03_auth"])
@on_virtual_time
async def test_the_link_stands_there_while_the_agent_waits(name: str) -> None:
    async with run_bot(capture(name)) as bot:  # type: ignore[arg-type]  # plays recordings too
        root = await bot.ask("hi")
        await asyncio.sleep(0.8)
        assert bot.read(root) == [LINK]
        assert (signs(bot, root), line(bot, root)) == ([HINT], None)
        assert bot.workspace.session("C1", root) == "suspended"
        await bot.idle()
        assert bot.read(root) == [LINK, "thanks, signed in out of band"]
        assert (bot.outcomes, line(bot, root)) == (["answered"], None)


@on_virtual_time
async def test_an_agent_that_closes_its_stream_has_one_message_with_the_way_to_answer() -> None:
    async with run_bot(capture("a2asdk0326_auth")) as bot:  # type: ignore[arg-type]
        root = await bot.ask("hi")
        await bot.idle()
        assert (bot.read(root), signs(bot, root), bot.outcomes) == ([LINK], [REPLY], ["asked"])


@on_virtual_time
async def test_people_take_their_time_to_sign_in() -> None:
    played = tape(
        (1.0, waiting("auth-required")),
        (900.0, waiting("working", "")),
        (905.0, chunk("You are in.")),
        (906.0, status("completed")),
        end=906.1,
    )
    async with run_bot(played) as bot:
        root = await bot.ask("hi")
        for seconds in (3, 130, 500):
            await asyncio.sleep(seconds)
            assert (bot.read(root), line(bot, root), bot.outcomes) == ([LINK], None, [])
            assert bot.workspace.session("C1", root) == "suspended"
        await asyncio.sleep(270)
        assert line(bot, root) == "is thinking..."
        await bot.idle()
        assert (bot.read(root), bot.outcomes) == ([LINK, "You are in."], ["answered"])
        assert len(bot.calls("chat.postMessage")) == 1


@on_virtual_time
async def test_what_was_written_stands_above_the_link_and_what_follows_below_it() -> None:
    played = tape(
        (0.5, chunk("Looking at your files. ")),
        (3.0, waiting("auth-required")),
        (60.0, waiting("working", "")),
        (60.0, chunk("Here they are.")),
        (61.0, status("completed")),
        end=61.1,
    )
    async with run_bot(played) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(5)
        assert [text.strip() for text in bot.read(root)] == ["Looking at your files.", LINK]
        assert bot.workspace.open_streams() == []
        assert bot.workspace.session("C1", root) == "suspended"
        await bot.idle()
        assert [text.strip() for text in bot.read(root)] == ["Looking at your files.", LINK, "Here they are."]
        assert (bot.outcomes, bot.workspace.session("C1", root)) == (["answered"], "active")


@on_virtual_time
async def test_who_never_signs_in_is_asked_in_the_end() -> None:
    async with run_bot(forever((1.0, waiting("auth-required"))), answer("Then this.", ids="2")) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert (bot.read(root), bot.outcomes, line(bot, root)) == ([LINK], ["asked"], None)
        await bot.say("done", thread_ts=root)
        await bot.idle()
        assert bot.read(root)[-1] == "Then this."
        assert "task-1" in str(bot.agent.calls[-1])


@on_virtual_time
async def test_what_the_asker_writes_meanwhile_goes_to_the_waiting_agent() -> None:
    async with run_bot(forever((1.0, waiting("auth-required"))), answer("You are in.")) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(60)
        await bot.say("somebody else talks", user="U2", thread_ts=root)
        await asyncio.sleep(60)
        assert bot.outcomes == []
        await bot.say("I have signed in", thread_ts=root)
        await asyncio.sleep(10)
        assert (bot.outcomes, bot.read(root)) == (["asked", "answered"], [LINK, "You are in."])
        sent = [call.params["message"] for call in bot.agent.calls if "Stream" in call.method]
        assert [(each.get("taskId"), each["parts"][0]["text"]) for each in sent] == [
            (None, "hi"),
            ("task-1", "I have signed in"),
        ]


@on_virtual_time
async def test_a_link_is_shown_again_only_where_it_is_another_one() -> None:
    other = "Sign in at https://login.example/y"
    played = tape(
        (1.0, waiting("auth-required")),
        (5.0, waiting("auth-required")),
        (9.0, waiting("auth-required", other)),
        (20.0, status("completed", "Done.")),
        end=20.1,
    )
    async with run_bot(played) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert (bot.read(root), bot.outcomes) == ([LINK, LINK, "Done."], ["answered"])
        private = [str(seen.blocks) for seen in bot.thread(root) if seen.ephemeral_for]
        assert [ADDRESS in private[0], "login.example/y" in private[1], len(private)] == [True, True, 2]


@on_virtual_time
async def test_a_stop_while_the_agent_waits() -> None:
    async with run_bot(forever((1.0, waiting("auth-required")))) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(30)
        await bot.say("stop", thread_ts=root)
        await bot.ask("stop", thread_ts=root)
        await bot.idle()
        assert (bot.read(root)[0], bot.outcomes, line(bot, root)) == (LINK, ["stopped"], None)
        assert "Stopped" in " ".join(signs(bot, root))


@on_virtual_time
async def test_where_there_are_no_agent_sessions_a_status_says_who_is_waited_for() -> None:
    faults = {"agents.sessions.setStatus": ["feature_disabled"]}
    async with run_bot(forever((1.0, waiting("auth-required"))), faults=faults) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(400)
        assert (bot.read(root), line(bot, root)) == ([LINK], WAITS)
        await bot.idle()
        assert (bot.outcomes, line(bot, root)) == (["asked"], None)


@pytest.mark.parametrize("end", ["completed", "failed"])
@on_virtual_time
async def test_a_task_that_ends_without_an_answer_does_not_wait_for_anybody(end: str) -> None:
    played = tape((1.0, waiting("auth-required")), (9.0, status(end)), end=9.1)
    async with run_bot(played) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root)[0] == LINK
        assert bot.outcomes == [{"completed": "no_text"}.get(end, end)]


@on_virtual_time
async def test_where_the_post_is_refused_the_question_comes_with_the_end() -> None:
    faults = {"chat.postMessage": ["invalid_blocks", "invalid_blocks", None]}
    played = tape((1.0, waiting("auth-required")), end=30.0)
    async with run_bot(played, faults=faults) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert (bot.read(root), bot.outcomes) == ([LINK], ["asked"])


@on_virtual_time
async def test_a_form_behind_which_nothing_comes_ends_the_turn() -> None:
    """The task still says that it works; its reader would never see the question."""
    fields = {"input_fields": [{"field_name": "env", "field_description": "Which environment?"}]}
    form = {"artifactId": "f", "name": "UserInputMetaData", "parts": [{"kind": "data", "data": fields}]}
    asks = {"kind": "artifact-update", "taskId": "task-1", "contextId": "ctx-1", "artifact": form}
    played = tape((1.0, asks), (1.5, waiting("working", "")), (7_200.0, status("completed")), wire="0.3")
    async with run_bot(played) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(50)
        assert bot.outcomes == ["asked"]
        assert "Which environment?" in bot.thread(root)[-1].read
        assert signs(bot, root) == ["Fill this in, or reply in this thread."]


@pytest.mark.parametrize("wire", ["0.3", "1.0"])
@on_virtual_time
async def test_a_question_on_a_stream_that_stays_open_is_shown_within_seconds(wire: str) -> None:
    """input-required without `final`: nobody answers on this stream, so the turn ends."""
    asked = waiting("input-required", "Which environment?")
    played = tape((1.0, asked), (600.0, status("completed")), wire=wire)
    async with run_bot(played) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(4)
        assert (bot.read(root), signs(bot, root), bot.outcomes) == (
            ["Which environment?"],
            [REPLY],
            ["asked"],
        )


@pytest.mark.parametrize("wire", ["0.3", "1.0"])
@on_virtual_time
async def test_an_agent_that_begins_its_answer_with_the_task_as_it_waited_is_heard_to_the_end(
    wire: str,
) -> None:
    """Servers on the JavaScript SDK must begin with the task; that it waits is over when it works again."""
    played = tape(
        (0.1, task("input-required", text="Which one?")),
        (0.2, status("working")),
        (30.0, chunk("The ")),
        (60.0, chunk("first.")),
        (60.1, status("completed")),
        end=60.2,
        wire=wire,
    )
    async with run_bot(on_wire(question("Which one?"), wire), played) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["asked"]
        await bot.say("the first", thread_ts=root)
        await bot.idle()
        assert (bot.outcomes, bot.read(root)) == (["asked", "answered"], ["Which one?", "The first."])
