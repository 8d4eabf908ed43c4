"""The thread of the day before: what it is made of, and that nobody is told of it."""

from __future__ import annotations

from slack_bot.playground.visitor import CHANNEL, PEOPLE
from slack_bot.playground.yesterday import post_yesterday
from slack_bot.testing.slack.workspace import Workspace, WorkspaceRules

NOW = 1_790_000_000.0


def test_it_is_a_question_and_a_finished_answer_of_exactly_a_day_before() -> None:
    workspace = Workspace(rules=WorkspaceRules.real())
    workspace.add_channel(CHANNEL)
    post_yesterday(workspace, CHANNEL, NOW)
    (root,) = workspace.history(CHANNEL)
    question, answer = workspace.thread(CHANNEL, root.ts)
    assert question.author in PEOPLE
    assert question.text.startswith("<@U0BOT> ")
    assert (answer.is_bot, answer.state, answer.plan_failed) == (True, "sealed", False)
    assert {task.status for task in answer.tasks} == {"complete"}
    assert all(part in answer.text for part in ("## ", "**", "\n- ", "\n| --- |"))
    assert len(answer.text) < 600
    assert [float(message.ts) // 1 for message in (question, answer)] == [NOW - 86_400] * 2
    assert workspace.take() == []
    assert workspace.open_streams() == []
