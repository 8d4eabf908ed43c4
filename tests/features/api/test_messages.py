"""What a key may have the bot say."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.features.api.answers import Problem, RequestRefused
from slack_bot.features.api.messages import message_in, read_request
from slack_bot.settings.api_access import KeyEntry
from slack_bot.turn.outbound import OutboundMessage
from slack_bot.turn.record import QuestionOrigin

HASH = "sha256:" + "0" * 64


def message(body: dict[str, Any], **rights: Any) -> OutboundMessage:
    return message_in(read_request(body), "k", KeyEntry.model_validate({"hash": HASH, **rights}))


def refusal(body: dict[str, Any], **rights: Any) -> str:
    with pytest.raises(RequestRefused) as refused:
        message(body, **rights)
    assert refused.value.problem is Problem.FORBIDDEN
    return refused.value.message


def test_everything_that_may_be_said() -> None:
    rights = {"channels": ["*"], "may_ask": True, "agents": ["ops"], "may_mention": True}
    body = {"channel": "C1", "ask": " <@U1>? ", "headline": "<!here>", "agent": "ops", "context_id": "ctx"}
    assert message(body, **rights) == OutboundMessage(
        "<@U1>?",
        channel="C1",
        headline="<!here>",
        is_question=True,
        origin=QuestionOrigin.REQUEST,
        agent="ops",
        context_id="ctx",
    )


def test_a_question_that_is_shown_mentions_nobody() -> None:
    asked = message({"channel": "C1", "ask": "<!channel> what?"}, channels=["C1"], may_ask=True)
    assert asked.text == "<!channel> what?", "the agent reads what was asked"
    assert "<!channel>" not in asked.headline and "what?" in asked.headline


def test_rights_of_a_key_are_named() -> None:
    text = {"text": "a"}
    assert "add the id to channels of [keys.k]" in refusal({**text, "channel": "C1"}, channels=["C2"])
    assert "set may_dm" in refusal({**text, "user": "U1"}, channels=["*"])
    assert "set may_dm" in refusal({**text, "channel": "D1"}, channels=["*"])
    assert "add the id to people" in refusal({**text, "user": "U1"}, may_dm=True, people=["U2"])
    assert "give user in place of D1" in refusal({**text, "channel": "D1"}, may_dm=True, people=["U2"])
    assert "set may_ask" in refusal({"channel": "C1", "ask": "a"}, channels=["*"])
    assert "set may_ask" in refusal({**text, "channel": "C1", "context_id": "x"}, channels=["*"])
    asked = {"channel": "C1", "ask": "a", "agent": "b"}
    assert "add it to agents" in refusal(asked, channels=["*"], may_ask=True, agents=["c"])
    assert message({**text, "user": "U2"}, may_dm=True, people=["U2"]).user == "U2"
