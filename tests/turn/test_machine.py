"""The table is walked whole; what the reader gets is asserted for each way a turn can go."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.text.compare import equivalent
from slack_bot.text.words import NO_ANSWER, THINKING
from slack_bot.turn.actions import (
    Action,
    AppendText,
    CardState,
    EndTurn,
    FlushText,
    NoOp,
    RetractText,
    RewriteAnswer,
    SaveIds,
    SetPlanTitle,
    ShowForm,
    ShowStatus,
    UpdateCard,
)
from slack_bot.turn.acts import AgentAct
from slack_bot.turn.events import (
    ActsAsked,
    AgentIdle,
    AnswerReplaced,
    AnswerText,
    Attached,
    AuthCompleted,
    Event,
    FinalAnswer,
    InputRequired,
    Narrated,
    NarrationConfirmed,
    NextQuestionsFound,
    PlanChanged,
    PlanStep,
    SourcesFound,
    StepState,
    StopRequested,
    StreamEnd,
    StreamEnded,
    TaskEnd,
    TaskEnded,
    TaskKnowledge,
    TaskKnown,
    ToolEnded,
    ToolStarted,
    TurnBegun,
)
from slack_bot.turn.extras import DataTable, NextQuestion, Source
from slack_bot.turn.form import Choice, Field, Form, FormKind, ReplyFormat
from slack_bot.turn.machine import TABLE, State, Turn
from slack_bot.turn.record import Outcome
from tests.examples import examples

from .work import steps, work

CLOSED = StreamEnded(StreamEnd.CLOSED)
SAMPLES: dict[type, Event] = {
    ActsAsked: ActsAsked((AgentAct("react", "eyes"),)),
    TurnBegun: TurnBegun(),
    TaskKnown: TaskKnown("t", "c"),
    Narrated: Narrated("looking"),
    AnswerText: AnswerText("text"),
    AnswerReplaced: AnswerReplaced("other"),
    NarrationConfirmed: NarrationConfirmed(unseen=True),
    FinalAnswer: FinalAnswer("final", "final_result"),
    ToolStarted: ToolStarted("search#1", "search"),
    ToolEnded: ToolEnded("search#1", "search"),
    PlanChanged: PlanChanged((PlanStep("s1", "Search", StepState.RUNNING),)),
    Attached: Attached(DataTable(("city",), (("Oslo",),))),
    SourcesFound: SourcesFound((Source("https://x.example"),)),
    NextQuestionsFound: NextQuestionsFound((NextQuestion("And then?"),)),
    InputRequired: InputRequired(Form("Which one?")),
    TaskEnded: TaskEnded(TaskEnd.COMPLETED),
    AgentIdle: AgentIdle(130.0),
    AuthCompleted: AuthCompleted(),
    StreamEnded: CLOSED,
    StopRequested: StopRequested("U1"),
}
WAY_TO: dict[State, list[Event]] = {
    State.WAITING: [],
    State.WORKING: [SAMPLES[ToolStarted]],
    State.ANSWERING: [SAMPLES[AnswerText]],
    State.SETTLED: [SAMPLES[FinalAnswer]],
    State.STOPPING: [SAMPLES[StopRequested]],
    State.CLOSED: [CLOSED],
}


def run(*events: Event) -> tuple[Turn, list[Action]]:
    turn = Turn()
    return turn, [action for event in events for action in turn.handle(event)]


def shown(actions: list[Action]) -> str:
    """What the thread holds in the end."""
    rewritten = [action.text for action in actions if isinstance(action, RewriteAnswer)]
    appended = ""
    for action in actions:
        match action:
            case AppendText(text=text):
                appended += text
            case RetractText(chars=chars):
                appended = appended[: len(appended) - chars]
    return rewritten[-1] if rewritten else appended


def only(actions: list[Action], kind: type) -> list[Action]:
    return [action for action in actions if isinstance(action, kind)]


@pytest.mark.parametrize(("state", "kind"), list(itertools.product(State, SAMPLES)))
def test_the_whole_product_of_states_and_events(state: State, kind: type) -> None:
    turn, _ = run(*WAY_TO[state])
    assert turn.state is state
    before = turn.late
    actions = turn.handle(SAMPLES[kind])
    leads_to = TABLE.get((state, kind))
    if leads_to is None:
        assert (actions, turn.late, turn.state) == ([], before + 1, state)
    else:
        assert turn.late == before
        assert turn.state is leads_to


def test_every_event_means_something_somewhere_and_nothing_after_the_end() -> None:
    assert {kind for _, kind in TABLE} == set(SAMPLES)
    assert not [state for state, _ in TABLE if state is State.CLOSED]


def test_narration_is_a_status_and_never_text() -> None:
    turn, actions = run(TurnBegun(), Narrated("I'll search"), AnswerText("Yes."), Narrated("more"), CLOSED)
    assert [action.text for action in actions if isinstance(action, ShowStatus)] == [
        "is thinking...",
        "is responding...",
    ]
    assert shown(actions) == "Yes."
    assert turn.latches["answer_begun"]


def test_a_wait_is_a_status_while_nothing_else_stands() -> None:
    _, actions = run(TurnBegun(), AgentIdle(20.0), AgentIdle(130.0), CLOSED)
    assert [action.text for action in actions if isinstance(action, ShowStatus)] == [
        "is thinking...",
        "is still working...",
        "is still working, nothing new for 2 min...",
    ]
    assert not only(actions, UpdateCard)


def test_behind_text_a_wait_is_a_card_that_closes_when_the_agent_is_heard_again() -> None:
    _, actions = run(
        AnswerText("a "),
        AgentIdle(20.0),
        AgentIdle(90.0),
        Narrated("hm"),
        AnswerText("b"),
        AnswerText("c"),
        CLOSED,
    )
    cards = [action.card for action in actions if isinstance(action, UpdateCard)]
    assert [(card.state, card.details) for card in cards] == [
        (CardState.RUNNING, "nothing new yet\n"),
        (CardState.RUNNING, "nothing new for 1 min\n"),
        (CardState.DONE, ""),
    ]
    assert shown(actions) == "a bc"
    assert not only(actions, ShowStatus)


def test_a_long_wait_holds_no_card_open() -> None:
    """An open card is carried into message after message; a closed one may stand alone."""
    _, actions = run(
        AnswerText("a "),
        AgentIdle(60.0),
        AgentIdle(120.0),
        AgentIdle(240.0),
        AnswerText("b"),
        AgentIdle(130.0),
        CLOSED,
    )
    cards = [action.card for action in actions if isinstance(action, UpdateCard)]
    assert [(card.id, card.state) for card in cards] == [
        ("waiting-1", CardState.RUNNING),
        ("waiting-1", CardState.DONE),
        ("waiting-2", CardState.DONE),
    ]
    assert [action.text for action in actions if isinstance(action, ShowStatus)] == [
        "is still working, nothing new for 4 min..."
    ]


def test_a_pause_in_an_answer_shows_nothing() -> None:
    _, actions = run(
        AnswerText("a "), AgentIdle(45.0, TaskKnowledge.QUIET, "no event"), AnswerText("b"), CLOSED
    )
    assert only(actions, NoOp)
    assert not only(actions, UpdateCard) and not only(actions, ShowStatus)


def test_while_the_human_is_waited_for_the_agent_is_not() -> None:
    _, actions = run(SIGN_IN, AgentIdle(45.0, TaskKnowledge.QUIET, "no event"), AgentIdle(130.0))
    assert len(only(actions, NoOp)) == 2
    assert not only(actions, ShowStatus)


def test_no_status_once_a_card_or_the_answer_stands() -> None:
    _, actions = run(SAMPLES[ToolStarted], Narrated("hm"), AnswerText("a"), Narrated("hm"), CLOSED)
    assert not only(actions, ShowStatus)


@pytest.mark.parametrize(
    ("streamed", "final", "reads"),
    [
        (["Hello ", "world"], "Hello world", "Hello world"),
        (["Hello\n\n", "world "], "Hello\nworld", "Hello\n\nworld "),
        (["Would you like to "], "Would you like to know", "Would you like to know"),
        ([], "All at once", "All at once"),
        (["First attempt "], "\n\nRecovered answer.", "\n\nRecovered answer."),
        (["Kept"], "  ", "Kept"),
    ],
)
def test_the_final_answer_is_measured_against_what_was_delivered(
    streamed: list[str], final: str, reads: str
) -> None:
    turn, actions = run(*map(AnswerText, streamed), FinalAnswer(final, "final_result"), CLOSED)
    assert shown(actions) == reads
    assert actions[-1] == EndTurn(Outcome.ANSWERED, reason="")
    assert turn.latches["final_seen"]


def test_a_replaced_answer_is_held_and_rewritten_once_at_the_end() -> None:
    _, actions = run(AnswerText("one"), AnswerReplaced("two"), AnswerText(" three"), CLOSED)
    assert [action.text for action in only(actions, RewriteAnswer)] == ["two three"]
    assert [action.text for action in only(actions, AppendText)] == ["one"]


def test_a_replacement_that_continues_is_appended() -> None:
    _, actions = run(AnswerText("one"), AnswerReplaced("one two"), CLOSED)
    assert shown(actions) == "one two"
    assert not only(actions, RewriteAnswer)


def test_what_a_whole_answer_adds_is_the_answer_and_is_not_held_back() -> None:
    guessed = AnswerText("One", unproven=True)
    _, actions = run(guessed, FinalAnswer("One and two.", "final_result"), CLOSED)
    text = [action for action in actions if isinstance(action, AppendText)]
    assert [(each.text, each.unproven) for each in text] == [("One", True), (" and two.", False)]


def test_each_decision_about_text_is_told_with_its_reason() -> None:
    _, actions = run(AnswerText("One"), AnswerText(" two"), FinalAnswer("One two three", "final_result"))
    why = "final answer from final_result: "
    assert [action.reason for action in actions] == [
        "answer latched: ",
        "answer grows: ",
        f"the missing rest: {why}",
        "final answer known",
    ]
    _, actions = run(FinalAnswer("One", "final_result"))
    assert actions[0].reason == f"delivered now: {why}"


def test_a_final_answer_that_agrees_after_all_rewrites_nothing() -> None:
    _, actions = run(AnswerText("one"), AnswerReplaced("two"), FinalAnswer("one", "final_result"), CLOSED)
    assert not only(actions, RewriteAnswer)
    assert shown(actions) == "one"


UNSEEN, SEEN = NarrationConfirmed(unseen=True), NarrationConfirmed()


def test_narration_that_nobody_has_seen_is_taken_back_and_the_answer_begins_anew() -> None:
    events = [
        AnswerText("Let me "),
        AnswerText("look."),
        UNSEEN,
        AnswerText("\n\nFound"),
        AnswerText("\n\nit."),
    ]
    _, actions = run(*events, FinalAnswer("Found\n\nit.", "artifacts"), CLOSED)
    assert [action.chars for action in actions if isinstance(action, RetractText)] == [12]
    assert [action.text for action in actions if isinstance(action, AppendText)][2:] == ["Found", "\n\nit."]
    assert not only(actions, RewriteAnswer)


def test_narration_that_was_seen_stays_until_it_is_rewritten_at_the_end() -> None:
    events = [AnswerText("Look."), SEEN, AnswerText("\n\nAgain."), UNSEEN, AnswerText("\n\nFound it.")]
    _, actions = run(*events, FinalAnswer("Found it.", "artifacts"), CLOSED)
    assert [action.chars for action in actions if isinstance(action, RetractText)] == [8]
    assert only(actions, RewriteAnswer) == [
        RewriteAnswer("Found it.", "what was delivered is not the answer")
    ]


def test_an_answer_before_a_tool_call_is_delivered_in_the_end_though_it_was_taken_back() -> None:
    _, actions = run(AnswerText("It is 4."), UNSEEN, FinalAnswer("It is 4.", "artifacts"), CLOSED)
    assert len(only(actions, AppendText)) == 2  # once taken back, once delivered
    assert shown(actions) == "It is 4."
    assert only(actions, RetractText)
    assert not only(actions, RewriteAnswer)


def test_a_final_answer_is_never_taken_back() -> None:
    _, actions = run(FinalAnswer("It is 4.", "final_result"), UNSEEN, CLOSED)
    assert not only(actions, RetractText)
    assert shown(actions) == "It is 4."


def test_nothing_is_taken_back_of_an_answer_that_is_rewritten_anyway() -> None:
    events = [AnswerText("One."), AnswerReplaced("Two."), AnswerText(" Three."), UNSEEN]
    _, actions = run(*events, CLOSED)
    assert not only(actions, RetractText)
    assert shown(actions) == "Two. Three."


def test_a_turn_without_any_answer_says_so() -> None:
    _, actions = run(TaskEnded(TaskEnd.COMPLETED), CLOSED)
    assert shown(actions) == NO_ANSWER
    close = actions[-1]
    assert isinstance(close, EndTurn)
    assert close.outcome is Outcome.NO_TEXT
    assert close.offer_retry


@pytest.mark.parametrize(
    ("events", "outcome", "note"),
    [
        ([TaskEnded(TaskEnd.REJECTED, "not  at\nnight")], Outcome.FAILED, "It says: not at night."),
        ([AnswerText("half"), TaskEnded(TaskEnd.FAILED)], Outcome.FAILED, "the rest is missing"),
        ([TaskEnded(TaskEnd.REJECTED)], Outcome.FAILED, "declined"),
        ([TaskEnded(TaskEnd.CANCELED)], Outcome.FAILED, "cancelled"),
        ([TaskEnded(TaskEnd.REJECTED, "x" * 999)], Outcome.FAILED, "…"),
    ],
)
def test_a_task_that_did_not_complete_is_told(events: list[Event], outcome: Outcome, note: str) -> None:
    _, actions = run(*events, CLOSED)
    close = actions[-1]
    assert isinstance(close, EndTurn)
    assert close.outcome is outcome
    assert note in close.note
    assert close.offer_retry
    assert len(close.note) < 400


def test_what_the_agent_says_of_its_failure_is_shown_only_where_it_may_be() -> None:
    for end in (TaskEnded(TaskEnd.FAILED, "boom"), StreamEnded(StreamEnd.FAILED, "It broke.", text="boom")):
        for shows in (False, True):
            turn = Turn(shows_words=shows)
            closes = [each for event in (TurnBegun(), end, CLOSED) for each in turn.handle(event)]
            (note,) = [each.note for each in closes if isinstance(each, EndTurn)]
            assert ("boom" in note) is shows


def test_a_failed_task_whose_final_answer_is_known_misses_nothing() -> None:
    _, actions = run(FinalAnswer("all", "final_result"), TaskEnded(TaskEnd.FAILED), CLOSED)
    close = actions[-1]
    assert isinstance(close, EndTurn)
    assert close.note == "The agent could not finish this."


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (StreamEnd.REFUSED, Outcome.REFUSED),
        (StreamEnd.FAILED, Outcome.FAILED),
        (StreamEnd.LOST, Outcome.LOST),
    ],
)
def test_a_stream_that_did_not_end_well(end: StreamEnd, outcome: Outcome) -> None:
    _, actions = run(StreamEnded(end, "It went away."))
    assert actions[-1] == EndTurn(outcome, "It went away.", offer_retry=True)
    _, actions = run(AnswerText("half"), StreamEnded(end, "It went away."))
    assert actions[-1] == EndTurn(
        outcome, "It went away. What was written stays; the rest is missing.", offer_retry=True
    )
    _, actions = run(StreamEnded(end))
    assert actions[-1] == EndTurn(outcome, "The agent could not answer.", offer_retry=True)


def test_a_cut_after_the_agents_own_final_result_loses_nothing() -> None:
    _, actions = run(FinalAnswer("all", "final_result"), StreamEnded(StreamEnd.LOST, "cut"))
    assert actions[-1] == EndTurn(Outcome.ANSWERED)
    _, actions = run(FinalAnswer("some", "unmarked", certain=False), StreamEnded(StreamEnd.LOST, "cut"))
    close = actions[-1]
    assert isinstance(close, EndTurn)
    assert close.outcome is Outcome.LOST


def test_an_agent_that_asks_has_its_question_shown() -> None:
    form = Form("Which environment?", (Field("env", choices=(Choice("dev"), Choice("prod"))),))
    _, actions = run(InputRequired(form), CLOSED)
    assert only(actions, ShowForm) == [ShowForm(form, "the agent waits for the human")]
    assert actions[-1] == EndTurn(Outcome.ASKED, reason="the agent asked")


def test_a_question_that_stands_in_the_answer_is_not_shown_twice() -> None:
    form = Form("Which one?", (Field("env"),))
    _, actions = run(FinalAnswer("Which one?", "final_result"), InputRequired(form), CLOSED)
    assert [action.form for action in only(actions, ShowForm)] == [replace(form, prompt="", is_told=True)]
    _, actions = run(FinalAnswer("Which one?", "final_result"), InputRequired(Form("Which one?")), CLOSED)
    assert not only(actions, ShowForm)
    assert actions[-1] == EndTurn(Outcome.ASKED, reason="the agent asked")


def test_what_an_answer_in_words_needs_is_kept_though_nothing_is_left_to_show() -> None:
    form = Form("Which one?", reply=ReplyFormat("strands", '{"ids": ["1"]}'))
    _, actions = run(AnswerText("Which one?"), InputRequired(form), CLOSED)
    assert [action.form for action in only(actions, ShowForm)] == [replace(form, prompt="", is_told=True)]
    assert only(actions, ShowForm)[0].form.as_markdown() == ""


def test_a_question_without_words_of_its_own_stands_in_the_answer() -> None:
    _, actions = run(AnswerText("Shall I delete it?"), InputRequired(Form("")), CLOSED)
    assert not only(actions, ShowForm)
    _, actions = run(InputRequired(Form("")), CLOSED)
    assert len(only(actions, ShowForm)) == 1


SIGN_IN = InputRequired(Form("Sign in", kind=FormKind.AUTH))


def test_an_agent_that_asked_and_then_answered_has_answered() -> None:
    _, actions = run(InputRequired(Form("Which?")), AnswerText("Done."), TaskEnded(TaskEnd.COMPLETED), CLOSED)
    assert actions[-1] == EndTurn(Outcome.ANSWERED)
    assert not only(actions, ShowForm)


def test_a_sign_in_is_shown_while_the_turn_goes_on_and_once() -> None:
    turn, actions = run(SIGN_IN, SIGN_IN)
    assert turn.waits_for_human
    assert [action.form for action in only(actions, ShowForm)] == [SIGN_IN.form]
    assert turn.handle(InputRequired(Form("Sign in there", kind=FormKind.AUTH)))[-1] == ShowForm(
        Form("Sign in there", kind=FormKind.AUTH), "the agent may go on by itself after a sign-in"
    )
    assert turn.handle(CLOSED)[-1] == EndTurn(Outcome.ASKED, reason="the agent asked")
    assert not turn.waits_for_human


def test_a_sign_in_that_the_answer_names_is_not_shown_again() -> None:
    _, actions = run(AnswerText("Please: Sign in"), SIGN_IN)
    assert not only(actions, ShowForm)


def test_an_agent_that_goes_on_after_a_sign_in_asks_no_more() -> None:
    turn, actions = run(SIGN_IN, AuthCompleted("task is working"))
    assert not turn.waits_for_human
    assert actions[-1] == ShowStatus(THINKING, "the sign-in was seen: task is working")
    ended = turn.handle(CLOSED)[-1]
    assert ended == EndTurn(Outcome.NO_TEXT, offer_retry=True, reason="the agent wrote nothing")
    _, actions = run(SIGN_IN, AuthCompleted(), StreamEnded(StreamEnd.LOST, "Cut."))
    assert actions[-1] == EndTurn(Outcome.LOST, "Cut.", offer_retry=True)


def test_a_stop_ends_all_showing() -> None:
    turn, actions = run(
        AnswerText("a"),
        StopRequested("U1"),
        AnswerText("b"),
        FinalAnswer("c", "final_result"),
        StreamEnded(StreamEnd.CLOSED, "Stopped."),
    )
    assert shown(actions) == "a"
    assert actions[-1] == EndTurn(Outcome.STOPPED, "Stopped.")
    assert turn.late == 2


def test_a_stop_keeps_no_promise_of_a_rewrite() -> None:
    _, actions = run(AnswerText("a"), AnswerReplaced("b"), StopRequested("U1"), CLOSED)
    assert not only(actions, RewriteAnswer)
    assert actions[-1] == EndTurn(Outcome.STOPPED, "Stopped.")


def test_ids_are_remembered_even_while_stopping() -> None:
    _, actions = run(StopRequested("U1"), TaskKnown("t", "c", "x", reason="named"))
    assert actions[-1] == SaveIds("t", "c", "x", "named")


def test_tool_cards_open_and_close_truthfully() -> None:
    _, actions = run(
        ToolStarted("a#1", "search"),
        ToolStarted("b#1", "fetch"),
        ToolEnded("a#1", "search"),
        ToolEnded("b#1", "fetch", failed=True),
        ToolEnded("b#1", "fetch"),
    )
    cards = [(action.card.id, action.card.state) for action in actions if isinstance(action, UpdateCard)]
    assert cards == [
        ("a#1", CardState.RUNNING),
        ("b#1", CardState.RUNNING),
        ("a#1", CardState.DONE),
        ("b#1", CardState.ERROR),
    ]
    assert isinstance(actions[-1], NoOp)


def test_a_plan_shows_steps_as_they_begin_and_what_was_thought_in_them() -> None:
    one = PlanStep("s1", "Search", StepState.RUNNING)
    two = PlanStep("s2", "Write", StepState.PENDING)
    turn, actions = run(
        PlanChanged((PlanStep("s1", "Search", StepState.PENDING), two)),
        PlanChanged((one, two)),
        ToolStarted("t#1", "search", "s1"),
        Narrated("thinking part 1"),
        Narrated("replaced thinking", replaces=True),
        Narrated("composing_answer", passing=True),
        PlanChanged((PlanStep("s1", "Search", StepState.DONE), PlanStep("s2", "Write", StepState.FAILED))),
        PlanChanged((PlanStep("s1", "Search", StepState.DONE), PlanStep("s2", "Write", StepState.FAILED))),
    )
    cards = [action.card for action in actions if isinstance(action, UpdateCard)]
    assert [(card.id, card.state, card.details) for card in cards] == [
        ("s1", CardState.RUNNING, ""),
        ("s1", CardState.RUNNING, "search\n"),
        ("s1", CardState.DONE, "replaced thinking"),
        ("s2", CardState.ERROR, ""),
    ]
    assert titles(actions) == ["Step 1 of 2: Search", "1 of 2 steps done, 1 failed"]
    assert turn.state is State.WORKING


def test_a_step_keeps_what_was_said_in_it_apart() -> None:
    _, actions = run(
        PlanChanged((PlanStep("s1", "Search", StepState.RUNNING),)),
        Narrated("I look into the docs."),
        Narrated("Now I read"),
        Narrated(" page two."),
        PlanChanged((PlanStep("s1", "Search", StepState.DONE),)),
    )
    cards = [action.card for action in actions if isinstance(action, UpdateCard)]
    assert cards[-1].details == "I look into the docs. Now I read page two."


def titles(actions: list[Action]) -> list[str]:
    return [action.title for action in actions if isinstance(action, SetPlanTitle)]


def plan(*states: StepState, title: str = "") -> PlanChanged:
    return PlanChanged(
        tuple(PlanStep(f"s{n}", f"Do {n}", state) for n, state in enumerate(states, 1)), title=title
    )


DONE, RUNNING, PENDING = StepState.DONE, StepState.RUNNING, StepState.PENDING


def test_the_title_of_a_plan_that_is_over_says_what_was_done() -> None:
    _, actions = run(plan(DONE, RUNNING), AnswerText("x"), plan(DONE, DONE), plan(DONE, DONE), CLOSED)
    assert titles(actions) == ["Step 2 of 2: Do 2", "2 steps done"]


def test_the_agent_s_own_title_stands_over_a_plan_that_is_over_and_not_before() -> None:
    _, actions = run(
        plan(DONE, RUNNING, title="Searching"),
        plan(DONE, DONE, title="Searched 2 pages"),
        plan(DONE, DONE, title="Searched 3 pages"),
        AnswerText("x"),
        CLOSED,
    )
    assert titles(actions) == ["Step 2 of 2: Do 2", "Searched 2 pages", "Searched 3 pages"]
    _, actions = run(plan(RUNNING), plan(DONE, title="Searched 1 page"), AnswerText("x"), CLOSED)
    assert titles(actions) == ["Searched 1 page"]


def test_a_plan_that_goes_on_after_all_its_steps_were_done_is_titled_again() -> None:
    _, actions = run(plan(DONE, DONE), plan(DONE, DONE, RUNNING), plan(DONE, DONE, DONE), CLOSED)
    assert titles(actions) == ["2 steps done", "Step 3 of 3: Do 3", "3 steps done"]


@pytest.mark.parametrize(
    ("last", "end", "title"),
    [
        (plan(DONE, RUNNING, PENDING), [], "2 of 3 steps done"),
        (plan(DONE, DONE, RUNNING), [], "3 steps done"),
        (plan(DONE, RUNNING, PENDING), [TaskEnded(TaskEnd.FAILED)], "1 of 3 steps done, 1 failed"),
        (plan(DONE, StepState.FAILED, PENDING), [TaskEnded(TaskEnd.FAILED)], "1 of 3 steps done, 1 failed"),
    ],
)
def test_steps_that_were_left_open_are_titled_as_their_cards_are_closed(
    last: PlanChanged, end: list[Event], title: str
) -> None:
    _, actions = run(plan(RUNNING, PENDING, PENDING), AnswerText("x"), last, *end, CLOSED)
    assert titles(actions)[-1] == title


def test_a_stopped_plan_s_title_names_no_step_that_runs() -> None:
    _, actions = run(plan(RUNNING, PENDING), StopRequested("U1"), CLOSED)
    assert titles(actions) == ["Step 1 of 2: Do 1", "0 of 2 steps done"]


def test_no_title_stands_over_a_single_step_or_none_that_began() -> None:
    assert titles(run(plan(RUNNING), AnswerText("x"), plan(DONE), CLOSED)[1]) == []
    assert titles(run(plan(PENDING, PENDING), AnswerText("x"), CLOSED)[1]) == []


def test_a_tool_is_shown_by_its_label_where_the_agent_gives_one() -> None:
    _, actions = run(
        ToolStarted("a", "search", label="Search “cats”"),
        ToolEnded("a", "search"),
        plan(RUNNING, PENDING),
        ToolStarted("b", "search", "s1", label="Search “dogs”"),
    )
    cards = [action.card for action in actions if isinstance(action, UpdateCard)]
    assert [(card.title, card.details) for card in cards] == [
        ("Search “cats”", ""),
        ("Search “cats”", ""),
        ("Do 1", ""),
        ("Do 1", "Search “dogs”\n"),
    ]


EVENTS = st.lists(
    st.one_of(
        st.sampled_from([event for kind, event in SAMPLES.items() if kind is not StreamEnded]),
        st.text("ab \n", max_size=5).map(AnswerText),
        st.text("ab \n", max_size=9).map(AnswerReplaced),
        st.text("ab \n", max_size=9).map(lambda text: FinalAnswer(text, "final_result")),
    ),
    max_size=20,
)


@examples(2_000)
@given(EVENTS)
def test_any_turn_closes_once_and_its_latches_never_go_back(events: list[Event]) -> None:
    turn, latched = Turn(), dict.fromkeys(Turn().latches, False)
    actions: list[Action] = []
    for event in [*events, CLOSED, CLOSED]:
        actions += turn.handle(event)
        assert all(turn.latches[name] for name, was in latched.items() if was)
        latched = dict(turn.latches)
    assert len(only(actions, EndTurn)) == 1
    assert actions[-1] == only(actions, EndTurn)[0]


@examples(2_000)
@given(EVENTS)
def test_the_last_final_answer_is_what_stands_there(events: list[Event]) -> None:
    turn = Turn()
    final, actions = "", []
    for event in events:
        late = turn.late
        actions += turn.handle(event)
        if isinstance(event, FinalAnswer) and event.text.strip() and turn.late == late:
            final = event.text
    actions += turn.handle(CLOSED)
    if final and not turn.latches["stop_asked"]:
        assert equivalent(shown(actions), final)
    assert isinstance(actions[-1], EndTurn)
    assert FlushText in {type(action) for action in actions} or not final


# -- work ----------------------------------------------------------------------------------------------------


def test_a_long_answer_is_compared_beforehand_in_steps_of_one_size() -> None:
    def compared(times: int) -> tuple[list[int], int, list[Action]]:
        turn, text = Turn(), "some words " * times
        turn.handle(AnswerText(text))
        final = FinalAnswer(text.replace(" ", "\n") + "and more", "final_result")
        beforehand = steps(turn.prepare(final))
        actions: list[Action] = []
        return beforehand, work(lambda: actions.extend(turn.handle(final))), actions

    short, long = compared(30_000), compared(120_000)
    assert len(long[0]) > 2 * len(short[0])
    assert max(long[0]) <= 1.01 * max(short[0])
    assert long[1] == short[1] < 100
    assert [action.text for action in only(long[2], AppendText)] == ["and more"]


def test_what_was_compared_beforehand_counts_for_those_texts_only() -> None:
    turn = Turn()
    turn.handle(AnswerText("First"))
    for _ in turn.prepare(FinalAnswer("Another", "final_result")):
        pass
    actions = turn.handle(FinalAnswer("First and more", "final_result"))
    assert [action.text for action in only(actions, AppendText)] == [" and more"]


@pytest.mark.parametrize("known", [(), (AnswerText("other"), AnswerReplaced("not that"))])
def test_an_answer_of_many_pieces_takes_linear_work(known: tuple[Event, ...]) -> None:
    def told(events: int) -> int:
        turn = Turn()
        for event in known:
            turn.handle(event)
        return work(lambda: [turn.handle(AnswerText("\n")) for _ in range(events)])

    assert told(4_000) < 2.1 * told(2_000)


def test_narration_taken_back_from_an_answer_of_line_ends_takes_linear_work() -> None:
    def told(events: int) -> int:
        turn = Turn()
        turn.handle(AnswerText("I will look."))
        turn.handle(NarrationConfirmed(unseen=True))
        return work(lambda: [turn.handle(AnswerText("\n")) for _ in range(events)])

    assert told(4_000) < 2.1 * told(2_000)


@pytest.mark.parametrize(("chars", "is_looked_for"), [(200_000, True), (200_001, False)])
def test_a_question_is_not_looked_for_in_an_answer_that_comes_as_a_file(
    chars: int, is_looked_for: bool
) -> None:
    form, long = Form("Which one?", (Field("env"),)), "Which one?".ljust(chars)
    _, actions = run(AnswerText(long), InputRequired(form), CLOSED)
    known = replace(form, prompt="", is_told=True)
    assert [action.form for action in only(actions, ShowForm)] == [known if is_looked_for else form]
    huge = Form(long)
    _, actions = run(AnswerText("Which one?"), InputRequired(huge), CLOSED)
    assert [action.form for action in only(actions, ShowForm)] == ([] if is_looked_for else [huge])


def test_a_comparison_that_was_prepared_is_used_once() -> None:
    turn = Turn()
    turn.handle(AnswerText("one two"))
    assert turn.handle(Narrated(" ", reason="nothing")) == [NoOp("nothing")]
    event = FinalAnswer("one two three", "final_result")
    for _ in turn.prepare(event):
        pass
    assert shown(turn.handle(event)) == " three"
