"""What a reader sees of ADK (facts: A2A 8; the recordings `adk213_*`)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slack_bot.agents.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    Part,
    Snapshot,
    StatusUpdate,
    TaskState,
)
from tests.agents.parser_turns import (
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
CALL_RESULT = data({"name": "lookup", "id": "f1", "response": {"found": "x"}}, adk_type="function_response")
LOOK = "Let me look that up."
TOOL_TURN = (
    SUBMITTED,
    working(**ABOUT),
    working(*text(LOOK), *CALL, **ABOUT),
    working(*CALL_RESULT, **ABOUT),
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


def test_with_streaming_the_text_comes_three_times_and_is_live_from_its_first_token() -> None:
    deltas = [working(*text(word), message_id=word, **ABOUT) for word in WORDS]
    frames = (SUBMITTED, *deltas, working(*text(FOX), **ABOUT), artifact(text(FOX), **ABOUT), COMPLETED)
    first, second = twice(*frames)
    assert first.shown == second.shown == FOX
    assert first.learned == {"answer_source": "status", "pace": "tokens"}
    assert second.learned == {}
    assert tell(*frames[:2]).live == "The "
    assert tell(*frames[:-2], profile=first.learned).live == FOX


def handoff(agent: str) -> StatusUpdate:
    call = data({"name": f"{agent}__NS__agent", "id": agent, "args": {}}, kagent_type="function_call")
    about = {"kagent_event_type": "agent_handoff", "kagent_new_agent_name": agent}
    return StatusUpdate("t", "c", TaskState.WORKING, AgentMessage(agent, parts=call, metadata=about))


def test_an_agent_that_names_itself_calls_no_tool() -> None:
    """kagent-openai tells with each answer which agent begins (facts: A2A 14)."""
    told = tell(SUBMITTED, handoff("fox"), artifact(text(FOX)), handoff("fox"), COMPLETED)
    assert (told.shown, told.cards) == (FOX, {})
    told = tell(SUBMITTED, handoff("fox"), handoff("owl"), artifact(text(FOX)), COMPLETED)
    assert list(told.cards) == ["owl__NS__agent"]


def piece(value: str, key: str) -> ArtifactUpdate:
    return replace(artifact(text(value), key, append=True), metadata={**BY_FOX, "adk_partial": True})


BY_FOX = ABOUT | {"adk_author": "fox"}
PIECES = (piece("The ", "x"), piece("quick ", "x"), piece("brown ", "y"), piece("fox", "z"))
WHOLE = replace(artifact(text(FOX), "z"), metadata=BY_FOX)


def test_pieces_under_ids_of_other_tasks_are_one_text_and_the_whole_replaces_them() -> None:
    """ADK for JavaScript (facts: A2A 14): an id is that of any task of the author that runs at once."""
    again = piece("Next.", "y"), replace(artifact(text("Next."), "y"), metadata=BY_FOX)
    assert tell(SUBMITTED, *PIECES).live == FOX
    assert tell(SUBMITTED, *PIECES, WHOLE, COMPLETED).shown == FOX
    assert tell(SUBMITTED, *PIECES, WHOLE, *again, COMPLETED).shown == f"{FOX}\n\nNext."


def stored(*texts: tuple[str, str], state: TaskState = TaskState.WORKING) -> Snapshot:
    artifacts = tuple(Artifact(key, parts=(Part(text=value),)) for key, value in texts)
    return Snapshot("t", "c", state, artifacts=artifacts)


@pytest.mark.parametrize("seen", [0, 1, 3, 4])
def test_a_task_that_keeps_pieces_beside_the_whole_is_read_once(seen: int) -> None:
    now = stored(("x", "The quick "), ("y", "brown "), ("z", "fox"))
    end = stored(("x", "The quick "), ("y", "brown "), ("z", FOX), state=TaskState.COMPLETED)
    assert tell(SUBMITTED, working(**ABOUT), *PIECES[:seen], end).shown.split() == FOX.split()
    assert tell(SUBMITTED, working(**ABOUT), *PIECES[:seen], now, end).shown.split() == FOX.split()


def test_a_task_s_text_before_its_tool_call_is_narration() -> None:
    calling = Artifact("a", parts=(*text(LOOK), *CALL))
    end = Snapshot(
        "t",
        "c",
        TaskState.COMPLETED,
        artifacts=(calling, Artifact("b", parts=CALL_RESULT), Artifact("c", parts=text(FOX))),
    )
    assert tell(SUBMITTED, end).shown == FOX
    assert tell(SUBMITTED, working(**ABOUT), stored(("a", "Let ")), end).shown == FOX
    assert tell(SUBMITTED, artifact((*text(LOOK), *CALL), **ABOUT), end).shown == FOX


def test_narration_before_a_tool_costs_no_habit() -> None:
    told = tell(
        *TOOL_TURN[:2], working(*text(LOOK), **ABOUT), *TOOL_TURN[2:], profile={"answer_source": "status"}
    )
    assert told.shown == FOX
    assert told.learned == {"narrates": "yes"}


def test_a_question_that_was_written_live_is_not_asked_again_by_the_call_that_asks() -> None:
    asked = "Shall I delete it?"
    call = data({"name": "ask_human", "id": "1", "args": {"question": asked}}, adk_type="function_call")
    deltas = [working(*text(word), message_id=word, **ABOUT) for word in ("Shall ", "I ", "delete ", "it?")]
    needs = StatusUpdate("t", "c", TaskState.INPUT_REQUIRED, AgentMessage("m", parts=call), metadata=ABOUT)
    told = tell(SUBMITTED, *deltas, needs)
    assert (told.shown, told.asked) == (asked, "")
    assert tell(SUBMITTED, needs).asked == asked
    sent = Snapshot("t", "c", needs.state, needs.message, history=(AgentMessage("last", parts=text(asked)),))
    assert (tell(sent).shown, tell(sent).asked) == ("", asked)


def test_with_the_extension_each_model_turn_is_an_artifact_that_replaces_itself() -> None:
    streamed = [artifact(text(word), "a2", None if word == "The " else True, **ABOUT) for word in WORDS]
    told = tell(
        SUBMITTED,
        artifact(text(LOOK), "a1", **ABOUT),
        artifact(CALL, "a1c", **ABOUT),
        artifact(CALL_RESULT, "a1r", **ABOUT),
        *streamed,
        artifact(text(FOX), "a2", **ABOUT),
        COMPLETED,
    )
    assert told.live == f"{LOOK}\n\n{FOX}"
    assert told.shown == FOX
    assert told.cards == {"lookup": "complete"}
