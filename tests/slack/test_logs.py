"""Log lines name an event; ids are fields, and no text of an answer and no token is in them."""

from __future__ import annotations

import ast
import logging
from pathlib import Path
from typing import Any

import pytest

from slack_bot import slack
from slack_bot.errors import SlackError
from slack_bot.slack.model import Batch, Ending
from slack_bot.testing import virtual_clock
from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.slack.workspace import BOT_TOKEN
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.actions import CardState, TaskCard
from slack_bot.turn.record import Outcome, ThreadKey
from tests.slack.scene import TURN, Scene, run
from tests.syntax_trees import syntax_tree

MODULES = sorted(Path(slack.__file__).parent.rglob("*.py"))
SECRET = "Zebra crossing "
APPEND, STOP = "chat.appendStream", "chat.stopStream"
UPDATE, POST, REPLIES = "chat.update", "chat.postMessage", "conversations.replies"


def calls_of_log(path: Path) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in ("_log", "log")
    ]


def test_each_log_line_has_its_ids_as_fields() -> None:
    found = 0
    for path in MODULES:
        for call in calls_of_log(path):
            found += 1
            where = f"{path.name}:{call.lineno}"
            assert "extra" in {keyword.arg for keyword in call.keywords}, where
            words = [node.value for node in call.args if isinstance(node, ast.Constant)]
            assert not any("turn" in str(word).split() for word in words), where
            assert not any(isinstance(node, ast.JoinedStr) for node in call.args), where
    assert found > 3


@pytest.mark.parametrize(
    "faults",
    [
        {APPEND: ["timeout!"], STOP: ["timeout!", None], REPLIES: ["missing_scope"], UPDATE: ["no_text"]},
        {"chat.startStream": ["timeout"], REPLIES: ["timeout"]},
        {STOP: ["internal_error"]},
        {APPEND: ["message_not_in_streaming_state"], UPDATE: ["block_mismatch"], "chat.delete": ["no_text"]},
        {"chat.startStream": ["is_archived"]},
        {
            "chat.startStream": ["missing_scope"],
            POST: ["invalid_blocks"],
        },
    ],
    ids=str,
)
def test_a_turn_that_fails_is_logged_by_its_ids(faults: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "slack_bot.slack")

    async def go() -> Scene:
        scene = Scene(faults)
        scene.writer.name_task("task-1")
        scene.writer.name_task(None)
        try:
            await run(scene.answer.show(Batch(SECRET, (TaskCard("a", SECRET, CardState.RUNNING),), SECRET)))
            await run(scene.answer.show(Batch(SECRET)))
            await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest=SECRET, note="Note.")))
        except SlackError:
            pass
        return scene

    scene = virtual_clock.run(go())
    records = [record for record in caplog.records if record.name.startswith("slack_bot.slack")]
    assert records
    for record in records:
        ids = tuple(vars(record)[name] for name in ("turn", "thread_ts", "task"))
        assert ids == (TURN, scene.root, "task-1")
        for word in (TURN, scene.root, SECRET.strip(), BOT_TOKEN):
            assert word not in record.getMessage()


@on_virtual_time
async def test_the_mark_of_a_queued_question_and_a_hint_are_logged_by_their_thread(
    caplog: pytest.LogCaptureFixture,
) -> None:
    faults = {"reactions.add": ["missing_scope"], "chat.postEphemeral": ["missing_scope"]}
    async with run_bot(answer("Yes."), faults=faults) as bot:
        root = await bot.ask("one")
        await bot.ask("two", thread_ts=root)
        await bot.app.threads.notices.reply(ThreadKey("T1", CHANNEL, root), "U2", "psst")
        await bot.idle()
    records = [record for record in caplog.records if record.name == "slack_bot.slack.api"]
    assert [vars(record)["thread_ts"] for record in records] == [root, root]
