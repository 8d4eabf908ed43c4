import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.playground.agent import load_knowledge
from slack_bot.playground.scenarios import (
    AskBack,
    CallTool,
    GiveUp,
    Move,
    Narrate,
    Pause,
    ShowPlan,
    StepStatus,
    Write,
    think,
    tokens,
)
from slack_bot.playground.search import Library
from slack_bot.playground.toolbox import FETCH, SEARCH, Toolbox

LIBRARY = Library(load_knowledge())


def run(question: str, reply: str | None = None, library: Library = LIBRARY, **caps: int) -> list[Move]:
    tools = Toolbox(library, caps or {SEARCH: 5, FETCH: 10})
    thought, moves, result = think(question, library, reply), [], None
    while True:
        try:
            move = thought.send(result)
        except StopIteration:
            return moves
        moves.append(move)
        result = tools.call(move.tool, move.argument) if isinstance(move, CallTool) else None


def answer(moves: list[Move]) -> str:
    return "".join(move.text for move in moves if isinstance(move, Write))


def used(moves: list[Move]) -> list[str]:
    return [move.tool for move in moves if isinstance(move, CallTool)]


@pytest.mark.parametrize(
    "question",
    ["what is agntcy", "explain how agntcy agents communicate with each other", "how does the latch work?"],
)
def test_a_knowledge_question_is_searched_read_and_answered_at_length(question: str) -> None:
    moves = run(question)
    assert isinstance(moves[0], Narrate)
    assert set(used(moves)) == {SEARCH, FETCH}
    text = answer(moves)
    assert len(text) > 300
    assert text.startswith("# ")
    assert "\n| section | page | score |\n|---|" in text
    assert re.search(r"^```\w+\n.*?^```$", text, re.DOTALL | re.MULTILINE)
    assert "**Sources:**" in text
    last_plan = [move for move in moves if isinstance(move, ShowPlan)][-1]
    assert {step.status for step in last_plan.steps} == {StepStatus.DONE}


def test_the_best_page_leads() -> None:
    assert answer(run("what is agntcy")).startswith("# What AGNTCY is\n")
    assert answer(run("explain how agntcy agents communicate with each other")).startswith(
        "# How AGNTCY agents communicate\n"
    )


def test_a_joke_needs_no_tools_and_no_plan() -> None:
    moves = run("tell me a joke")
    assert not used(moves)
    assert not [move for move in moves if isinstance(move, ShowPlan)]
    assert len(answer(moves)) > 20


@pytest.mark.parametrize(
    "question", ["how is the weather in San Francisco?", "who won the world cup?", "???", ""]
)
def test_off_topic_is_declined_politely_without_tools(question: str) -> None:
    moves = run(question)
    assert not used(moves)
    assert "sorry" in answer(moves)
    assert len(answer(moves)) > 20


def test_a_greeting_is_greeted() -> None:
    assert answer(run("hello")).startswith("Hello!")


def test_a_thorough_question_reaches_the_search_limit_and_goes_on_to_read() -> None:
    moves = run("tell me everything about streaming")
    assert used(moves).count(SEARCH) == 7
    assert used(moves).count(FETCH) == 4
    assert any(isinstance(move, Narrate) and "limit is reached" in move.text for move in moves)
    assert answer(moves).startswith("# How streaming works")


def test_a_spent_fetch_leaves_an_answer_from_the_search() -> None:
    moves = run("what is agntcy", search=5, fetch_document=0)
    assert answer(moves).startswith("# What AGNTCY is")
    assert "python -m slack_bot play" in answer(moves)


def test_a_spent_search_leaves_an_honest_sentence() -> None:
    assert "found nothing" in answer(run("what is agntcy", search=0, fetch_document=10))


def test_deploy_asks_which_environment_and_answers_the_reply() -> None:
    asked = run("deploy the bot")[-1]
    assert asked == AskBack("Which environment: staging or production?")
    moves = run("deploy the bot", "Staging, please")
    assert answer(moves).startswith("# Deploying to staging")
    assert SEARCH in used(moves)
    assert answer(run("deploy the bot", "prod")).startswith("# Deploying to production")


def test_an_unclear_reply_is_asked_again() -> None:
    assert isinstance(run("deploy the bot", "dunno")[-1], AskBack)
    again = run("show me the form", "dunno")[-1]
    assert isinstance(again, AskBack)
    assert again.fields


def test_form_asks_with_fields() -> None:
    asked = run("fill in a form")[-1]
    assert isinstance(asked, AskBack)
    assert [field.name for field in asked.fields] == ["environment", "version", "reason"]
    assert answer(run("fill in a form", "environment: production\nversion: 2")).startswith(
        "# Deploying to production"
    )


def test_fail_gives_up_with_a_reason_and_late_after_some_text() -> None:
    moves = run("fail")
    assert isinstance(moves[-1], GiveUp)
    assert "archive" in moves[-1].reason
    assert answer(moves) == ""
    late = run("fail late")
    assert isinstance(late[-1], GiveUp)
    assert answer(late)


@pytest.mark.parametrize(
    ("question", "least"), [("long", 6000), ("long 8000", 8000), ("long answer, 900 please", 900)]
)
def test_long_is_as_long_as_asked(question: str, least: int) -> None:
    text = answer(run(question))
    assert least <= len(text) < least + 2000
    assert text.endswith("**This is the end of the long answer.**")


def test_a_long_answer_needs_no_library() -> None:
    assert len(answer(run("long 500", library=Library({})))) >= 500


def test_unicode_has_what_breaks_parsers() -> None:
    text = answer(run("unicode 8000"))
    assert len(text.encode()) > 8000
    for each in ("\u2028", "👩", "\u200d", "日本語", "e\u0301", "שלום"):
        assert each in "".join(move.text for move in run("unicode 8000") if isinstance(move, Narrate | Write))
    assert "\u202e" not in text


def test_slow_pauses_before_and_within_the_answer() -> None:
    moves = run("slow 20")
    assert sum(move.seconds for move in moves if isinstance(move, Pause)) > 20
    assert isinstance(moves[1], Pause)


@given(st.text(max_size=200))
def test_tokens_join_to_the_text(text: str) -> None:
    assert "".join(tokens(text)) == text


@given(st.text(max_size=60))
def test_every_question_ends_in_an_answer_a_question_or_a_reason(question: str) -> None:
    moves = run(question)
    assert answer(moves).strip() or isinstance(moves[-1], AskBack | GiveUp)
    assert moves == run(question)
