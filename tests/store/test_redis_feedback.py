"""How feedback is written into Redis."""

from __future__ import annotations

from slack_bot.store.redis_feedback import feedback_key, read_feedback
from slack_bot.turn.feedback import FeedbackRecord


def test_what_older_versions_wrote_is_read() -> None:
    assert feedback_key("T1:C1:1.0").endswith("feedback:T1:C1:1.0")
    assert read_feedback("turn", "U1", None) is None
    assert read_feedback("turn", "U1", '["negative", 1.5]') == FeedbackRecord("turn", "U1", "negative", 1.5)
