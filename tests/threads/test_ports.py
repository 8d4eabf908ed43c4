"""What a bot without a feature does in its place. Whole bots without one are in `tests/features`."""

from __future__ import annotations

from slack_bot.agents.push_target import PushTarget
from slack_bot.threads.ports import ThreadPorts
from slack_bot.turn.progress import TurnRecord
from slack_bot.turn.record import Question, ThreadKey

QUESTION = Question(ThreadKey("T1", "C1", "1.0"), "1.0", "U1", "T1", "hi")


async def test_what_an_agent_asks_is_answered_in_words() -> None:
    forms = ThreadPorts().forms
    assert not forms.can_be_answered
    assert await forms.words_withheld(QUESTION) is None
    assert await forms.stop(QUESTION.thread, "U1") is False


async def test_no_agent_is_told_where_to_post() -> None:
    news, turn = ThreadPorts().news, TurnRecord(QUESTION, 1.0, task_id="t")
    assert news.new_target(turn) is None
    assert await news.offer(turn, PushTarget.new("https://bot.example")) is False


async def test_the_agent_is_told_nothing_beside_the_question() -> None:
    context = ThreadPorts().context
    await context.overhear(QUESTION, {}, is_asked=True)
    await context.reword(QUESTION.thread, {}, is_gone=True)
    context.viewed(("T1", "U1"), ("C2",))
    context.forget()
    around = await context.look_around(QUESTION, (), "email")
    assert (around.part(takes_json=True), around.metadata, around.heard) == (None, {}, None)
