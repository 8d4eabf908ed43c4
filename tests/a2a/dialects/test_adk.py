"""ADK's three modes (facts: A2A 8; the recordings `adk213_*`)."""

from __future__ import annotations

from slack_bot.a2a.parser import EventParser
from tests.a2a.parser_turns import (
    COMPLETED,
    FOX,
    SUBMITTED,
    WORDS,
    artifact,
    data,
    tell,
    text,
    twice,
    working,
)

ABOUT = {"adk_app_name": "agent"}
CALL = data({"name": "lookup", "id": "f1", "args": {"q": "x"}}, adk_type="function_call")
RESULT = data({"name": "lookup", "id": "f1", "response": {"found": "x"}}, adk_type="function_response")
LOOK = "Let me look that up."
TOOL_TURN = (
    SUBMITTED,
    working(**ABOUT),
    working(*text(LOOK), *CALL, **ABOUT),
    working(*RESULT, **ABOUT),
    working(*text(FOX), **ABOUT),
    artifact(text(FOX), **ABOUT),
    COMPLETED,
)


def test_by_default_the_text_comes_twice() -> None:
    told = tell(SUBMITTED, working(*text(FOX), **ABOUT), artifact(text(FOX), **ABOUT), COMPLETED)
    assert told.shown == FOX


def test_text_before_a_tool_call_is_narration_and_the_call_a_card() -> None:
    told = tell(*TOOL_TURN)
    assert told.shown == FOX
    assert told.cards == {"lookup": "complete"}


def test_with_streaming_the_text_comes_three_times_and_live_from_the_second_turn_on() -> None:
    deltas = [working(*text(word), message_id=word, **ABOUT) for word in WORDS]
    frames = (SUBMITTED, *deltas, working(*text(FOX), **ABOUT), artifact(text(FOX), **ABOUT), COMPLETED)
    first, second = twice(*frames)
    assert first.shown == second.shown == FOX
    assert first.lessons == {"answer_source": "status"}
    assert second.lessons == {}
    before_artifact = tell(*frames[:-2], habits=first.lessons)
    assert before_artifact.live == FOX


def test_a_habit_that_narration_breaks_is_given_up() -> None:
    told = tell(
        *TOOL_TURN[:2], working(*text(LOOK), **ABOUT), *TOOL_TURN[2:], habits={"answer_source": "status"}
    )
    assert told.shown == FOX
    assert told.lessons == {"answer_source": "hold"}


def test_with_the_extension_each_model_turn_is_an_artifact_that_replaces_itself() -> None:
    streamed = [artifact(text(word), "a2", None if word == "The " else True, **ABOUT) for word in WORDS]
    told = tell(
        SUBMITTED,
        artifact(text(LOOK), "a1", **ABOUT),
        artifact(CALL, "a1c", **ABOUT),
        artifact(RESULT, "a1r", **ABOUT),
        *streamed,
        artifact(text(FOX), "a2", **ABOUT),
        COMPLETED,
    )
    assert told.live == f"{LOOK}\n\n{FOX}"
    assert told.shown == FOX
    assert told.cards == {"lookup": "complete"}


def test_it_is_recognised() -> None:
    parser = EventParser()
    parser.feed(working(**ABOUT))
    assert parser.dialect == "adk"
