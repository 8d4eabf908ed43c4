"""What feedback looks like where it is sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from slack_sdk.signature import SignatureVerifier

from slack_bot.features.feedback.targets import (
    LANGFUSE,
    SIGNATURE,
    TIMESTAMP,
    WEBHOOK,
    as_json,
    feedback_id,
    requests_of,
)
from slack_bot.settings.feedback import FeedbackSettings
from slack_bot.turn.feedback import FeedbackRecord

SAID = FeedbackRecord(
    "T1:C1:1.0", "U1", "negative", 5.0, ("Wrong",), "no 😀", "task", "ctx", "0af7651916cd43dd8448eb211c80319c"
)
GIVEN: dict[str, Any] = {
    "webhook_url": "https://hooks.example/in", "webhook_secret": "secret", "langfuse_url": "https://lf.example/",
    "langfuse_public_key": "pk-lf-1", "langfuse_secret_key": "sk-lf-1",
}  # fmt: skip


def test_the_webhook_is_signed_as_slack_signs() -> None:
    request = requests_of(FeedbackSettings(**GIVEN))[WEBHOOK](SAID, 1000.7)
    assert request is not None
    assert (request.url, request.headers[TIMESTAMP]) == ("https://hooks.example/in", "1000")
    verifier = SignatureVerifier("secret")
    body, signed = request.body.decode(), request.headers[SIGNATURE]
    assert verifier.generate_signature(timestamp="1000", body=body) == signed
    assert json.loads(body) == as_json(SAID)
    assert json.loads(body)["reasons"] == ["Wrong"]


def test_langfuse_gets_a_score_of_the_trace() -> None:
    request = requests_of(FeedbackSettings(**GIVEN))[LANGFUSE](SAID, 0.0)
    assert request is not None
    assert (request.url, request.headers) == (
        "https://lf.example/api/public/scores", {"Authorization": "Basic cGstbGYtMTpzay1sZi0x"},
    )  # fmt: skip
    assert json.loads(request.body) == {
        "id": feedback_id(SAID), "traceId": SAID.trace_id, "name": "user-feedback", "value": 0,
        "dataType": "BOOLEAN", "comment": "Wrong; no 😀",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("said", "about"),
    [
        (FeedbackRecord("t", "U1", "positive", 1.0, context_id="ctx"), {"sessionId": "ctx"}),
        (FeedbackRecord("t", "U1", "positive", 1.0), None),
    ],
)
def test_without_a_trace_it_is_of_the_session(said: FeedbackRecord, about: dict[str, str] | None) -> None:
    request = requests_of(FeedbackSettings(**GIVEN))[LANGFUSE](said, 0.0)
    assert (request is None) == (about is None)
    if request is not None and about is not None:
        score = json.loads(request.body)
        assert (about.items() <= score.items(), score["value"], "comment" in score) == (True, 1, False)


def test_as_things_come_there_are_no_targets() -> None:
    assert requests_of(FeedbackSettings()) == {}


def test_each_persons_word_on_each_turn_has_one_id() -> None:
    later = FeedbackRecord("T1:C1:1.0", "U1", "positive", 9.0)
    others = [FeedbackRecord("T1:C1:1.0", "U2", "positive", 9.0), FeedbackRecord("T1:C1:2.0", "U1", "x", 9.0)]
    assert feedback_id(later) == feedback_id(SAID)
    assert len({feedback_id(each) for each in [SAID, *others]}) == 3
