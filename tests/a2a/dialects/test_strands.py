"""Strands: status deltas and one artifact; compliant: a streamed artifact."""

from __future__ import annotations

from tests.a2a.parser_turns import COMPLETED, FOX, SUBMITTED, WORDS, artifact, tell, text, twice, working

DELTAS = [working(*text(word), message_id=word) for word in WORDS]
FRAMES = (SUBMITTED, *DELTAS, artifact(text(FOX + "\n"), name="agent_response"), COMPLETED)


def test_the_answer_stands_once_and_is_learned() -> None:
    first, second = twice(*FRAMES)
    assert first.shown.strip() == second.shown.strip() == FOX
    assert first.lessons == {"answer_source": "status"}
    assert tell(*FRAMES[:-2]).live == ""
    assert tell(*FRAMES[:-2], habits=first.lessons).live == FOX


def test_told_by_name_it_is_live_from_the_first_turn() -> None:
    assert tell(*FRAMES[:-2], dialect="strands").live == FOX
    assert tell(*FRAMES, dialect="strands").shown == FOX


def test_compliant_streaming() -> None:
    chunks = [artifact(text(word), append=word != "The ") for word in (*WORDS, "")]
    told = tell(SUBMITTED, *chunks, COMPLETED)
    assert told.live == told.shown == FOX
    assert told.lessons == {}
