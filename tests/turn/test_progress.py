"""What a store keeps of a turn."""

from slack_bot.turn.progress import MessageRecord, TurnRecord
from slack_bot.turn.record import Question, ThreadKey


def test_the_text_of_an_answer_is_without_markup_of_ours() -> None:
    first = MessageRecord("5.0", "stream", body="```\na\n", closing="```")
    second = MessageRecord("6.0", "stream", opening="```\n", body="b\n```")
    question = Question(ThreadKey("T1", "C1", "1.0"), "1.0", "U1", "T1", "q")
    turn = TurnRecord(question, 0.0, messages=(first, second))
    assert turn.text == "```\na\nb\n```"
    assert second.text == "```\nb\n```"
    assert turn.key == question.key
