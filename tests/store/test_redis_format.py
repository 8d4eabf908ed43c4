"""What is written into Redis reads back as it was."""

from __future__ import annotations

import json

from slack_bot.store.adapters import TURN
from slack_bot.store.redis_format import json_of, name_of, signal_of, thread_of, turn_of
from slack_bot.turn.progress import MessageRecord, TurnRecord
from slack_bot.turn.record import Question, ThreadKey

THREAD = ThreadKey("T1", "C1", "1.0")


def test_a_turn_and_its_messages_are_fields_of_one_hash() -> None:
    messages = (MessageRecord("2.0", "stream", body="Hello"), MessageRecord("3.0", "post"))
    turn = TurnRecord(Question(THREAD, "1.0", "U1", "T1", "hi"), 4.0, messages=messages)
    assert "Hello" not in json_of(turn)
    whole = json.loads(TURN.dump_json(turn))["messages"]
    fields = {
        "data": json_of(turn),
        "messages": "2",
        **{f"m{n}": json.dumps(each) for n, each in enumerate(whole)},
    }
    assert turn_of(fields) == turn


def test_threads_and_signals_have_names_that_read_back() -> None:
    assert thread_of(name_of(THREAD)) == THREAD
    text = json.dumps({"thread": name_of(THREAD), "kind": "stop", "values": {"user": "U1"}})
    signal = signal_of(text)
    assert (signal.thread, signal.kind, signal.values) == (THREAD, "stop", {"user": "U1"})
