"""What is stored reads back as it was, also what an older version wrote."""

from __future__ import annotations

import json
from typing import Any

from slack_bot.features.feedback.records import FEEDBACK
from slack_bot.store.adapters import TURN, read, write
from slack_bot.store.collection import Collection
from slack_bot.store.knowledge import CONVERSATIONS, FORMS, OVERHEARD, PROFILES, AgentContext
from slack_bot.turn.actions import CardState, TaskCard
from slack_bot.turn.extras import ExtraRecord, Source
from slack_bot.turn.feedback import FeedbackRecord
from slack_bot.turn.progress import MessageRecord, TurnRecord
from slack_bot.turn.record import Question, ThreadKey

from .contract import opened, overheard

_THREAD = ThreadKey("T1", "C1", "1.0")


def test_a_turn_of_an_older_format_has_nothing_beside_its_text() -> None:
    held = ExtraRecord("k", "2.0", "F1", is_signed=True, form=1)
    card = TaskCard("c", "Search", CardState.DONE, sources=(Source("https://x.example", "X"),))
    messages = (MessageRecord("2.0", "stream", cards=(card,)),)
    turn = TurnRecord(Question(_THREAD, "1.0", "U1", "T1", "hi"), 4.0, messages=messages, extras=(held,))
    written = json.loads(TURN.dump_json(turn))
    assert TURN.validate_json(json.dumps(written)) == turn
    del written["extras"], written["messages"][0]["cards"][0]["sources"]
    older = TURN.validate_json(json.dumps(written))
    assert (older.extras, older.messages[0].cards[0].sources) == ((), ())


def test_forms_feedback_and_what_was_said_read_back() -> None:
    said = FeedbackRecord("turn", 'U"1', "negative", 1.5, ("Wrong",), "\U0001f600", unsent=("log",), due=3.0)
    known = AgentContext("ctx", {"U2": "two", "U1": "one\x00"}, ("1.0",))
    kept: list[tuple[Collection[Any], Any]] = [
        (FEEDBACK, said),
        (FORMS, opened("h1")),
        (OVERHEARD, overheard(1)),
        (CONVERSATIONS, known),
        (PROFILES, {"wire": "1.0"}),
    ]
    for kind, record in kept:
        assert read(kind, write(kind, record)) == record
    assert list(read(CONVERSATIONS, write(CONVERSATIONS, known)).waits) == ["U2", "U1"]
