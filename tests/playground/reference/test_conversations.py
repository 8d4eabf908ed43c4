"""Short questions in a thread: they are read with what came before them."""

from __future__ import annotations

import pytest

from slack_bot.playground.reference.agent import bundled_library
from slack_bot.playground.reference.conversations import TalkContext, TalkContexts
from slack_bot.playground.reference.scenarios import CallTool, WriteMove
from slack_bot.playground.reference.toolbox import Toolbox
from slack_bot.settings.models import ReferenceSettings

LIBRARY = bundled_library()
NOTHING = "I cannot tell what this is about: I have answered nothing in this conversation before it"


def ask(conversation: TalkContext, question: str, most: int | None = None) -> str:
    """The answer. `most`: it is stopped while its paragraph after so many is written."""
    thought, tools = conversation.think(question), Toolbox(LIBRARY, ReferenceSettings(pace=0))
    written: list[str] = []
    move = next(thought, None)
    while move is not None:
        result = tools.run(move.tool, move.argument) if isinstance(move, CallTool) else None
        if isinstance(move, WriteMove):
            if len(written) == most:
                break
            written.append(move.text)
        try:
            move = thought.send(result)
        except StopIteration:
            break
    return "".join(written)


def asked(*questions: str) -> str:
    """The answer to the last of them, in one conversation."""
    conversation = TalkContext(LIBRARY)
    return [ask(conversation, each) for each in questions][-1]


@pytest.mark.parametrize(
    ("before", "question", "answer"),
    [
        ("what does it cost", "and for 100 users?", "In all you pay for the language model of your agent"),
        ("how fast is it", "why?", "Most of the time an answer is slow because the agent"),
        ("how do I stop an answer", "and in a direct message?", "In a direct message no mention is needed"),
        ("is it safe", "and without Redis?", "Redis is supported, but one process needs neither it"),
        ("is it safe", "why?", "I know no more about that than I said."),
        ("what does it cost", "what about data privacy", "Stored are questions and answers (seven days)"),
        ("what does it cost", "what is agntcy", "AGNTCY (say"),
        ("what does it cost", "what about the third point on your list?", "I read this with your question"),
        ("what does it cost", "I don't get it", "I read this with your question before it"),
        ("what does it cost", "thanks", "You are welcome."),
        ("what is agntcy", "shorter please", 'AGNTCY (say "agency") is an open source project'),
    ],
)
def test_a_question_without_a_subject_is_read_with_the_one_before(
    before: str, question: str, answer: str
) -> None:
    assert asked(before, question).startswith(answer)


def test_it_is_said_how_a_question_was_read() -> None:
    assert "**Read as:** what does it cost for 100 users?\n" in asked(
        "what does it cost", "and for 100 users?"
    )


@pytest.mark.parametrize("question", ["go on", "more", "and now?", "what else?", "and then?", "weiter"])
def test_who_wants_more_gets_the_next_section(question: str) -> None:
    assert asked("is it safe", question).startswith(
        "**Can somebody forge a request to the bot?**\n\nA forged"
    )
    assert "Can somebody forge" not in asked("is it safe", "go on", question)


def test_at_the_end_of_a_page_there_is_no_more() -> None:
    last = LIBRARY.sections_of("data-and-security")[-1]
    assert asked(last.heading, "go on").startswith("That was the end of *Data and security*.")


@pytest.mark.parametrize("question", ["why?", "go on", "and now?", "and the second one?"])
def test_where_nothing_came_before_that_is_said(question: str) -> None:
    assert asked(question).startswith(NOTHING)
    assert asked("tell me a joke", question).startswith(NOTHING)


def test_a_stopped_answer_goes_on_with_the_paragraph_that_was_cut() -> None:
    whole = asked("write a long answer")
    conversation = TalkContext(LIBRARY)
    begun = ask(conversation, "write a long answer", most=3)
    assert begun + ask(conversation, "go on") == whole
    assert ask(conversation, "go on").startswith(NOTHING)  # it is whole, and has no section behind it


def test_the_rest_of_a_stopped_answer_can_be_stopped_too() -> None:
    whole = asked("what is agntcy")
    conversation = TalkContext(LIBRARY)
    texts = [ask(conversation, "what is agntcy", most=1), ask(conversation, "go on", most=1)]
    assert "".join(texts) + ask(conversation, "continue") == whole
    ask(conversation, "what is agntcy", most=1)
    ask(conversation, "is it safe")
    assert "forge" in ask(conversation, "go on")  # another answer came since


def test_contexts_know_nothing_of_each_other_and_the_oldest_are_forgotten() -> None:
    conversations = TalkContexts(LIBRARY)
    ask(conversations.of("one"), "is it safe")
    assert ask(conversations.of("two"), "go on").startswith(NOTHING)
    assert "forge" in ask(conversations.of("one"), "go on")
    for number in range(1000):
        conversations.of(str(number))
    assert ask(conversations.of("one"), "go on").startswith(NOTHING)
