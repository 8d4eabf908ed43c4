"""What stands in a person's Home tab: their own questions, and how far each is."""

from __future__ import annotations

from slack_bot.features.home.home import shown_turns
from slack_bot.turn.progress import Stage, TurnRecord
from slack_bot.turn.record import Question, ThreadKey

HERE = ThreadKey("T1", "C1", "1.0")


def turn(ts: str, user: str = "U1", thread: ThreadKey = HERE, stage: Stage = Stage.SENT) -> TurnRecord:
    return TurnRecord(Question(thread, ts, user, "T1", f"question {ts}"), 0.0, stage)


def test_one_s_own_questions_the_newest_first() -> None:
    kept = [
        turn("1.0", "U2"),
        turn("1.1", stage=Stage.ACCEPTED),
        turn("2.0", thread=ThreadKey("T1", "D1", "2.0")),
        turn("3.0", thread=ThreadKey("T1", "C2", "3.0"), stage=Stage.WATCHED),
        turn("3.1", thread=ThreadKey("T1", "C2", "3.0")),
        turn("4.0", thread=ThreadKey("T2", "C3", "4.0")),
    ]
    shown = list(shown_turns(kept, "U1", "T1", "https://acme.slack.com/", {}))
    assert [(each.text, each.state) for each in shown] == [
        ("question 3.1", "Being answered"),
        ("question 3.0", "The agent is still working on it"),
        ("question 2.0", "Being answered"),
        ("question 1.1", "Waits, number 1 in line"),
    ]
    assert shown[1].link == "https://acme.slack.com/archives/C2/p30"
    assert shown[3].link == "https://acme.slack.com/archives/C1/p11?thread_ts=1.0&cid=C1"
