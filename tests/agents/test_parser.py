"""Frames in, turn events out: what the reader must not see is not an answer, and the answer is whole."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.parser import EventParser
from slack_bot.agents.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    FileRef,
    Frame,
    MessageReply,
    Part,
    Snapshot,
    StatusUpdate,
    TaskState,
    Unknown,
)
from slack_bot.errors import BadAgentData
from slack_bot.turn.events import (
    AnswerReplaced,
    AnswerText,
    Attached,
    Event,
    FinalAnswer,
    InputRequired,
    Narrated,
    PlanChanged,
    TaskEnd,
    TaskEnded,
    TaskKnown,
    ToolEnded,
    ToolStarted,
)
from slack_bot.turn.form import Field, Form, FormKind, ReplyFormat

from . import hostile_events

ANSWER = {"is_final_answer": True}
NARRATION = {"is_narration": True}


def text(value: str) -> tuple[Part, ...]:
    return (Part(text=value),)


def chunk(
    value: str, name: str = "streaming_result", metadata: dict[str, Any] | None = None, **more: Any
) -> ArtifactUpdate:
    about = {key: more.pop(key) for key in ("artifact_id", "description") if key in more}
    artifact = Artifact(name=name, parts=text(value) if value else (), metadata=metadata or {}, **about)
    return ArtifactUpdate(artifact, **more)


def carrying(name: str, data: object) -> ArtifactUpdate:
    return ArtifactUpdate(Artifact(name=name, parts=(Part(data=data, has_data=True),)))


def status(state: TaskState, said: str = "") -> StatusUpdate:
    return StatusUpdate(state=state, message=AgentMessage(parts=text(said)) if said else None)


def parse(*frames: Frame, dialect: str = "auto", answer_source: str = "auto") -> list[Event]:
    parser = EventParser(dialect, answer_source)
    events = [event for frame in frames for event in parser.feed(frame)]
    return [*events, *parser.finish()]


def answer_of(events: list[Event]) -> str:
    """What a reader would hold in the end."""
    whole = ""
    for event in events:
        match event:
            case AnswerText(more):
                whole += more
            case AnswerReplaced(new) | FinalAnswer(new):
                whole = new
            case _:
                pass
    return whole


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events if not (isinstance(event, Narrated) and not event.text)]


COMPLETED = status(TaskState.COMPLETED)


def test_generic_artifacts_are_the_answer_live() -> None:
    events = parse(
        Snapshot("t", "c", TaskState.SUBMITTED),
        status(TaskState.WORKING, "Looking up"),
        chunk("The ", "answer", artifact_id="a"),
        chunk("fox.", "answer", artifact_id="a", append=True, last_chunk=True),
        COMPLETED,
    )
    assert kinds(events) == ["TaskKnown", "Narrated", "AnswerText", "AnswerText", "TaskEnded", "FinalAnswer"]
    assert answer_of(events) == "The fox."
    assert events[0] == TaskKnown("t", "c", None, reason="named by the agent")


def test_the_flags_are_honoured_in_every_dialect() -> None:
    events = parse(chunk("hm", "answer", NARRATION), chunk("Yes.", "answer", {**NARRATION, **ANSWER}))
    assert kinds(events) == ["Narrated", "AnswerText", "FinalAnswer"]
    assert answer_of(events) == "Yes."


def test_ids_are_learned_from_any_event_and_told_once() -> None:
    parser = EventParser()
    first = parser.feed(StatusUpdate("t", None, TaskState.WORKING, metadata={"trace_id": "x"}))
    assert first[0] == TaskKnown("t", None, "x", reason="named by the agent")
    second = parser.feed(chunk("a", "answer", context_id="c", task_id="t"))
    assert second[0] == TaskKnown(None, "c", None, reason="named by the agent")
    assert not [
        event for event in parser.feed(chunk("b", "answer", task_id="t")) if isinstance(event, TaskKnown)
    ]
    third = parser.feed(chunk("c", "answer", {"trace_id": "y"}))
    assert third[0] == TaskKnown(None, None, "y", reason="named by the agent")
    fourth = parser.feed(MessageReply(AgentMessage(task_id="t2")))
    assert fourth[0] == TaskKnown("t2", None, None, reason="named by the agent")
    odd = [*parser.feed(Unknown("x")), *parser.feed(StatusUpdate("", "", metadata={"trace_id": 7}))]
    assert not [event for event in odd if isinstance(event, TaskKnown)]


def test_a_chunk_for_an_unknown_artifact_creates_it_and_a_full_text_replaces() -> None:
    events = parse(
        chunk("Let me look that up. ", "", artifact_id="a", append=True),
        chunk("The fox.", "result", artifact_id="a", append=False, last_chunk=True),
        COMPLETED,
    )
    assert kinds(events) == ["AnswerText", "AnswerReplaced", "TaskEnded", "FinalAnswer"]
    assert answer_of(events) == "The fox."


def test_marked_caipe_text_streams_and_the_final_result_closes_it() -> None:
    events = parse(
        chunk("I'll search", metadata=NARRATION, append=False),
        chunk("# Answer\n", metadata=ANSWER, append=True),
        chunk("# Answer\nBody.\n", "final_result"),
    )
    assert kinds(events) == ["Narrated", "AnswerText", "FinalAnswer"]
    assert events[-1] == FinalAnswer("# Answer\nBody.\n", "final_result", reason="the agent's final result")


def test_unmarked_caipe_text_is_held_and_is_the_answer_only_if_nothing_better_came() -> None:
    held = parse(chunk("Hello "), chunk("world"))
    assert kinds(held) == ["Narrated", "Narrated", "FinalAnswer"]
    assert answer_of(held) == "Hello world"
    assert held[-1] == FinalAnswer("Hello world", "unmarked text", certain=False, reason="best of what came")
    assert answer_of(parse(chunk("thoughts"), chunk("Answer", "final_result"))) == "Answer"


def test_the_old_supervisors_stream_is_its_answer_when_told_so() -> None:
    events = parse(chunk("Hello "), chunk("world"), dialect="caipe-0.2")
    assert kinds(events) == ["AnswerText", "AnswerText", "FinalAnswer"]


def test_unmarked_text_after_the_answer_began_belongs_to_it() -> None:
    assert answer_of(parse(chunk("One ", metadata=ANSWER), chunk("two"))) == "One two"


def test_unmarked_text_of_a_failed_task_is_told_without_the_reason_of_the_failure() -> None:
    events = parse(chunk("Half of "), chunk("it. time-out"), status(TaskState.FAILED, "time-out"))
    assert kinds(events) == ["Narrated", "Narrated", "TaskEnded", "FinalAnswer"]
    assert events[-2] == TaskEnded(TaskEnd.FAILED, "time-out", reason="task state")
    assert answer_of(events) == "Half of it."
    assert kinds(parse(status(TaskState.WORKING, "boom"), status(TaskState.FAILED, "boom"))) == [
        "Narrated",
        "TaskEnded",
    ]


@pytest.mark.parametrize("answer_source", ["auto", "status"])
def test_an_exception_that_adk_tells_as_a_working_status_is_no_answer(answer_source: str) -> None:
    said = AgentMessage(parts=text("secret"), metadata={"adk_error_code": "Boom"})
    frames = [status(TaskState.WORKING, "Half."), StatusUpdate(state=TaskState.WORKING, message=said)]
    events = parse(*frames, status(TaskState.FAILED), dialect="adk", answer_source=answer_source)
    assert answer_of(events) == "Half."
    assert "secret" not in str(events)


@pytest.mark.parametrize("answer_source", ["auto", "status"])
def test_an_exception_that_others_tell_as_a_working_status_does_not_stay(answer_source: str) -> None:
    frames = [status(TaskState.WORKING, each) for each in ("Half of ", "it. ", "a secret")]
    events = parse(*frames, status(TaskState.FAILED, "a secret"), answer_source=answer_source)
    assert answer_of(events) == "Half of it."


def test_what_was_thought_or_said_before_a_tool_is_no_unfinished_answer() -> None:
    failed = status(TaskState.FAILED)
    assert answer_of(parse(chunk("I must look it up.", "reasoning"), failed)) == ""
    call = Part(data={"name": "search"}, has_data=True, metadata={"adk_type": "function_call"})
    looks = StatusUpdate(state=TaskState.WORKING, message=AgentMessage(parts=(*text("I look it up."), call)))
    assert answer_of(parse(status(TaskState.WORKING, "I look it up."), looks, failed)) == ""


def test_unmarked_text_of_a_failed_task_is_told_though_the_task_was_read_again() -> None:
    task = Snapshot(
        "t", "c", TaskState.FAILED, artifacts=(Artifact(name="streaming_result", parts=text("Half of it.")),)
    )
    assert answer_of(parse(task, dialect="caipe")) == "Half of it."


@pytest.mark.parametrize(
    "leak",
    [
        "Returning structured response: is_task_complete=True content='private'",
        'ResponseFormat(content="',
        '{"is_task_complete": true, "content": "',
    ],
)
def test_machinery_in_the_stream_is_never_an_answer(leak: str) -> None:
    assert answer_of(parse(chunk("before"), chunk(leak), chunk("partial json"))) == ""
    assert answer_of(parse(chunk(leak), chunk("Clean.", "final_result"))) == "Clean."


def test_machinery_split_over_chunks_is_never_an_answer() -> None:
    assert answer_of(parse(chunk('{"is_task'), chunk('_complete": true}'))) == ""


def test_the_words_alone_are_legitimate_text() -> None:
    assert answer_of(parse(chunk("set is_task_complete at the end"))) == "set is_task_complete at the end"


def test_heartbeats_and_search_lines_are_noise() -> None:
    events = parse(
        chunk("⏳ Waiting for jira... (30s)"), chunk("🔍 search...\n"), chunk("Done.", metadata=ANSWER)
    )
    assert kinds(events) == ["AnswerText", "FinalAnswer"]


def test_a_new_paragraph_begins_after_a_tool() -> None:
    tool = {"tool_name": "search"}
    events = parse(
        chunk("Part one.\n", metadata=ANSWER),
        chunk("", "tool_notification_start", tool),
        chunk("", "tool_notification_end", tool),
        chunk("Part two.\n", metadata=ANSWER),
        chunk("\nstill two", metadata=ANSWER),
    )
    assert answer_of(events) == "Part one.\n\nPart two.\n\nstill two"


def test_no_paragraph_before_the_first_text() -> None:
    tool = {"tool_name": "search"}
    events = parse(
        chunk("", "tool_notification_start", tool),
        chunk("", "tool_notification_end", tool),
        chunk("\n\n##", metadata=ANSWER),
        chunk(" ", metadata=ANSWER),
        chunk("CAIPE", metadata=ANSWER),
    )
    assert answer_of(events) == "\n\n## CAIPE"


def test_tools_are_told_apart_and_their_output_is_not_shown() -> None:
    events = parse(
        chunk("🔧", "tool_notification_start", description="Tool call started: search"),
        chunk("🔧", "tool_notification_start", description="Tool call started: search"),
        chunk("❌", "tool_notification_end", description="Tool call failed: search"),
        chunk("", "tool_notification_end", {"tool_name": "search", "tool_call_id": "other"}),
        chunk("<html>page</html>", "tool_notification_end", {"tool_name": "curl"}),
        chunk("", "tool_notification_start_fetch", {"tool_name": "fetch", "tool_call_id": "c1"}),
    )
    tools = [event for event in events if isinstance(event, ToolStarted | ToolEnded)]
    assert [(type(tool).__name__, tool.tool_id) for tool in tools] == [
        ("ToolStarted", "search#1"),
        ("ToolStarted", "search#2"),
        ("ToolEnded", "search#1"),
        ("ToolEnded", "other"),
        ("ToolStarted", "c1"),
    ]
    assert [tool.failed for tool in tools if isinstance(tool, ToolEnded)] == [True, False]
    assert answer_of(events) == ""


@pytest.mark.parametrize("name", ["composing_answer", "[RAG] Search docs"])
def test_announcements_are_no_tools(name: str) -> None:
    events = parse(chunk("✍️", "tool_notification_start", description=f"Tool call started: {name}"))
    assert kinds(events) == ["Narrated"]


def test_plans() -> None:
    steps = {"steps": [{"step_id": "s1", "title": "A", "status": "completed"}]}
    events = parse(carrying("execution_plan_update", steps), chunk("1. A", "execution_plan_update"))
    assert kinds(events) == ["PlanChanged"]
    assert isinstance(events[0], PlanChanged)
    (titled,) = parse(carrying("execution_plan_update", {**steps, "title": "Searched 2 pages"}))
    assert isinstance(titled, PlanChanged)
    assert titled.title == "Searched 2 pages"


def test_a_call_is_told_with_the_agent_s_label() -> None:
    label = {"tool_title": "Search “cats”"}
    (began,) = parse(chunk("🔧", "tool_notification_start", label, description="Tool call started: search"))
    assert isinstance(began, ToolStarted)
    assert (began.title, began.label) == ("search", "Search “cats”")


@pytest.mark.parametrize("name", ["terraform_plan", "information", "platform_x", "status_update", ""])
def test_a_name_that_merely_contains_a_word_ends_nothing(name: str) -> None:
    events = parse(chunk("x", metadata=ANSWER), carrying(name, {"fields": [{"id": "a"}]}))
    assert not [event for event in events if isinstance(event, InputRequired)]


def lane(block: str, *parts: Part) -> Frame:
    """A chunk of the kind of output that its metadata tells."""
    metadata = {"shared": {"stream": {"block_type": block}}}
    return ArtifactUpdate(Artifact(block, parts=parts, metadata=metadata), append=True)


def test_lanes_of_output_are_told_apart_by_their_metadata() -> None:
    call = {"call_id": "c", "tool": "read"}
    events = parse(
        lane("reasoning", Part(text="Perhaps a fox.")),
        lane("tool_call", Part(data={**call, "status": "running"}, has_data=True)),
        lane("tool_call", Part(data={**call, "status": "completed"}, has_data=True)),
        lane("text", Part(text="The fox.")),
        COMPLETED,
    )
    assert kinds(events) == [
        "Narrated", "ToolStarted", "ToolEnded", "AnswerText", "TaskEnded", "FinalAnswer",
    ]  # fmt: skip
    assert answer_of(events) == "The fox."


def test_lanes_in_a_task_are_told_apart_too() -> None:
    lanes = [lane("reasoning", Part(text="Hm.")), lane("tool_call", Part(text="{}"))]
    artifacts = tuple(each.artifact for each in lanes if isinstance(each, ArtifactUpdate))
    whole = (*artifacts, Artifact("text", parts=text("The fox.")))
    assert answer_of(parse(Snapshot("t", state=TaskState.COMPLETED, artifacts=whole))) == "The fox."


def test_forms_and_questions() -> None:
    form = {"user_input": True, "input_fields": [{"field_name": "bucket", "required": True}]}
    events = parse(
        chunk("need details", metadata=NARRATION),
        status(TaskState.WORKING, "Please choose."),
        carrying("UserInputMetaData", form),
        status(TaskState.INPUT_REQUIRED, "Please choose."),
    )
    asked = [event for event in events if isinstance(event, InputRequired)]
    assert [event.form.prompt for event in asked] == ["", "Please choose."]
    assert asked[-1].form.fields == (Field("bucket", required=True),)
    assert answer_of(events) == ""


def test_a_question_without_words_is_still_a_question() -> None:
    events = parse(status(TaskState.AUTH_REQUIRED))
    assert kinds(events) == ["InputRequired"]
    assert events[-1] == InputRequired(Form("", kind=FormKind.AUTH), reason="task is auth-required")


def test_a_task_that_goes_on_after_a_sign_in_asks_no_more() -> None:
    parser = EventParser()
    parser.feed(status(TaskState.AUTH_REQUIRED))
    assert parser.asks
    parser.feed(status(TaskState.WORKING))
    assert not parser.asks


def test_a_question_may_bring_its_own_fields() -> None:
    message = AgentMessage(parts=(Part(text="Which?"), Part(data={"fields": [{"id": "env"}]}, has_data=True)))
    events = parse(StatusUpdate(state=TaskState.INPUT_REQUIRED, message=message))
    form = Form("Which?", (Field("env"),), reply=ReplyFormat("values", '{"raw": {}}'))
    assert events == [InputRequired(form, reason="task is input-required")]


def test_a_final_result_that_asks_is_a_question() -> None:
    boxed = {"is_task_complete": False, "require_user_input": True, "content": "Fill the form"}
    events = parse(carrying("complete_result", boxed), carrying("final_result", boxed), COMPLETED)
    asked = [event for event in events if isinstance(event, InputRequired)]
    assert [event.form.prompt for event in asked] == ["Fill the form"]


def test_precedence_at_the_end() -> None:
    sub = {"agentType": "sub-agent"}
    complete = chunk("from the sub-agent", "complete_result", sub)
    partial = chunk("partial", "partial_result")
    message = MessageReply(AgentMessage("m", parts=text("message")))
    assert answer_of(parse(complete, chunk("unmarked"), COMPLETED)) == "from the sub-agent"
    assert answer_of(parse(complete, message, partial, COMPLETED)) == "partial"
    assert answer_of(
        parse(chunk("streamed by another", metadata=sub), complete, chunk("", "final_result"))
    ) == ("from the sub-agent")
    assert answer_of(parse(chunk("x", "final_result", sub), COMPLETED)) == ""


def test_a_terminal_status_message_is_the_answer_or_belongs_to_it() -> None:
    done = status(TaskState.COMPLETED, "All done.")
    assert answer_of(parse(done)) == "All done."
    assert answer_of(parse(chunk("Text", "a"), done)) == "Text\n\nAll done."
    assert answer_of(parse(chunk("It is all done. All  done.", "a"), done)) == "It is all done. All  done."
    assert answer_of(parse(chunk("All", "a"), done)) == "All done."


def test_a_message_in_place_of_a_task_is_the_answer_live() -> None:
    events = parse(
        MessageReply(AgentMessage("m", parts=text("Hel"))),
        MessageReply(AgentMessage("m", parts=text("lo"))),
        MessageReply(AgentMessage("m", parts=text("Hello there"))),
        MessageReply(AgentMessage("u", role="user", parts=text("me"))),
    )
    assert [event.text for event in events if isinstance(event, AnswerText)] == ["Hel", "lo", " there"]
    assert answer_of(events) == "Hello there"


@pytest.mark.parametrize(
    ("frames", "replied"),
    [
        ((MessageReply(AgentMessage("m", parts=text("Hi"), task_id="t")),), True),
        ((MessageReply(AgentMessage("u", role="user", parts=text("me"))),), False),
        ((Snapshot("t"), MessageReply(AgentMessage("m", parts=text("Hi")))), False),
        ((MessageReply(AgentMessage("m", parts=text("Hi"))), chunk("text", "a")), False),
        ((status(TaskState.WORKING), MessageReply(AgentMessage("m", parts=text("Hi")))), False),
    ],
)
def test_a_message_is_in_place_of_a_task_where_nothing_of_one_came(
    frames: tuple[Frame, ...], replied: bool
) -> None:
    parser = EventParser()
    for frame in frames:
        parser.feed(frame)
    assert parser.has_replied is replied


def test_a_message_beside_a_task_waits_for_the_end_unless_told_otherwise() -> None:
    frames = (Snapshot("t"), MessageReply(AgentMessage("m", parts=text("Hi"))))
    assert kinds(parse(*frames)) == ["TaskKnown", "Narrated", "FinalAnswer"]
    assert kinds(parse(*frames, answer_source="message")) == ["TaskKnown", "AnswerText", "FinalAnswer"]


def test_status_text_is_the_answer_of_an_agent_told_so() -> None:
    frames = [status(TaskState.WORKING, said) for said in ("The ", "The quick", " fox")]
    events = parse(*frames, COMPLETED, answer_source="status")
    assert [event.text for event in events if isinstance(event, AnswerText)] == ["The ", "quick", " fox"]
    assert answer_of(parse(*frames, COMPLETED)) == "The quick fox"


def test_a_snapshot_lays_the_task_against_what_was_told() -> None:
    parser = EventParser()
    parser.feed(chunk("One ", "answer", artifact_id="a"))
    parts = (Part(text="One "), Part(text="two"))
    events = parser.feed(Snapshot("t", state=TaskState.COMPLETED, artifacts=(Artifact("a", parts=parts),)))
    assert AnswerText("two", "the task as it stands") in events
    assert parser.state is TaskState.COMPLETED


def test_a_finished_caipe_task_in_one_piece() -> None:
    task = Snapshot(
        "t",
        state=TaskState.COMPLETED,
        artifacts=(
            Artifact("s", "streaming_result", parts=text("thinking and answer")),
            Artifact("p", "UserInputMetaData", parts=(Part(data={"x": 1}, has_data=True),)),
            Artifact("f", "final_result", parts=text("The answer")),
        ),
    )
    assert answer_of(parse(task)) == "The answer"
    marked = Snapshot(
        state=TaskState.COMPLETED,
        artifacts=(Artifact("s", "streaming_result", parts=text("A"), metadata=ANSWER),),
    )
    assert answer_of(parse(marked)) == "A"


def test_the_history_is_the_last_resort() -> None:
    history = (
        AgentMessage(parts=text("first")),
        AgentMessage(parts=text("last")),
        AgentMessage(role="user", parts=text("me")),
    )
    assert answer_of(parse(Snapshot("t", state=TaskState.COMPLETED, history=history))) == "last"


def test_a_reasked_question_shows_no_history() -> None:
    history = (AgentMessage(parts=text("earlier")),)
    assert answer_of(parse(Snapshot("t", state=TaskState.INPUT_REQUIRED, history=history))) == ""


def test_counting_names() -> None:
    parser = EventParser("caipe")
    frames: list[Frame] = [
        chunk("x", "my_streaming_result_x"),
        chunk("x", "tool_notification_start_search"),
        chunk("x", "execution_plan_status_update"),
        chunk("x", "current_result"),
        Snapshot(),
        COMPLETED,
        MessageReply(AgentMessage()),
        Unknown("odd"),
    ]
    assert [parser.kind_of(frame) for frame in frames] == [
        "streaming_result",
        "tool_notification_start",
        "execution_plan",
        "other_artifact",
        "task",
        "status_update",
        "message",
        "unknown",
    ]
    assert not parser.has_final
    assert not parser.asks


def test_too_much_text_is_an_error_not_a_dead_process() -> None:
    parser = EventParser(max_chars=10)
    with pytest.raises(BadAgentData, match="max_turn_chars"):
        parser.feed(chunk("x" * 11, "answer"))


PIECES = st.lists(st.text("ab #\n", max_size=6), max_size=12)


@given(PIECES, st.booleans())
def test_the_answer_is_whole_whatever_the_chunks(pieces: list[str], caipe: bool) -> None:
    """Marked chunks of one artifact add up, once."""
    name = "streaming_result" if caipe else "answer"
    frames = [
        chunk(piece, name, ANSWER, artifact_id="a", append=number > 0) for number, piece in enumerate(pieces)
    ]
    assert answer_of(parse(*frames, COMPLETED)).strip() == "".join(pieces).strip()


def test_thinking_tools_and_interrupts_go_by_their_names() -> None:
    thinking = chunk("hm", "thinking", artifact_id="t")
    events = parse(thinking, chunk("raw", "tool_result"), carrying("interrupt", {"id": "1", "value": "Go?"}))
    assert kinds(events) == ["Narrated", "InputRequired"]
    assert answer_of(parse(thinking, COMPLETED)) == "hm"
    task = Snapshot("t", state=TaskState.COMPLETED, artifacts=(Artifact("t", "thinking", parts=text("hm")),))
    assert answer_of(parse(task)) == "hm"


def test_a_snapshot_brings_what_it_has_and_no_empty_answer() -> None:
    empty = Artifact("a", "answer")
    form = Artifact("f", "interrupt", parts=(Part(data={"id": "1", "value": "Go?"}, has_data=True),))
    other = Artifact("o", "tool_output", parts=text("raw"))
    events = parse(Snapshot("t", state=TaskState.COMPLETED, artifacts=(empty, form, other)))
    assert [event.form.prompt for event in events if isinstance(event, InputRequired)] == ["Go?"]


def test_whether_status_text_is_the_answer() -> None:
    assert EventParser(profile={"answer_source": "status"}).answers_in_status
    assert EventParser().answers_in_status is None
    assert not EventParser(profile={"answer_source": "hold"}).answers_in_status
    assert not EventParser("strands", "artifact", profile={"answer_source": "status"}).answers_in_status


def test_a_status_without_a_word_is_a_fact() -> None:
    assert kinds(parse(status(TaskState.WORKING))) == []
    assert EventParser().profile_updates() == {}


def test_the_envelope_s_question_is_asked_once() -> None:
    asks = '{"is_task_complete": false, "require_user_input": true, "content": "Go?"}'
    events = parse(chunk(asks, "answer", artifact_id="a"), chunk(asks, "answer", artifact_id="b"))
    assert len([event for event in events if isinstance(event, InputRequired)]) == 1
    known = parse(chunk(asks, "answer"), status(TaskState.INPUT_REQUIRED, "Go?"))
    assert len([event for event in known if isinstance(event, InputRequired)]) == 1
    broken = parse(chunk('{"is_task_complete": oops, "content": "Go?"}', "answer"))
    assert answer_of(broken) == "Go?"


def test_odd_events_and_forms_without_a_question() -> None:
    events = parse(Unknown("x"), chunk("", "Interrupt"), carrying("answer", {"a": 1}))
    assert answer_of(events) == "- **a**: 1"
    more = ArtifactUpdate(Artifact("a", "answer", parts=(Part(data={"b": 2}, has_data=True),)), append=True)
    assert answer_of(parse(chunk("Text", "answer", artifact_id="a"), more)) == "Text\n\n- **b**: 2"


def test_a_question_beside_an_answer_that_asks_it() -> None:
    parts = (*text("Which?"), Part(data={"plan": "drop"}, has_data=True))
    events = parse(
        chunk("Which?", "a"), StatusUpdate(state=TaskState.INPUT_REQUIRED, message=AgentMessage(parts=parts))
    )
    assert [event.form.prompt for event in events if isinstance(event, InputRequired)] == ["- **plan**: drop"]


def test_the_human_s_own_message_in_a_status_is_nobody_s_answer() -> None:
    own = AgentMessage("u", "user", text("what is a fox"))
    events = parse(
        StatusUpdate(state=TaskState.WORKING, message=own),
        StatusUpdate(state=TaskState.COMPLETED, message=own),
    )
    assert kinds(events) == ["TaskEnded"]
    assert "fox" not in str(events)


def test_a_preview_of_the_answer_is_not_said_behind_it() -> None:
    done = status(TaskState.COMPLETED, "The quick brown...")
    assert answer_of(parse(chunk("The quick brown fox.", "a"), done)) == "The quick brown fox."


def test_what_follows_a_tool_is_no_chunk_of_what_came_before() -> None:
    tool = Part(data={"type": "tool-call", "name": "look", "id": "c"}, has_data=True)
    called = StatusUpdate(state=TaskState.WORKING, message=AgentMessage("m", parts=(tool,)))
    words = [chunk(word, "r", artifact_id=word) for word in ("Let ", "me ", "look", "It ", "is ", "wet.")]
    assert answer_of(parse(*words[:3], called, *words[3:], COMPLETED)) == "Let me look\n\nIt is wet."


def test_thoughts_in_tags_are_told_as_narration() -> None:
    events = parse(
        chunk("<think>Hm.</th", "a", artifact_id="a"), chunk("ink>\nYes.", "a", artifact_id="a", append=True)
    )
    assert [event.text for event in events if isinstance(event, Narrated)] == ["", "Hm.\n"]
    assert answer_of(events) == "Yes."


def test_a_terminal_message_is_told_with_its_data_where_it_is_the_answer() -> None:
    parts = (Part(text="Created."), Part(data={"ticket": "A-1"}, has_data=True))
    done = StatusUpdate(state=TaskState.COMPLETED, message=AgentMessage("m", parts=parts))
    assert answer_of(parse(done)) == "Created.\n\n- **ticket**: A-1"
    assert answer_of(parse(chunk("It was created.", "a"), done)) == "It was created.\n\nCreated."


@pytest.mark.parametrize("size", [150, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("marker", ["auto", pytest.param("expected", marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", hostile_events.CASES)
def test_twice_as_much_costs_twice_as_much(case: str, marker: str, size: int) -> None:
    """No event is laid against all that came before it, and no part against all others."""
    few, many = hostile_events.CASES[case](size), hostile_events.CASES[case](2 * size)
    hostile_events.read(few, marker)  # what is built at the first time is not counted
    one, two = (
        hostile_events.cost(lambda said=said: hostile_events.read(said, marker)) for said in (few, many)
    )
    assert two < 2.4 * one


# -- artifacts of names that the dialect does not know


FILE = Part(file=FileRef("report.csv", "text/csv", content="YSxiCjEsMgo="))
NOT_SHOWN = "artifact 'report' is not shown"


@pytest.mark.parametrize("in_task", [False, True])
@pytest.mark.parametrize("flags", [ANSWER, {}])
def test_a_file_in_an_artifact_of_another_name_is_kept_and_its_text_is_accounted_for(
    flags: dict[str, Any], in_task: bool
) -> None:
    """CAIPE's supervisor hands on what its agents made, under their names."""
    made = Artifact("r", "report", parts=(*text("machine words"), FILE))
    update = Snapshot("t", "c", TaskState.WORKING, artifacts=(made,)) if in_task else ArtifactUpdate(made)
    events = parse(chunk("The fox.", metadata=flags, append=True), update, COMPLETED, dialect="caipe")
    assert answer_of(events) == "The fox."
    assert sum(isinstance(event, Attached) for event in events) == 1
    told = [event.reason for event in events if isinstance(event, Narrated) and event.text == "machine words"]
    assert told == [NOT_SHOWN]


def test_what_a_sub_agent_made_is_not_attached() -> None:
    made = Artifact("r", "report", parts=(FILE,), metadata={"agentType": "sub-agent"})
    assert not any(
        isinstance(each, Attached) for each in parse(ArtifactUpdate(made), COMPLETED, dialect="caipe")
    )
