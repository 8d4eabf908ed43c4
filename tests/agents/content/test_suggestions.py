"""Tests of `content.suggestions`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.content.beside import BesideAnswer
from slack_bot.agents.content.suggestions import names_suggestions
from slack_bot.agents.wire.frames import (
    AgentMessage,
    Frame,
    MessageReply,
    Part,
    StatusUpdate,
    TaskState,
)
from slack_bot.turn.events import NextQuestionsFound
from slack_bot.turn.extras import NextQuestion

ASK = "And then?"
FOUND = [NextQuestionsFound((NextQuestion(ASK),), reason="suggested by the agent")]


def status(metadata: dict[str, Any]) -> Frame:
    return StatusUpdate(state=TaskState.COMPLETED, metadata=metadata)


@pytest.mark.parametrize(
    "listed",
    [
        [ASK],
        [{"text": ASK}],
        [{"prompt": ASK}],
        [{"message": f" {ASK} "}],
        [{"question": ASK}, 7, None, {}, [ASK], {"text": ""}],
    ],
)
def test_each_form_of_a_suggestion(listed: list[Any]) -> None:
    assert BesideAnswer().take(status({"suggestions": listed})) == FOUND


def test_a_label_and_a_title() -> None:
    listed = [{"text": ASK, "label": "Then?"}, {"prompt": "Why?", "title": "Why"}, {"label": "How?"}]
    found, *_ = BesideAnswer().take(status({"suggestions": listed}))
    assert isinstance(found, NextQuestionsFound)
    assert [(each.text, each.label) for each in found.questions] == [
        (ASK, "Then?"),
        ("Why?", "Why"),
        ("How?", "How?"),
    ]


def test_data_that_is_something_else() -> None:
    assert not names_suggestions({"suggestions": ["a table of one column"]})
    assert not names_suggestions({"follow_up_questions": [ASK], "answer": "x"})
    assert names_suggestions({"follow_up_questions": [ASK]})
    assert not names_suggestions([ASK])


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(_JSON)
def test_no_json_makes_it_raise(value: Any) -> None:
    part = Part(data=value, has_data=True)
    BesideAnswer().take(MessageReply(AgentMessage(parts=(part,))))
    for found in BesideAnswer().take(status({"suggestions": value})):
        assert isinstance(found, NextQuestionsFound) and all(each.text.strip() for each in found.questions)
