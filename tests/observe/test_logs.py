"""What stands in a log line, and what never does."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Iterator

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.observe.facts import (
    AgentEvent,
    EventHandled,
    Fact,
    SlackCalled,
    TurnEnded,
    TurnStarted,
    reference_of,
    wants_details,
)
from slack_bot.observe.logs import LogLines, LogObserver, log_if_broken, setup


@pytest.fixture(autouse=True)
def root_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = before[0], before[1]


def record(message: str, *args: object, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("slack_bot.x", logging.INFO, __file__, 1, message, args, None)
    made.created, made.msecs = 0.25, 250.0
    vars(made).update(extra)
    return made


def test_a_line_of_text_ends_with_the_ids() -> None:
    line = LogLines("text").format(record("turn %s", "begins", turn="T1:C1:1.0", thread_ts="1.0", task=None))
    assert (
        line
        == "1970-01-01T00:00:00.250Z INFO slack_bot.x: turn begins [turn=T1:C1:1.0 thread=1.0 ref=1af82667]"
    )
    assert LogLines("text").format(record("hello")).endswith("slack_bot.x: hello")


def test_an_entry_of_json_is_one_line() -> None:
    line = LogLines("json").format(record("first\nsecond 😀", turn="t", task="k"))
    assert "\n" not in line
    assert json.loads(line) == {
        "time": "1970-01-01T00:00:00.250Z",
        "level": "info",
        "logger": "slack_bot.x",
        "message": "first\nsecond 😀",
        "turn": "t",
        "task": "k",
        "ref": reference_of("t"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "token xoxb-12-hunter2",
        "xapp-1-A-hunter2",
        "xoxe.xoxp-1-hunter2",
        "{'Authorization': 'Bearer hunter2.part/two=='}",
        "the agent's key is s3cret-hunter2!",
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_token_is_never_in_a_line(text: str, form: str) -> None:
    formatter = LogLines(form, ("s3cret-hunter2!", ""))
    assert "hunter2" not in formatter.format(record(text))
    assert "hunter2" not in formatter.format(record("%s", text))


def test_nor_is_it_in_a_traceback() -> None:
    entry = record("broke")
    try:
        raise ValueError("xoxb-12-hunter2")
    except ValueError:
        entry.exc_info = sys.exc_info()
    line = LogLines("text").format(entry)
    assert "hunter2" not in line
    assert "ValueError: [secret removed]" in line


def test_what_is_not_ours_begins_no_line_and_moves_no_cursor() -> None:
    entry = record("question: %s", "hi\n2026-01-01T00:00:00.000Z ERROR forged\r\x1b[2K\x9b1A\u2028x\u202ey")
    line = LogLines("text").format(entry)
    assert line.splitlines() == [line]
    assert "hi\\n2026-01-01" in line
    assert "\\r\\x1b[2K\\x9b1A\\u2028x\\u202ey" in line


def test_a_traceback_is_indented_below_its_line() -> None:
    entry = record("broke")
    try:
        raise ValueError("one\n2026-01-01T00:00:00.000Z ERROR forged\x1b[2K")
    except ValueError:
        entry.exc_info = sys.exc_info()
    first, *rest = LogLines("text").format(entry).splitlines()
    assert first.endswith("slack_bot.x: broke")
    assert "    2026-01-01T00:00:00.000Z ERROR forged\\x1b[2K" in rest
    assert all(each.startswith("    ") for each in rest)


def test_setup_puts_one_handler_and_quietens_the_libraries() -> None:
    setup("info", "json", ("secret",))
    setup("warning", "text")
    (handler,) = logging.getLogger().handlers
    assert handler.formatter is not None
    assert handler.formatter.format(record("hello")).endswith("slack_bot.x: hello")
    assert logging.getLogger().level == logging.WARNING
    assert logging.getLogger("httpx").level == logging.WARNING
    assert AsyncWebClient()._logger.level == logging.WARNING  # else each call is put into words


FACTS: list[Fact] = [
    TurnStarted(0.0, "t", "U1", "C1", "1.0", "what is agntcy"),
    AgentEvent(0.1, "t", "streaming_result", {"text": "what is agntcy"}),
    EventHandled(0.2, "t", "AnswerText('agntcy')", (), "answering"),
    SlackCalled(0.3, "t", "chat.startStream", {"text": "agntcy"}, True, None, 0.1),
    SlackCalled(0.4, "t", "chat.appendStream", {"text": "agntcy"}, False, "ratelimited", 0.1),
    TurnEnded(0.5, "t", "failed", "the agent failed", "ctx", "task-1", None, {}, 0),
]


def test_turns_are_logged_at_info_without_their_text(caplog: pytest.LogCaptureFixture) -> None:
    observer = LogObserver()
    with caplog.at_level(logging.DEBUG):
        for fact in FACTS:
            observer(fact)
    spoken = [entry for entry in caplog.records if entry.levelno >= logging.INFO]
    assert [entry.getMessage() for entry in spoken] == ["turn begins", "turn ends: failed (the agent failed)"]
    assert [vars(entry)["thread_ts"] for entry in spoken] == ["1.0", "1.0"]
    assert vars(spoken[1])["task"] == "task-1"
    assert len(caplog.records) == len(FACTS) + 1


async def test_a_task_is_logged_only_if_it_broke(caplog: pytest.LogCaptureFixture) -> None:
    async def work(error: Exception | None = None) -> None:
        if error is not None:
            raise error

    tasks = [asyncio.create_task(work(error)) for error in (None, ValueError("no"), None)]
    tasks[2].cancel()
    await asyncio.wait(tasks)
    for task in tasks:
        log_if_broken(task, "T1:C1:1.0")
    (entry,) = caplog.records
    assert entry.getMessage() == "a background task broke" and vars(entry)["turn"] == "T1:C1:1.0"
    assert entry.exc_info is not None and isinstance(entry.exc_info[1], ValueError)


def test_an_id_of_an_agent_begins_no_line() -> None:
    entry = record("turn ends")
    entry.task = "t]\n2026-01-01T00:00:00.000Z ERROR slack_bot: forged ["
    line = LogLines("text").format(entry)
    assert "\n" not in line and "forged" in line


def test_a_secret_that_begins_another_leaves_nothing_of_it() -> None:
    line = LogLines("text", ("hunter2", "hunter2-and-more")).format(
        record("key hunter2-and-more, or hunter2")
    )
    assert line.endswith("key [secret removed], or [secret removed]")


def test_facts_of_single_events_are_used_at_debug_only() -> None:
    turns = logging.getLogger("slack_bot.turns")
    before = turns.level
    try:
        for level, expected in ((logging.INFO, False), (logging.DEBUG, True)):
            turns.setLevel(level)
            assert wants_details(LogObserver()) is expected
    finally:
        turns.setLevel(before)
