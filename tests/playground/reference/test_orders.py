"""Orders: nothing is done, and that is said."""

from __future__ import annotations

import pytest

from slack_bot.playground.reference.agent import bundled_library as guide
from slack_bot.playground.reference.orders import (
    is_order,
    is_plain_order,
    order_reply,
    table_reply,
    topic_of_table,
)


@pytest.mark.parametrize(
    "order",
    [
        "deploy it to staging",
        "Please restart the payments-service",
        "restart my-pod-1 now",
        "hey, delete all old channels",
        "write me a haiku",
        "could you book a room for two?",
        "can you help me write a status update",
        "i need you to draft a reply",
        "Remind me tomorrow at nine",
        "summarise this thread",
        "tell me a story",
        "turn off the lights",
        "lösche die Nachrichten",
        "please book meeting room 4 for tomorrow",
        "order pizza for Friday",
    ],
)
def test_what_is_to_be_done_is_an_order(order: str) -> None:
    assert is_order(order)


@pytest.mark.parametrize(
    "question",
    [
        "how do I deploy it to staging?",
        "delete my data",
        "restart the pod, and what happens to my answer?",
        "deploy on kubernetes",
        "update without downtime",
        "tell me about streaming",
        "show me a table",
        "what if I delete the channel",
        "does it write a log",
        "stop",
        "",
    ],
)
def test_a_question_is_no_order(question: str) -> None:
    assert not is_order(question)


def test_can_you_may_ask_for_what_is_possible() -> None:
    assert is_order("can you schedule a report?") and not is_plain_order("can you schedule a report?")
    assert is_plain_order("schedule a report") and is_plain_order("can you help me write a report?")


@pytest.mark.parametrize(
    ("order", "shown"),
    [
        ("deploy the web shop to production", "`deploy the bot`"),
        ("reboot the mail server", "`restart the search service`"),
        ("book a meeting room", "`connect my calendar`"),
        ("make a chart of sales", "`show me a chart`"),
    ],
)
def test_the_demonstration_that_shows_it_is_named(order: str, shown: str) -> None:
    reply = order_reply(order, [])
    assert reply.startswith("I cannot do that: I am a demonstration")
    assert shown in reply


def test_what_is_known_of_it_is_one_sentence() -> None:
    near = [hit.section for hit in guide().search("how do I deploy to staging")]
    assert order_reply("sing the blues", near).endswith(
        "What I know of it: *Deploying to staging* For staging, create a Slack app of its own in a test "
        "workspace, so that nobody mentions the wrong bot.\n"
    )


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Make me a table of all environment variables", "all environment variables"),
        ("give me a table comparing SQLite and Redis", "comparing SQLite and Redis"),
        ("I'd like a table of the A2A versions", "the A2A versions"),
        ("can you list all settings as a table?", "can you list all settings"),
        ("compare A2A and MCP in a table", "compare A2A and MCP"),
        ("show me a table", ""),
        ("does it support tables?", ""),
        ("does the agent send its figures in a table?", ""),
        ("why is my table shown as code", ""),
    ],
)
def test_a_table_of_something_is_wanted(question: str, topic: str) -> None:
    assert topic_of_table(question) == topic


def test_a_table_is_shown_where_the_guide_has_one_and_else_it_is_said_that_none_is_made() -> None:
    with_table, other = (
        guide().search(each)[0].section for each in ("The most important settings", "Who made it?")
    )
    assert table_reply(with_table, []).startswith("Four that are changed")
    assert table_reply(other, []).startswith("I cannot make a table")
    assert other.text in table_reply(other, [])
    assert "Near it is *Who made it?*" in table_reply(None, [other])
    assert "I do not know anything" in table_reply(None, [])
