"""What a log keeps of a thread's turns, and what it lets go."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from slack_bot.agents.wire.frames import decode
from slack_bot.observe.facts import AgentEvent, EventHandled, Fact, MessageIgnored, TurnStarted
from slack_bot.tools.turn_log import (
    AgentOutput,
    LoggedTurn,
    StreamText,
    TextChange,
    TurnLog,
    is_of_stop,
    name_of,
    non_space_chars,
    text_of,
)
from slack_bot.turn.events import AnswerText, FinalAnswer, Narrated, StopRequested, StreamEnd, StreamEnded
from tests.tools.trace.turns import START, called, closed, decided, event, logged, opened, raw


def asked_again(t: float) -> Fact:
    return replace(cast(TurnStarted, opened("once more")), at=START + t)


def outputs(log: TurnLog) -> list[AgentOutput]:
    return [entry for entry in log.entries if isinstance(entry, AgentOutput)]


def poll(t: float, **more: Any) -> Fact:
    return AgentEvent(START + t, "q", "task", {"asked": True, **more})


def test_an_event_has_a_number_a_name_and_its_text() -> None:
    (output,) = outputs(logged(opened(), event(1.0, "hi")))
    assert (output.at, output.number, output.name) == (START + 1.0, 1, "streaming_result")
    assert (output.text, output.new_text) == ("hi", "hi") and output.frame is not None


def test_what_the_bot_read_itself_has_no_number_and_is_not_counted() -> None:
    task = {"kind": "task", "id": "t", "status": {"state": "working"}}
    log = logged(opened(), poll(1.0, kind="task", state="working"), poll(2.0, **task), event(3.0, "hi"))
    assert [(each.number, each.name) for each in outputs(log)] == [
        (None, "task working"), (None, "task working"), (1, "streaming_result")
    ]  # fmt: skip
    assert +log.events == {"streaming_result": 1}


def test_an_event_that_cannot_be_read_keeps_its_kind() -> None:
    (output,) = outputs(logged(AgentEvent(START, "q", "task", {"error": {"code": 1}})))
    assert (output.name, output.text, output.frame) == ("task", "", None)


def test_each_question_begins_a_turn_that_knows_what_could_be_read_before() -> None:
    log = logged(opened(), (1.0, "one"), closed(2.0), asked_again(3.0), (4.0, "one two"), closed(5.0))
    first, second = log.turns
    assert (first.before, second.before, second.number) == ("", "one", 1)
    assert [list(turn.texts())[-1][1] for turn in log.turns] == ["one", "one two"]
    assert first.ended == closed(2.0) and second.ended == closed(5.0)
    assert second.started == asked_again(3.0)


def test_the_text_is_kept_as_changes() -> None:
    log = logged((1.0, ""), (2.0, "a b"), (2.5, "a b"), (3.0, "a b c"), (4.0, "a x"), (5.0, ""))
    assert log.text == ""
    assert log.turns[0].changes == [
        TextChange(START + 1.0, 0, "", 0, 0),
        TextChange(START + 2.0, 0, "a b", 3, 2),
        TextChange(START + 3.0, 3, " c", 5, 3),
        TextChange(START + 4.0, 2, "x", 3, 2),
        TextChange(START + 5.0, 0, "", 0, 0),
    ]
    assert [text for _, text in log.turns[0].texts()] == ["", "a b", "a b c", "a x", ""]


def test_a_long_stream_fills_no_memory() -> None:
    log = TurnLog()
    log.take(opened())
    for n in range(100):
        log.take(AgentEvent(START + n, "q", "stream", raw("x" * 1000)))
        log.take(decided(n, AnswerText("word")))
        log.look(START + n, "word " * n)
    assert not outputs(log) and not log.turns[0].handled
    assert log.events == {"stream": 100}
    assert sum(len(change.added) for change in log.turns[0].changes) == 5 * 99


def test_what_follows_gets_every_entry_with_its_turn() -> None:
    got = list[tuple[int, str]]()
    log = TurnLog(lambda turn, entry: got.append((turn.number, type(entry).__name__)))
    ignored = MessageIgnored(START, "U1", "C1", "1.0", "1.0", "hi", "not for the bot")
    for fact in (opened(), ignored, event(1.0, "hi"), decided(1.0, AnswerText("hi")), asked_again(2.0)):
        log.take(fact)
    log.look(START + 3.0, "hi")
    assert got == [(0, "TurnStarted"), (0, "AgentOutput"), (0, "EventHandled"), (1, "TurnStarted"),
                   (1, "TextChange")]  # fmt: skip
    assert len(list(log.entries)) == 3


def test_the_first_answer_the_first_end_and_the_agents_own_word() -> None:
    log = logged(
        opened(),
        decided(1.0, AnswerText("late"), late=True),
        decided(1.5, Narrated("hm")),
        decided(2.0, AnswerText("hi")),
        decided(3.0, StreamEnded(StreamEnd.CLOSED)),
        decided(4.0, FinalAnswer("hi", "the last text", certain=False)),
        decided(5.0, FinalAnswer("hi", "final_result")),
    )
    turn = log.turns[0]
    assert (turn.first_answer, turn.first_end, turn.settled) == (START + 2.0, START + 3.0, START + 5.0)
    assert len(turn.handled) == 5


@pytest.mark.parametrize("late", [False, True])
def test_a_stop_is_known_however_late_it_came(late: bool) -> None:
    log = logged(opened(), EventHandled(START, "q", StopRequested("U1"), (), "stopping", late))
    assert log.turns[0].is_stopped
    log.take(asked_again(1.0))
    assert not log.turns[-1].is_stopped


def test_a_call_that_only_found_that_the_human_had_stopped() -> None:
    assert is_of_stop("stopped_by_user", False) and is_of_stop("message_not_in_streaming_state", True)
    assert not is_of_stop("message_not_in_streaming_state", False) and not is_of_stop(None, True)


def test_calls_and_white_space() -> None:
    call = called(1.0, "chat.update")
    assert logged(opened(), call, closed(2.0)).turns[0].calls == [call]
    assert LoggedTurn().calls == [] and non_space_chars(" a\tb\n") == 2


# -- what an event of the agent says -------------------------------------------------------------------------

PART = [{"kind": "text", "text": "hi"}]
MESSAGE = {"kind": "message", "messageId": "m1", "role": "agent", "parts": PART}


def chunk(text: str, append: bool = True, artifact_id: str = "a") -> dict[str, Any]:
    artifact = {"artifactId": artifact_id, "parts": [{"kind": "text", "text": text}]}
    return {"kind": "artifact-update", "append": append, "artifact": artifact}


def task(*texts: str, said: str = "", state: str = "working") -> dict[str, Any]:
    status: dict[str, Any] = {"state": state}
    if said:
        status["message"] = {**MESSAGE, "parts": [{"kind": "text", "text": said}]}
    artifacts = [
        {"artifactId": chr(97 + number), "parts": [{"kind": "text", "text": text}]}
        for number, text in enumerate(texts)
    ]
    return {"kind": "task", "id": "t", "status": status, "artifacts": artifacts}


def new_text(known: StreamText, event: dict[str, Any]) -> str:
    return known.new_text(decode(event))


@pytest.mark.parametrize(
    "event,name,text",
    [
        ({"kind": "artifact-update", "artifact": {"parts": PART}}, "artifact", "hi"),
        (
            {"kind": "status-update", "status": {"state": "working", "message": MESSAGE}},
            "status working",
            "hi",
        ),
        ({"kind": "status-update", "status": {"state": "working"}}, "status working", ""),
        (task("hi", state="completed"), "task completed", "hi"),
        (MESSAGE, "message", "hi"),
        ({"kind": "odd"}, "unknown", ""),
    ],
)
def test_names_and_texts_of_events(event: dict[str, Any], name: str, text: str) -> None:
    assert (name_of(decode(event)), text_of(decode(event))) == (name, text)
    assert new_text(StreamText(), event) == text


def test_a_task_says_again_what_came_in_pieces() -> None:
    known = StreamText()
    assert [new_text(known, chunk(each)) for each in ("one ", "two ")] == ["one ", "two "]
    assert new_text(known, task("one two three")) == "three"
    assert new_text(known, task("one two three")) == ""
    assert new_text(known, task("one two three", "another")) == "another"


def test_what_begins_otherwise_is_all_new() -> None:
    known = StreamText()
    new_text(known, chunk("one two "))
    assert new_text(known, task("one, two, three")) == "one, two, three"
    new_text(known, chunk("anew", append=False))
    assert new_text(known, task("anew, and more")) == ", and more"


def test_a_status_message_in_the_task_is_known_by_its_id() -> None:
    known = StreamText()
    status = {"state": "working", "message": MESSAGE}
    new_text(known, {"kind": "status-update", "status": status})
    assert new_text(known, task(said="hi")) == ""
    assert new_text(known, task(said="hi there")) == " there"
