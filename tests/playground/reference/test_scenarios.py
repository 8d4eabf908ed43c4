import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.playground.reference.agent import bundled_library as guide
from slack_bot.playground.reference.classifier import Classifier
from slack_bot.playground.reference.requests import think_of_request
from slack_bot.playground.reference.scenarios import (
    AskBack,
    CallTool,
    Move,
    Pause,
    ShowPlan,
    WriteMove,
    think,
    tokens,
)
from slack_bot.playground.reference.search import Library
from slack_bot.playground.reference.showcase import asked_for
from slack_bot.playground.reference.subjects import Subjects
from slack_bot.playground.reference.toolbox import FETCH, SEARCH, ModelFailed, Prompt, Toolbox
from slack_bot.settings.models import ReferenceSettings
from tests.playground.reference.test_subjects import SUBJECTS

Ending = Move | ModelFailed


def run(question: str, library: Library | None = None, **caps: int) -> list[Ending]:
    library = library or guide()
    tools = Toolbox(library, ReferenceSettings.model_validate(caps))
    thought, moves, result = think(question, library), list[Ending](), None
    while True:
        try:
            move = thought.send(result)
        except StopIteration:
            return moves
        except ModelFailed as failed:
            return [*moves, failed]
        moves.append(move)
        result = tools.run(move.tool, move.argument) if isinstance(move, CallTool) else None


def answer(moves: list[Ending]) -> str:
    return "".join(move.text for move in moves if isinstance(move, WriteMove))


def used(moves: list[Ending]) -> list[str]:
    return [move.tool for move in moves if isinstance(move, CallTool)]


@pytest.mark.parametrize(
    "question",
    ["what is agntcy", "explain how agntcy agents communicate with each other", "how does streaming work?"],
)
def test_a_knowledge_question_is_searched_read_and_answered_at_length(question: str) -> None:
    moves = run(question)
    assert isinstance(moves[0], str)
    assert set(used(moves)) == {SEARCH, FETCH}
    text = answer(moves)
    assert len(text) > 300
    assert re.search(r"^## .+$", text, re.MULTILINE)
    assert re.search(r"^\*\*Sources?:\*\* [A-Z]", text, re.MULTILINE)
    assert "score" not in text
    last_plan = [move for move in moves if isinstance(move, ShowPlan)][-1]
    assert {step.status for step in last_plan.steps} == {"completed"}


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("what is agntcy", 'AGNTCY (say "agency") is an open source project'),
        ("who started agntcy?", 'AGNTCY (say "agency") is an open source project'),
        ("explain how agntcy agents communicate with each other", "Agents in AGNTCY's Internet of Agents"),
        ("tell me everything about streaming", "Streaming means that text appears in the thread"),
        ("What is the latch?", "The latch decides"),
        ("what is a tape?", "A tape is a file with all that an agent sent and when"),
        ("What is A2A?", "A2A (Agent2Agent) is an open protocol"),
        ("what is MLS?", "Messages can travel over SLIM"),
        ("How are secrets kept?", "Tokens and other secrets are kept out of"),
        ("is my data safe?", "It is made to be: requests of Slack are verified"),
        ("How does the bot recover after a cut?", "A connection to the agent that breaks costs nothing"),
        ("What happens when Slack is down?", "When Slack is down or busy"),
        ("can I lose an answer?", "You do not lose an answer"),
        ("how do I stop an answer", "Press Stop below the thread"),
        ("how do I try it out?", "You can try it without Slack, a token or an account"),
        ("how do I install it", "To install it, create a Slack app"),
        ("how do I get a token", "You get the bot token"),
        ("how often is text written?", "Text is written to Slack about once a second."),
        ("which settings are there?", "Three values are enough"),
        ("does the bot read my channel?", "The bot reads only threads in which"),
        ("how do I deploy to production?", "For production, mount a volume"),
        ("How does streaming work here?", "Streaming means that text appears in the thread"),
        ("What happens when the bot is killed?", "A restart loses nothing that was acknowledged"),
        ("can I run several replicas?", "Several replicas can run side by side, with one Redis"),
        ("how are rate limits kept?", "Slack limits how often a workspace may be called"),
        ("are there metrics?", "`/livez` and `/readyz` answer probes"),
        ("how do I connect my agent?", "You connect your agent by one setting"),
        ("How do I configure the bot?", "Three values are enough"),
        ("does it lose text?", "You do not lose an answer"),
        ("do I need another mention in a thread?", "You need one mention in a thread"),
        ("what if I ask while an answer is running?", "Your next question waits in line"),
        ("how do approvals work?", "An approval shows the call"),
        ("can I share a file?", "Files that you share with a question go"),
        ("what is on the Home tab?", "The bot's Home tab shows who answers"),
        ("how do I give feedback?", "Below an answer, press *Helpful*"),
    ],
)
def test_what_was_asked_for_is_answered_first(question: str, words: str) -> None:
    assert answer(run(question)).startswith(words)


@pytest.mark.parametrize(
    ("words", "questions"),
    [
        (
            "A2A was begun by Google in 2025",
            [
                "who invented A2A?",
                "who made a2a",
                "is A2A from google",
                "who owns the A2A protocol",
                "wer hat a2a erfunden",
            ],
        ),
        (
            "With A2A somebody gives an agent a task",
            ["difference A2A/MCP", "is a2a the same as mcp?", "why A2A if I have MCP servers", "a2a vs mcp"],
        ),
        (
            "Most likely the agent was still working",
            [
                "why was there no reply for a minute?",
                "nothing came for nearly a minute just now",
                "why such a long silence",
            ],
        ),
        (
            "The manifest is `docs/slack-app-manifest.json`",
            [
                "is there a manifest I can paste",
                "where is the app manifest",
                "which manifest do I paste into api.slack.com",
            ],
        ),
        (
            "under the Apache licence 2.0",
            [
                "may we sell it",
                "can I fork it?",
                "quelle est la licence ?",
                "under which licence may we change it",
                "is it MIT or Apache",
            ],
        ),
        (
            "Everybody who sees an answer can stop it",
            [
                "who may press stop",
                "can my colleague stop my answer, who is allowed to",
                "who is allowed to stop it",
            ],
        ),
        (
            "sees question and answer",
            [
                "who sees my question",
                "do others in the channel see the answer",
                "qui peut voir ma question",
                "wer sieht die Antwort",
            ],
        ),
        (
            "The bot costs nothing",
            [
                "what does it cost",
                "Was kostet der Bot?",
                "c'est gratuit ?",
                "¿cuánto cuesta?",
                "do I need a credit card",
                "pricing?",
            ],
        ),
        (
            "If the bot does not answer, run `slack-bot doctor`",
            [
                "the bot is silent",
                "I mention it and nothing happens",
                "le bot ne répond pas",
                "el bot no responde",
                "it ignores me",
            ],
        ),
    ],
)
def test_ten_wordings_of_a_question_have_one_answer(words: str, questions: list[str]) -> None:
    for question in questions:
        assert words in answer(run(question)), question


@pytest.mark.parametrize(
    ("question", "pages", "words"),
    [
        (
            "what is agntcy, see @cost-and-licence.md",
            ["agntcy", "agntcy-communication", "@cost-and-licence.md"],
            "AGNTCY",
        ),
        ("@agntcy.md", ["agntcy", "agntcy-communication"], "AGNTCY"),
    ],
)
def test_a_page_that_is_named_is_read_and_is_no_part_of_the_question(
    question: str, pages: list[str], words: str
) -> None:
    moves = run(question)
    assert [move.argument for move in moves if isinstance(move, CallTool) and move.tool == FETCH] == pages
    assert answer(moves).startswith(words)


def test_one_page_is_no_pages_and_the_finished_plan_says_what_was_done() -> None:
    titles = {
        question: [move.title for move in run(question) if isinstance(move, ShowPlan)]
        for question in ("what is MLS?", "what is agntcy", "tell me everything about streaming")
    }
    assert [each[-1] for each in titles.values()] == [
        "Searched 1 page",
        "Searched 2 pages",
        "Searched 4 pages",
    ]
    assert {title for each in titles.values() for title in each[:-1]} == {""}
    said = "".join(move for move in run("what is MLS?") if isinstance(move, str))
    assert "I found 1 section on 1 page." in said


def test_no_step_names_an_agent_that_the_reader_does_not_know() -> None:
    for question in ("what is agntcy", "fail"):
        plans = [move for move in run(question) if isinstance(move, ShowPlan)]
        assert {step.agent for plan in plans for step in plan.steps} == {"Supervisor"}


def test_an_order_is_refused_with_what_is_known_of_it() -> None:
    moves = run("deploy our shop to staging")
    assert not used(moves)
    assert answer(moves).startswith("I cannot do that: I am a demonstration")
    assert "What I know of it: *" in answer(moves)
    assert "What I know of it" not in answer(run("write me a poem"))


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ("Can you write me a Python script that renames files?", "I write no code: I am a demonstration"),
        ("write a function that sorts a list of dicts", "I write no code: I am a demonstration"),
        (
            "Could you write a minimal A2A agent in Python, so I can try the bot with it?",
            "I write no code, but a small agent of about ninety lines stands in `docs/agents.md`",
        ),
    ],
)
def test_no_code_is_written_but_an_agent_is_named(order: str, said: str) -> None:
    assert answer(run(order)).startswith(said)


def test_of_a_long_story_each_question_has_one_sentence() -> None:
    said = answer(
        run(
            "We are a company with many teams, and last year another bot had an incident, in which it showed"
            " tables to people who should not have seen them, so before we begin I would like to know who can"
            " read what was asked, what is written to the logs, whether guests can ask it too, and our board"
            " needs to know which licence it has. How do I deploy it?"
        )
    )
    assert [line.split("**")[1] for line in said.splitlines() if line.startswith("- **")] == [
        "Can an operator or my boss read what I ask?",
        "Do messages appear in the log?",
        "Can guests or people of other companies ask?",
        "Which licence is it under?",
        "How do I deploy it?",
    ]
    assert "- **Do messages appear in the log?** At its usual level (info) the log has no text" in said


def test_a_part_of_a_question_that_has_no_answer_is_named() -> None:
    said = answer(run("how do I deploy it, and what's the *capital* of Australia?"))
    assert said.startswith("Deploy it as one process")
    assert "Of *what's the capital of Australia?* I know nothing." in said


def test_of_a_part_that_is_not_quite_answered_no_more_is_known() -> None:
    said = answer(
        run("Can several agents stand behind one app, and what would you recommend for our company?")
    )
    assert said.startswith("One Slack app may have several agents")
    assert "Of *what would you recommend for our company?* I know no more than this." in said


@pytest.mark.parametrize(
    "heading", [each.heading for each in guide().sections if each.heading.startswith("How many")]
)
def test_a_heading_that_counts_is_answered_by_its_section(heading: str) -> None:
    section = next(each for each in guide().sections if each.heading == heading)
    assert answer(run(heading)).startswith(section.text)


def test_what_a_setting_is_for_is_said() -> None:
    assert answer(run("what is SLACK_BOT_LOG__FORMAT for?")).startswith(
        "`SLACK_BOT_LOG__FORMAT`: Of the log: one"
    )


def test_a_table_of_something_is_not_made_but_what_is_known_is_said() -> None:
    said = answer(run("make me a table of all settings"))
    assert said.startswith("I cannot make a table")
    assert ".env.example" in said


def test_a_joke_needs_no_tools_and_no_plan() -> None:
    moves = run("tell me a joke")
    assert not used(moves)
    assert not [move for move in moves if isinstance(move, ShowPlan)]
    assert len(answer(moves)) > 20


@pytest.mark.parametrize(
    "question",
    [
        "how is the weather in San Francisco?",
        "who won the world cup?",
        "what is the capital of France",
        "what time is it",
        "what is 2+2",
        "???",
        "",
    ],
)
def test_off_topic_is_declined_politely_without_tools(question: str) -> None:
    moves = run(question)
    assert not used(moves)
    assert "I do not know that. I only know this project" in answer(moves)
    assert " · Cost and licence · " in answer(moves)


@pytest.mark.parametrize(
    "question",
    [
        "how long does it take to plan a release?",
        "what happens when I restart the service?",
        "restart the pod, and what happens to my answer?",
        "does it connect to my calendar?",
        "can it show me a table or a chart?",
        "file uploads, do they work?",
        "can the agent ask people to fill in a form?",
        "how do I deploy to Kubernetes?",
        "why is my answer slow",
        "does the bot fail often?",
    ],
)
def test_a_question_that_only_has_the_words_of_a_demonstration_is_a_question(question: str) -> None:
    moves = run(question)
    assert not [move for move in moves if isinstance(move, AskBack | ModelFailed)]
    assert answer(moves)
    assert not asked_for(question)
    assert think_of_request(Prompt(question)) is None


@pytest.mark.parametrize(
    "question", ["hello", "Good morning!", "what can I ask you", "Who are you?", "are you human"]
)
def test_a_greeting_is_greeted(question: str) -> None:
    assert answer(run(question)).startswith("Hello!")


def test_thanks_are_not_met_with_a_list() -> None:
    assert answer(run("thanks a lot")) == "You are welcome. Ask me again whenever you like.\n"


def test_another_answer_is_shorter_or_has_more_detail() -> None:
    before = answer(run("what is agntcy"))
    shorter = answer(run("what is agntcy\n\nPlease answer this again, shorter: only what matters most."))
    longer = answer(run("what is agntcy\n\nPlease answer this again, with more detail."))
    assert before.startswith(shorter.strip()) and len(shorter) < len(before) < len(longer)


def test_more_detail_is_the_rest_of_the_same_topic() -> None:
    longer = answer(run("who may stop an answer?\n\nPlease answer this again, with more detail."))
    assert longer.startswith("Everybody who sees an answer can stop it")
    assert "## How do I stop an answer?" in longer
    assert longer.endswith("**Source:** Using it in Slack\n")


NOT_SURE = "I am not sure that I know that. What I know that comes nearest:\n\n"


@pytest.mark.parametrize(
    ("question", "dogs", "cats", "said"),
    [
        ("furry", 50, 0, "Bark.\n\n**Source:** About dogs"),
        (
            "bark or sleep",
            36,
            0,
            f"{NOT_SURE}- **About dogs** Bark.\n\nIf it is not this, I do not know the answer.",
        ),
        (
            *("furry", 44, 42),
            "Bark.\n\n## About cats\n\nCats sleep.\n\n**Sources:** About dogs · About cats",
        ),
        (
            *("bark or sleep", 32, 30),
            f"{NOT_SURE}- **About dogs** Bark.\n- **About cats** Cats sleep.\n\n"
            "If it is none of these, I do not know the answer.",
        ),
        (
            *("furry", 32, 31),
            f"{NOT_SURE}- **About dogs** Bark.\n- **About cats** Cats sleep.\n\n"
            "If it is none of these, I do not know the answer.",
        ),
        (
            *("furry", 28, 0),
            f"{NOT_SURE}- **About dogs** Bark.\n\nIf it is not this, I do not know the answer.",
        ),
        (
            "furry",
            12,
            11,
            "I do not know that. I only know this project, and answer from its guide.",
        ),
    ],
)
def test_an_answer_that_is_not_sure_says_so_and_what_else_may_be_meant(
    question: str, dogs: int, cats: int, said: str
) -> None:
    pages = {"cats": "# About cats\n\nCats sleep.", "dogs": "# About dogs\n\nBark."}
    model = Classifier(f"About cats\tAbout dogs\n{question.split()[0]}\t1 {dogs} 0 {cats}")
    library = Library(pages, Subjects(SUBJECTS), 'everyday = "or"\n[wordings]', model)
    assert answer(run(question, library=library)).startswith(said)


def test_a_thorough_question_reaches_the_search_limit_and_goes_on_to_read() -> None:
    moves = run("tell me everything about streaming")
    assert used(moves).count(SEARCH) == 7
    assert used(moves).count(FETCH) == 4
    assert any(isinstance(move, str) and "limit is reached" in move for move in moves)
    assert "**Source:** How streaming works" in answer(moves)


def test_a_spent_fetch_leaves_an_answer_from_the_search() -> None:
    assert answer(run("what is agntcy", fetch_calls=0)).startswith("AGNTCY")


def test_a_spent_search_leaves_an_honest_sentence() -> None:
    assert "found nothing" in answer(run("what is agntcy", search_calls=0))


def test_fail_gives_up_with_a_reason_and_late_after_some_text() -> None:
    moves = run("Fail on purpose")
    assert isinstance(moves[-1], ModelFailed)
    assert "archive" in str(moves[-1])
    assert answer(moves) == ""
    late = run("fail late")
    assert isinstance(late[-1], ModelFailed)
    assert answer(late)


@pytest.mark.parametrize(
    ("question", "least"),
    [("long", 6000), ("long 8000", 8000), ("Long 900.", 900), ("Write a long answer", 6000)],
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
        assert each in text + "".join(move for move in run("unicode 8000") if isinstance(move, str))
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
    assert answer(moves).strip() or isinstance(moves[-1], AskBack | ModelFailed)
    assert list(map(repr, moves)) == list(map(repr, run(question)))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("what is the difference between play and run", "`slack-bot play` is the playground"),
        ("what happens if two people ask at the same time", "In one thread one question after the other"),
        ("how many replicas do I need for 500 people", "Two replicas are enough, however many people ask"),
        ("Can I try it with ChatGPT?", "To try it with a model such as ChatGPT, set"),
        ("what about data privacy", "Stored are questions and answers (seven days)"),
        ("how many people use this?", "This guide knows of nobody who uses it"),
        ("who is allowed to press Stop", "Everybody who sees an answer can stop it"),
        ("explain streaming like I'm five", "Streaming means that text appears in the thread"),
        ("who is the CEO of Slack", "I do not know that."),
        ("Hilfe", "This demo answers in English. Diese Demo antwortet auf Englisch.\n\nHello!"),
        ("remind me tomorrow to call Jonas", "I cannot do that: I am a demonstration"),
    ],
)
def test_what_a_first_visitor_asked(question: str, said: str) -> None:
    text = answer(run(question))
    assert text.startswith(said)
    assert len(text) < 800 and "## " not in text and "comes nearest" not in text and "calendar" not in text


def test_shorter_than_one_sentence_is_not_possible() -> None:
    again = "\n\nPlease answer this again, shorter."
    question = "How fast does the first text appear?"
    assert answer(run(question)).count(". ") == 0
    assert answer(run(f"{question}{again}")).startswith("That was one sentence, and I have no shorter one")
    assert answer(run(f"what does it cost{again}")).startswith("The bot costs nothing")
