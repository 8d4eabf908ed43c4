"""Which data of an agent is an act in Slack."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.content.acts import act_in
from slack_bot.agents.content.beside import BesideAnswer
from slack_bot.agents.wire.frames import AgentMessage, MessageReply, Part
from slack_bot.turn.acts import AgentAct
from slack_bot.turn.events import ActsAsked

EYES = {"slack": {"action": "react", "name": ":eyes:"}}


@pytest.mark.parametrize(
    ("data", "act"),
    [
        (EYES, AgentAct("react", "eyes")),
        ({"slack": {"action": "react", "name": "eyes", "ts": " 1.2 "}}, AgentAct("react", "eyes", "1.2")),
        ({"slack": {"action": "post"}}, AgentAct("post")),
        (
            {"slack": {"action": "post", "channel": " C2 ", "text": " Look *here*.\n"}},
            AgentAct("post", channel="C2", text="Look *here*."),
        ),
        ({"slack": {"action": "post", "channel": 1, "text": ["a"]}}, AgentAct("post")),
        ({"slack": {"action": "react", "name": 7}}, AgentAct("react")),
        ({"slack": {"action": ""}}, None),
        ({"slack": "react"}, None),
        ({**EYES, "answer": "x"}, None),
        ([EYES], None),
    ],
)
def test_what_is_an_act(data: Any, act: AgentAct | None) -> None:
    assert act_in(data) == act


def test_the_same_act_is_told_once() -> None:
    beside, frame = BesideAnswer(), MessageReply(AgentMessage(parts=(Part(data=EYES, has_data=True),) * 2))
    assert beside.take(frame) == [ActsAsked((AgentAct("react", "eyes"),), reason="asked for by the agent")]
    assert beside.take(frame) == []


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.just("action"), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_JSON)
def test_no_json_makes_it_raise(value: Any) -> None:
    for act in (act_in(value), act_in({"slack": value})):
        assert act is None or act.kind
