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
        ("can I give feedback?", "who sees it?", "Only the operator of the bot sees it"),
        ("which LLM do you use?", "can I change it?", "To try it with a model such as ChatGPT"),
        ("does it use Redis?", "what if it is down?", "Answers under way go on, and how they ended"),
        ("how do I install it?", "how long does that take?", "Plan an hour for the first time"),
        ("how do I update it?", "and go back?", "Stop the bot, put the copy of the store in its place"),
        ("do you store my messages?", "where?", "Your data is stored in one SQLite file"),
        ("what does it cost", "what about data privacy", "Stored are questions and answers (seven days)"),
        ("what does it cost", "what is agntcy", "AGNTCY (say"),
        ("what is agntcy", "shorter please", 'AGNTCY (say "agency") is an open source project'),
        ("what does it cost", "thanks", "You are welcome."),
        ("can I upload a file?", "how big?", "Files that you share with a question go to the agent, at"),
        ("how do I connect my own agent?", "where do I set it?", "You connect your agent by one setting"),
        ("what happens in a restart?", "how long does that take?", "The pause lasts until the"),
        ("is my data safe?", "what do you mean by masked?", "An agent can ping nobody with it, and secrets"),
        ("how many replicas may there be?", "why not more?", "Two replicas are enough, however many people"),
        ("why is it slow?", "how do I find out?", "`slack-bot trace` shows"),
        ("what is a tape?", "no, I meant the tests", "Thousands of tests run the real bot"),
        (
            "which ports must be open?",
            "which port?",
            "With Socket Mode no port has to be opened to the inside",
        ),
        (
            "which languages does it speak?",
            "and French?",
            "The bot passes on any language, with every alphabet",
        ),
        ("how long are my messages kept?", "can I make that shorter?", "An operator can change both"),
        ("how long does the installation take?", "what does it cost?", "The bot costs nothing"),
        (
            "what does Stop do to the agent's work?",
            "who else can do that?",
            "If I understand you right, you ask: *Who may",
        ),
        ("what does it cost", "who won the world cup?", "I do not know that."),
    ],
)
def test_a_question_without_a_subject_is_read_with_the_one_before(
    before: str, question: str, answer: str
) -> None:
    assert asked(before, question).startswith(answer)


def test_it_is_said_how_a_question_was_read() -> None:
    answer = asked("can I give feedback?", "who sees it?")
    assert (
        "**Read as:** Who sees my feedback, and where is it kept?\n\n**Source:** Using it in Slack" in answer
    )


def test_a_third_question_is_read_with_what_the_second_was_read_as() -> None:
    assert asked("how do I install it?", "and on Windows?", "and on a Raspberry Pi?").startswith(
        "It needs Linux"
    )


def test_what_is_probably_meant_is_shown_as_that_with_what_else_may_be() -> None:
    asked_before = "which permissions does the bot need?", "what are they for?"
    answer = asked(*asked_before)
    assert answer.startswith(
        "If I understand you right, you ask: *What is each scope for, such as files:read?*"
    )
    other = answer.partition("Or do you mean this?\n\n1. **")[2].partition("**")[0]
    assert asked(*asked_before, "1").startswith(f"**{other}**\n\n")


@pytest.mark.parametrize("question", ["why?", "why not?", "how?"])
def test_where_no_more_is_known_that_is_said_with_what_is_known(question: str) -> None:
    answer = asked("does it work with Microsoft Teams?", question)
    assert answer.startswith("I know no more about that than I said: It works with Slack only.")
    assert "What else I know of it:\n\n1. **Can it be on a website, or in our intranet?**\n" in answer


@pytest.mark.parametrize("question", ["explain", "I don't get it", "what do you mean?"])
def test_an_answer_that_was_not_understood_comes_in_one_sentence(question: str) -> None:
    answer = asked("what does it cost", question)
    assert answer.startswith("In one sentence: The bot costs nothing: it is open source")
    assert "Write a number to read one." in answer


def test_a_point_of_the_last_list_can_be_chosen() -> None:
    offered = asked("what does it cost", "explain")
    second = next(line for line in offered.splitlines() if line.startswith("2. ")).strip("2. *")
    for chosen in ("2", "the second one", "number 2 please", "and what about the second one?"):
        assert asked("what does it cost", "explain", chosen).startswith(f"**{second}**\n\n")
    assert asked("what does it cost", "explain", "2", "the last one").startswith("**")
    assert "has 4 points only" in asked("what does it cost", "explain", "7")


def test_where_there_is_no_list_no_point_is_guessed() -> None:
    answer = asked("what does it cost", "what about the third point on your list?")
    assert answer.startswith("My last answer has no list")


@pytest.mark.parametrize(
    ("before", "question", "answer"),
    [
        (
            "can the agent ask me for approval?",
            "show me",
            "You can try it here: `restart the search service`",
        ),
        ("can the agent create a chart?", "give me an example", "You can try it here: `show me a chart`"),
        ("how do I connect my own agent?", "an example please", "**How do I write an agent?**"),
        ("can I stop an answer?", "in German please", "Diese Demo antwortet nur auf Englisch. I can answer"),
        ("what does it cost", "are you sure?", "So it stands in the guide (`docs/questions.md`)"),
    ],
)
def test_an_example_a_language_or_the_source_can_be_asked_for(
    before: str, question: str, answer: str
) -> None:
    assert asked(before, question).startswith(answer)


@pytest.mark.parametrize("question", ["go on", "more", "and now?", "what else?", "and then?", "weiter"])
def test_who_wants_more_gets_the_next_best_part_of_the_topic(question: str) -> None:
    known = [each.heading for each in LIBRARY.parts_of(LIBRARY.search("is it safe")[0].section)]
    first, second = asked("is it safe", question), asked("is it safe", "go on", question)
    assert first != second
    for each in (first, second):
        assert each.split("**")[1] in known and each.endswith("**Source:** Data and security\n")


def test_more_detail_is_two_parts_that_were_not_shown() -> None:
    answer = asked("how do I deploy it?", "more detail please")
    headings = [line for line in answer.splitlines() if line.startswith("**") and "Source" not in line]
    assert len(headings) == 2 and "Deploy it as one process" not in answer


def test_at_the_end_of_a_page_there_is_no_more() -> None:
    last = LIBRARY.sections_of("data-and-security")[-1]
    parts = len(LIBRARY.parts_of(last))
    answer = asked(last.heading, *["go on"] * parts)
    assert answer.startswith("That was the end of *Data and security*.")


@pytest.mark.parametrize("question", ["why?", "go on", "and now?", "and the second one?", "in simple words"])
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
    assert "**Source:** Data" in ask(conversation, "go on")  # another answer came since


def test_contexts_know_nothing_of_each_other_and_the_oldest_are_forgotten() -> None:
    conversations = TalkContexts(LIBRARY)
    ask(conversations.of("one"), "is it safe")
    assert ask(conversations.of("two"), "go on").startswith(NOTHING)
    assert "**Source:** Data" in ask(conversations.of("one"), "go on")
    for number in range(1000):
        conversations.of(str(number))
    assert ask(conversations.of("one"), "go on").startswith(NOTHING)


def test_a_question_that_is_not_known_does_not_end_the_subject() -> None:
    before = "how do approvals work?", "what did the elephant say to the purple horse?"
    assert asked(*before, "who may press it?").startswith("The asker may, and who is named in `approvers`")
    assert asked(*before, "why?").startswith(NOTHING)


def test_what_the_thread_began_with_is_still_known_behind_other_questions() -> None:
    before = "how do I connect my own agent?", "it is in Python"
    assert asked(*before, "where do I set it?").startswith("You connect your agent by one setting")


@pytest.mark.parametrize(
    ("shown", "question", "answer"),
    [
        ("plan a release", "who else can fill it in?", "Who may answer a form or approve?"),
        ("restart the search service", "can I take that back?", "An approval cannot be taken back"),
        ("show me a chart", "where do they stand?", "Tables, charts and files of an answer stand"),
    ],
)
def test_a_demonstration_is_a_subject_too(shown: str, question: str, answer: str) -> None:
    conversation = TalkContext(LIBRARY)
    conversation.saw(shown)
    assert answer in ask(conversation, question)


def test_what_is_no_demonstration_is_no_subject() -> None:
    conversation = TalkContext(LIBRARY)
    conversation.saw("what does it cost")
    assert ask(conversation, "why?").startswith(NOTHING)


@pytest.mark.parametrize("question", ["another one", "one more please", "haha, more!", "and another joke"])
def test_after_a_joke_another_one_is_another_joke(question: str) -> None:
    conversation = TalkContext(LIBRARY)
    first = ask(conversation, "tell me a joke")
    second = ask(conversation, question)
    assert first != second
    assert {ask(TalkContext(LIBRARY), f"a joke{' ' * more}!") for more in range(8)} >= {first, second}


def test_another_one_after_an_answer_is_no_joke() -> None:
    joke = asked("tell me a joke", "another one")
    assert asked("tell me a joke", "what does it cost", "another one") != joke
