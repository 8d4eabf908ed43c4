"""A demonstration is found in whatever words it is asked for."""

from __future__ import annotations

import pytest

from slack_bot.playground.reference.agent import bundled_library
from slack_bot.playground.reference.demonstrations import meant, section_about
from slack_bot.playground.reference.showcase import EXAMPLES


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        (
            "write a long answer",
            "write a long answer please; please write a long answer; can you write a long answer?"
            "; long answer; give me a really long answer now; I want a long story, thanks"
            "; Could you write a very long text",
        ),
        ("show me a table", "show me a table please; can I see a table?; I'd like to see a table; table"),
        ("show me a chart", "can I see a chart?; show me a chart of last week; draw a bar chart for me"),
        ("show me a file", "give me a file; can you send a file?"),
        ("show me your sources", "i’d like to see your sources; show sources"),
        ("fill in a form", "show me a form; fill in the form; can you ask me with a form?"),
        (
            "restart the search service",
            "restart; restart search; please restart the search service; can you restart the search service?"
            "; can you ask me for approval?",
        ),
        ("plan a release", "please plan a release for tomorrow; prepare our next release"),
        ("connect my calendar", "connect to my calendar; please open my calendar"),
        ("deploy the bot", "deploy; please deploy this; deploy it now; roll out the new version"),
        (
            "deploy the bot to production",
            "deploy to production; Deploy it to prod!; deploy the bot to production pls",
        ),
        ("deploy the bot to staging", "deploy it to staging; please deploy the app to staging"),
    ],
)
def test_what_is_meant(name: str, messages: str) -> None:
    assert {each: meant(each) for each in messages.split("; ")} == dict.fromkeys(messages.split("; "), name)


@pytest.mark.parametrize("name", [*EXAMPLES, "Write a long answer", "Plan a release", "Deploy the bot"])
def test_names_mean_themselves(name: str) -> None:
    assert meant(name).lower() == name.lower()


@pytest.mark.parametrize(
    "question",
    [
        "how do I deploy to production?",
        "deploy the web shop to production",
        "can I share a file?",
        "can it make a chart?",
        "make a table of your prices",
        "how long is a long answer?",
        "what happens at a restart?",
        "tables",
        "long 8000",
        "is there a form?",
        "",
    ],
)
def test_another_question_stays_as_it_is(question: str) -> None:
    assert meant(question) == question


@pytest.mark.parametrize(
    ("demonstration", "heading"),
    [
        ("plan a release", "Forms and approvals"),
        ("Fill in a form", "Forms and approvals"),
        ("restart the search service", "How does an approval work?"),
        ("deploy the bot to production", "How does an approval work?"),
        ("Connect my calendar", "How do people sign in to an agent?"),
        *((each, "Tables, charts, files and pictures in an answer") for each in EXAMPLES[:3]),
        ("show me your sources", "How does my agent name its sources?"),
    ],
)
def test_the_guide_tells_of_what_is_shown(demonstration: str, heading: str) -> None:
    assert section_about(demonstration) == heading
    assert heading in {each.heading for each in bundled_library().sections}


def test_nothing_is_told_of_another_question() -> None:
    assert section_about("what does it cost?") == section_about("") == ""
