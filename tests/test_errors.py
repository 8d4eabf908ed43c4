"""One tree of errors. The sentence for the reader in Slack never comes from a server."""

from __future__ import annotations

import pytest

from slack_bot import errors


@pytest.mark.parametrize(
    "kind",
    [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)],
)
def test_every_error_is_in_the_tree(kind: type[Exception]) -> None:
    assert issubclass(kind, errors.BotError)


def test_the_safe_sentence_is_not_the_message() -> None:
    error = errors.AgentFailed("boom at 10.0.0.1", code=-32603)
    assert "10.0.0.1" not in error.safe
    assert errors.AgentError("x", safe="Try later.").safe == "Try later."
    refused = errors.AgentRefused("HTTP 503", status=503, retry_after=2.0)
    assert (refused.status, refused.retry_after) == (503, 2.0)
    assert errors.SlackError("no", error="is_archived").error == "is_archived"
