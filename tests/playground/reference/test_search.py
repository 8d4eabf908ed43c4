"""Search over pages: which section answers a question, and what nobody wrote about."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.playground.reference.agent import bundled_library as guide
from slack_bot.playground.reference.classifier import Classifier
from slack_bot.playground.reference.search import Library
from slack_bot.playground.reference.subjects import Subjects
from tests.playground.reference.test_subjects import SUBJECTS
from tests.playground.train import learned

PAGES = {
    "cats": "# About cats\n\nCats sleep.\n\n## Food\n\nA cat eats fish.\n\n```sh\n# not a heading\n```\n",
    "dogs": "# About dogs\n\nDogs bark at cats and at a cat.\n\n## Empty\n",
    "plain": "No heading here, only fishing stories.",
}
WORDINGS = """
everyday = "a about and do does how is of the what"
[wordings]
"Food" = "dinner"
"""
NOTHING = ""

# in words of our own; each trap of the first search is among them
QUESTIONS = {
    "What this bot is": ["what is this bot?", "Hey! What is this thing?"],
    "What can it do?": [
        "are you chatgpt?",
        "what can you do for us?",
        "which features are there",
        "why would anyone want this bot",
    ],
    "What do I need for it?": [
        "what do we have to prepare",
        "I have no agent yet, what now?",
        "do I need a developer for this",
    ],
    "Which Slack plan does it need?": [
        "is Enterprise Grid required?",
        "does it run on the free plan of Slack",
    ],
    "Who is it for?": ["could this answer from our HR handbook?"],
    "A2A, the protocol behind it": [
        "explain a2a in simple words",
        "our agent only speaks gRPC",
        "what is a2a",
        "agent2agent?",
        "which a2a version is spoken",
    ],
    "Which model (LLM) does it use?": ["which llm is it", "can I use my own model"],
    "Who made it?": ["who built you?", "Who is behind this project", "Wer hat dich gebaut?"],
    "What is it written in?": ["which programming language is it written in?"],
    "What is CAIPE?": ["what is caipe", "my colleague mentioned caipe, how does it relate?"],
    "How is it different from other bots?": [
        "how is it different from slack ai",
        "why not write my own bot with bolt",
    ],
    "What if the project is abandoned?": [
        "what's the bus factor here",
        "will anybody look after this in five years?",
        "what remains for us if the project is discontinued",
    ],
    "Is there commercial support or an SLA?": [
        "do you sell support contracts?",
        "Is there an SLA?",
        "can we pay somebody for support",
    ],
    "What does it cost in all?": ["what is the TCO", "Was kostet der Betrieb im Jahr insgesamt?"],
    "How much work is it to run?": [
        "how much maintenance does it need",
        "how many hours will our admins have to spend on it?",
        "is the bot a full time job for an admin?",
        "Wie hoch ist der Aufwand im Betrieb?",
    ],
    "ECS, Cloud Run and other container platforms": [
        "does it also run on Fargate, or only on Kubernetes",
        "can I host it on Cloud Run?",
        "Läuft das auf ECS?",
    ],
    "How was it tested?": ["is it production ready?", "how well is this tested"],
    "Cost and licence": [
        "what does it cost",
        "hwo mcuh dose it csot",
        "is it free for 500 people?",
        "MIT or Apache?",
        "Was kostet der Bot?",
    ],
    "How much machine does it need?": [
        "how much memory does it need",
        "do I need a server?",
        "do I need redis",
    ],
    "How many tokens does an answer use?": ["how many tokens does a question burn"],
    "How long are my messages kept?": [
        "how long are my messages kept",
        "Wie lange werden meine Nachrichten gespeichert?",
        "what is your data retention",
    ],
    "Where is my data stored?": [
        "where does our chat data go",
        "Hi, we're a bank and wonder: where is data stored?",
    ],
    "Is what I write used to train a model?": ["do you train on what I type"],
    "Does it run in a closed network?": ["can it run air-gapped", "does it phone home?"],
    "Can I delete my data?": ["can I have my data deleted? GDPR", "right to be forgotten?"],
    "Is it safe?": [
        "is it secure",
        "can somebody hack you and read my messages",
    ],
    "Is it encrypted, audited or certified?": [
        "is the data encrypted at rest",
        "has anybody done a pentest",
        "is there an SBOM",
    ],
    "What about prompt injection?": ["how do you handle prompt injection"],
    "How does the bot prove itself to the agent?": [
        "mTLS to the agent?",
    ],
    "Are secrets shown or logged?": ["are passwords in the logs?", "what happens to a secret in an answer"],
    "Which permissions does it need in Slack?": ["which scopes does it need", "what permisions do I grant"],
    "Does it read my channels?": ["does it read all our channels", "can it see channels without an invite"],
    "Who may ask, and who sees the answer?": [
        "can people see the answer who are not in the channel",
        "is it possible to keep the interns out",
        "who can see my question",
        "can guests use it?",
    ],
    "Editing or deleting a question": [
        "what if somebody changes a question later",
        "I have a typo in my question",
    ],
    "Do I need another mention?": ["do I have to mention it each time"],
    "How do I stop an answer?": ["how do I stop it", "is there a stop button?"],
    "Does it remember what I asked before?": ["does it remember earlier questions"],
    "Forms and approvals": ["how do approvals work", "can it show a form with a dropdown"],
    "Signing in": ["does it support SSO"],
    "Can I share a file?": ["can I upload a pdf"],
    "Voice, calls and pictures": ["can it look at a screenshot"],
    "How do I give feedback?": ["are there thumbs to press", "where do I rate an answer"],
    "Which languages does it speak?": ["does it speak german", "Sprichst du Deutsch?"],
    "Does it work in direct messages and private channels?": [
        "can I dm it",
        "does it work in private channels",
    ],
    "Can the bot speak first?": ["can it post a daily report on a schedule?"],
    "How streaming works": ["how does streaming work"],
    "Why is my answer slow?": ["why is my answer slow", "why so slow", "it takes so long to answer"],
    "Why does everything come at once?": ["why does the text appear all at once"],
    "How long may an answer be?": ["what is the maximum length of an answer", "how long can an answer be"],
    "How long may an answer take?": ["my agent needs ten minutes, will it time out"],
    "Trying it out": ["can I try it without slack"],
    "How do I install it in my workspace?": [
        "how much time does the installation take",
        "how do I install it in our workspace",
    ],
    "Do people have to install anything?": ["does it work on my phone"],
    "How do I connect my own agent?": [
        "how do I connect my own agent?",
        "can it send a bearer token to the agent",
    ],
    "Which frameworks work?": ["does it work with crewai", "our service is plain REST, does that fit?"],
    "How do I write an agent?": ["how do I write my own agent"],
    "Does it work with Microsoft Teams?": [
        "does it work with teams",
        "is there a discord version?",
        "and in Google Chat?",
        "Is Teams planned, and if so, when?",
        "We use Slack, but some of us are on Teams. Is Teams supported too?",
    ],
    "Can several agents stand behind one app?": ["can one bot have several agents"],
    "Which platforms does it run on?": ["does it run on windows"],
    "What it does not do": ["what are the limitations"],
    "How do I deploy it?": ["how do I deploy it", "where do I host this"],
    "Docker and Kubernetes": ["how do I deploy to Kubernetes", "helm chart?", "is there a docker image"],
    "When the bot is restarted or killed": ["what happens when the pod is killed in the middle of an answer"],
    "Several replicas and Redis": ["can I run three replicas"],
    "Rate limits of Slack": ["what about slack's rate limits", "how do you handle a 429"],
    "How many questions may I ask?": ["how many questions may I ask per day", "is there a rate limit?"],
    "How many people can use it at once?": [
        "how many users can it serve at the same time",
        "how many concurrent users can one instance take",
        "Wie viele Leute können gleichzeitig fragen?",
    ],
    "Health, metrics and logs": ["are there prometheus metrics"],
    "When the agent fails": [
        "what happens if an answer stops by itself",
        "what do people see when the agent is down",
    ],
    "Nothing happens: the bot does not answer": [
        "I mention the bot in a private channel and it does not reply",
        "the bot doesn't answer me",
        "I get invalid_auth",
    ],
    "Updating to another version": ["how do I upgrade"],
    "What AGNTCY is": ["what is agntcy"],
    "Transport: SLIM and MLS": ["what is MLS?"],
    NOTHING: [
        "what is the capital of Peru",
        "how do I cook rice",
        "is it safe to eat raw fish",
        "what is the price of bitcoin",
        "how long is the great wall of china",
        "which languages are spoken in Belgium",
        "difference between a mutex and a semaphore",
        "what is the best model of car",
        "who is the president of France",
        "write me a python function that sorts a list",
        "how do I mute a channel in Slack",
        "who won the cup last year",
        "what is kubernetes?",
        "explain Docker",
        "what is an LLM",
        "how do I archive a channel in Slack",
        "is my laptop too old",
        "restart the payroll service",
        "What is Miro's price for a team?",
        "what is okta's rate limit",
        "How long does Bitbucket keep logs?",
        "Is our data in Snowflake encrypted?",
        "What does Datadog charge for logs?",
        "Can you tell me which permissions a Jenkins agent needs?",
        "what is the share price of Salesforce",
        "Deploy the web shop to production, please",
        "stop all the old virtual machines",
        "could you reboot the mail server?",
        "where is the log of my app in Netlify",
        "why is my printer so slow",
        "my train is late, what happens with the connection",
        "blorp purple fnord",
        "",
        "the of and",
    ],
}


def answers(question: str, library: Library | None = None) -> list[str]:
    return [hit.section.heading for hit in (library or guide()).search(question) if hit.is_answer]


@pytest.mark.parametrize(
    ("question", "heading"), [(each, heading) for heading, asked in QUESTIONS.items() for each in asked]
)
def test_a_question_leads_to_its_section_or_nowhere(question: str, heading: str) -> None:
    hits = guide().search(question)
    assert [hit.section.topic for hit in hits[:1]] == [heading] * (heading != NOTHING)


@given(st.lists(st.text("bdfgjkpqvwxz", min_size=9, max_size=14), min_size=1, max_size=12))
def test_words_that_nobody_knows_lead_nowhere(words: list[str]) -> None:
    assert guide().search(" ".join(words)) == []


@pytest.mark.parametrize("before", ["Hi, we are a bank and wonder: ", "ok so, ", "Hello there! "])
def test_a_clause_about_the_asker_changes_nothing(before: str) -> None:
    assert (
        guide().search(f"{before}where is our data stored?")[0].section.heading == "Where is my data stored?"
    )


def test_of_a_long_story_the_clauses_that_ask_are_the_question() -> None:
    story = "Last spring we bought a coffee machine, and Dave paid for it, and then nobody cleaned it. " * 20
    asked = f"{story} So what I wonder is: can I run several replicas? Thanks, have a nice day."
    assert answers(asked) == ["Several replicas and Redis"]


def test_of_a_long_story_what_is_announced_is_the_question() -> None:
    story = "Can you imagine: we bought a coffee machine, and who paid for it, and is it clean? " * 20
    asked = f"{story} What I really want to know is how the agent and its people share one Redis of replicas"
    assert answers(asked)[0] == "Several replicas and Redis"


@pytest.mark.parametrize(
    ("error", "heading"),
    [
        ("```\nslack_sdk.errors.SlackApiError: {'error': 'invalid_auth'}\n```", "What does invalid_auth"),
        ("slack_sdk.errors.SlackApiError: {'error': 'not_in_channel'}", "What does not_in_channel"),
        ("slack_sdk.errors.SlackApiError: {'error': 'missing_scope'}", "What do missing_scope"),
        ('{"error":{"code":-32601,"message":"Method not found"}} what now', 'What does "Method not found"'),
        ("```\ndocker run slack-bot\nError: A2A_AGENT_URL not set\n```", "How do I connect my own agent?"),
    ],
)
def test_a_pasted_error_is_explained(error: str, heading: str) -> None:
    assert [each.startswith(heading) for each in answers(error)] == [True]


@pytest.mark.parametrize(
    "question",
    ["sorry for the dumb question but what is A2A", "What's A2A? Explain like I’m five", "lol A2A?"],
)
def test_what_is_said_besides_changes_nothing(question: str) -> None:
    assert answers(question) == ["A2A, the protocol behind it"]


@pytest.mark.parametrize(
    ("question", "headings"),
    [
        ("what is the price and does it run on k8s?", ["Cost and licence", "Docker and Kubernetes"]),
        (
            "Hi! Does it speak Polish, and where is my data stored?",
            ["Which languages does it speak?", "Where is my data stored?"],
        ),
        ("We have two workspaces and forty people, is it free?", ["Cost and licence", "Several workspaces"]),
        ("What's the capital of Peru, and what does the bot cost?", ["Cost and licence"]),
        ("My printer is broken, how do I fix it?", []),
        (
            "How do you verify that requests are really from Slack, and where are the bot token and signing"
            " secret stored?",
            ["Can somebody forge a request to the bot?", "Where are the tokens kept?"],
        ),
        (
            "how long is data kept, and can I set another period or delete the data of a single user?",
            ["How long are my messages kept?", "Can I delete my data?"],
        ),
        (
            "socket mode or http events? all of our traffic goes through a corporate proxy with our own CA",
            [
                "Socket Mode or HTTP",
                "Does it work behind a proxy?",
                "Our agent has a certificate of our own authority (CA)",
            ],
        ),
        (
            "Why is it slow to start answering, and is that the bot's fault or the agent's?",
            ["Why is my answer slow?"],
        ),
    ],
)
def test_each_half_of_a_question_has_its_answer(question: str, headings: list[str]) -> None:
    assert sorted(answers(question)) == sorted(headings)


@pytest.mark.parametrize(
    ("question", "headings", "unanswered"),
    [
        ("Is it free, and is it secure?", ["Cost and licence", "Is it safe?"], []),
        (
            "What's the capital of Australia, and how do I deploy it?",
            ["How do I deploy it?"],
            ["What's the capital of Australia"],
        ),
        ("can I attach a PDF and have the agent read it?", ["Can I share a file?"], []),
        ("why is it slow, and is that the bot's fault?", ["Why is my answer slow?"], []),
        ("how do I deploy it?", ["How do I deploy it?"], []),
        ("My printer is broken, how do I fix it?", [], []),
    ],
)
def test_a_part_of_a_question_that_has_no_answer_is_named(
    question: str, headings: list[str], unanswered: list[str]
) -> None:
    topics = {hit.section.topic for hit in guide().search(question) if hit.is_answer}
    assert sorted(topics) == headings
    assert guide().unanswered(question) == unanswered


@pytest.mark.parametrize(
    "question",
    [
        "How is it different from Glean's assistant?",
        "Can the bot fetch tokens from Okta for our agent?",
        "Is Teams on the roadmap?",
        "Why this and not Copilot?",
        "Wie ist das mit Slack Connect und Datenschutz?",
    ],
)
def test_a_name_beside_that_of_this_project_is_no_obstacle(question: str) -> None:
    assert guide().search(question)


@pytest.mark.parametrize(
    ("question", "is_counted"),
    [
        ("how many people can use it at once", True),
        ("how many stars does the repository have", False),
        ("which people can use it", True),
    ],
)
def test_what_is_counted_must_have_a_number_in_the_section(question: str, is_counted: bool) -> None:
    load = guide().search("how many people can use it at once")[0]
    assert guide().counts(question, load) is is_counted


STORY = (
    "Last year we bought a tool for our forty colleagues, it was slow, nobody liked it, and it is gone now. "
    * 3
)


def test_a_long_story_without_a_clear_question_gets_no_answer_but_what_comes_near() -> None:
    asked = (
        f"{STORY} What I would like to know before we decide is whether something of this kind could "
        "serve as the one place where people ask, and what it would leave to others."
    )
    assert guide().search(asked) == []
    assert guide().near(asked)


def test_a_story_with_several_questions_has_an_answer_to_each() -> None:
    asked = (
        f"{STORY} Our works council wants to know who can read what was asked, the ops people say they don't"
        " want to run another database, and what would you say is the catch?"
    )
    assert answers(asked) == [
        "Can an operator or my boss read what I ask?",
        "Do I need a database or a Redis?",
        "What is the catch?",
    ]


def test_the_only_question_of_a_story_that_has_an_answer_is_answered() -> None:
    asked = f"{STORY} Our works council wants to know how long messages are kept, and what comes of it?"
    assert answers(asked) == ["How long are my messages kept?"]


def test_an_error_that_is_told_is_explained_before_the_other_questions() -> None:
    said = 'it said "something went wrong"'
    error = 'What does "the agent reported an error" or "unfinished" mean?'
    assert answers(said) == [error]
    assert answers(f"{said}, where are the logs, and is there a healthcheck?") == [
        error,
        "Where are the logs, and how do I find an answer in them?",
        "Which address and port do probes and metrics have?",
    ]


def test_code_and_addresses_are_no_words() -> None:
    assert guide().search("see https://docker.example/kubernetes\n```\nredis = licence\n```") == []


def test_a_question_takes_less_than_a_blink() -> None:
    begun = time.process_time()
    for asked in QUESTIONS.values():
        for question in asked:
            guide().search(question)
    assert time.process_time() - begun < 0.02 * sum(map(len, QUESTIONS.values()))


@pytest.mark.parametrize("text", ["word " * 8_000, "can it do that, and what is the cost? " * 1_000])
def test_the_longest_message_takes_less_than_a_fifth_of_a_second(text: str) -> None:
    begun = time.process_time()
    guide().search(text)
    assert time.process_time() - begun < 0.2


# -- small pages ---------------------------------------------------------------------------------------------


EXAMPLES = [
    *(("Food", text) for text in ("what do cats eat", "feed a cat", "dinner of a kitten")),
    *(("About cats", text) for text in ("kittens", "do cats sleep", "tell me of cats")),
    *(("About dogs", text) for text in ("dogs", "do dogs bark", "the dog next door")),
    *(("-world", text) for text in ("weather", "the moon", "who invented the wheel")),
]
MODEL = Classifier(learned(EXAMPLES))


@pytest.fixture
def library() -> Library:
    return Library(PAGES, Subjects(SUBJECTS), WORDINGS, MODEL)


@pytest.mark.parametrize(
    ("question", "headings"),
    [
        ("what do cats eat?", ["Food"]),
        ("kittens", ["About cats"]),
        ("feed a cat a fish", ["Food"]),
        ("dogs", ["About dogs"]),
        ("weather", []),
        ("the moon", []),
        ("zorp of fnord", []),
    ],
)
def test_the_section_that_is_clearly_ahead_answers(
    library: Library, question: str, headings: list[str]
) -> None:
    assert answers(question, library) == headings


def test_where_two_are_near_and_no_other_is_both_answer() -> None:
    model = Classifier("About cats\tAbout dogs\tFood\nfurry\t0 64 1 60 2 30")
    library = Library(PAGES, Subjects(SUBJECTS), WORDINGS, model)
    assert answers("furry friends", library) == ["About cats", "About dogs"]


@pytest.mark.parametrize(
    ("cats", "dogs", "talk", "headings"),
    [
        (46, 0, 30, ["About cats"]),
        (36, 0, 28, []),
        (64, 62, 0, ["About cats", "About dogs"]),
        (64, 40, 0, ["About cats"]),
    ],
)
def test_what_is_near_the_first_section_is_heard_too(
    cats: int, dogs: int, talk: int, headings: list[str]
) -> None:
    model = Classifier(f"About cats\tAbout dogs\t-hello\nfurry\t0 {cats} 1 {dogs} 2 {talk}")
    assert answers("furry", Library(PAGES, Subjects(SUBJECTS), WORDINGS, model)) == headings


def test_a_kind_of_talk_is_told_and_nothing_comes_near_it(library: Library) -> None:
    assert (library.kind_of("the moon"), library.kind_of("dogs")) == ("world", "")
    assert library.near("the moon") == []


def test_the_subjects_that_lead_to_an_answer_are_named(library: Library) -> None:
    assert library.search("dogs")[0].subjects == {"dog"}


def test_what_is_whole(library: Library) -> None:
    dog, cat = library.search("dogs")[0], library.search("kittens")[0]
    assert library.is_whole(cat.section) and not library.is_whole(dog.section)


def test_a_section_is_found_by_its_own_heading_too() -> None:
    assert [
        hit.section.page for hit in Library({"birds": "# Zebrafinches\n\nSing."}).search("zebrafinches")
    ] == ["birds"]


def test_pages_by_name(library: Library) -> None:
    assert library.names == ("cats", "dogs", "plain")
    assert library.fetch("cats") == PAGES["cats"]
    assert library.fetch("birds") is None
    assert library.sections_of("birds") == []


def test_an_empty_library_answers_nothing() -> None:
    assert Library({}).search("what does it cost") == []


@given(st.text())
def test_any_question_gets_the_same_hits_twice(question: str) -> None:
    assert guide().search(question) == guide().search(question)
