"""What is stored when the same key comes again."""

from __future__ import annotations

from dataclasses import replace

from slack_bot.turn.outbound import OutboundMessage, OutboundRecord, accepted

FIRST = OutboundRecord("k", OutboundMessage("hi", channel="C1"), 1.0)
AGAIN = replace(FIRST, accepted_at=5.0)
OTHER = replace(AGAIN, message=OutboundMessage("ho", channel="C1"))


def test_a_key_belongs_to_what_came_first() -> None:
    assert accepted(None, FIRST) == FIRST
    assert accepted(FIRST, AGAIN) == FIRST
    assert accepted(FIRST, OTHER) == FIRST
    ended = replace(FIRST, posted=("1.0",), ended_at=2.0)
    assert accepted(ended, AGAIN) == ended


def test_what_failed_is_tried_again_and_what_is_posted_stays() -> None:
    failed = replace(FIRST, is_begun=True, posted=("1.0",), error="no", ended_at=2.0)
    assert accepted(failed, AGAIN) == replace(FIRST, is_begun=True, posted=("1.0",))
    assert accepted(failed, OTHER) == failed


def test_where_nothing_is_posted_another_place_may_be_named() -> None:
    failed = replace(FIRST, is_begun=True, error="no such channel", ended_at=2.0)
    elsewhere = replace(OTHER, message=OutboundMessage("hi", channel="C2"))
    assert accepted(failed, elsewhere) == replace(elsewhere, accepted_at=1.0, is_begun=True)
