"""Whole turns while Slack fails: the thread as a person reads it at the end."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Sequence
from itertools import pairwise

import pytest

from slack_bot.testing.harness import BotHarness, run_bot
from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.testing.tape.builders import answer, chunk, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.bench.reading import compare, reads_as

START, APPEND, STOP = "chat.startStream", "chat.appendStream", "chat.stopStream"
POST, UPDATE, REPLIES = "chat.postMessage", "chat.update", "conversations.replies"
STORY = " ".join(f"Sentence number {number} of a long story." for number in range(24))


def by_the_letter(text: str) -> Tape:
    """A letter every two seconds."""
    letters = [Moment(2.0 * number, event=chunk(letter)) for number, letter in enumerate(text, start=1)]
    over = letters[-1].t + 3.0
    end = (Moment(over, event=status("completed")), Moment(over + 0.1, end="closed"))
    return Tape({"wire": "0.3"}, (Moment(0.1, event=task()), *letters, *end))


def extras(bot: BotHarness, root: str) -> list[tuple[str, ...]]:
    return [message.extras for message in bot.thread(root) if message.is_bot]


def assert_at_rest(bot: BotHarness, root: str) -> None:
    """No stream is open, and what belongs under an answer stands under its last message only."""
    assert bot.workspace.open_streams() == []
    signed = ["Helpful Not helpful" in below for below in extras(bot, root)]
    assert signed == [False] * (len(signed) - 1) + [True]


@pytest.mark.parametrize("method", [START, APPEND, STOP, POST, UPDATE])
@pytest.mark.parametrize(
    "faults",
    [
        ["timeout", None],
        ["timeout!", None],
        [None, "internal_error!", "cut", None],
        ["http:503!", "http:500", None],
        ["connect", "ratelimited:3", None],
        [None, None, "invalid_arguments", None],
        ["message_not_in_streaming_state", None],
        [None, "msg_too_long", None],
    ],
    ids=str,
)
@on_virtual_time
async def test_the_reader_has_the_whole_answer_once(method: str, faults: Sequence[str | None]) -> None:
    async with run_bot(answer(STORY, seconds=40), faults={method: faults}) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert reads_as(bot.read(root), STORY)
        assert_at_rest(bot, root)
        assert bot.outcomes == ["answered"]


@pytest.mark.parametrize("calls", range(3, 8))
@on_virtual_time
async def test_a_table_written_by_the_letter_is_one_whichever_call_fails_around_its_separator(
    calls: int,
) -> None:
    table = "| a b | c d |\n|---|:-:|\n| e f | g h |\n\nDone."
    async with run_bot(
        by_the_letter(table), faults={APPEND: [*[None] * calls, "internal_error", None]}
    ) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert compare(table, bot.read(root)) is None
        assert len(bot.read(root)) == 2


@on_virtual_time
async def test_a_row_of_bars_is_not_said_twice_where_the_answer_ends_within_the_separator_below_it() -> None:
    text = "| a b | c d |\n|:--|:"
    async with run_bot(by_the_letter(text), faults={APPEND: [*[None] * 5, "internal_error", None]}) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert compare(text, bot.read(root)) is None
        assert len(bot.read(root)) == 2


@pytest.mark.parametrize("error", ["channel_type_not_supported", "user_not_found", "feature_disabled"])
@on_virtual_time
async def test_where_slack_streams_nothing_the_answer_is_edited_and_keeps_every_promise(error: str) -> None:
    long = "\n\n".join([STORY] * 16)
    async with run_bot(answer(long, seconds=60), faults={START: [error]}) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(10)
        begun = bot.read(root)
        assert begun
        await bot.idle()
        assert reads_as(bot.read(root), long)
        assert len(bot.read(root)) > 1
        assert_at_rest(bot, root)
        edits = [call for call in bot.workspace.calls if call.method == UPDATE]
        assert len(edits) > 5
        assert all(later.now - call.now > 0.1 for call, later in pairwise(edits))
        assert not [call for call in bot.workspace.calls if call.limited]


@on_virtual_time
async def test_a_refusal_is_remembered_for_the_next_question() -> None:
    faults = {START: ["feature_disabled"]}
    async with run_bot(answer("One."), answer("Two.", ids="2"), faults=faults) as bot:
        for _ in range(2):
            await bot.ask("hi")
            await bot.idle()
        assert len(bot.calls(START)) == 1


@pytest.mark.parametrize("entry", ["http:404", "http:405", "http:403", "http:413", "unknown_method"])
@on_virtual_time
async def test_a_refusal_without_a_name_costs_no_waiting_and_what_is_not_there_is_called_once(
    entry: str,
) -> None:
    is_absent = entry in ("http:404", "http:405", "unknown_method")
    tapes = (answer(STORY, seconds=10), answer("Two.", ids="2"))
    async with run_bot(*tapes, faults={START: [entry]}) as bot:
        asked = bot.now
        root = await bot.ask("hi")
        await bot.idle()
        starts, posts = (
            [call for call in bot.workspace.calls if call.method == each] for each in (START, POST)
        )
        assert reads_as(bot.read(root), STORY)
        assert bot.calls(REPLIES) == []
        assert len(starts) == (1 if is_absent else 2)  # once more in the plainest form, if it is the form
        assert posts[0].now - asked < 1.5, posts[0].now - asked
        await bot.ask("hi")
        await bot.idle()
        assert (len(bot.calls(START)) == len(starts)) is is_absent
        assert_at_rest(bot, root)


@on_virtual_time
async def test_edits_that_are_not_there_are_tried_once() -> None:
    faults = {START: ["unknown_method"], UPDATE: ["http:404"]}
    async with run_bot(answer(STORY, seconds=30), answer("Two.", ids="2", seconds=10), faults=faults) as bot:
        roots = []
        for _ in range(2):
            roots.append(await bot.ask("hi"))
            await bot.idle()
        assert reads_as(bot.read(roots[0]), STORY)
        assert bot.read(roots[1]) == ["Two."]
        assert len(bot.calls(UPDATE)) == 1


@on_virtual_time
async def test_an_answer_too_long_for_the_thread_comes_as_a_file_byte_for_byte() -> None:
    long = "\n\n".join(f"{number}. Grüße, 漢字 🎉 {STORY * 4}" for number in range(4))
    async with run_bot(answer(long, seconds=60), max_segments=3, rotate_bytes=4_000) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        thread = [message for message in bot.thread(root) if message.is_bot]
        (file,) = [file for message in thread for file in message.files]
        assert file.content == long.encode()
        shown = [message for message in thread if not message.files]
        assert len(shown) == 3
        assert any("answer.md" in text for text in shown[-1].extras)
        assert "Helpful Not helpful" in shown[-1].extras
        assert bot.workspace.open_streams() == []


@on_virtual_time
async def test_from_the_last_message_to_the_file_the_reader_is_never_left_alone() -> None:
    long = "\n\n".join(f"{number}. {STORY * 4}" for number in range(8))
    slow = {"files.completeUploadExternal": ["slow:5", "ratelimited:40", None]}
    limits = {"max_segments": 3, "rotate_bytes": 4_000, "retry_timeout": 100}
    async with run_bot(answer(long, seconds=200), faults=slow, **limits) as bot:
        signs: list[bool] = []

        def look() -> None:
            thread = [message for message in bot.thread(root) if message.is_bot]
            line = bot.workspace.status_line("C1", root, now=bot.now)
            is_written = any(message.state == "streaming" for message in thread)
            signs.append(is_written or line is not None or any(message.files for message in thread))

        root = await bot.ask("hi")
        while not bot.outcomes:
            await asyncio.sleep(0.5)
            look()
        assert signs.count(False) <= 2  # half a second each, until a status has come
        assert len(signs) > 400
        (file,) = [file for message in bot.thread(root) for file in message.files]
        assert file.content == long.encode()


@on_virtual_time
async def test_where_no_file_can_be_uploaded_there_are_more_messages() -> None:
    long = "\n\n".join(f"{number}. {STORY * 4}" for number in range(4))
    faults = {"files.getUploadURLExternal": ["missing_scope"]}
    async with run_bot(answer(long, seconds=60), max_segments=3, rotate_bytes=4_000, faults=faults) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert reads_as(bot.read(root), long)
        assert_at_rest(bot, root)


def final_differs(streamed: str, final: str) -> Tape:
    """The agent streams one text, then says that its answer is another."""
    words = [f"{word} " for word in streamed.split(" ")]
    moments = [Moment(0.1, event=task())]
    moments += [Moment(0.2 + 0.05 * number, event=chunk(word)) for number, word in enumerate(words)]
    whole = chunk(final)
    whole["append"] = False
    whole["artifact"] |= {"artifactId": "final_result-1", "name": "final_result"}
    after = 0.5 + 0.05 * len(words)
    return Tape(
        {"wire": "0.3"},
        (*moments, Moment(after, event=whole), Moment(after + 0.1, event=status("completed"))),
    )


@pytest.mark.parametrize("entry", [None, "timeout", "timeout!", "internal_error!"])
@pytest.mark.parametrize("pieces", [1, 3, 9])
@on_virtual_time
async def test_another_final_answer_stands_there_once(entry: str | None, pieces: int) -> None:
    final = "\n\n".join(f"{number}: {STORY}" for number in range(pieces))
    tape = final_differs(STORY, final)
    silent = [entry, None]
    faults = {UPDATE: silent, "chat.delete": silent, POST: silent}
    async with run_bot(tape, rotate_bytes=2_000, faults=faults) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert reads_as(bot.read(root), final)
        assert_at_rest(bot, root)


# -- stops


@on_virtual_time
async def test_a_stop_does_not_wait_for_slacks_budget() -> None:
    async with run_bot(answer(STORY, seconds=40), faults={APPEND: [None, "ratelimited:50"]}) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(10)
        before = bot.read(root)
        began = bot.now
        await bot.ask("stop", thread_ts=root)
        await bot.idle()
        assert bot.now - began < 5
        assert bot.read(root) == before
        assert any("Stopped" in text for text in extras(bot, root)[0])
        assert bot.workspace.open_streams() == []
        assert bot.outcomes[0] == "stopped"


@on_virtual_time
async def test_a_stop_while_the_start_has_no_answer_leaves_no_stream_behind() -> None:
    for entry in ("timeout", "timeout!"):
        async with run_bot(answer(STORY, seconds=40), faults={START: [entry, None]}) as bot:
            root = await bot.ask("hi")
            await asyncio.sleep(3)
            await bot.ask("stop", thread_ts=root)
            await bot.idle()
            assert bot.workspace.open_streams() == []
            assert any("Stopped" in text for below in extras(bot, root) for text in below)
            assert bot.outcomes[0] == "stopped"


@on_virtual_time
async def test_slacks_own_stop_ends_quietly(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    async with run_bot(answer(STORY, seconds=40)) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(10)
        (before,) = bot.read(root)
        bot.workspace.stop("U1", "C1", root, now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert bot.read(root) == [before]
        assert any("Stopped" in text for text in extras(bot, root)[0])
        assert bot.outcomes == ["stopped"]
        assert caplog.records == []


# -- ends


@on_virtual_time
async def test_a_thread_that_is_deleted_meanwhile_ends_quietly_and_truthfully() -> None:
    async with run_bot(answer(STORY * 4, seconds=40), rotate_bytes=2_000) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(2)
        bot.workspace.delete_root("C1", root, now=bot.now)
        await bot.idle()
        assert bot.outcomes == ["gone"]
        assert [message.ts for message in bot.workspace.history("C1")] == []
        assert bot.workspace.open_streams() == []


def deaf(*methods: str) -> WorkspaceRules:
    """A workspace that says ok to `markdown_text` in these methods and shows nothing of it."""
    return dataclasses.replace(WorkspaceRules.real(), ignores_markdown_text=frozenset(methods))


@pytest.mark.parametrize("seconds", [pytest.param(60, marks=pytest.mark.slow), 12])
@pytest.mark.parametrize("methods", [(UPDATE,), (POST,), (UPDATE, POST)], ids=str)
@on_virtual_time
async def test_a_form_that_is_taken_and_not_shown_costs_no_text(
    methods: Sequence[str], seconds: float
) -> None:
    long = "\n\n".join([STORY] * 16)
    faults = {START: ["unknown_method"]}
    tapes = (answer(long, seconds=seconds), answer(STORY, seconds=20, ids="2"))
    async with run_bot(*tapes, faults=faults, rules=deaf(*methods)) as bot:
        for text in (long, STORY):
            root = await bot.ask("hi")
            await bot.idle()
            assert reads_as(bot.read(root), text)
            assert_at_rest(bot, root)
        for method in methods:  # found out once, for all turns
            assert len([args for args in bot.calls(method) if "markdown_text" in args]) == 1


@pytest.mark.parametrize("surface", ["stream", "edit"])
@pytest.mark.parametrize("methods", [(UPDATE,), (UPDATE, POST)], ids=str)
@on_virtual_time
async def test_a_rewrite_that_is_taken_and_not_shown_is_made_in_another_form(
    methods: Sequence[str], surface: str
) -> None:
    streamed = "\n\n".join([STORY] * 12)
    final = "\n\n".join(f"Quite another paragraph {number}: {STORY}" for number in range(14))
    faults = {START: ["unknown_method"]} if surface == "edit" else {}
    tape = final_differs(streamed, final)
    async with run_bot(tape, faults=faults, rules=deaf(*methods), rotate_bytes=3_000) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert len(bot.read(root)) > 4
        assert reads_as(bot.read(root), final)
        assert_at_rest(bot, root)
